import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.eclipse.core.resources.IFolder;
import org.eclipse.core.resources.IProject;
import org.eclipse.core.resources.IProjectDescription;
import org.eclipse.core.resources.IResource;
import org.eclipse.core.resources.ResourcesPlugin;
import org.eclipse.core.runtime.IPath;
import org.eclipse.core.runtime.NullProgressMonitor;
import org.eclipse.core.runtime.adaptor.EclipseStarter;
import org.eclipse.jdt.core.CompletionProposal;
import org.eclipse.jdt.core.CompletionRequestor;
import org.eclipse.jdt.core.IClasspathEntry;
import org.eclipse.jdt.core.ICompilationUnit;
import org.eclipse.jdt.core.IJavaProject;
import org.eclipse.jdt.core.JavaCore;
import org.eclipse.jdt.core.search.IJavaSearchConstants;
import org.eclipse.jdt.core.search.SearchEngine;
import org.eclipse.jdt.core.search.TypeNameRequestor;
import org.eclipse.jdt.internal.core.JavaModelManager;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;

/**
 * Asks JDT, and prints what it proposes as it comes: for minimal_jdt.py, by other means than the engine's driver.
 * Arguments: folder of the jars, an empty folder, the sources' only root, the class path, "index" to have JDT index all first.
 * A question is "UTF-16-OFFSET PATH TEXT"; an answer has a line per proposal and ends in an empty one.
 */
public class MinimalJdt {
    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        System.setOut(System.err);
        List<String> jars = new ArrayList<>();
        try (Stream<Path> found = Files.walk(Path.of(arguments[0]))) {
            found.map(Path::toString).filter(each -> each.endsWith(".jar")).sorted().forEach(jars::add);
        }
        List<String> bundles = jars.stream().filter(each -> !each.contains("/org.eclipse.osgi/") && !each.contains("animal-sniffer"))
            .map(each -> "reference:file:" + each + "@start").toList();
        EclipseStarter.setInitialProperties(Map.of(
            "osgi.bundles", String.join(",", bundles), "eclipse.ignoreApp", "true", "osgi.noShutdown", "true",
            "osgi.configuration.area", arguments[1] + "/c", "osgi.instance.area", arguments[1] + "/i", "osgi.install.area", arguments[1]));
        BundleContext context = EclipseStarter.startup(new String[0], null);
        Bundle jdt = Arrays.stream(context.getBundles()).filter(each -> each.getSymbolicName().equals("org.eclipse.jdt.core")).findAny().get();
        ClassLoader classes = new ClassLoader(null) {
            @Override
            protected Class<?> findClass(String name) throws ClassNotFoundException {
                if (!name.startsWith("Asked")) return jdt.loadClass(name);
                try {
                    byte[] code = MinimalJdt.class.getResourceAsStream(name + ".class").readAllBytes();
                    return defineClass(name, code, 0, code.length);
                } catch (java.io.IOException error) {
                    throw new ClassNotFoundException(name, error);
                }
            }
        };
        var constructor = classes.loadClass("Asked").getDeclaredConstructors()[0];
        constructor.setAccessible(true);
        constructor.newInstance(out, Arrays.asList(arguments).subList(1, arguments.length));
        Runtime.getRuntime().halt(0);
    }
}

class Asked {
    Asked(PrintStream out, List<String> arguments) throws Exception {
        boolean indexed = arguments.contains("index");
        if (!indexed) JavaModelManager.getIndexManager().disable();
        Path root = Path.of(arguments.get(1));
        IJavaProject java = project(root, arguments.get(2));
        if (indexed) {
            new SearchEngine().searchAllTypeNames(null, 0, "NoSuchType".toCharArray(), 0, 0, SearchEngine.createWorkspaceScope(),
                new TypeNameRequestor() { }, IJavaSearchConstants.WAIT_UNTIL_READY_TO_SEARCH, null);
        }
        var in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] parts = line.split(" ");
            ICompilationUnit unit = (ICompilationUnit) JavaCore.create(java.getProject().getFile("src/" + parts[1]));
            unit.becomeWorkingCopy(null);
            unit.getBuffer().setContents(new String(Base64.getDecoder().decode(parts[2]), StandardCharsets.UTF_8));
            unit.reconcile(ICompilationUnit.NO_AST, false, null, null);
            unit.codeComplete(Integer.parseInt(parts[0]), new AskedFor(out, parts.length > 3 ? parts[3].split(",") : new String[0]), new NullProgressMonitor());
            unit.discardWorkingCopy();
            out.println();
            out.flush();
        }
    }

    /** The sources are copied, where the driver links to them. */
    private static IJavaProject project(Path root, String jars) throws Exception {
        IProject project = ResourcesPlugin.getWorkspace().getRoot().getProject("minimal");
        IProjectDescription description = project.getWorkspace().newProjectDescription("minimal");
        description.setNatureIds(new String[] {JavaCore.NATURE_ID});
        project.create(description, null);
        project.open(null);
        project.setDefaultCharset("UTF-8", null);
        IFolder sources = project.getFolder("src");
        sources.create(true, true, null);
        try (Stream<Path> found = Files.walk(root)) {
            for (Path each : (Iterable<Path>) found.filter(path -> path.toString().endsWith(".java") && !path.endsWith("module-info.java"))::iterator) {
                Path copy = sources.getLocation().toPath().resolve(root.relativize(each));
                Files.createDirectories(copy.getParent());
                Files.copy(each, copy);
            }
        }
        project.refreshLocal(IResource.DEPTH_INFINITE, null);
        List<IClasspathEntry> path = new ArrayList<>(List.of(JavaCore.newSourceEntry(sources.getFullPath())));
        path.add(JavaCore.newLibraryEntry(IPath.fromOSString(System.getProperty("java.home") + "/lib/jrt-fs.jar"), null, null, null,
            new org.eclipse.jdt.core.IClasspathAttribute[] {JavaCore.newClasspathAttribute("module", "true")}, false));
        for (String jar : jars.split(":")) if (!jar.isEmpty()) path.add(JavaCore.newLibraryEntry(IPath.fromOSString(jar), null, null));
        IJavaProject java = JavaCore.create(project);
        java.setOption(JavaCore.COMPILER_SOURCE, "17");
        java.setOption(JavaCore.COMPILER_COMPLIANCE, "17");
        java.setOption(JavaCore.COMPILER_CODEGEN_TARGET_PLATFORM, "17");
        java.setOption(JavaCore.CODEASSIST_VISIBILITY_CHECK, "enabled");
        java.setOption(JavaCore.CODEASSIST_SUBWORD_MATCH, "disabled");
        java.setRawClasspath(path.toArray(IClasspathEntry[]::new), null);
        return java;
    }
}

class AskedFor extends CompletionRequestor {
    private final PrintStream out;

    AskedFor(PrintStream out, String[] favourites) {
        this.out = out;
        int[][] allowed = {
            {2, 9}, {2, 21}, {2, 23}, {6, 9}, {6, 22}, {6, 23}, {26, 9}, {27, 9}, {1, 9}, {9, 9}};
        for (int[] pair : allowed) setAllowsRequiredProposals(pair[0], pair[1], true);
        setFavoriteReferences(favourites);
        setRequireExtendedContext(true);
    }

    @Override
    public void accept(CompletionProposal found) {
        CompletionProposal type = found.getKind() == 9 ? found : null;
        for (CompletionProposal each : found.getRequiredProposals() == null ? new CompletionProposal[0] : found.getRequiredProposals()) {
            if (each.getKind() == 9) type = each;
        }
        out.println(String.join("\t", "" + found.getKind(), "" + found.getRelevance(), "" + found.getReplaceStart(),
            text(found.getCompletion()), text(found.getName()), text(found.getDeclarationSignature()),
            type == null ? "" : text(type.getSignature()), type == null ? "" : "" + type.getReplaceStart(), type == null ? "" : text(type.getCompletion()),
            "" + (found.getRequiredProposals() != null)));
    }

    private static String text(char[] text) {
        return text == null ? "" : new String(text).replaceAll("\\s", " ");
    }
}
