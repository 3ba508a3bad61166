import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.eclipse.core.resources.IFolder;
import org.eclipse.core.resources.IProject;
import org.eclipse.core.resources.IProjectDescription;
import org.eclipse.core.resources.IResource;
import org.eclipse.core.resources.IWorkspace;
import org.eclipse.core.resources.IWorkspaceDescription;
import org.eclipse.core.resources.ResourcesPlugin;
import org.eclipse.core.runtime.CoreException;
import org.eclipse.core.runtime.IPath;
import org.eclipse.jdt.core.CompletionProposal;
import org.eclipse.jdt.core.CompletionRequestor;
import org.eclipse.jdt.core.Flags;
import org.eclipse.jdt.core.IClasspathAttribute;
import org.eclipse.jdt.core.IClasspathEntry;
import org.eclipse.jdt.core.ICompilationUnit;
import org.eclipse.jdt.core.IImportDeclaration;
import org.eclipse.jdt.core.IJavaProject;
import org.eclipse.jdt.core.JavaCore;
import org.eclipse.jdt.core.JavaModelException;
import org.eclipse.jdt.core.Signature;
import org.eclipse.jdt.core.dom.rewrite.ImportRewrite;
import org.eclipse.jdt.internal.core.JavaModelManager;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.BundleException;
import org.osgi.framework.launch.Framework;
import org.osgi.framework.launch.FrameworkFactory;
import org.osgi.framework.wiring.BundleWiring;

/**
 * Answers completions by Eclipse's JDT, a line per question: "OFFSET PATH TEXT" → "MS NAMES": the offset in code points,
 * the other two and the names, one per line, in base64; each name is followed by a tab and the text it is sorted by.
 * Its arguments are a folder to write to, the source folders and the class path. This class starts Eclipse's runtime
 * with the jars in its own folder.
 */
public class JdtDriver {
    public static void main(String[] arguments) throws Exception {
        // Whatever else writes to standard output must not be taken for an answer.
        PrintStream answers = System.out;
        System.setOut(System.err);
        try {
            Function<String[], String> completion = inside(started(Path.of(arguments[0])), arguments[1], arguments[2]);
            BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, UTF_8));
            for (String question = questions.readLine(); question != null; question = questions.readLine()) {
                answers.println(completion.apply(question.split(" ")));
            }
        } catch (Throwable error) {
            error.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
        // Otherwise Eclipse's other threads would keep the process alive.
        Runtime.getRuntime().halt(0);
    }

    /** JDT's bundle, in a runtime that writes below that folder alone. */
    private static Bundle started(Path folder) throws BundleException {
        Framework framework = ServiceLoader.load(FrameworkFactory.class).iterator().next().newFramework(Map.of(
            "osgi.install.area", area(folder, "install"),
            "osgi.configuration.area", area(folder, "configuration"),
            "osgi.instance.area", area(folder, "workspace"),
            "osgi.user.area", area(folder, "user"),
            "osgi.framework.useSystemProperties", "false"));
        framework.init();
        BundleContext context = framework.getBundleContext();
        List<Bundle> bundles = new ArrayList<>();
        for (String jar : System.getProperty("java.class.path").split(File.pathSeparator)) {
            // Not the runtime itself, which is running already.
            if (jar.endsWith(".jar") && !jar.contains("org.eclipse.osgi-")) {
                bundles.add(context.installBundle("reference:" + new File(jar).toURI()));
            }
        }
        framework.start();
        for (Bundle each : bundles) each.start(Bundle.START_ACTIVATION_POLICY);
        return bundles.stream().filter(each -> "org.eclipse.jdt.core".equals(each.getSymbolicName())).findFirst().get();
    }

    private static String area(Path folder, String name) {
        return folder.resolve(name).toUri().toString();
    }

    /** The other class, as a part of the bundle: elsewhere JDT's classes are not seen. */
    @SuppressWarnings("unchecked")
    private static Function<String[], String> inside(Bundle bundle, String... arguments) throws Exception {
        URL here = JdtDriver.class.getProtectionDomain().getCodeSource().getLocation();
        ClassLoader loader = new URLClassLoader(new URL[] {here}, bundle.adapt(BundleWiring.class).getClassLoader());
        Thread.currentThread().setContextClassLoader(loader);
        Constructor<?> constructor = loader.loadClass("JdtCompletion").getDeclaredConstructor(String.class, String.class);
        // Classes of two class loaders are never in the same package for Java, even if it has the same name.
        constructor.setAccessible(true);
        return (Function<String[], String>) constructor.newInstance((Object[]) arguments);
    }
}

/** A project of JDT's over folders that it does not write to, and the questions about it. */
class JdtCompletion implements Function<String[], String> {
    private final List<Path> roots;
    private final IJavaProject project;
    private ICompilationUnit open;
    private Path path;

    JdtCompletion(String roots, String jars) throws CoreException {
        this.roots = Stream.of(roots.split(File.pathSeparator)).filter(each -> !each.isEmpty()).map(Path::of).toList();
        // Otherwise what is found would depend on how far the indexing is.
        JavaModelManager.getIndexManager().disable();
        IWorkspace workspace = ResourcesPlugin.getWorkspace();
        IWorkspaceDescription description = workspace.getDescription();
        description.setAutoBuilding(false);
        workspace.setDescription(description);
        workspace.getRoot().setDefaultCharset("UTF-8", null);
        project = JavaCore.create(workspace.getRoot().getProject("project"));
        workspace.run(monitor -> create(jars), null);
        // Which types are annotations is read from the classes; in an editor, that wait comes before.
        complete(Path.of("/Warm.java"), "@", 1);
    }

    private void create(String jars) throws CoreException {
        IProject folder = project.getProject();
        folder.create(null);
        folder.open(null);
        IProjectDescription description = folder.getDescription();
        description.setNatureIds(new String[] {JavaCore.NATURE_ID});
        folder.setDescription(description, null);
        int newest = Integer.parseInt(JavaCore.latestSupportedJavaVersion());
        String level = String.valueOf(Math.min(Runtime.version().feature(), newest));
        for (String option : List.of(
                JavaCore.COMPILER_SOURCE, JavaCore.COMPILER_COMPLIANCE, JavaCore.COMPILER_CODEGEN_TARGET_PLATFORM)) {
            project.setOption(option, level);
        }
        project.setOption(JavaCore.CODEASSIST_VISIBILITY_CHECK, JavaCore.ENABLED);
        project.setOption(JavaCore.CODEASSIST_SUBWORD_MATCH, JavaCore.DISABLED);
        List<IClasspathEntry> known = new ArrayList<>();
        for (Path root : roots) known.add(source(root));
        folder.getFolder("loose").create(true, true, null);
        known.add(JavaCore.newSourceEntry(folder.getFolder("loose").getFullPath()));
        known.add(library(System.getProperty("java.home") + "/lib/jrt-fs.jar", JavaCore.newClasspathAttribute(IClasspathAttribute.MODULE, "true")));
        for (String jar : jars.split(File.pathSeparator)) if (!jar.isEmpty()) known.add(library(jar));
        project.setRawClasspath(known.toArray(IClasspathEntry[]::new), folder.getFolder("classes").getFullPath(), null);
    }

    private IClasspathEntry source(Path root) throws CoreException {
        IFolder link = link(root);
        link.createLink(IPath.fromPath(root), IResource.NONE, null);
        Stream<IPath> nested = roots.stream().filter(each -> !each.equals(root) && each.startsWith(root))
            .map(each -> IPath.fromPath(root.relativize(each)).addTrailingSeparator());
        // Without modules everything that is on the class path can be seen.
        Stream<IPath> excluded = Stream.concat(nested, Stream.of(IPath.fromOSString("module-info.java")));
        return JavaCore.newSourceEntry(link.getFullPath(), excluded.toArray(IPath[]::new));
    }

    private IFolder link(Path root) {
        return project.getProject().getFolder("source" + roots.indexOf(root));
    }

    private static IClasspathEntry library(String jar, IClasspathAttribute... attributes) {
        return JavaCore.newLibraryEntry(IPath.fromOSString(jar), null, null, null, attributes, false);
    }

    @Override
    public String apply(String[] parts) {
        String text = decoded(parts[2]);
        int offset = text.offsetByCodePoints(0, Integer.parseInt(parts[0]));
        long started = System.nanoTime();
        try {
            List<String> names = complete(Path.of(decoded(parts[1])), text, offset);
            return String.format(Locale.ROOT, "%.3f %s", (System.nanoTime() - started) / 1e6, encoded(String.join("\n", names)));
        } catch (CoreException | RuntimeException | StackOverflowError error) {
            return "error " + encoded(error.toString());
        }
    }

    private static String decoded(String text) {
        return new String(Base64.getDecoder().decode(text), UTF_8);
    }

    private static String encoded(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(UTF_8));
    }

    private List<String> complete(Path file, String text, int offset) throws CoreException {
        ICompilationUnit unit = opened(file);
        unit.getBuffer().setContents(text);
        // What JDT knows of the file must be the present text, not the former one.
        unit.makeConsistent(null);
        Question question = new Question(unit, text, offset);
        // There is no time limit here: who asks has one.
        unit.codeComplete(offset, question);
        return question.answer();
    }

    /**
     * The file as it is edited, which for JDT then is what is on disk [BaseDocumentLifeCycleHandler.handleOpen]; there is only one.
     */
    private ICompilationUnit opened(Path file) throws JavaModelException {
        if (!file.equals(path)) {
            if (open != null) open.discardWorkingCopy();
            path = null;
            open = unit(file);
            open.becomeWorkingCopy(null);
            path = file;
        }
        return open;
    }

    private ICompilationUnit unit(Path file) {
        Path root = roots.stream().filter(file::startsWith).max(Comparator.comparing(Path::getNameCount)).orElse(file.getParent());
        IFolder folder = roots.contains(root) ? link(root) : project.getProject().getFolder("loose");
        String name = root.relativize(file.getParent()).toString().replace(File.separatorChar, '.');
        return project.getPackageFragmentRoot(folder).getPackageFragment(name).getCompilationUnit(file.getFileName().toString());
    }
}

/** What is proposed at one place, as Eclipse's language server (1.34) makes a list of it; its names are in brackets. */
class Question extends CompletionRequestor {
    // [Preferences.JAVA_COMPLETION_FAVORITE_MEMBERS_DEFAULT]
    private static final List<String> FAVOURITES = List.of(
        "org.junit.Assert.*", "org.junit.Assume.*", "org.junit.jupiter.api.Assertions.*",
        "org.junit.jupiter.api.Assumptions.*", "org.junit.jupiter.api.DynamicContainer.*", "org.junit.jupiter.api.DynamicTest.*");
    // [Preferences.JAVA_COMPLETION_FILTERED_TYPES_DEFAULT]
    private static final List<String> UNWANTED = List.of("com.sun.", "io.micrometer.shaded.", "java.awt.", "jdk.", "org.graalvm.", "sun.");
    private static final Pattern LAST_PART = Pattern.compile("\\.[^.]+$");

    private final ICompilationUnit unit;
    private final String text;
    private final int token;
    private final List<String> unwanted;
    private final List<CompletionProposal> proposals = new ArrayList<>();

    Question(ICompilationUnit unit, String text, int offset) throws JavaModelException {
        this.unit = unit;
        this.text = text;
        int begin = offset;
        while (begin > 0 && Character.isJavaIdentifierPart(text.charAt(begin - 1))) begin--;
        token = begin;
        // [CompletionHandler.computeContentAssist]
        for (int kind : new int[] {CompletionProposal.FIELD_REF, CompletionProposal.METHOD_REF}) {
            setAllowsRequiredProposals(kind, CompletionProposal.TYPE_REF, true);
            setAllowsRequiredProposals(kind, CompletionProposal.TYPE_IMPORT, true);
        }
        setAllowsRequiredProposals(CompletionProposal.FIELD_REF, CompletionProposal.FIELD_IMPORT, true);
        setAllowsRequiredProposals(CompletionProposal.METHOD_REF, CompletionProposal.METHOD_IMPORT, true);
        for (int kind : new int[] {CompletionProposal.CONSTRUCTOR_INVOCATION, CompletionProposal.ANONYMOUS_CLASS_CONSTRUCTOR_INVOCATION,
                CompletionProposal.ANONYMOUS_CLASS_DECLARATION, CompletionProposal.TYPE_REF}) {
            setAllowsRequiredProposals(kind, CompletionProposal.TYPE_REF, true);
        }
        setRequireExtendedContext(true);
        List<String> favourites = new ArrayList<>(FAVOURITES);
        List<String> imported = new ArrayList<>();
        for (IImportDeclaration each : unit.getImports()) {
            imported.add(each.getElementName());
            // [CompletionProposalUtils.addStaticImportsAsFavoriteImports], of this file alone: the server remembers all.
            if (Flags.isStatic(each.getFlags())) favourites.add(LAST_PART.matcher(each.getElementName()).replaceFirst(".*"));
        }
        setFavoriteReferences(favourites.toArray(String[]::new));
        // [TypeFilter.removeFilterIfMatched], for this file alone.
        unwanted = UNWANTED.stream().filter(each -> imported.stream().noneMatch(name -> name.startsWith(each))).toList();
    }

    @Override
    public boolean isTestCodeExcluded() {
        return true;
    }

    @Override
    public boolean isIgnored(char[] type) {
        return type != null && unwanted.stream().anyMatch(String.valueOf(type)::startsWith);
    }

    /** [CompletionProposalRequestor.accept] */
    @Override
    public void accept(CompletionProposal proposal) {
        if (isUnwanted(proposal)) return;
        switch (proposal.getKind()) {
            case CompletionProposal.POTENTIAL_METHOD_DECLARATION:
                // The server writes getters and setters for it, which are more than a name.
                return;
            case CompletionProposal.PACKAGE_REF:
                if (String.valueOf(proposal.getCompletion()).equals(unit.getParent().getElementName())) {
                    proposal.setRelevance(proposal.getRelevance() + 1);
                }
        }
        proposals.add(proposal);
    }

    /** [CompletionProposalRequestor.isFiltered, isTypeFiltered, getDeclaringType] */
    private boolean isUnwanted(CompletionProposal proposal) {
        switch (proposal.getKind()) {
            case CompletionProposal.METHOD_REF:
                if (proposal.getRequiredProposals() == null) return false;
            case CompletionProposal.CONSTRUCTOR_INVOCATION:
            case CompletionProposal.ANONYMOUS_CLASS_CONSTRUCTOR_INVOCATION:
                return !isImport(proposal) && proposal.getDeclarationSignature() != null
                    && isIgnored(Signature.toCharArray(proposal.getDeclarationSignature()));
            case CompletionProposal.TYPE_REF:
            case CompletionProposal.JAVADOC_TYPE_REF:
                return !isImport(proposal) && isIgnored(Signature.toCharArray(proposal.getSignature()));
            default:
                return false;
        }
    }

    /** [CompletionProposalUtils.isImportCompletion] */
    private static boolean isImport(CompletionProposal proposal) {
        String completion = String.valueOf(proposal.getCompletion());
        return completion.endsWith(";") || completion.endsWith(".");
    }

    /** What is inserted and the text it is sorted by, a tab between, in the server's order. */
    List<String> answer() throws JavaModelException {
        proposals.sort(Question::compare);
        List<String[]> found = new ArrayList<>();
        for (CompletionProposal each : proposals) {
            String inserted = inserted(each).lines().findFirst().orElse("");
            if (!inserted.isEmpty()) found.add(new String[] {inserted, sortText(each)});
        }
        // [CompletionHandler.PROPOSAL_COMPARATOR]
        found.sort(Comparator.comparing(each -> each[1]));
        return found.stream().map(each -> String.join("\t", each)).toList();
    }

    /** [CompletionProposalRequestor.ProposalComparator] */
    private static int compare(CompletionProposal one, CompletionProposal other) {
        int found = other.getRelevance() - one.getRelevance();
        if (found == 0) found = one.getKind() - other.getKind();
        if (found == 0) found = compareLongestFirst(compared(one), compared(other));
        if (found == 0 && isCall(one) && isCall(other)) {
            found = Signature.getParameterCount(one.getSignature()) - Signature.getParameterCount(other.getSignature());
        }
        return found;
    }

    private static char[] compared(CompletionProposal proposal) {
        return proposal.getKind() == CompletionProposal.METHOD_DECLARATION ? proposal.getName() : proposal.getCompletion();
    }

    private static int compareLongestFirst(char[] one, char[] other) {
        int at = Arrays.mismatch(one, other);
        if (at < 0) return 0;
        return at < Math.min(one.length, other.length) ? Character.compare(one[at], other[at]) : other.length - one.length;
    }

    private static boolean isCall(CompletionProposal proposal) {
        switch (proposal.getKind()) {
            case CompletionProposal.METHOD_REF:
            case CompletionProposal.METHOD_DECLARATION:
            case CompletionProposal.METHOD_NAME_REFERENCE:
            case CompletionProposal.METHOD_REF_WITH_CASTED_RECEIVER:
            case CompletionProposal.LAMBDA_EXPRESSION:
            case CompletionProposal.CONSTRUCTOR_INVOCATION:
            case CompletionProposal.ANONYMOUS_CLASS_CONSTRUCTOR_INVOCATION:
                return true;
            default:
                return false;
        }
    }

    /** [SortTextHelper.computeSortText] */
    private static String sortText(CompletionProposal proposal) {
        return String.valueOf(999_999_999 - Math.max(proposal.getRelevance() * 16 + weight(proposal.getKind()), 0));
    }

    private static int weight(int kind) {
        switch (kind) {
            case CompletionProposal.LABEL_REF:
                return 1;
            case CompletionProposal.KEYWORD:
                return 2;
            case CompletionProposal.TYPE_REF:
            case CompletionProposal.ANONYMOUS_CLASS_DECLARATION:
            case CompletionProposal.ANONYMOUS_CLASS_CONSTRUCTOR_INVOCATION:
                return 3;
            case CompletionProposal.METHOD_REF:
            case CompletionProposal.CONSTRUCTOR_INVOCATION:
            case CompletionProposal.METHOD_NAME_REFERENCE:
            case CompletionProposal.METHOD_DECLARATION:
            case CompletionProposal.ANNOTATION_ATTRIBUTE_REF:
                return 4;
            case CompletionProposal.FIELD_REF:
                return 5;
            case CompletionProposal.LOCAL_VARIABLE_REF:
            case CompletionProposal.VARIABLE_DECLARATION:
                return 6;
            default:
                return 0;
        }
    }

    /** [CompletionProposalReplacementProvider.updateReplacement], from the beginning of the word on, arguments left out. */
    private String inserted(CompletionProposal proposal) throws JavaModelException {
        CompletionProposal named = proposal;
        switch (proposal.getKind()) {
            case CompletionProposal.METHOD_DECLARATION:
                // [OverrideCompletionProposal] writes the whole method, which begins so.
                return "@Override";
            case CompletionProposal.CONSTRUCTOR_INVOCATION:
            case CompletionProposal.ANONYMOUS_CLASS_CONSTRUCTOR_INVOCATION:
            case CompletionProposal.ANONYMOUS_CLASS_DECLARATION:
                if (proposal.getRequiredProposals() != null) named = proposal.getRequiredProposals()[0];
        }
        String whole = named.getKind() == CompletionProposal.TYPE_REF ? typeName(named)
            : hasArguments(named) ? String.valueOf(named.getName()) : String.valueOf(named.getCompletion());
        // What only shows which arguments a call takes.
        if (whole.isEmpty()) return "";
        int begin = named.getReplaceStart();
        if (begin > token) return text.substring(token, begin) + whole;
        String before = text.substring(begin, token);
        return whole.startsWith(before) ? whole.substring(before.length()) : whole;
    }

    private static boolean hasArguments(CompletionProposal proposal) {
        return proposal.getKind() == CompletionProposal.METHOD_REF && String.valueOf(proposal.getCompletion()).endsWith(")");
    }

    /** [CompletionProposalReplacementProvider.computeJavaTypeReplacementString] */
    private String typeName(CompletionProposal proposal) throws JavaModelException {
        String completion = String.valueOf(proposal.getCompletion());
        if (isImport(proposal)) return completion;
        String qualified = String.valueOf(Signature.toCharArray(Signature.getTypeErasure(proposal.getSignature())));
        if (unit.getElementName().equals("package-info.java") || !qualified.contains(".") && !completion.isEmpty()) return qualified;
        String typed = text.substring(proposal.getReplaceStart(), proposal.getReplaceEnd());
        String qualifier = typed.substring(0, typed.lastIndexOf('.') + 1);
        if (!qualifier.isEmpty() && qualified.toLowerCase(Locale.ROOT).startsWith(qualifier.toLowerCase(Locale.ROOT))) return qualified;
        return completion.contains(".") ? ImportRewrite.create(unit, true).addImport(qualified, null) : completion;
    }
}
