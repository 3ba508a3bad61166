// One project per language: shards of the evaluation, the workspace they make together, the comparison with the last good
// night, and logs for rankers with the ranker they train. See docs/ci.md.
import jetbrains.buildServer.configs.kotlin.BuildType
import jetbrains.buildServer.configs.kotlin.CustomChart
import jetbrains.buildServer.configs.kotlin.DslContext
import jetbrains.buildServer.configs.kotlin.FailureAction
import jetbrains.buildServer.configs.kotlin.Project
import jetbrains.buildServer.configs.kotlin.ReuseBuilds
import jetbrains.buildServer.configs.kotlin.buildFeatures.notifications
import jetbrains.buildServer.configs.kotlin.buildSteps.script
import jetbrains.buildServer.configs.kotlin.failureConditions.BuildFailureOnMetric
import jetbrains.buildServer.configs.kotlin.failureConditions.failOnMetricChange
import jetbrains.buildServer.configs.kotlin.project
import jetbrains.buildServer.configs.kotlin.projectCustomChart
import jetbrains.buildServer.configs.kotlin.projectFeatures.buildReportTab
import jetbrains.buildServer.configs.kotlin.triggers.ScheduleTrigger
import jetbrains.buildServer.configs.kotlin.triggers.schedule
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
    "scala" to listOf("maven:org.typelevel:cats-core_2.13:2.12.0", "maven:io.circe:circe-core_2.13:0.14.9", "maven:com.typesafe.akka:akka-actor_2.13:2.6.21"),
    "typescript" to listOf("npm:zod@4.0.0", "npm:immer@10.1.1"),
)
// end generated

/** Builds that one evaluation is dealt out to. */
val shards = 2

/**
 * By which parameter your agents tell that they have a program, such as "go" to "env.GOROOT": then only those are given
 * builds that need it. TeamCity itself tells of few of these programs; a build on an agent without one fails with a problem
 * that names it.
 */
val reported = mapOf<String, String>()

/** Who is mailed of a comparison that fails in a way it did not fail before; empty: nobody. */
val mailed = ""

/** `before`: lines of a shell that come before the commands of ci-eval. */
fun BuildType.ciEval(language: Language, commands: List<String>, before: List<String> = emptyList()) {
    params {
        // Where run.py puts the environment that it makes.
        param("env.RUNNER_TEMP", "%system.teamcity.build.tempDir%")
    }
    vcs {
        root(DslContext.settingsRoot)
        // What the night before left in the agent's folder is no workspace of tonight's.
        cleanCheckout = true
    }
    steps {
        script {
            name = "ci-eval"
            scriptContent =
                (listOf("set -eu") + before + commands.map { "python3 .teamcity/run.py $it" }).joinToString("\n")
        }
    }
    requirements {
        contains("teamcity.agent.jvm.os.name", "Linux")
        exists("python3.executable")
        language.needs.mapNotNull { reported[it] }.distinct().forEach { exists(it) }
    }
    failureConditions {
        executionTimeoutMin = 180
    }
}

/** A failed build's artifacts are taken too unless nothing can be done without its success: reports first, gates last. */
fun BuildType.takes(from: BuildType, rules: String, failed: FailureAction = FailureAction.ADD_PROBLEM) {
    dependencies {
        dependency(from) {
            snapshot {
                onDependencyFailure = failed
                reuseBuilds = ReuseBuilds.NO
            }
            artifacts {
                artifactRules = rules
                cleanDestination = true
            }
        }
    }
}

fun BuildType.nightly(at: Int) {
    triggers {
        schedule {
            schedulingPolicy = daily {
                hour = 1 + at / 4
                minute = 7 + 13 * (at % 4)
            }
            branchFilter = "+:<default>"
            triggerBuild = always()
            withPendingChangesOnly = false
        }
    }
}

/** In the night before Monday's. */
fun BuildType.weekly(at: Int) {
    triggers {
        schedule {
            schedulingPolicy = weekly {
                dayOfWeek = ScheduleTrigger.DAY.Sunday
                hour = 5 + at / 4
                minute = 7 + 13 * (at % 4)
            }
            branchFilter = "+:<default>"
            triggerBuild = always()
            withPendingChangesOnly = false
        }
    }
}

/** Of problems with a stable identity only the new ones are told. */
fun BuildType.tells(address: String) {
    features {
        notifications {
            notifierSettings = emailNotifier { email = address }
            buildFailedToStart = true
            buildFailed = true
            newBuildProblemOccurred = true
        }
    }
}

/** Of the last week in which one could be trained: a new ranker every night would hide what the engine does. */
fun BuildType.takesLast(ranker: BuildType) {
    dependencies {
        artifacts(ranker) {
            artifactRules = "ranker.zip!** => ranker"
            buildRule = lastSuccessful()
        }
    }
}

/** Stage 1 of one completion type, which is done once; the shards that it is handed on to, and the build that puts them together. */
fun evaluation(language: Language, type: String, ranker: BuildType?): List<BuildType> {
    val key = "${language.name}_$type"
    val model = if (ranker == null) "" else " --model ranker/model.json"
    val actions = BuildType {
        id("Actions_$key")
        name = "Actions $type"
        artifactRules = "actions => actions.zip"
        ciEval(language, listOf("actions ${language.config} --completion-type $type$model --output actions"))
        ranker?.let { takesLast(it) }
    }
    val parts = (1..shards).map { shard ->
        BuildType {
            id("Evaluate_${key}_$shard")
            name = "Evaluate $type $shard/$shards"
            artifactRules = """
                shard$shard => shard$shard.zip
                commit => shard$shard.zip
            """.trimIndent()
            ciEval(
                language,
                listOf("interpret actions$model --shard $shard/$shards --reuse earlier --output shard$shard"),
                before = listOf(
                    // Answers are taken over from the same commit of ci-eval alone.
                    "test \"\$(test -f earlier/commit && cat earlier/commit)\" = \"%build.vcs.number%\" || rm -rf earlier",
                    "echo \"%build.vcs.number%\" > commit",
                ),
            )
            dependencies {
                artifacts(this@BuildType) {
                    artifactRules = "?:shard$shard.zip!** => earlier"
                    cleanDestination = true
                    buildRule = lastSuccessful()
                }
            }
            takes(actions, "actions.zip!** => actions")
            ranker?.let { takesLast(it) }
        }
    }
    val whole = BuildType {
        id("Evaluate_$key")
        name = "Evaluate $type"
        artifactRules = "workspace => workspace.zip"
        ciEval(language, listOf("merge " + (1..shards).joinToString(" ") { "shard$it" } + " --output workspace"))
        parts.forEachIndexed { place, part -> takes(part, "shard${place + 1}.zip!** => shard${place + 1}") }
        failureConditions {
            failOnMetricChange {
                param("metricKey", "ci_eval.RecallAt1")
                threshold = 5
                units = BuildFailureOnMetric.MetricUnit.PERCENTS
                comparison = BuildFailureOnMetric.MetricComparison.LESS
                compareTo = build { buildRule = lastSuccessful() }
            }
        }
    }
    return listOf(actions) + parts + whole
}

/**
 * The new workspace against the one of the last comparison that was green, which is in that build's artifacts: tonight's
 * evaluation is the last successful one already. The first night has none, which is why those rules are optional.
 */
fun comparison(language: Language, type: String, whole: BuildType): BuildType = BuildType {
    id("Compare_${language.name}_$type")
    name = "Compare $type with the last good night"
    artifactRules = """
        comparison => comparison.zip
        history => history.zip
        new => workspace.zip
    """.trimIndent()
    ciEval(
        language,
        listOf(
            "compare \$(test -d base && echo base) new --same-ranker --history history --output comparison" +
                " --gate 'declared >= -2pp'",
        ),
    )
    if (mailed.isNotEmpty()) {
        tells(mailed)
    }
    takes(whole, "workspace.zip!** => new")
    dependencies {
        artifacts(this@BuildType) {
            artifactRules = """
                ?:workspace.zip!** => base
                ?:history.zip!** => history
            """.trimIndent()
            buildRule = lastSuccessful()
        }
        // Red nights stay in the trend; a file per night.
        artifacts(this@BuildType) {
            artifactRules = "?:history.zip!** => history"
            buildRule = lastFinished()
        }
    }
}

/** Logs of a modelled user over several projects, and the ranker they train, every week. */
fun logs(language: Language, projects: List<String>, place: Int): BuildType = BuildType {
    id("GenerateLogs_${language.name}")
    name = "Generate logs"
    val folders = projects.indices.map { "logs${it + 1}" }
    artifactRules = (folders + "ranker").joinToString("\n") { "$it => $it.zip" }
    ciEval(
        language,
        projects.zip(folders) { spec, folder ->
            "generate-ml-logs ${language.config} --project $spec --output $folder"
        } + ("train-ranker " + folders.joinToString(" ") + " --output ranker/model.json"),
    )
    weekly(place)
}

/** Of one unit, over the builds that put the shards together. */
fun Project.chart(title: String, unit: String, metrics: List<String>, of: List<BuildType>) {
    features {
        projectCustomChart {
            this.title = title
            seriesTitle = unit
            series = of.flatMap { build ->
                metrics.map { metric ->
                    CustomChart.Serie(
                        title = "$metric, ${build.name}",
                        key = CustomChart.SeriesKey("ci_eval.$metric"),
                        sourceBuildTypeId = "${build.id}",
                    )
                }
            }
        }
    }
}

fun languageProject(language: Language, place: Int): Project = Project {
    id("Language_${language.name}")
    name = language.title
    description = "Completion by ${language.engine}"
    val basic = evaluation(language, "BASIC", null)
    basic.forEach { buildType(it) }
    val wholes = mutableListOf(basic.last())
    val compared = comparison(language, "BASIC", basic.last())
    compared.nightly(place)
    buildType(compared)
    training[language.name]?.let { projects ->
        val logs = logs(language, projects, place)
        buildType(logs)
        val ml = evaluation(language, "ML", logs)
        ml.forEach { buildType(it) }
        val comparedMl = comparison(language, "ML", ml.last())
        comparedMl.nightly(place)
        buildType(comparedMl)
        wholes += ml.last()
    }
    chart("Quality", "Share", listOf("RecallAt1", "RecallAt5", "Recall", "MeanReciprocalRank"), wholes)
    chart("Latency", "ms", listOf("LatencyPercentile50", "LatencyPercentile95"), wholes)
}

project {
    description = "How good code completion is, night after night"
    features {
        buildReportTab {
            title = "Completion quality"
            startPage = "workspace.zip!/reports/html/index.html"
        }
        buildReportTab {
            title = "Comparison"
            startPage = "comparison.zip!/html/index.html"
        }
    }
    languages.forEachIndexed { place, language -> subProject(languageProject(language, place)) }
}
