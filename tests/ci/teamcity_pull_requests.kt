package jetbrains.buildServer.configs.kotlin.buildFeatures

import jetbrains.buildServer.configs.kotlin.BuildFeatures
import jetbrains.buildServer.configs.kotlin.TeamCityDsl

@TeamCityDsl
class PullRequests {
    enum class GitHubRoleFilter { MEMBER, MEMBER_OR_COLLABORATOR, EVERYBODY }
    sealed class Provider {
        @TeamCityDsl
        class Github : Provider() {
            sealed class AuthType {
                class VcsRoot : AuthType()
                @TeamCityDsl
                class Token : AuthType() { var token = "" }
            }
            var authType: AuthType? = null
            var filterTargetBranch: String? = null
            var filterAuthorRole: GitHubRoleFilter? = null
            fun vcsRoot() = AuthType.VcsRoot()
            fun token(init: AuthType.Token.() -> Unit = {}) = AuthType.Token().apply(init)
        }
    }
    var vcsRootExtId: String? = null
    var provider: Provider? = null
    fun github(init: Provider.Github.() -> Unit = {}) = Provider.Github().apply(init)

    fun described(): String {
        val github = provider as Provider.Github
        return "$vcsRootExtId ${github.filterAuthorRole} ${(github.authType as? Provider.Github.AuthType.Token)?.token}"
    }
}

fun BuildFeatures.pullRequests(init: PullRequests.() -> Unit) { pullRequests += PullRequests().apply(init) }

@TeamCityDsl
class CommitStatusPublisher {
    sealed class Publisher {
        @TeamCityDsl
        class Github : Publisher() {
            @TeamCityDsl
            class PersonalToken { var token = "" }
            var githubUrl: String? = null
            var authType: PersonalToken? = null
            fun personalToken(init: PersonalToken.() -> Unit = {}) = PersonalToken().apply(init)
        }
    }
    var vcsRootExtId: String? = null
    var publisher: Publisher? = null
    fun github(init: Publisher.Github.() -> Unit = {}) = Publisher.Github().apply(init)

    fun described() = (publisher as Publisher.Github).let { "$vcsRootExtId ${it.githubUrl} ${it.authType?.token}" }
}

fun BuildFeatures.commitStatusPublisher(init: CommitStatusPublisher.() -> Unit) {
    publishers += CommitStatusPublisher().apply(init)
}
