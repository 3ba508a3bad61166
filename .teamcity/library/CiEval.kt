// Nights, pull requests, logs and comparisons of ci-eval for TeamCity's Kotlin DSL. Copy this file into the folder .teamcity of
// your repository, next to settings.kts: see docs/ci.md. The server must be TeamCity 2025.11 or newer.
package ci_eval

import jetbrains.buildServer.configs.kotlin.*
import jetbrains.buildServer.configs.kotlin.buildFeatures.*
import jetbrains.buildServer.configs.kotlin.buildSteps.script
import jetbrains.buildServer.configs.kotlin.failureConditions.*
import jetbrains.buildServer.configs.kotlin.projectFeatures.*
import jetbrains.buildServer.configs.kotlin.triggers.*

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

/** The options of all kinds of builds. `id` begins the ids of the builds, and is the only one of its kind in the project. */
open class CiEvalBuild {
    var id = "Completion"
    /** The configuration, a YAML file of the checkout. */
    var config = ""
    /** The repository that is checked out. */
    var vcsRoot: VcsRoot = DslContext.settingsRoot
    /** Parameters that an agent must have, such as `env.GOROOT`, if only some agents can do this. */
    var needs = emptyList<String>()
    /** Minutes after which a build is stopped. */
    var limit = 180
}

/** An engine of your own: its build, the command that starts it in the archive's folder, and the engine it is like. */
open class CiEvalAsking : CiEvalBuild() {
    var engine: BuiltEngine? = null
    var command = ""
    var like = ""
}

class CiEvalEngine : CiEvalBuild() {
    /** The command that makes the engine in a checkout, and the folder or file that it leaves. */
    var make = ""
    var output = "build"
}

class CiEvalNight : CiEvalAsking() {
    /** Parts of an evaluation that agents may run at the same time. */
    var shards = 1
    var gates = listOf("declared >= -2pp")
    /** The share in percent by which RecallAt1 may be below the last good night's before the evaluation itself fails. */
    var mostLoss = 5
    /** Whether it starts every night by itself: false if `ciEvalNights` starts it. */
    var daily = true
    var hour = 2; var minute = 23
    /** The address that gets a mail if a comparison fails in a new way; empty: nobody. */
    var mail = ""
    /** What `ciEvalLogs` returned: the nights evaluate its last ranker, too. */
    var ranker: BuildType? = null
    /** Whether a night takes over answers of the night before. False if the configuration has a command or an endpoint. */
    var reuse = true
}

class CiEvalPullRequest : CiEvalAsking() {
    var gates = listOf("RecallAt1 >= -1pp")
    var rounds = 3
    /** github, gitlab, bitbucketServer, bitbucketCloud or azureDevOps. */
    var provider = "github"
    /** The address of a server of your own, such as https://git.example.com; of Azure DevOps the project's page. */
    var server = ""
    /** Whose pull requests are built, at GitHub: a stranger's program would run on your agents. */
    var filter = PullRequests.GitHubRoleFilter.MEMBER_OR_COLLABORATOR
    /**
     * A token as TeamCity stores it (credentialsJSON:…), which reads pull requests and publishes the status of the commit.
     * Without one, `vcsRoot` must have a user's password or token; one that is anonymous or has an SSH key is not enough.
     */
    var token = ""
    /** The branches that are built; empty: those that the provider makes of pull requests. */
    var branches = ""
}

class CiEvalLogs : CiEvalAsking() {
    /** SPECs of the projects that rankers learn from. */
    var projects = emptyList<String>()
    /** On Sundays. */
    var hour = 5; var minute = 7
}

class CiEvalAlgorithms : CiEvalBuild() {
    /** What `ciEvalNight` returned for each engine, all on the same project: at least two evaluations. */
    var nights = emptyList<List<BuildType>>()
    /** Rules for each evaluation against the first one. */
    var gates = emptyList<String>()
    /** Whether it starts every night by itself: false if `ciEvalNights` starts it. */
    var daily = true
    var hour = 4; var minute = 23
}

class CiEvalNights : CiEvalBuild() {
    /** What `ciEvalNight` and `ciEvalAlgorithms` returned, with `daily = false`. */
    var nights = emptyList<List<BuildType>>()
    var algorithms = emptyList<BuildType>()
    var hour = 2; var minute = 23
}

class CiEvalCompareAlgorithms : CiEvalBuild() {
    var base = ""
    var new = ""
    var gates = emptyList<String>()
    var rounds = 3
}

/** Makes the engine that the builds of the project measure. Returns what `engine` takes. */
fun Project.ciEvalEngine(init: CiEvalEngine.() -> Unit): BuiltEngine {
    val engine = CiEvalEngine().apply(init)
    val build = build("Engine_${engine.id}", "Engine", engine) {
        // If a pull request is built, ciEvalPullRequest adds pulls() here: else the default branch would be built.
        artifactRules = "${literal(engine.output)} => engine.zip"
        steps { script { scriptContent = literal(engine.make) } }
    }
    return BuiltEngine(build, "engine.zip")
}

/**
 * Every night: the configuration is evaluated, and compared with its last good night. Returns the comparisons, which have the
 * workspaces, one for each completion type.
 */
fun Project.ciEvalNight(init: CiEvalNight.() -> Unit): List<BuildType> {
    val night = CiEvalNight().apply(init)
    val evaluations = listOfNotNull("BASIC", night.ranker?.let { "ML" }).associateWith { evaluation(night, it) }
    val comparisons = evaluations.map { (type, evaluation) -> comparison(night, type, evaluation) }
    reports()
    val wholes = if (night.shards == 1) evaluations.values.toList() else comparisons
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
    val trends = build("Trends_${all.id}", "Trends", all) {
        artifactRules = "site => site.zip"
        runs("site histories --output site")
        comparisons.forEach { takes(it, "?:history.zip!** => histories/${it.id}", FailureAction.IGNORE) }
    }
    build("Night_${all.id}", "Night", all) {
        type = BuildTypeSettings.Type.COMPOSITE
        (comparisons + all.algorithms + trends).forEach { takes(it) }
        every { schedulingPolicy = daily { hour = all.hour; minute = all.minute } }
    }
    features {
        projectReportTab {
            title = "Trends"; startPage = "site.zip!/index.html"
            buildType = "${trends.id}"; sourceBuildRule = ProjectReportTab.SourceBuildRule.LAST_FINISHED
        }
    }
}

/** Every night: all evaluations of `nights` are ranked on one page, with a line for each in the trend. Returns the build. */
fun Project.ciEvalAlgorithms(init: CiEvalAlgorithms.() -> Unit): BuildType {
    val night = CiEvalAlgorithms().apply(init)
    // A folder for each evaluation, by the id of its build: its history is found by it.
    val folders = night.nights.flatten().associateWith { "evaluations/${it.id}" }
    reports()
    tab("Algorithms", "algorithms.zip!/html/index.html")
    return build("Algorithms_${night.id}", "Compare algorithms", night) {
        artifactRules = "algorithms => algorithms.zip\nhistory => history.zip"
        // An evaluation that left no workspace is not ranked, and has failed itself.
        val workspaces = folders.values.joinToString(" ") { "\$(test -d $it && echo $it)" }
        runs("ci algorithms $workspaces --history history --output algorithms${options("gate", night.gates)}")
        // What the night has evaluated is ranked; after a commit in between, a server evaluates it again.
        val reused = if (night.daily) ReuseBuilds.ANY else ReuseBuilds.NO
        folders.forEach { (whole, folder) -> takes(whole, "?:workspace.zip!** => $folder", FailureAction.IGNORE, reused) }
        // Red nights stay in the trend; a file per night.
        takesEarlier(this, "?:history.zip!** => history") { buildRule = lastFinished() }
        if (night.daily) every { schedulingPolicy = daily { hour = night.hour; minute = night.minute } }
    }
}

/** Logs of a modelled user over several projects, and the ranker they train, every week. Returns what nights take it from. */
fun Project.ciEvalLogs(init: CiEvalLogs.() -> Unit): BuildType {
    val logs = CiEvalLogs().apply(init)
    return build("GenerateLogs_${logs.id}", "Generate logs", logs) {
        val folders = logs.projects.indices.map { "logs${it + 1}" }
        artifactRules = (folders + "ranker").joinToString("\n") { "$it => $it.zip" }
        val generating = logs.projects.zip(folders) { spec, folder ->
            "generate-ml-logs ${quoted(logs.config)}${engine(logs)} --project ${quoted(spec)} --output $folder"
        }
        runs(generating + "train-ranker ${folders.joinToString(" ")} --output ranker/model.json", unpacked(logs))
        every { schedulingPolicy = weekly { dayOfWeek = ScheduleTrigger.DAY.Sunday; hour = logs.hour; minute = logs.minute } }
    }
}

/** On every pull request: its engine is compared with the default branch's, quality and times. */
fun Project.ciEvalPullRequest(init: CiEvalPullRequest.() -> Unit) {
    val change = CiEvalPullRequest().apply(init)
    val engine = requireNotNull(change.engine) { "ciEvalPullRequest needs the option engine: what ciEvalEngine returned" }
    build("PullRequest_${change.id}", "Completion of a pull request", change) {
        comparesEngines(change, change.gates, change.rounds, change.like, executable("base new"))
        params {
            param("env.INPUT_BASE", "base/${literal(change.command)}")
            param("env.INPUT_NEW", "new/${literal(change.command)}")
        }
        takes(engine.build, "${literal(engine.archive)}!** => new", FailureAction.FAIL_TO_START)
        // Not optional: without an engine of the default branch, nothing would be compared, and the build must not be green.
        takesEarlier(engine.build, "${literal(engine.archive)}!** => base") { buildRule = lastSuccessful("+:<default>") }
        triggers { vcs { branchFilter = change.branches.ifEmpty { BRANCHES[change.provider] ?: "+:pull/*" } } }
        features {
            pullRequests { pulls(change) }
            if (change.token.isNotEmpty()) commitStatusPublisher { publishes(change) }
        }
    }
    // A build of the chain that lacks the feature is one of the default branch.
    (listOf(engine.build) + chain(engine.build)).filter { it.features.items.none { it is PullRequests } }.forEach {
        it.features {
            pullRequests { pulls(change) }
        }
    }
    reports()
}

/** By hand: two engines, or versions of one, are asked in turns. Who starts the build may name others. */
fun Project.ciEvalCompareAlgorithms(init: CiEvalCompareAlgorithms.() -> Unit) {
    val pair = CiEvalCompareAlgorithms().apply(init)
    build("CompareAlgorithms_${pair.id}", "Compare two engines", pair) {
        comparesEngines(pair, pair.gates, pair.rounds)
        params {
            text("env.INPUT_BASE", literal(pair.base), label = "Base", display = ParameterDisplay.PROMPT, allowEmpty = false)
            text("env.INPUT_NEW", literal(pair.new), label = "New", display = ParameterDisplay.PROMPT, allowEmpty = false)
            text("env.INPUT_PROJECT", "", label = "Project", display = ParameterDisplay.PROMPT, allowEmpty = true)
        }
    }
    reports()
}

/** The evaluation of one completion type. Its parts are a matrix: one configuration, whose builds publish to one place. */
private fun Project.evaluation(night: CiEvalNight, type: String) = build("Evaluate_${night.id}_$type", "Evaluate $type", night) {
    val shard = "env.CI_EVAL_SHARD"
    val isWhole = night.shards == 1
    val folder = if (isWhole) "workspace" else "shard%$shard%"
    val output = if (isWhole) "workspace" else "\"shard\$CI_EVAL_SHARD\" --shard \"\$CI_EVAL_SHARD/${night.shards}\""
    // A command may be another program every night, and is always asked.
    val isReused = night.reuse && night.command.isEmpty()
    // Only answers of the same commit of ci-eval are taken over.
    val commit = if (ciEval.isEmpty()) "%build.vcs.number%" else ciEval.substringAfterLast("@")
    val reusing = if (!isReused) emptyList() else listOf(
        "test \"\$(test -f earlier/commit && cat earlier/commit)\" = \"$commit\" || rm -rf earlier",
        "echo \"$commit\" > commit",
    )
    artifactRules = "$folder => $folder.zip" + if (isReused) "\ncommit => $folder.zip" else ""
    val ranking = if (type == "ML") " --model ranker/model.json" else ""
    val earlier = if (isReused) " --reuse earlier" else ""
    runs(
        listOf("evaluate ${quoted(night.config)} --completion-type $type$ranking${engine(night)}$earlier --output $output"),
        reusing + unpacked(night),
    )
    if (isReused) takesEarlier(this, "?:$folder.zip!** => earlier")
    // A ranker of the last week in which one could be trained: a new one every night would hide what the engine does.
    if (type == "ML") night.ranker?.let { takesEarlier(it, "ranker.zip!** => ranker") }
    // TeamCity counts the time of what a matrix depends on to the matrix, and so to `limit` (TW-76020).
    if (isWhole) failsOnLoss(night) else features {
        matrix { param(shard, (1..night.shards).map { value("$it", label = "$it of ${night.shards}") }) }
    }
}

/**
 * Tonight's workspace, of its parts if it has some, against the one of the last comparison that was green, which is in that
 * build's artifacts: tonight's evaluation is the last successful one already. The first night has none, so the rule is optional.
 */
private fun Project.comparison(night: CiEvalNight, type: String, evaluation: BuildType) =
    build("Compare_${night.id}_$type", "Compare $type with the last good night", night) {
        artifactRules = "comparison => comparison.zip\nhistory => history.zip\nworkspace => workspace.zip"
        val parts = if (night.shards == 1) emptyList() else (1..night.shards).map { "shard$it" }
        val merging = if (parts.isEmpty()) emptyList() else listOf("merge ${parts.joinToString(" ")} --output workspace")
        val sides = "\$(test -d base && echo base || echo --first-night) workspace --same-ranker --history history --output comparison"
        runs(merging + "compare $sides${options("gate", night.gates)}")
        if (parts.isNotEmpty()) failsOnLoss(night)
        if (night.mail.isNotEmpty()) features {
            notifications {
                notifierSettings = emailNotifier { email = literal(night.mail) }
                // Of problems with a stable identity, only the new ones are mailed.
                buildFailedToStart = true; buildFailed = true; newBuildProblemOccurred = true
            }
        }
        // Optional: a build that could not start would publish no history for the next night.
        takes(evaluation, parts.ifEmpty { listOf("workspace") }.joinToString("\n") { "?:$it.zip!** => $it" })
        takesEarlier(this, "?:workspace.zip!** => base\n?:history.zip!** => history")
        // Red nights stay in the trend. A build that was stopped published nothing: then the last green one's history is left.
        takesEarlier(this, "?:history.zip!** => history") { buildRule = lastFinished() }
        if (night.daily) every { schedulingPolicy = daily { hour = night.hour; minute = night.minute } }
    }

private fun Project.build(id: String, name: String, settings: CiEvalBuild, init: BuildType.() -> Unit): BuildType {
    val build = BuildType {
        id(id)
        this.name = name
        vcs { root(settings.vcsRoot) }
        failureConditions { executionTimeoutMin = settings.limit }
        requirements { settings.needs.distinct().forEach { exists(it) } }
        (settings as? CiEvalAsking)?.engine?.takeIf { settings !is CiEvalPullRequest }?.let {
            takes(it.build, "${literal(it.archive)}!** => engine", FailureAction.FAIL_TO_START)
        }
        init()
    }
    buildType(build)
    return build
}

/** A value as TeamCity reads it as it is: a per cent sign begins a parameter there. */
private fun literal(value: String) = value.replace("%", "%%")

private fun quoted(value: String) = "'" + literal(value).replace("'", "'\\''") + "'"

private fun options(name: String, values: List<String>) =
    values.filter { it.isNotEmpty() }.joinToString("") { " --$name ${quoted(it)}" }

/** The options of an engine that another build makes, which is unpacked into the folder `engine`. */
private fun engine(asking: CiEvalAsking): String {
    val command = if (asking.command.isEmpty()) "" else "engine/${asking.command}"
    return options("engine-command", listOf(command)) + options("engine-like", listOf(asking.like))
}

/** Archives may lose the right to execute. */
private fun executable(folders: String) = listOf("chmod -R u+x $folders")

private fun unpacked(asking: CiEvalAsking) = if (asking.engine == null) emptyList() else executable("engine")

private fun BuildType.runs(command: String) = runs(listOf(command))

/** `before`: lines of a shell that come before the commands of ci-eval. */
private fun BuildType.runs(commands: List<String>, before: List<String> = emptyList()) {
    val isOwn = ciEval.isEmpty()
    params {
        // Where run.py puts the environment that it makes; otherwise the agent keeps one with ci-eval.
        if (isOwn) param("env.RUNNER_TEMP", "%system.teamcity.build.tempDir%")
        if (!isOwn) param("env.INPUT_SOURCE", literal(ciEval.substringBeforeLast("@")))
        if (!isOwn) param("env.INPUT_COMMIT", ciEval.substringAfterLast("@"))
    }
    // What the night before left in the agent's folder is no workspace of tonight's.
    vcs { cleanCheckout = true }
    val program = if (isOwn) ".teamcity/run.py" else "\"\$folder/.teamcity/run.py\""
    steps {
        script {
            name = "ci-eval"
            val lines = listOf("set -eu") + (if (isOwn) emptyList() else fetch) + before
            scriptContent = (lines + commands.map { "python3 $program $it" }).joinToString("\n")
        }
    }
    requirements { contains("teamcity.agent.jvm.os.name", "Linux"); exists("python3.executable") }
}

/** Inputs of the job compare-engines are parameters: nothing of them becomes part of the script. */
private fun BuildType.comparesEngines(
    settings: CiEvalBuild, gates: List<String>, rounds: Int, like: String = "", before: List<String> = emptyList(),
) {
    artifactRules = "engines/comparison => comparison.zip"
    runs(listOf("ci run compare-engines"), before)
    params {
        param("env.INPUT_CONFIG", literal(settings.config))
        param("env.INPUT_GATES", literal(gates.joinToString("\n")))
        param("env.INPUT_ROUNDS", "$rounds")
        param("env.INPUT_ENGINE_LIKE", literal(like))
        param("env.INPUT_OUTPUT", "engines")
    }
}

/** A failed build's artifacts are taken too unless nothing can be done without its success: reports first, gates last. */
private fun BuildType.takes(
    from: BuildType, rules: String = "", failed: FailureAction = FailureAction.ADD_PROBLEM, reused: ReuseBuilds = ReuseBuilds.NO,
) {
    dependencies {
        dependency(from) {
            snapshot { onDependencyFailure = failed; reuseBuilds = reused }
            if (rules.isNotEmpty()) artifacts { artifactRules = rules }
        }
    }
}

private fun BuildType.takesEarlier(
    from: BuildType, rules: String, which: ArtifactDependency.() -> Unit = { buildRule = lastSuccessful() },
) {
    dependencies { artifacts(from) { artifactRules = rules; which() } }
}

private fun BuildType.every(time: ScheduleTrigger.() -> Unit) {
    triggers {
        schedule { time(); branchFilter = "+:<default>"; triggerBuild = always(); withPendingChangesOnly = false }
    }
}

private fun BuildType.failsOnLoss(night: CiEvalNight) {
    failureConditions {
        failOnMetricChange {
            param("metricKey", "ci_eval.RecallAt1")
            threshold = night.mostLoss; units = BuildFailureOnMetric.MetricUnit.PERCENTS
            comparison = BuildFailureOnMetric.MetricComparison.LESS
            compareTo = build { buildRule = lastSuccessful() }
        }
    }
}

/** The builds that a build depends on by snapshots. */
private fun chain(of: BuildType): List<BuildType> =
    of.dependencies.items.filter { it.snapshot != null }.mapNotNull { it.buildTypeId as? BuildType }
        .flatMap { listOf(it) + chain(it) }

/** Providers whose pull requests are other branches than pull/NUMBER. Bitbucket has none: there, their own branches are built. */
private val BRANCHES = mapOf(
    "gitlab" to "+:merge-requests/*", "bitbucketServer" to "+:*\n-:<default>", "bitbucketCloud" to "+:*\n-:<default>",
)

private fun PullRequests.pulls(change: CiEvalPullRequest) {
    val address = change.server.ifEmpty { null }
    val secret = change.token
    vcsRootExtId = "${change.vcsRoot.id}"
    provider = when (change.provider) {
        "github" -> github {
            serverUrl = address; filterAuthorRole = change.filter
            authType = if (secret.isEmpty()) vcsRoot() else token { token = secret }
        }
        "gitlab" -> gitlab { serverUrl = address; authType = if (secret.isEmpty()) vcsRoot() else token { token = secret } }
        "bitbucketServer" -> bitbucketServer {
            serverUrl = address; authType = if (secret.isEmpty()) vcsRoot() else token { token = secret }
        }
        "bitbucketCloud" -> bitbucketCloud { authType = if (secret.isEmpty()) vcsRoot() else token { token = secret } }
        "azureDevOps" -> azureDevOps { projectUrl = address; authType = token { token = secret } }
        else -> error("provider is ${change.provider}: use github, gitlab, bitbucketServer, bitbucketCloud or azureDevOps")
    }
}

/** Bitbucket's status is published by the credentials of the VCS root, since its publisher takes no token. */
private fun CommitStatusPublisher.publishes(change: CiEvalPullRequest) {
    val secret = change.token
    vcsRootExtId = "${change.vcsRoot.id}"
    publisher = when (change.provider) {
        "gitlab" -> gitlab {
            gitlabApiUrl = "${change.server.ifEmpty { "https://gitlab.com" }}/api/v4"; authType = personalToken { accessToken = secret }
        }
        "bitbucketServer" -> bitbucketServer { url = change.server; authType = vcsRoot() }
        "bitbucketCloud" -> bitbucketCloud { authType = vcsRoot() }
        "azureDevOps" -> azureDevOps { authType = personalToken { accessToken = secret } }
        else -> github {
            githubUrl = if (change.server.isEmpty()) "https://api.github.com" else "${change.server}/api/v3"
            authType = personalToken { token = secret }
        }
    }
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
                metrics.map { CustomChart.Serie("$it, ${build.name}", CustomChart.SeriesKey("ci_eval.$it"), "${build.id}") }
            }
        }
    }
}

private val tabs = mutableSetOf<Pair<Project, String>>()

/** A report as a tab of the builds; once for a project. */
private fun Project.tab(title: String, page: String) {
    if (tabs.add(this to title)) features { buildReportTab { this.title = title; startPage = page } }
}

private fun Project.reports() {
    tab("Completion quality", "workspace.zip!/reports/html/index.html")
    tab("Comparison", "comparison.zip!/html/index.html")
}
