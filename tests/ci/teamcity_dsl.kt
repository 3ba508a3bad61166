// A stub of TeamCity's Kotlin DSL: the names and types that .teamcity/settings.kts uses, after the public documentation
// (Kotlin DSL reference, 2025.11: jetbrains.com/help/teamcity/kotlin-dsl-documentation/, root/requirements, root/custom-chart,
// root/build-type-settings/type, root/matrix-feature, projectFeatures/project-report-tab, buildFeatures/notifications, …). Where that has no signature, after scripts that servers have exported. It records what is declared and prints it as JSON. It cannot prove that TeamCity's own
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

enum class ParameterDisplay { NORMAL, HIDDEN, PROMPT }

enum class ReuseBuilds { NO, SUCCESSFUL, ANY }

interface IdOwner { var id: RelativeId? }

@TeamCityDsl
open class VcsRoot() : IdOwner {
    constructor(init: VcsRoot.() -> Unit) : this() { init() }
    override var id: RelativeId? = null
    var name = ""
    fun id(id: String) { this.id = RelativeId(id) }
}

/** An id within the project that the settings are of; as a text it is the whole one, as exported scripts use it. */
class RelativeId(val value: String) {
    override fun toString() = "${DslContext.projectId}_$value"
}

object DslContext {
    val projectId = "CiEval"
    val settingsRoot: VcsRoot = VcsRoot { id("Settings") }
}

@TeamCityDsl
class VcsSettings {
    val roots = mutableListOf<VcsRoot>()
    var cleanCheckout = false
    fun root(root: VcsRoot) { roots += root }
}

@TeamCityDsl
class ParametrizedWithType {
    val all = mutableMapOf<String, String>()
    val prompted = mutableListOf<String>()
    fun param(name: String, value: String) { all[name] = value }
    fun text(
        name: String,
        value: String,
        label: String? = null,
        description: String? = null,
        display: ParameterDisplay = ParameterDisplay.NORMAL,
        readOnly: Boolean = false,
        regex: String? = null,
        validationMessage: String? = null,
        allowEmpty: Boolean = false,
        allowMultiple: Boolean = false,
    ) {
        all[name] = value
        if (display == ParameterDisplay.PROMPT) prompted += name
    }
}

class Requirement(val param: String, val type: String, val value: String?)

@TeamCityDsl
class Requirements {
    val all = mutableListOf<Requirement>()
    fun contains(param: String, value: String, id: String? = null) { all += Requirement(param, "contains", value) }
    fun exists(param: String, id: String? = null) { all += Requirement(param, "exists", null) }
}

open class BuildFeature

@TeamCityDsl
class MatrixFeature {
    data class Value(val value: String, val label: String? = null)
    val all = mutableMapOf<String, List<Value>>()
    fun value(value: String, label: String? = null) = Value(value, label)
    fun param(name: String, values: List<Value>) { all[name] = values }
}

fun BuildFeatures.matrix(init: MatrixFeature.() -> Unit = {}) { matrices += MatrixFeature().apply(init) }

@TeamCityDsl
class BuildFeatures {
    val matrices = mutableListOf<MatrixFeature>()
    val notifications = mutableListOf<jetbrains.buildServer.configs.kotlin.buildFeatures.Notifications>()
    val items = mutableListOf<BuildFeature>()
}

@TeamCityDsl
sealed class CustomChart {
    enum class Format { DURATION, PERCENT, PERCENT_BY_1, SIZE, TEXT, INTEGER }
    class SeriesKey(val key: String)
    abstract class AbstractSeries(var title: String, var color: String?)
    class Serie(title: String, var key: SeriesKey, var sourceBuildTypeId: String? = null, color: String? = null) :
        AbstractSeries(title, color)
    var id: String? = null
    var title: String? = null
    var seriesTitle: String? = null
    var format: Format? = null
    var series: List<AbstractSeries>? = null
}

class ProjectCustomChart(init: CustomChart.() -> Unit = {}) : CustomChart() { init { init() } }

fun ProjectFeatures.projectCustomChart(init: CustomChart.() -> Unit = {}) { charts += ProjectCustomChart(init) }

class ScriptStep {
    var name = ""
    var scriptContent = ""
}

@TeamCityDsl
class BuildSteps { val scripts = mutableListOf<ScriptStep>() }

@TeamCityDsl
class Triggers {
    val schedules = mutableListOf<jetbrains.buildServer.configs.kotlin.triggers.ScheduleTrigger>()
    val vcs = mutableListOf<jetbrains.buildServer.configs.kotlin.triggers.VcsTrigger>()
}

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

class Dependency(val buildTypeId: IdOwner) {
    var snapshot: SnapshotDependency? = null
    val artifacts = mutableListOf<ArtifactDependency>()
    fun snapshot(init: SnapshotDependency.() -> Unit) { snapshot = SnapshotDependency().apply(init) }
    fun artifacts(init: ArtifactDependency.() -> Unit) { artifacts += ArtifactDependency().apply(init) }
}

@TeamCityDsl
class Dependencies {
    val items = mutableListOf<Dependency>()
    fun dependency(on: IdOwner, init: Dependency.() -> Unit) { items += Dependency(on).apply(init) }
    fun artifacts(on: IdOwner, init: ArtifactDependency.() -> Unit) { dependency(on) { artifacts(init) } }
}

open class BuildTypeSettings {
    enum class Type { REGULAR, COMPOSITE, DEPLOYMENT }
    var type = Type.REGULAR
}

@TeamCityDsl
open class BuildType() : BuildTypeSettings(), IdOwner {
    constructor(init: BuildType.() -> Unit) : this() { init() }
    override var id: RelativeId? = null
    var name = ""
    var description = ""
    var artifactRules = ""
    val vcs = VcsSettings()
    val steps = BuildSteps()
    val triggers = Triggers()
    val failureConditions = FailureConditions()
    val dependencies = Dependencies()
    val params = ParametrizedWithType()
    val requirements = Requirements()
    val features = BuildFeatures()
    fun id(id: String) { this.id = RelativeId(id) }
    fun params(init: ParametrizedWithType.() -> Unit) = params.init()
    fun requirements(init: Requirements.() -> Unit) = requirements.init()
    fun features(init: BuildFeatures.() -> Unit) = features.init()
    fun vcs(init: VcsSettings.() -> Unit) = vcs.init()
    fun steps(init: BuildSteps.() -> Unit) = steps.init()
    fun triggers(init: Triggers.() -> Unit) = triggers.init()
    fun failureConditions(init: FailureConditions.() -> Unit) = failureConditions.init()
    fun dependencies(init: Dependencies.() -> Unit) = dependencies.init()
}

@TeamCityDsl
class ProjectFeatures {
    val tabs = mutableListOf<jetbrains.buildServer.configs.kotlin.projectFeatures.BuildReportTab>()
    val projectTabs = mutableListOf<jetbrains.buildServer.configs.kotlin.projectFeatures.ProjectReportTab>()
    val charts = mutableListOf<ProjectCustomChart>()
}

@TeamCityDsl
open class Project() {
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
    val made = Project().apply(init)
    builds(made).forEach { check(it) }
    println(json(made))
}

private fun builds(project: Project): List<BuildType> = project.buildTypes + project.subProjects.flatMap { builds(it) }

private fun pulls(build: BuildType) =
    build.features.items.filterIsInstance<jetbrains.buildServer.configs.kotlin.buildFeatures.PullRequests>()

/**
 * The vendor's rule (help page Pull Requests): each build configuration of a chain has the feature, else the default branch is
 * checked out there; and what the feature adds is branches of a VCS root, which the build must have.
 */
private fun check(build: BuildType, chained: BuildType = build) {
    val wanted = pulls(build).map { it.described() }
    if (wanted.isEmpty()) return
    val found = pulls(chained).map { it.described() }
    require(found.size == 1) { "${chained.id} has ${found.size} features Pull Requests, and is in the chain of ${build.id}" }
    require(found == wanted) { "${chained.id} has other pull requests than ${build.id}: $found, $wanted" }
    require(chained.vcs.roots.any { found[0].startsWith("${it.id} ") }) { "${chained.id} lacks the VCS root of $found" }
    chained.dependencies.items.filter { it.snapshot != null }.forEach { check(build, it.buildTypeId as BuildType) }
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
    "charts" to list(project.features.charts.map { json(it) }),
    "tabs" to list(project.features.tabs.map { quoted(it.startPage) }),
    "projectTabs" to list(project.features.projectTabs.map { list(it.described().map { text -> quoted(text) }) }),
    "buildTypes" to list(project.buildTypes.map { json(it) }),
    "subProjects" to list(project.subProjects.map { json(it) }),
)

private fun json(chart: CustomChart): String = fields(
    "title" to quoted(chart.title ?: ""),
    "format" to (chart.format?.let { quoted(it.name) } ?: "null"),
    "series" to list(
        (chart.series ?: emptyList()).filterIsInstance<CustomChart.Serie>().map {
            fields("title" to quoted(it.title), "key" to quoted(it.key.key), "of" to quoted(it.sourceBuildTypeId ?: ""))
        },
    ),
)

private fun json(build: BuildType): String = fields(
    "id" to quoted(build.id?.value ?: ""),
    "params" to build.params.all.entries.joinToString(",", "{", "}") { quoted(it.key) + ":" + quoted(it.value) },
    "requirements" to list(
        build.requirements.all.map { list(listOfNotNull(it.param, it.type, it.value).map { each -> quoted(each) }) },
    ),
    "prompted" to list(build.params.prompted.map { quoted(it) }),
    "branches" to list(build.triggers.vcs.map { quoted(it.branchFilter) }),
    "pulls" to list(pulls(build).map { quoted(it.described()) }),
    "statuses" to list(
        build.features.items.filterIsInstance<jetbrains.buildServer.configs.kotlin.buildFeatures.CommitStatusPublisher>()
            .map { quoted(it.described()) },
    ),
    "mailed" to list(build.features.notifications.map { quoted(it.notifierSettings?.email ?: "") }),
    "name" to quoted(build.name),
    "type" to quoted(build.type.name),
    "matrix" to build.features.matrices.flatMap { it.all.entries }.joinToString(",", "{", "}") { parameter ->
        quoted(parameter.key) + ":" + list(parameter.value.map { quoted(it.value) })
    },
    "artifactRules" to quoted(build.artifactRules),
    "vcs" to list(build.vcs.roots.map { quoted("${it.id}") }),
    "clean" to build.vcs.cleanCheckout.toString(),
    "scripts" to list(build.steps.scripts.map { quoted(it.scriptContent) }),
    "timeout" to build.failureConditions.executionTimeoutMin.toString(),
    "metrics" to list(build.failureConditions.metrics.map { quoted(it.params["metricKey"] ?: "") }),
    "schedules" to list(build.triggers.schedules.map { json(it) }),
    "dependencies" to list(build.dependencies.items.map { json(it) }),
)

private fun json(trigger: jetbrains.buildServer.configs.kotlin.triggers.ScheduleTrigger): String = fields(
    "weekly" to (trigger.schedulingPolicy is jetbrains.buildServer.configs.kotlin.triggers.Weekly).toString(),
    "hour" to (trigger.schedulingPolicy?.hour ?: -1).toString(),
    "minute" to (trigger.schedulingPolicy?.minute ?: -1).toString(),
    "branchFilter" to quoted(trigger.branchFilter),
    "always" to (trigger.triggerBuild == "always").toString(),
    "withPendingChangesOnly" to trigger.withPendingChangesOnly.toString(),
)

private fun json(dependency: Dependency): String = fields(
    "on" to quoted(dependency.buildTypeId.id?.value ?: ""),
    "snapshot" to (dependency.snapshot?.let { quoted(it.onDependencyFailure.name) } ?: "null"),
    "reuse" to (dependency.snapshot?.let { quoted(it.reuseBuilds.name) } ?: "null"),
    "artifacts" to list(
        dependency.artifacts.map {
            fields(
                "rules" to quoted(it.artifactRules),
                "from" to quoted(it.buildRule.javaClass.simpleName),
                "branch" to quoted((it.buildRule as? LastSuccessful)?.branch ?: ""),
            )
        },
    ),
)
