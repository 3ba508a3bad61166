package jetbrains.buildServer.configs.kotlin.buildFeatures

import jetbrains.buildServer.configs.kotlin.BuildFeatures
import jetbrains.buildServer.configs.kotlin.TeamCityDsl

@TeamCityDsl
class Notifications {
    @TeamCityDsl
    class EmailNotifier { var email: String? = null }
    var notifierSettings: EmailNotifier? = null
    var buildFailedToStart: Boolean? = null
    var buildFailed: Boolean? = null
    var newBuildProblemOccurred: Boolean? = null
    fun emailNotifier(init: EmailNotifier.() -> Unit = {}): EmailNotifier = EmailNotifier().apply(init)
}

fun BuildFeatures.notifications(init: Notifications.() -> Unit) { notifications += Notifications().apply(init) }
