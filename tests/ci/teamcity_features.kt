package jetbrains.buildServer.configs.kotlin.projectFeatures

import jetbrains.buildServer.configs.kotlin.ProjectFeatures

class BuildReportTab {
    var title = ""
    var startPage = ""
}

fun ProjectFeatures.buildReportTab(init: BuildReportTab.() -> Unit) { tabs += BuildReportTab().apply(init) }
