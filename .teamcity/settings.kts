// One project per language: its evaluation in two parts, the comparison with the last good night, and logs for rankers with the
// ranker they train. One build starts and shows all. What these are made of is library/CiEval.kt. See docs/ci.md.
import ci_eval.ciEvalAlgorithms
import ci_eval.ciEvalLogs
import ci_eval.ciEvalNight
import ci_eval.ciEvalNights
import jetbrains.buildServer.configs.kotlin.BuildType
import jetbrains.buildServer.configs.kotlin.Project
import jetbrains.buildServer.configs.kotlin.project
import jetbrains.buildServer.configs.kotlin.version

version = "2025.11"

/** `needs`: programs that the engine and the project's registry take, for the agents to have. */
class Language(val name: String, val title: String, val engine: String, val config: String, vararg val needs: String)

// begin generated: python3 .teamcity/generate.py
val languages = listOf(
    Language("cpp", "C++", "clangd", "configs/cpp.yaml", "npm"),
    Language("go", "Go", "gopls", "configs/go.yaml", "go"),
    Language("java", "Java", "jdt", "configs/java.yaml", "java", "mvn"),
    Language("javascript", "JavaScript", "typescript", "configs/javascript.yaml", "node", "npm"),
    Language("kotlin", "Kotlin", "kotlin-ide-services", "configs/kotlin.yaml", "java", "mvn"),
    Language("php", "PHP", "words", "configs/php.yaml", "npm"),
    Language("python", "Python", "jedi", "configs/python.yaml"),
    Language("ruby", "Ruby", "words", "configs/ruby.yaml", "mvn"),
    Language("rust", "Rust", "words", "configs/rust.yaml", "cargo"),
    Language("scala", "Scala", "scala-presentation-compiler", "configs/scala.yaml", "java", "mvn"),
    Language("typescript", "TypeScript", "typescript", "configs/typescript.yaml", "node", "npm"),
)

/** What rankers learn from: name of the language to project SPECs. */
val training = mapOf(
    "go" to listOf("go:github.com/gorilla/mux@v1.8.1", "go:github.com/sirupsen/logrus@v1.9.3", "go:github.com/spf13/pflag@v1.0.5"),
    "java" to listOf("maven:com.google.code.gson:gson:2.11.0", "maven:commons-io:commons-io:2.16.1", "maven:org.apache.commons:commons-text:1.12.0"),
    "javascript" to listOf("npm:express@4.19.2", "npm:commander@12.1.0", "npm:koa@2.15.3"),
    "kotlin" to listOf("maven:com.squareup.okio:okio-jvm:3.9.0", "maven:org.jetbrains.kotlinx:kotlinx-serialization-core-jvm:1.6.3", "maven:com.github.ajalt.clikt:clikt-jvm:4.4.0"),
    "python" to listOf("pypi:requests==2.32.3", "pypi:click==8.1.7", "pypi:jinja2==3.1.4"),
    "rust" to listOf("crate:clap_builder==4.5.2", "crate:itertools==0.13.0"),
    "scala" to listOf("maven:org.typelevel:cats-core_2.13:2.12.0", "maven:io.circe:circe-core_2.13:0.14.9", "maven:com.typesafe.akka:akka-actor_2.13:2.6.21"),
    "typescript" to listOf("npm:zod@4.0.0", "npm:immer@10.1.1"),
)
// end generated

/**
 * By which parameter your agents tell that they have a program, such as "go" to "env.GOROOT": then only those are given
 * builds that need it. TeamCity itself tells of few of these programs; a build on an agent without one fails with a problem
 * that names it.
 */
val reported = mapOf<String, String>()

/** Who is mailed of a comparison that fails in a way it did not fail before; empty: nobody. */
val mailed = ""

val nightly = mutableListOf<List<BuildType>>()
val rankings = mutableListOf<BuildType>()

fun languageProject(language: Language, place: Int): Project = Project {
    id("Language_${language.name}")
    name = language.title
    description = "Completion by ${language.engine}"
    val programs = language.needs.mapNotNull { reported[it] }
    val rankers = training[language.name]?.let { specs ->
        ciEvalLogs {
            id = language.name
            config = language.config
            projects = specs
            needs = programs
            hour = 5 + place / 4
            minute = 7 + 13 * (place % 4)
        }
    }
    val evaluations = ciEvalNight {
        id = language.name
        config = language.config
        shards = 2
        ranker = rankers
        needs = programs
        mail = mailed
        daily = false
    }
    nightly += evaluations
    if (rankers != null) {
        rankings += ciEvalAlgorithms {
            id = language.name
            nights = listOf(evaluations)
            daily = false
        }
    }
}

project {
    description = "How good code completion is, night after night"
    languages.forEachIndexed { place, language -> subProject(languageProject(language, place)) }
    ciEvalNights {
        id = "all"
        nights = nightly
        algorithms = rankings
        hour = 1
        minute = 7
    }
}
