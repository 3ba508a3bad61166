package jetbrains.buildServer.configs.kotlin.failureConditions

import jetbrains.buildServer.configs.kotlin.BuildRule
import jetbrains.buildServer.configs.kotlin.FailureConditions
import jetbrains.buildServer.configs.kotlin.LastSuccessful
import jetbrains.buildServer.configs.kotlin.SameChain
import jetbrains.buildServer.configs.kotlin.TeamCityDsl

class ComparedBuild {
    var buildRule: BuildRule = SameChain()
    fun lastSuccessful(branch: String? = null): BuildRule = LastSuccessful(branch)
}

@TeamCityDsl
class BuildFailureOnMetric {
    enum class MetricUnit { PERCENTS, DEFAULT_UNIT }
    enum class MetricComparison { LESS, MORE, DIFF }
    val params = mutableMapOf<String, String>()
    var threshold = 0
    var units = MetricUnit.DEFAULT_UNIT
    var comparison = MetricComparison.MORE
    var compareTo: ComparedBuild? = null
    fun param(name: String, value: String) { params[name] = value }
    fun build(init: ComparedBuild.() -> Unit): ComparedBuild = ComparedBuild().apply(init)
}

fun FailureConditions.failOnMetricChange(init: BuildFailureOnMetric.() -> Unit) {
    metrics += BuildFailureOnMetric().apply(init)
}
