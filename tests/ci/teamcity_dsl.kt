// A stub of TeamCity's Kotlin DSL: the names and types that .teamcity/settings.kts uses, after the public documentation
// (Kotlin DSL reference, 2025.11). It records what is declared and prints it as JSON. It cannot prove that TeamCity's own
// DSL is the same.
package jetbrains.buildServer.configs.kotlin

@DslMarker
annotation class TeamCityDsl

var version: String = ""

interface BuildRule

class LastSuccessful(val branch: String?) : BuildRule

class LastFinished(val branch: String?) : BuildRule

class SameChain : BuildRule

enum class FailureAction { FAIL_TO_START, CANCEL, ADD_PROBLEM, IGNORE }

enum class ReuseBuilds { NO, SUCCESSFUL, ANY }

open class SettingsVcsRoot

object DslContext {
    val settingsRoot = SettingsVcsRoot()
}

@TeamCityDsl
class VcsSettings {
    val roots = mutableListOf<SettingsVcsRoot>()
    var cleanCheckout = false
    fun root(root: SettingsVcsRoot) { roots += root }
}

class ScriptStep {
    var name = ""
    var scriptContent = ""
}

@TeamCityDsl
class BuildSteps { val scripts = mutableListOf<ScriptStep>() }

@TeamCityDsl
class Triggers { val schedules = mutableListOf<jetbrains.buildServer.configs.kotlin.triggers.ScheduleTrigger>() }

@TeamCityDsl
class FailureConditions {
    var executionTimeoutMin = 0
    val metrics = mutableListOf<jetbrains.buildServer.configs.kotlin.failureConditions.BuildFailureOnMetric>()
}

@TeamCityDsl
class SnapshotDependency {
    var onDependencyFailure = FailureAction.ADD_PROBLEM
    var reuseBuilds = ReuseBuilds.SUCCESSFUL
}

@TeamCityDsl
class ArtifactDependency {
    var artifactRules = ""
    var cleanDestination = false
    var buildRule: BuildRule = SameChain()
    fun lastSuccessful(branch: String? = null): BuildRule = LastSuccessful(branch)
    fun lastFinished(branch: String? = null): BuildRule = LastFinished(branch)
}

class Dependency(val on: BuildType) {
    var snapshot: SnapshotDependency? = null
    val artifacts = mutableListOf<ArtifactDependency>()
    fun snapshot(init: SnapshotDependency.() -> Unit) { snapshot = SnapshotDependency().apply(init) }
    fun artifacts(init: ArtifactDependency.() -> Unit) { artifacts += ArtifactDependency().apply(init) }
}

@TeamCityDsl
class Dependencies {
    val all = mutableListOf<Dependency>()
    fun dependency(on: BuildType, init: Dependency.() -> Unit) { all += Dependency(on).apply(init) }
    fun artifacts(on: BuildType, init: ArtifactDependency.() -> Unit) { dependency(on) { artifacts(init) } }
}

@TeamCityDsl
class BuildType() {
    constructor(init: BuildType.() -> Unit) : this() { init() }
    var id = ""
    var name = ""
    var description = ""
    var artifactRules = ""
    val vcs = VcsSettings()
    val steps = BuildSteps()
    val triggers = Triggers()
    val failureConditions = FailureConditions()
    val dependencies = Dependencies()
    fun id(id: String) { this.id = id }
    fun vcs(init: VcsSettings.() -> Unit) = vcs.init()
    fun steps(init: BuildSteps.() -> Unit) = steps.init()
    fun triggers(init: Triggers.() -> Unit) = triggers.init()
    fun failureConditions(init: FailureConditions.() -> Unit) = failureConditions.init()
    fun dependencies(init: Dependencies.() -> Unit) = dependencies.init()
}

@TeamCityDsl
class ProjectFeatures { val tabs = mutableListOf<jetbrains.buildServer.configs.kotlin.projectFeatures.BuildReportTab>() }

@TeamCityDsl
class Project() {
    constructor(init: Project.() -> Unit) : this() { init() }
    var id = ""
    var name = ""
    var description = ""
    val buildTypes = mutableListOf<BuildType>()
    val subProjects = mutableListOf<Project>()
    val features = ProjectFeatures()
    fun id(id: String) { this.id = id }
    fun buildType(buildType: BuildType) { buildTypes += buildType }
    fun subProject(project: Project) { subProjects += project }
    fun features(init: ProjectFeatures.() -> Unit) = features.init()
}

fun project(init: Project.() -> Unit) {
    println(json(Project().apply(init)))
}

private fun quoted(text: String): String {
    val out = StringBuilder("\"")
    for (c in text) {
        if (c == '"' || c == '\\') out.append('\\').append(c)
        else if (c < ' ') out.append("\\u%04x".format(c.code))
        else out.append(c)
    }
    return out.append('"').toString()
}

private fun list(items: List<String>) = items.joinToString(",", "[", "]")

private fun fields(vararg pairs: Pair<String, String>) =
    pairs.joinToString(",", "{", "}") { quoted(it.first) + ":" + it.second }

private fun json(project: Project): String = fields(
    "version" to quoted(version),
    "id" to quoted(project.id),
    "name" to quoted(project.name),
    "tabs" to list(project.features.tabs.map { quoted(it.startPage) }),
    "buildTypes" to list(project.buildTypes.map { json(it) }),
    "subProjects" to list(project.subProjects.map { json(it) }),
)

private fun json(build: BuildType): String = fields(
    "id" to quoted(build.id),
    "name" to quoted(build.name),
    "artifactRules" to quoted(build.artifactRules),
    "vcs" to build.vcs.roots.size.toString(),
    "clean" to build.vcs.cleanCheckout.toString(),
    "scripts" to list(build.steps.scripts.map { quoted(it.scriptContent) }),
    "timeout" to build.failureConditions.executionTimeoutMin.toString(),
    "metrics" to list(build.failureConditions.metrics.map { quoted(it.params["metricKey"] ?: "") }),
    "schedules" to list(build.triggers.schedules.map { json(it) }),
    "dependencies" to list(build.dependencies.all.map { json(it) }),
)

private fun json(trigger: jetbrains.buildServer.configs.kotlin.triggers.ScheduleTrigger): String = fields(
    "hour" to (trigger.schedulingPolicy?.hour ?: -1).toString(),
    "minute" to (trigger.schedulingPolicy?.minute ?: -1).toString(),
    "branchFilter" to quoted(trigger.branchFilter),
    "always" to (trigger.triggerBuild == "always").toString(),
    "withPendingChangesOnly" to trigger.withPendingChangesOnly.toString(),
)

private fun json(dependency: Dependency): String = fields(
    "on" to quoted(dependency.on.id),
    "snapshot" to (dependency.snapshot?.let { quoted(it.onDependencyFailure.name) } ?: "null"),
    "artifacts" to list(
        dependency.artifacts.map {
            fields("rules" to quoted(it.artifactRules), "from" to quoted(it.buildRule.javaClass.simpleName))
        },
    ),
)
