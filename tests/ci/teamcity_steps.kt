package jetbrains.buildServer.configs.kotlin.buildSteps

import jetbrains.buildServer.configs.kotlin.BuildSteps
import jetbrains.buildServer.configs.kotlin.ScriptStep

fun BuildSteps.script(init: ScriptStep.() -> Unit) { scripts += ScriptStep().apply(init) }
