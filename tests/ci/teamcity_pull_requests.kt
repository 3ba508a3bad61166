package jetbrains.buildServer.configs.kotlin.buildFeatures

import jetbrains.buildServer.configs.kotlin.BuildFeature
import jetbrains.buildServer.configs.kotlin.BuildFeatures
import jetbrains.buildServer.configs.kotlin.TeamCityDsl

@TeamCityDsl
class PullRequests : BuildFeature() {
    enum class GitHubRoleFilter { MEMBER, MEMBER_OR_COLLABORATOR, EVERYBODY }
    // In the real DSL each provider has types of its own for what is one type here.
    sealed class AuthType {
        class VcsRoot : AuthType() { override fun toString() = "root" }
        @TeamCityDsl
        class Token : AuthType() { var token = ""; override fun toString() = token }
    }
    @TeamCityDsl
    sealed class Provider(val name: String) {
        var authType: AuthType? = null
        var filterTargetBranch: String? = null
        open val address: String? = null
        fun token(init: AuthType.Token.() -> Unit = {}) = AuthType.Token().apply(init)
        class Github : Provider("github") {
            var serverUrl: String? = null
            var filterAuthorRole: GitHubRoleFilter? = null
            override val address get() = serverUrl
            fun vcsRoot() = AuthType.VcsRoot()
        }
        class Gitlab : Provider("gitlab") {
            var serverUrl: String? = null
            override val address get() = serverUrl
            fun vcsRoot() = AuthType.VcsRoot()
        }
        class BitbucketServer : Provider("bitbucketServer") {
            var serverUrl: String? = null
            override val address get() = serverUrl
            fun vcsRoot() = AuthType.VcsRoot()
        }
        class BitbucketCloud : Provider("bitbucketCloud") { fun vcsRoot() = AuthType.VcsRoot() }
        class AzureDevOps : Provider("azureDevOps") {
            var projectUrl: String? = null
            override val address get() = projectUrl
        }
    }
    var vcsRootExtId: String? = null
    var provider: Provider? = null
    fun github(init: Provider.Github.() -> Unit = {}) = Provider.Github().apply(init)
    fun gitlab(init: Provider.Gitlab.() -> Unit = {}) = Provider.Gitlab().apply(init)
    fun bitbucketServer(init: Provider.BitbucketServer.() -> Unit = {}) = Provider.BitbucketServer().apply(init)
    fun bitbucketCloud(init: Provider.BitbucketCloud.() -> Unit = {}) = Provider.BitbucketCloud().apply(init)
    fun azureDevOps(init: Provider.AzureDevOps.() -> Unit = {}) = Provider.AzureDevOps().apply(init)

    fun described(): String {
        val from = requireNotNull(provider) { "a provider of pull requests is mandatory" }
        // What the real DSL's validation asks for.
        (from.authType as? AuthType.Token)?.let { require(it.token.isNotEmpty()) { "provider.authType.token is mandatory" } }
        return "$vcsRootExtId ${from.name} ${from.address} ${(from as? Provider.Github)?.filterAuthorRole} ${from.authType}"
    }
}

fun BuildFeatures.pullRequests(init: PullRequests.() -> Unit) { items += PullRequests().apply(init) }

@TeamCityDsl
class CommitStatusPublisher : BuildFeature() {
    sealed class AuthType {
        class VcsRoot : AuthType() { override fun toString() = "root" }
        @TeamCityDsl
        class GithubToken : AuthType() { var token = ""; override fun toString() = token }
        @TeamCityDsl
        class PersonalToken : AuthType() { var accessToken = ""; override fun toString() = accessToken }
    }
    @TeamCityDsl
    sealed class Publisher {
        var authType: AuthType? = null
        open val address: String? = null
        class Github : Publisher() {
            var githubUrl: String? = null
            override val address get() = githubUrl
            fun personalToken(init: AuthType.GithubToken.() -> Unit = {}) = AuthType.GithubToken().apply(init)
        }
        class Gitlab : Publisher() {
            var gitlabApiUrl: String? = null
            override val address get() = gitlabApiUrl
            fun personalToken(init: AuthType.PersonalToken.() -> Unit = {}) = AuthType.PersonalToken().apply(init)
        }
        class BitbucketServer : Publisher() {
            var url: String? = null
            override val address get() = url
            fun vcsRoot() = AuthType.VcsRoot()
        }
        class BitbucketCloud : Publisher() { fun vcsRoot() = AuthType.VcsRoot() }
        class AzureDevOps : Publisher() {
            fun personalToken(init: AuthType.PersonalToken.() -> Unit = {}) = AuthType.PersonalToken().apply(init)
        }
    }
    var vcsRootExtId: String? = null
    var publisher: Publisher? = null
    fun github(init: Publisher.Github.() -> Unit = {}) = Publisher.Github().apply(init)
    fun gitlab(init: Publisher.Gitlab.() -> Unit = {}) = Publisher.Gitlab().apply(init)
    fun bitbucketServer(init: Publisher.BitbucketServer.() -> Unit = {}) = Publisher.BitbucketServer().apply(init)
    fun bitbucketCloud(init: Publisher.BitbucketCloud.() -> Unit = {}) = Publisher.BitbucketCloud().apply(init)
    fun azureDevOps(init: Publisher.AzureDevOps.() -> Unit = {}) = Publisher.AzureDevOps().apply(init)

    fun described() = publisher.let { "$vcsRootExtId ${it?.address} ${it?.authType}" }
}

fun BuildFeatures.commitStatusPublisher(init: CommitStatusPublisher.() -> Unit) {
    items += CommitStatusPublisher().apply(init)
}
