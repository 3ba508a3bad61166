// The packages of the stub beside the main one: each file of Kotlin has one.
package jetbrains.buildServer.configs.kotlin.triggers

import jetbrains.buildServer.configs.kotlin.TeamCityDsl
import jetbrains.buildServer.configs.kotlin.Triggers

open class Daily {
    var hour = 0
    var minute = 0
    var timezone = "SERVER"
}

class Weekly : Daily() {
    var dayOfWeek = ScheduleTrigger.DAY.Sunday
}

@TeamCityDsl
class ScheduleTrigger {
    enum class DAY { Sunday, Monday, Tuesday, Wednesday, Thursday, Friday, Saturday }
    var schedulingPolicy: Daily? = null
    var branchFilter = ""
    var triggerBuild = "onWatchedBuildChange"
    var withPendingChangesOnly = true
    fun daily(init: Daily.() -> Unit): Daily = Daily().apply(init)
    fun weekly(init: Weekly.() -> Unit): Weekly = Weekly().apply(init)
    fun always(): String = "always"
}

@TeamCityDsl
class VcsTrigger { var branchFilter = "+:*" }

fun Triggers.vcs(init: VcsTrigger.() -> Unit) { vcs += VcsTrigger().apply(init) }

fun Triggers.schedule(init: ScheduleTrigger.() -> Unit) { schedules += ScheduleTrigger().apply(init) }
