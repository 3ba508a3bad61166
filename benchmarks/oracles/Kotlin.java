import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import java.util.regex.Pattern;
import org.jetbrains.kotlin.cli.FrontendConfigurationKeysKt;
import org.jetbrains.kotlin.cli.common.CLIConfigurationKeys;
import org.jetbrains.kotlin.cli.common.messages.MessageCollector;
import org.jetbrains.kotlin.cli.jvm.compiler.*;
import org.jetbrains.kotlin.com.intellij.openapi.util.Disposer;
import org.jetbrains.kotlin.com.intellij.psi.*;
import org.jetbrains.kotlin.com.intellij.psi.impl.source.tree.LeafPsiElement;
import org.jetbrains.kotlin.com.intellij.psi.tree.IElementType;
import org.jetbrains.kotlin.com.intellij.psi.util.PsiTreeUtil;
import org.jetbrains.kotlin.compiler.plugin.CompilerPluginRegistrar;
import org.jetbrains.kotlin.config.CompilerConfiguration;
import org.jetbrains.kotlin.lexer.*;
import org.jetbrains.kotlin.psi.*;

/**
 * An oracle of Kotlin: the names and keywords of files, by the syntax trees of Kotlin's compiler (PSI). Paths are read from
 * standard input, one a line; a line of JSON is written for each: path, and tokens (offset in UTF-16 units, text, kind) or
 * error. DEFINITION is the kind of names that refer to nothing; of several kinds between "|", any is right.
 */
public class Kotlin {
    private static final Pattern LINE_END = Pattern.compile("\r\n?");

    public static void main(String[] arguments) throws Exception {
        CompilerConfiguration configuration = new CompilerConfiguration();
        FrontendConfigurationKeysKt.setExtensionsStorage(configuration, new CompilerPluginRegistrar.ExtensionStorage());
        configuration.put(CLIConfigurationKeys.MESSAGE_COLLECTOR_KEY, MessageCollector.Companion.getNONE());
        KotlinCoreEnvironment environment = KotlinCoreEnvironment.createForProduction(
            Disposer.newDisposable(), configuration, EnvironmentConfigFiles.JVM_CONFIG_FILES);
        KtPsiFactory factory = new KtPsiFactory(environment.getProject(), false);
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        for (String line : new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).lines().toList()) {
            // PSI knows line feeds alone; the offsets stay.
            String text = LINE_END.matcher(Files.readString(Path.of(line))).replaceAll(end -> end.group().length() == 2 ? " \n" : "\n");
            KtFile file = factory.createFile(Path.of(line).getFileName().toString(), text);
            PsiErrorElement error = PsiTreeUtil.findChildOfType(file, PsiErrorElement.class);
            List<String> tokens = new ArrayList<>();
            walk(file, tokens);
            String result = error != null ? "\"error\": " + quoted(error.getErrorDescription()) : "\"tokens\": [" + String.join(", ", tokens) + "]";
            out.println("{\"path\": " + quoted(line) + ", " + result + "}");
        }
        out.flush();
        // The environment has threads that never end.
        System.exit(0);
    }

    private static String quoted(String text) {
        StringBuilder result = new StringBuilder("\"");
        for (char c : text.toCharArray()) result.append(c < ' ' || c == '"' || c == '\\' || c > '~' ? String.format("\\u%04x", (int) c) : String.valueOf(c));
        return result.append('"').toString();
    }

    private static void walk(PsiElement element, List<String> tokens) {
        // No token stands in the clause of the package.
        if (element instanceof PsiComment || element instanceof KtPackageDirective) return;
        if (element instanceof LeafPsiElement leaf) {
            IElementType type = leaf.getElementType();
            String kind = type == KtTokens.IDENTIFIER || type == KtTokens.FIELD_IDENTIFIER ? kind(leaf) : type instanceof KtKeywordToken ? "KEYWORD" : null;
            // The word of a jump or an instance, with the sign of its label, is one token.
            boolean isLabelled = type instanceof KtKeywordToken && leaf.getNextSibling() instanceof KtContainerNode
                || leaf.getParent().getNextSibling() instanceof KtContainerNode label && label.getText().startsWith("@");
            if (kind != null)
                tokens.add("[" + leaf.getStartOffset() + ", " + quoted(leaf.getText() + (type instanceof KtKeywordToken && isLabelled ? "@" : "")) + ", " + quoted(kind) + "]");
        }
        for (PsiElement child = element.getFirstChild(); child != null; child = child.getNextSibling()) walk(child, tokens);
    }

    /** The kind of a name, by where it stands. */
    private static String kind(PsiElement leaf) {
        PsiElement name = leaf.getParent();
        if (!(name instanceof KtSimpleNameExpression) || name instanceof KtLabelReferenceExpression) return "DEFINITION";
        PsiElement parent = name.getParent();
        if (name instanceof KtOperationReferenceExpression) return "METHOD_CALL";
        if (parent instanceof KtValueArgumentName) return "ARGUMENT_NAME";
        if (PsiTreeUtil.getParentOfType(name, KtImportDirective.class) != null) return "IMPORT";
        if (parent instanceof KtTypeConstraint) return "TYPE_REFERENCE";
        // A package or a type.
        if (parent instanceof KtUserType type) return type.getParent() instanceof KtUserType outer && outer.getQualifier() == type ? "TYPE_REFERENCE|IMPORT" : "TYPE_REFERENCE";
        if (parent instanceof KtCallExpression call && call.getCalleeExpression() == name)
            // `A<*>::f` has the arguments of a type, but none of a call.
            return call.getValueArgumentList() == null && call.getLambdaArguments().isEmpty() ? "TYPE_REFERENCE" : "METHOD_CALL";
        if (parent instanceof KtCallableReferenceExpression reference && reference.getCallableReference() == name) return "METHOD_CALL";
        if (parent instanceof KtQualifiedExpression qualified && qualified.getSelectorExpression() == name)
            return isPath(qualified.getReceiverExpression()) ? "FIELD|TYPE_REFERENCE|IMPORT" : "FIELD";
        String declared = declared(name);
        return !declared.isEmpty() ? declared : "VARIABLE|FIELD|TYPE_REFERENCE" + (parent instanceof KtDotQualifiedExpression ? "|IMPORT" : "");
    }

    /** The kind of a name alone by the declaration around that is nearest, or "" if the file has none. */
    private static String declared(PsiElement name) {
        // What a class inherits may hide what is declared further out.
        boolean mayBeInherited = false;
        PsiElement child = name;
        for (PsiElement around = name.getParent(); around != null; child = around, around = around.getParent()) {
            List<PsiElement> locals = new ArrayList<>();
            if (around instanceof KtBlockExpression)
                for (PsiElement before = child.getPrevSibling(); before != null; before = before.getPrevSibling()) locals.add(before);
            if (around instanceof KtDeclarationWithBody function) locals.addAll(function.getValueParameters());
            if (around instanceof KtForExpression loop && PsiTreeUtil.isAncestor(child, loop.getBody(), false)) locals.add(loop.getLoopParameter());
            if (around instanceof KtCatchClause clause) locals.add(clause.getCatchParameter());
            if (around instanceof KtWhenExpression when && child != when.getSubjectVariable()) locals.add(when.getSubjectVariable());
            for (PsiElement local : locals)
                if (declares(local, name)) return mayBeInherited ? "VARIABLE|FIELD" : "VARIABLE";
            if (around instanceof KtClassOrObject type) {
                for (KtParameter parameter : type.getPrimaryConstructorParameters())
                    // The initialisers see a parameter, and the methods a property if there is one.
                    if (declares(parameter, name) && (parameter.hasValOrVar() || !isInMethod(name, type))) return parameter.hasValOrVar() ? "VARIABLE|FIELD" : "VARIABLE";
                List<KtDeclaration> members = new ArrayList<>(type.getDeclarations());
                if (type instanceof KtClass class_) class_.getCompanionObjects().forEach(companion -> members.addAll(companion.getDeclarations()));
                for (KtDeclaration member : members)
                    if (declares(member, name)) return member instanceof KtProperty || member instanceof KtEnumEntry ? "FIELD" : "TYPE_REFERENCE";
                mayBeInherited |= !type.getSuperTypeListEntries().isEmpty();
            }
            if (around instanceof KtFile file)
                for (KtDeclaration declaration : file.getDeclarations())
                    if (declares(declaration, name)) return declaration instanceof KtProperty ? mayBeInherited ? "VARIABLE|FIELD" : "VARIABLE" : "TYPE_REFERENCE";
        }
        return "";
    }

    private static boolean declares(PsiElement element, PsiElement name) {
        if (element instanceof KtParameter parameter && parameter.getDestructuringDeclaration() != null) element = parameter.getDestructuringDeclaration();
        if (element instanceof KtDestructuringDeclaration several) return several.getEntries().stream().anyMatch(entry -> declares(entry, name));
        // An extension is no property of what is around.
        boolean isValue = element instanceof KtCallableDeclaration && !(element instanceof KtNamedFunction) || element instanceof KtClassOrObject;
        return isValue && plain(name.getText()).equals(((KtNamedDeclaration) element).getName());
    }

    private static String plain(String name) {
        return name.replace("`", "");
    }

    private static boolean isInMethod(PsiElement name, KtClassOrObject type) {
        KtDeclarationWithBody method = PsiTreeUtil.getParentOfType(name, KtDeclarationWithBody.class);
        while (method instanceof KtFunctionLiteral) method = PsiTreeUtil.getParentOfType(method, KtDeclarationWithBody.class);
        return method != null && PsiTreeUtil.isAncestor(type, method, true);
    }

    /** Whether this may be the name of a package or type: names divided by dots. */
    private static boolean isPath(PsiElement element) {
        return element instanceof KtNameReferenceExpression
            || element instanceof KtDotQualifiedExpression path && path.getSelectorExpression() instanceof KtNameReferenceExpression && isPath(path.getReceiverExpression());
    }
}
