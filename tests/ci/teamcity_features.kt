package jetbrains.buildServer.configs.kotlin.projectFeatures

import jetbrains.buildServer.configs.kotlin.ProjectFeatures

class BuildReportTab {
    var title = ""
    var startPage = ""
}

fun ProjectFeatures.buildReportTab(init: BuildReportTab.() -> Unit) { tabs += BuildReportTab().apply(init) }

class ProjectReportTab {
    enum class SourceBuildRule { LAST_SUCCESSFUL, LAST_PINNED, LAST_FINISHED, BUILD_NUMBER, TAG }
    var title: String? = null
    var startPage: String? = null
    var buildType: String? = null
    var sourceBuildRule: SourceBuildRule? = null

    fun described() = listOf("$title", "$startPage", "$buildType", "$sourceBuildRule")
}

fun ProjectFeatures.projectReportTab(init: ProjectReportTab.() -> Unit) { projectTabs += ProjectReportTab().apply(init) }
