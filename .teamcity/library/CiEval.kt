// Nights, pull requests, logs and comparisons of ci-eval for TeamCity's Kotlin DSL. Copy this file into the folder .teamcity of
// your repository, beside settings.kts: see docs/ci.md.
package ci_eval

import jetbrains.buildServer.configs.kotlin.BuildType
import jetbrains.buildServer.configs.kotlin.BuildTypeSettings
import jetbrains.buildServer.configs.kotlin.CustomChart
import jetbrains.buildServer.configs.kotlin.DslContext
import jetbrains.buildServer.configs.kotlin.FailureAction
import jetbrains.buildServer.configs.kotlin.ParameterDisplay
import jetbrains.buildServer.configs.kotlin.Project
import jetbrains.buildServer.configs.kotlin.ReuseBuilds
import jetbrains.buildServer.configs.kotlin.buildFeatures.PullRequests
import jetbrains.buildServer.configs.kotlin.buildFeatures.commitStatusPublisher
import jetbrains.buildServer.configs.kotlin.buildFeatures.notifications
import jetbrains.buildServer.configs.kotlin.buildFeatures.pullRequests
import jetbrains.buildServer.configs.kotlin.buildSteps.script
import jetbrains.buildServer.configs.kotlin.failureConditions.BuildFailureOnMetric
import jetbrains.buildServer.configs.kotlin.failureConditions.failOnMetricChange
import jetbrains.buildServer.configs.kotlin.matrix
import jetbrains.buildServer.configs.kotlin.projectCustomChart
import jetbrains.buildServer.configs.kotlin.projectFeatures.ProjectReportTab
import jetbrains.buildServer.configs.kotlin.projectFeatures.buildReportTab
import jetbrains.buildServer.configs.kotlin.projectFeatures.projectReportTab
import jetbrains.buildServer.configs.kotlin.triggers.ScheduleTrigger
import jetbrains.buildServer.configs.kotlin.triggers.schedule
import jetbrains.buildServer.configs.kotlin.triggers.vcs

/** Where ci-eval comes from: its Git repository, `@`, and the whole hash of a commit. Empty: the checkout itself is ci-eval. */
var ciEval = ""

// begin generated: python benchmarks/ci_files.py
/** Leaves the checkout of ci-eval in `folder`; the agent keeps it, and the environment that run.py makes in it. */
private val fetch = listOf(
    "case \"\$INPUT_COMMIT\" in \"\"|*[!0-9a-f]*) commit=none ;; *) commit=\"\$INPUT_COMMIT\" ;; esac",
    "kept=\"\${HOME:?}/.cache/ci-eval-agent\" && mkdir -p \"\$kept\"",
    "folder=\"\$kept/\$commit\"",
    "if ! [ -d \"\$folder\" ]; then",
    "  new=\"\$(mktemp -d \"\$kept/new.XXXXXX\")\" && trap 'rm -rf \"\$new\"' EXIT",
    "  { [ \${#commit} = 40 ] && git init --quiet \"\$new\" &&",
    "    git -C \"\$new\" fetch --quiet --no-tags --depth 1 -- \"\$INPUT_SOURCE\" \"\$commit\" &&",
    "    git -C \"\$new\" checkout --quiet --detach \"\$commit\" && { mv -T \"\$new\" \"\$folder\" || [ -d \"\$folder\" ]; }; } ||",
    "    { echo \"##teamcity[buildProblem identity='ci_eval_source' description='this commit of ci-eval cannot be fetched']\"",
    "      exit 4; }",
    "fi",
    "touch \"\$folder\"",
    "find \"\$kept\" -mindepth 1 -maxdepth 1 -mtime +30 -exec rm -rf {} +",
)
// end generated

/** An engine that another build of the project makes and publishes as one archive, with its programs in it. */
class BuiltEngine(val build: BuildType, val archive: String)

/** What all kinds of builds have. `id` begins the ids of the builds, and is the only one of its kind in the project. */
open class CiEvalBuild {
    var id = "Completion"
    /** The configuration, a YAML file of the checkout. */
    var config = ""
    /** Parameters that an agent must have, such as `env.GOROOT`, where only some agents can do this. */
    var needs = emptyList<String>()
    /** Minutes after which a build is stopped. */
    var limit = 180
}

class CiEvalEngine : CiEvalBuild() {
    /** The command that makes the engine in a checkout, and the folder or file that it leaves. */
    var make = ""
    var output = "build"
}

class CiEvalNight : CiEvalBuild() {
    /** Parts of an evaluation that agents may run at the same time. */
    var shards = 1
    var gates = listOf("declared >= -2pp")
    /** The share in percent by which RecallAt1 may be below the last good night's before the evaluation itself fails. */
    var mostLoss = 5
    /** Whether it starts every night by itself: false where `ciEvalNights` starts it. */
    var daily = true
    var hour = 2
    var minute = 23
    /** Who is mailed of a comparison that fails in a way it did not fail before; empty: nobody. */
    var mail = ""
    /** What `ciEvalLogs` returned: the nights evaluate its last ranker, too. */
    var ranker: BuildType? = null
    /** An engine of your own: what builds it, the command that starts it in the archive's folder, and the engine it is like. */
    var engine: BuiltEngine? = null
    var command = ""
    var like = ""
    /** Whether a night takes over answers of the night before. False where the configuration has a command or an endpoint. */
    var reuse = true
}

class CiEvalPullRequest : CiEvalBuild() {
    lateinit var engine: BuiltEngine
    var command = ""
    var like = ""
    var gates = listOf("RecallAt1 >= -1pp")
    var rounds = 3
    /** A token of GitHub as TeamCity stores it (credentialsJSON:…), which publishes the status of the commit; empty: none. */
    var token = ""
    /** The branches whose pull requests are built. */
    var branches = "+:pull/*"
}

class CiEvalLogs : CiEvalBuild() {
    /** SPECs of the projects that rankers learn from. */
    var projects = emptyList<String>()
    /** An engine of your own, as a night has it. */
    var engine: BuiltEngine? = null
    var command = ""
    var like = ""
    /** On Sundays. */
    var hour = 5
    var minute = 7
}

class CiEvalAlgorithms : CiEvalBuild() {
    /** What `ciEvalNight` returned for each engine, all on the same project: at least two evaluations. */
    var nights = emptyList<List<BuildType>>()
    /** Rules for each evaluation against the first one. */
    var gates = emptyList<String>()
    /** Whether it starts every night by itself: false where `ciEvalNights` starts it. */
    var daily = true
    var hour = 4
    var minute = 23
}

class CiEvalNights : CiEvalBuild() {
    /** What `ciEvalNight` returned, with `daily = false`. */
    var nights = emptyList<List<BuildType>>()
    /** What `ciEvalAlgorithms` returned, with `daily = false`. */
    var algorithms = emptyList<BuildType>()
    var hour = 2
    var minute = 23
}

class CiEvalCompareAlgorithms : CiEvalBuild() {
    var base = ""
    var new = ""
    var gates = emptyList<String>()
    var rounds = 3
}

private fun quoted(text: String) = "'" + text.replace("'", "'\\''") + "'"

private fun option(name: String, value: String) = if (value.isEmpty()) "" else " --$name ${quoted(value)}"

private val python get() = if (ciEval.isEmpty()) ".teamcity/run.py" else "\"\$folder/.teamcity/run.py\""

/** `before`: lines of a shell that come before the commands of ci-eval. */
private fun BuildType.runs(settings: CiEvalBuild, commands: List<String>, before: List<String> = emptyList()) {
    params {
        if (ciEval.isEmpty()) {
            // Where run.py puts the environment that it makes; otherwise the agent keeps one beside ci-eval.
            param("env.RUNNER_TEMP", "%system.teamcity.build.tempDir%")
        } else {
            param("env.INPUT_SOURCE", ciEval.substringBeforeLast("@"))
            param("env.INPUT_COMMIT", ciEval.substringAfterLast("@"))
        }
    }
    vcs {
        root(DslContext.settingsRoot)
        // What the night before left in the agent's folder is no workspace of tonight's.
        cleanCheckout = true
    }
    steps {
        script {
            name = "ci-eval"
            val fetching = if (ciEval.isEmpty()) emptyList() else fetch
            scriptContent =
                (listOf("set -eu") + fetching + before + commands.map { "python3 $python $it" }).joinToString("\n")
        }
    }
    requirements {
        contains("teamcity.agent.jvm.os.name", "Linux")
        exists("python3.executable")
        settings.needs.distinct().forEach { exists(it) }
    }
    failureConditions {
        executionTimeoutMin = settings.limit
    }
}

/** A failed build's artifacts are taken too unless nothing can be done without its success: reports first, gates last. */
private fun BuildType.takes(
    from: BuildType,
    rules: String,
    failed: FailureAction = FailureAction.ADD_PROBLEM,
    reused: ReuseBuilds = ReuseBuilds.NO,
) {
    dependencies {
        dependency(from) {
            snapshot {
                onDependencyFailure = failed
                reuseBuilds = reused
            }
            artifacts {
                artifactRules = rules
                cleanDestination = true
            }
        }
    }
}

/** Of the last week in which one could be trained: a new ranker every night would hide what the engine does. */
private fun BuildType.takesLast(ranker: BuildType) {
    dependencies {
        artifacts(ranker) {
            artifactRules = "ranker.zip!** => ranker"
            buildRule = lastSuccessful()
        }
    }
}

private fun BuildType.everyNight(ofDay: Int, ofHour: Int) {
    triggers {
        schedule {
            schedulingPolicy = daily {
                hour = ofDay
                minute = ofHour
            }
            branchFilter = "+:<default>"
            triggerBuild = always()
            withPendingChangesOnly = false
        }
    }
}

/** Archives may lose the right to execute. */
private fun executable(folder: String) = "chmod -R u+x $folder"

/** The options of an engine that another build makes, which is unpacked into `engine`. */
private fun ownEngine(command: String, like: String) =
    option("engine-command", if (command.isEmpty()) command else "engine/$command") + option("engine-like", like)

/** The parameter that tells the parts of an evaluation, as agents and scripts know it. */
private const val SHARD = "env.CI_EVAL_SHARD"

/** The evaluation of one completion type. Its parts are a matrix: one configuration, whose builds publish side by side. */
private fun evaluation(night: CiEvalNight, type: String): BuildType = BuildType {
    id("Evaluate_${night.id}_$type")
    name = "Evaluate $type"
    val isWhole = night.shards == 1
    val folder = if (isWhole) "workspace" else "shard%$SHARD%"
    val part = "\$CI_EVAL_SHARD"
    // A command may be another program every night, and is always asked.
    val isReused = night.reuse && night.command.isEmpty()
    // The same commit of ci-eval alone: what another one was answered is not taken over.
    val commit = if (ciEval.isEmpty()) "%build.vcs.number%" else ciEval.substringAfterLast("@")
    val reusing = if (!isReused) emptyList() else listOf(
        "test \"\$(test -f earlier/commit && cat earlier/commit)\" = \"$commit\" || rm -rf earlier",
        "echo \"$commit\" > commit",
    )
    artifactRules = "$folder => $folder.zip" + if (isReused) "\ncommit => $folder.zip" else ""
    runs(
        night,
        listOf(
            "evaluate ${quoted(night.config)} --completion-type $type" +
                (if (type == "ML") " --model ranker/model.json" else "") +
                ownEngine(night.command, night.like) +
                (if (isReused) " --reuse earlier" else "") +
                (if (isWhole) " --output workspace" else " --shard \"$part/${night.shards}\" --output \"shard$part\""),
        ),
        before = reusing + if (night.engine == null) emptyList() else listOf(executable("engine")),
    )
    if (!isWhole) {
        features {
            // TeamCity counts the time of what a matrix depends on to its own, and so to `limit` (TW-76020).
            matrix { param(SHARD, (1..night.shards).map { value("$it", label = "$it of ${night.shards}") }) }
        }
    }
    if (isReused) {
        dependencies {
            artifacts(this@BuildType) {
                artifactRules = "?:$folder.zip!** => earlier"
                cleanDestination = true
                buildRule = lastSuccessful()
            }
        }
    }
    if (type == "ML") night.ranker?.let { takesLast(it) }
    night.engine?.let { takes(it.build, "${it.archive}!** => engine", FailureAction.FAIL_TO_START) }
    if (isWhole) failsOnLoss(night)
}

private fun BuildType.failsOnLoss(night: CiEvalNight) {
    failureConditions {
        failOnMetricChange {
            param("metricKey", "ci_eval.RecallAt1")
            threshold = night.mostLoss
            units = BuildFailureOnMetric.MetricUnit.PERCENTS
            comparison = BuildFailureOnMetric.MetricComparison.LESS
            compareTo = build { buildRule = lastSuccessful() }
        }
    }
}

/**
 * Tonight's workspace, of its parts if it has some, against the one of the last comparison that was green, which is in that
 * build's artifacts: tonight's evaluation is the last successful one already. The first night has none, so the rule is optional.
 */
private fun comparison(night: CiEvalNight, type: String, evaluation: BuildType): BuildType = BuildType {
    id("Compare_${night.id}_$type")
    name = "Compare $type with the last good night"
    artifactRules = """
        comparison => comparison.zip
        history => history.zip
        workspace => workspace.zip
    """.trimIndent()
    val parts = if (night.shards == 1) emptyList() else (1..night.shards).map { "shard$it" }
    val merging = if (parts.isEmpty()) emptyList() else listOf("merge ${parts.joinToString(" ")} --output workspace")
    runs(
        night,
        merging + (
            "compare \$(test -d base && echo base || echo --first-night) workspace --same-ranker --history history --output comparison" +
                night.gates.joinToString("") { option("gate", it) }
            ),
    )
    if (parts.isNotEmpty()) failsOnLoss(night)
    if (night.mail.isNotEmpty()) {
        features {
            notifications {
                notifierSettings = emailNotifier { email = night.mail }
                buildFailedToStart = true
                buildFailed = true
                // Of problems with a stable identity only the new ones are told.
                newBuildProblemOccurred = true
            }
        }
    }
    // Optional: a build that could not start would publish no history for the next night.
    takes(evaluation, (parts.ifEmpty { listOf("workspace") }).joinToString("\n") { "?:$it.zip!** => $it" })
    dependencies {
        artifacts(this@BuildType) {
            artifactRules = """
                ?:workspace.zip!** => base
                ?:history.zip!** => history
            """.trimIndent()
            buildRule = lastSuccessful()
        }
        // Red nights stay in the trend. A build that was stopped published nothing: then the last green one's history is left.
        artifacts(this@BuildType) {
            artifactRules = "?:history.zip!** => history"
            buildRule = lastFinished()
        }
    }
    if (night.daily) everyNight(night.hour, night.minute)
}

/** Of one unit, over the builds that have the figures of a whole night. */
private fun Project.chart(
    title: String, unit: String, metrics: List<String>, of: List<BuildType>, format: CustomChart.Format? = null,
) {
    features {
        projectCustomChart {
            this.title = title
            seriesTitle = unit
            this.format = format
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

private val shown = mutableListOf<Project>()

private val ranked = mutableListOf<Project>()

/** The reports as tabs of the builds; once for a project. */
private fun Project.reports() {
    if (shown.any { it === this }) return
    shown += this
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
}

/** Makes the engine that the builds of the project measure. Returns what `engine` takes. */
fun Project.ciEvalEngine(init: CiEvalEngine.() -> Unit): BuiltEngine {
    val engine = CiEvalEngine().apply(init)
    val build = BuildType {
        id("Engine_${engine.id}")
        name = "Engine"
        artifactRules = "${engine.output} => engine.zip"
        vcs { root(DslContext.settingsRoot) }
        steps { script { scriptContent = engine.make } }
        requirements { engine.needs.distinct().forEach { exists(it) } }
        failureConditions { executionTimeoutMin = engine.limit }
    }
    buildType(build)
    return BuiltEngine(build, "engine.zip")
}

/**
 * Every night: the configuration is evaluated, and compared with its last good night. Returns the comparisons, which have the
 * workspaces, one for each completion type.
 */
fun Project.ciEvalNight(init: CiEvalNight.() -> Unit): List<BuildType> {
    val night = CiEvalNight().apply(init)
    val types = listOfNotNull("BASIC", night.ranker?.let { "ML" })
    val evaluations = types.map { evaluation(night, it) }
    val comparisons = types.zip(evaluations) { type, evaluation -> comparison(night, type, evaluation) }
    (evaluations + comparisons).forEach { buildType(it) }
    reports()
    val wholes = if (night.shards == 1) evaluations else comparisons
    val shares = listOf("RecallAt1", "RecallAt5", "Recall", "MeanReciprocalRank")
    chart("Quality of ${night.id}", "Share", shares, wholes, CustomChart.Format.PERCENT_BY_1)
    chart("Latency of ${night.id}", "ms", listOf("LatencyPercentile50", "LatencyPercentile95"), wholes)
    return comparisons
}

/**
 * Starts all nights of a project and its subprojects at one time, and shows them as one build: a page whose parts, tests (the
 * gates) and problems are theirs. The trends of all are a tab of the project.
 */
fun Project.ciEvalNights(init: CiEvalNights.() -> Unit) {
    val all = CiEvalNights().apply(init)
    val comparisons = all.nights.flatten()
    val trends = BuildType {
        id("Trends_${all.id}")
        name = "Trends"
        artifactRules = "site => site.zip"
        runs(all, listOf("site histories --output site"))
        comparisons.forEach {
            takes(it, "?:history.zip!** => histories/${it.id}", FailureAction.IGNORE)
        }
    }
    val night = BuildType {
        id("Night_${all.id}")
        name = "Night"
        type = BuildTypeSettings.Type.COMPOSITE
        vcs { root(DslContext.settingsRoot) }
        dependencies {
            (comparisons + all.algorithms + trends).forEach { build ->
                dependency(build) {
                    snapshot {
                        onDependencyFailure = FailureAction.ADD_PROBLEM
                        reuseBuilds = ReuseBuilds.NO
                    }
                }
            }
        }
        everyNight(all.hour, all.minute)
    }
    buildType(trends)
    buildType(night)
    features {
        projectReportTab {
            title = "Trends"
            startPage = "site.zip!/index.html"
            buildType = "${trends.id}"
            sourceBuildRule = ProjectReportTab.SourceBuildRule.LAST_FINISHED
        }
    }
}

/** Every night: all evaluations of `nights` are ranked on one page, with a line for each in the trend. Returns the build. */
fun Project.ciEvalAlgorithms(init: CiEvalAlgorithms.() -> Unit): BuildType {
    val night = CiEvalAlgorithms().apply(init)
    val wholes = night.nights.flatten()
    // A folder for each evaluation, by the id of its build: its history is found by it.
    val folders = wholes.map { "evaluations/${it.id}" }
    val build =
        BuildType {
            id("Algorithms_${night.id}")
            name = "Compare algorithms"
            artifactRules = "algorithms => algorithms.zip\nhistory => history.zip"
            runs(
                night,
                listOf(
                    // An evaluation that left no workspace is not ranked, and has failed itself.
                    "ci algorithms ${folders.joinToString(" ") { "\$(test -d $it && echo $it)" }} --history history --output algorithms" +
                        night.gates.joinToString("") { option("gate", it) },
                ),
            )
            // What the night has evaluated is ranked; after a commit in between, a server evaluates it again.
            wholes.zip(folders) { whole, folder ->
                val reused = if (night.daily) ReuseBuilds.ANY else ReuseBuilds.NO
                takes(whole, "?:workspace.zip!** => $folder", FailureAction.IGNORE, reused)
            }
            dependencies {
                // Red nights stay in the trend; a file per night.
                artifacts(this@BuildType) {
                    artifactRules = "?:history.zip!** => history"
                    buildRule = lastFinished()
                }
            }
            if (night.daily) everyNight(night.hour, night.minute)
        }
    buildType(build)
    reports()
    if (ranked.none { it === this }) {
        ranked += this
        features {
            buildReportTab {
                title = "Algorithms"
                startPage = "algorithms.zip!/html/index.html"
            }
        }
    }
    return build
}

/** Logs of a modelled user over several projects, and the ranker they train, every week. Returns what nights take it from. */
fun Project.ciEvalLogs(init: CiEvalLogs.() -> Unit): BuildType {
    val logs = CiEvalLogs().apply(init)
    val build = BuildType {
        id("GenerateLogs_${logs.id}")
        name = "Generate logs"
        val folders = logs.projects.indices.map { "logs${it + 1}" }
        artifactRules = (folders + "ranker").joinToString("\n") { "$it => $it.zip" }
        val engine = ownEngine(logs.command, logs.like)
        runs(
            logs,
            logs.projects.zip(folders) { spec, folder ->
                "generate-ml-logs ${quoted(logs.config)}$engine --project ${quoted(spec)} --output $folder"
            } + ("train-ranker " + folders.joinToString(" ") + " --output ranker/model.json"),
            before = if (logs.engine == null) emptyList() else listOf(executable("engine")),
        )
        logs.engine?.let { takes(it.build, "${it.archive}!** => engine", FailureAction.FAIL_TO_START) }
        triggers {
            schedule {
                schedulingPolicy = weekly {
                    dayOfWeek = ScheduleTrigger.DAY.Sunday
                    hour = logs.hour
                    minute = logs.minute
                }
                branchFilter = "+:<default>"
                triggerBuild = always()
                withPendingChangesOnly = false
            }
        }
    }
    buildType(build)
    return build
}

/** Inputs of the job compare-engines are parameters: nothing of them becomes part of the script. */
private fun BuildType.comparesEngines(settings: CiEvalBuild, gates: List<String>, rounds: Int, like: String, before: List<String>) {
    artifactRules = "engines/comparison => comparison.zip"
    runs(settings, listOf("ci run compare-engines"), before)
    params {
        param("env.INPUT_CONFIG", settings.config)
        param("env.INPUT_GATES", gates.joinToString("\n"))
        param("env.INPUT_ROUNDS", "$rounds")
        param("env.INPUT_ENGINE_LIKE", like)
        param("env.INPUT_OUTPUT", "engines")
    }
}

/** On every pull request: its engine is compared with the default branch's, quality and times. */
fun Project.ciEvalPullRequest(init: CiEvalPullRequest.() -> Unit) {
    val change = CiEvalPullRequest().apply(init)
    val engine = change.engine
    buildType(
        BuildType {
            id("PullRequest_${change.id}")
            name = "Completion of a pull request"
            comparesEngines(
                change, change.gates, change.rounds, change.like,
                before = listOf(
                    "if ! [ -d base ]; then",
                    "  echo \"##teamcity[buildStatus text='no engine of the default branch yet to compare with']\"; exit 0",
                    "fi",
                    executable("base new"),
                ),
            )
            params {
                param("env.INPUT_BASE", "base/${change.command}")
                param("env.INPUT_NEW", "new/${change.command}")
            }
            takes(engine.build, "${engine.archive}!** => new", FailureAction.FAIL_TO_START)
            dependencies {
                artifacts(engine.build) {
                    artifactRules = "?:${engine.archive}!** => base"
                    cleanDestination = true
                    buildRule = lastSuccessful("+:<default>")
                }
            }
            triggers {
                vcs { branchFilter = change.branches }
            }
            features {
                pullRequests {
                    vcsRootExtId = "${DslContext.settingsRoot.id}"
                    provider = github {
                        authType = if (change.token.isEmpty()) vcsRoot() else token { token = change.token }
                        // A stranger's pull request would run its program on your agents.
                        filterAuthorRole = PullRequests.GitHubRoleFilter.MEMBER
                    }
                }
                if (change.token.isNotEmpty()) {
                    commitStatusPublisher {
                        vcsRootExtId = "${DslContext.settingsRoot.id}"
                        publisher = github {
                            githubUrl = "https://api.github.com"
                            authType = personalToken { token = change.token }
                        }
                    }
                }
            }
        },
    )
    reports()
}

/** By hand: two engines, or versions of one, are asked in turns. Who starts the build may name others. */
fun Project.ciEvalCompareAlgorithms(init: CiEvalCompareAlgorithms.() -> Unit) {
    val pair = CiEvalCompareAlgorithms().apply(init)
    buildType(
        BuildType {
            id("CompareAlgorithms_${pair.id}")
            name = "Compare two engines"
            comparesEngines(pair, pair.gates, pair.rounds, like = "", before = emptyList())
            params {
                text("env.INPUT_BASE", pair.base, label = "Base", display = ParameterDisplay.PROMPT, allowEmpty = false)
                text("env.INPUT_NEW", pair.new, label = "New", display = ParameterDisplay.PROMPT, allowEmpty = false)
                text("env.INPUT_PROJECT", "", label = "Project", display = ParameterDisplay.PROMPT, allowEmpty = true)
            }
        },
    )
    reports()
}
