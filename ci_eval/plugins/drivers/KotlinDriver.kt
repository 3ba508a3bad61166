import java.io.File
import java.util.Base64
import java.util.Locale
import org.jetbrains.kotlin.cli.common.CLIConfigurationKeys
import org.jetbrains.kotlin.cli.common.messages.MessageCollector
import org.jetbrains.kotlin.cli.jvm.compiler.CliBindingTrace
import org.jetbrains.kotlin.cli.jvm.compiler.EnvironmentConfigFiles
import org.jetbrains.kotlin.cli.jvm.compiler.KotlinCoreEnvironment
import org.jetbrains.kotlin.cli.jvm.compiler.TopDownAnalyzerFacadeForJVM
import org.jetbrains.kotlin.cli.jvm.config.addJvmClasspathRoots
import org.jetbrains.kotlin.cli.jvm.config.configureJdkClasspathRoots
import org.jetbrains.kotlin.com.intellij.openapi.util.Disposer
import org.jetbrains.kotlin.config.AnalysisFlag
import org.jetbrains.kotlin.config.AnalysisFlags
import org.jetbrains.kotlin.config.ApiVersion
import org.jetbrains.kotlin.config.CommonConfigurationKeys
import org.jetbrains.kotlin.config.CompilerConfiguration
import org.jetbrains.kotlin.config.JVMConfigurationKeys
import org.jetbrains.kotlin.config.LanguageFeature
import org.jetbrains.kotlin.config.LanguageVersion
import org.jetbrains.kotlin.config.LanguageVersionSettingsImpl
import org.jetbrains.kotlin.container.get
import org.jetbrains.kotlin.descriptors.DeclarationDescriptor
import org.jetbrains.kotlin.descriptors.DeclarationDescriptorWithVisibility
import org.jetbrains.kotlin.descriptors.DescriptorVisibilities
import org.jetbrains.kotlin.descriptors.ModuleDescriptor
import org.jetbrains.kotlin.lexer.KtKeywordToken
import org.jetbrains.kotlin.lexer.KtTokens
import org.jetbrains.kotlin.psi.KtAnonymousInitializer
import org.jetbrains.kotlin.psi.KtBlockExpression
import org.jetbrains.kotlin.psi.KtCallElement
import org.jetbrains.kotlin.psi.KtDeclaration
import org.jetbrains.kotlin.psi.KtDeclarationWithBody
import org.jetbrains.kotlin.psi.KtFile
import org.jetbrains.kotlin.psi.KtPsiFactory
import org.jetbrains.kotlin.psi.KtSimpleNameExpression
import org.jetbrains.kotlin.psi.KtTreeVisitorVoid
import org.jetbrains.kotlin.psi.KtValueArgument
import org.jetbrains.kotlin.psi.KtValueArgumentName
import org.jetbrains.kotlin.psi.psiUtil.getParentOfType
import org.jetbrains.kotlin.psi.psiUtil.getReceiverExpression
import org.jetbrains.kotlin.resolve.BindingContext
import org.jetbrains.kotlin.resolve.LazyTopDownAnalyzer
import org.jetbrains.kotlin.resolve.TopDownAnalysisMode
import org.jetbrains.kotlin.resolve.calls.util.getResolvedCall
import org.jetbrains.kotlin.resolve.lazy.declarations.FileBasedDeclarationProviderFactory
import org.jetbrains.kotlin.resolve.scopes.DescriptorKindFilter
import org.jetbrains.kotlin.scripting.ide_common.idea.codeInsight.ReferenceVariantsHelper
import org.jetbrains.kotlin.scripting.ide_common.idea.util.getResolutionScope
import org.jetbrains.kotlin.scripting.ide_services.compiler.impl.KotlinResolutionFacadeForRepl

/** Where nothing is typed yet the parser would see no name. */
private const val CARET = "ABCDEF"

/**
 * Answers completions by Kotlin's IDE services, a line per question: "OFFSET PATH TEXT" -> "MS NAMES": the offset in code
 * points, the other two and the names, one per line, in base64. Its arguments are the project's folder and the class path.
 */
fun main(arguments: Array<String>) {
    // Whatever else writes to standard output must not be taken for an answer.
    val answers = System.out
    System.setOut(System.err)
    val driver = KotlinDriver(File(arguments[0]), arguments[1].split(File.pathSeparator).filter { it.isNotEmpty() }.map(::File))
    for (question in generateSequence(::readLine)) {
        val (codePoints, path, text) = question.split(" ")
        answers.println(driver.answer(codePoints.toInt(), File(decoded(path)), decoded(text)))
    }
}

private fun decoded(text: String) = String(Base64.getDecoder().decode(text))

private fun encoded(text: String) = Base64.getEncoder().encodeToString(text.toByteArray())

private class KotlinDriver(root: File, classpath: List<File>) {
    private val configuration = CompilerConfiguration().apply {
        put(CLIConfigurationKeys.MESSAGE_COLLECTOR_KEY, MessageCollector.NONE)
        put(CommonConfigurationKeys.MODULE_NAME, root.name)
        put(JVMConfigurationKeys.JDK_HOME, File(System.getProperty("java.home")))
        // The services are made for the compiler's older front end, of language version 1.9.
        val flags = mapOf<AnalysisFlag<*>, Any?>(AnalysisFlags.skipMetadataVersionCheck to true)
        val features = mapOf(LanguageFeature.MultiPlatformProjects to LanguageFeature.State.ENABLED)
        val version = LanguageVersionSettingsImpl(LanguageVersion.KOTLIN_1_9, ApiVersion.KOTLIN_1_9, flags, features)
        put(CommonConfigurationKeys.LANGUAGE_VERSION_SETTINGS, version)
        configureJdkClasspathRoots()
        addJvmClasspathRoots(classpath)
    }
    private val environment = KotlinCoreEnvironment
        .createForProduction(Disposer.newDisposable(), configuration, EnvironmentConfigFiles.JVM_CONFIG_FILES)
    private val parser = KtPsiFactory(environment.project)
    private val files: Map<File, KtFile> = root.walkTopDown()
        .filter { it.isFile && it.extension == "kt" }
        .sorted()
        .associateWith { parser.createFile(it.name, it.readText().replace("\r\n", "\n")) }

    fun answer(codePoints: Int, path: File, text: String): String {
        val started = System.nanoTime()
        return try {
            val names = complete(path, text, text.offsetByCodePoints(0, codePoints)).joinToString("\n")
            "%.3f %s".format(Locale.ROOT, (System.nanoTime() - started) / 1e6, encoded(names))
        } catch (error: Exception) {
            "error ${encoded(error.stackTraceToString())}"
        } catch (error: StackOverflowError) {
            "error ${encoded(error.toString())}"
        }
    }

    private fun complete(path: File, text: String, offset: Int): Collection<String> {
        val asked = text.substring(0, offset) + CARET + text.substring(offset)
        val file = parser.createFile(path.name, withoutOtherBodies(asked, offset))
        val name = file.findElementAt(offset)?.parent as? KtSimpleNameExpression ?: return KEYWORDS
        val trace = CliBindingTrace(environment.project)
        val container = TopDownAnalyzerFacadeForJVM.createContainer(
            environment.project, (files + (path to file)).values, trace, configuration,
            environment::createPackagePartProvider, ::FileBasedDeclarationProviderFactory,
        )
        container.get<LazyTopDownAnalyzer>().analyzeDeclarations(TopDownAnalysisMode.TopLevelDeclarations, listOf(file))
        val facade = KotlinResolutionFacadeForRepl(environment, container)
        val from = name.getResolutionScope(trace.bindingContext, facade).ownerDescriptor
        val found = ReferenceVariantsHelper(trace.bindingContext, facade, container.get<ModuleDescriptor>(), { visible(it, from) })
            .getReferenceVariants(
                name, DescriptorKindFilter.ALL, { !it.isSpecial },
                filterOutJavaGettersAndSetters = true,
                // Names are all that is wanted, and those are the same.
                filterOutShadowed = false,
                excludeNonInitializedVariable = true,
                useReceiverType = null,
            )
            .filter { !it.name.isSpecial }
        val names = LinkedHashSet<String>()
        val bare = name.getReceiverExpression() == null
        if (bare) names += parameters(name, trace.bindingContext)
        if (name.parent is KtValueArgumentName) return names
        names += found.map { it.name.asString() }
        if (bare) names += KEYWORDS
        return names
    }

    /** The names of the parameters of the call that `name` is an argument of. */
    private fun parameters(name: KtSimpleNameExpression, context: BindingContext): List<String> {
        val argument = name.getParentOfType<KtValueArgument>(true) ?: return emptyList()
        if (argument.getArgumentExpression() != name && name.parent !is KtValueArgumentName) return emptyList()
        val called = argument.getParentOfType<KtCallElement>(true)?.getResolvedCall(context) ?: return emptyList()
        return called.resultingDescriptor.valueParameters.map { it.name }.filter { !it.isSpecial }.map { it.asString() }
    }

    private fun visible(what: DeclarationDescriptor, from: DeclarationDescriptor) =
        what !is DeclarationDescriptorWithVisibility || DescriptorVisibilities.isVisibleIgnoringReceiver(what, from, false)

    /**
     * Blanks where the caret is not: the braces of a function say nothing about its type, and all of it would
     * be resolved at every question, where an IDE does not look.
     */
    private fun withoutOtherBodies(text: String, offset: Int): String {
        val blank = StringBuilder(text)
        parser.createFile(text).accept(object : KtTreeVisitorVoid() {
            override fun visitDeclaration(declaration: KtDeclaration) {
                val body = when (declaration) {
                    is KtDeclarationWithBody -> declaration.bodyExpression
                    is KtAnonymousInitializer -> declaration.body
                    else -> null
                }
                val range = (body as? KtBlockExpression)?.textRange
                if (range == null || range.containsOffset(offset)) return super.visitDeclaration(declaration)
                for (at in range.startOffset + 1 until range.endOffset - 1) if (blank[at] != '\n') blank[at] = ' '
            }
        })
        return blank.toString()
    }

    private companion object {
        val KEYWORDS = (KtTokens.KEYWORDS.types + KtTokens.SOFT_KEYWORDS.types).map { (it as KtKeywordToken).value }
    }
}
