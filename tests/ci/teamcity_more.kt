// The packages of the stub beside the main one: each file of Kotlin has one.
package jetbrains.buildServer.configs.kotlin.triggers

import jetbrains.buildServer.configs.kotlin.TeamCityDsl
import jetbrains.buildServer.configs.kotlin.Triggers

class Daily {
    var hour = 0
    var minute = 0
    var timezone = "SERVER"
}

@TeamCityDsl
class ScheduleTrigger {
    var schedulingPolicy: Daily? = null
    var branchFilter = ""
    var triggerBuild = "onWatchedBuildChange"
    var withPendingChangesOnly = true
    fun daily(init: Daily.() -> Unit): Daily = Daily().apply(init)
    fun always(): String = "always"
}

fun Triggers.schedule(init: ScheduleTrigger.() -> Unit) { schedules += ScheduleTrigger().apply(init) }
