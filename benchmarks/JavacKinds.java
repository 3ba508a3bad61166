import com.sun.source.tree.*;
import com.sun.source.util.*;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import javax.lang.model.element.*;
import javax.tools.*;

/** What javac knows of each name in Java files: JavacKinds.java ROOT FILE…; a line "file, offset, name, kind, static, package" each. */
public class JavacKinds {
    public static void main(String[] arguments) throws Exception {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StandardJavaFileManager files = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8);
        Path root = Path.of(arguments[0]);
        List<Path> paths = new ArrayList<>();
        for (String name : Arrays.asList(arguments).subList(1, arguments.length)) paths.add(root.resolve(name));
        // What cannot be resolved (other libraries) is an error of its own and no reason to stop.
        JavacTask task = (JavacTask) compiler.getTask(null, files, diagnostic -> {}, List.of("-proc:none", "-Xmaxerrs", "1000000"),
            null, files.getJavaFileObjectsFromPaths(paths));
        Iterable<? extends CompilationUnitTree> units = task.parse();
        task.analyze();
        try (PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8)) {
            for (CompilationUnitTree unit : units) new Scanner(task, root, unit, out).scan(unit, null);
        }
    }

    private static class Scanner extends TreePathScanner<Void, Void> {
        private final Trees trees;
        private final SourcePositions positions;
        private final CompilationUnitTree unit;
        private final String text;
        private final String file;
        private final PrintStream out;

        Scanner(JavacTask task, Path root, CompilationUnitTree unit, PrintStream out) throws Exception {
            this.trees = Trees.instance(task);
            this.positions = trees.getSourcePositions();
            this.unit = unit;
            this.text = unit.getSourceFile().getCharContent(true).toString();
            this.file = root.relativize(Path.of(unit.getSourceFile().toUri())).toString();
            this.out = out;
        }

        @Override public Void visitIdentifier(IdentifierTree tree, Void nothing) {
            long begin = positions.getStartPosition(unit, tree);
            String name = tree.getName().toString();
            if (begin >= 0 && text.startsWith(name, (int) begin)) print(begin, name, tree);
            return super.visitIdentifier(tree, nothing);
        }

        @Override public Void visitMemberSelect(MemberSelectTree tree, Void nothing) {
            String name = tree.getIdentifier().toString();
            long end = positions.getEndPosition(unit, tree);
            if (end >= 0 && text.startsWith(name, (int) end - name.length())) print(end - name.length(), name, tree);
            return super.visitMemberSelect(tree, nothing);
        }

        @Override public Void visitMemberReference(MemberReferenceTree tree, Void nothing) {
            String name = tree.getName().toString();
            long end = positions.getEndPosition(unit, tree);
            if (end >= 0 && text.startsWith(name, (int) end - name.length())) print(end - name.length(), name, tree);
            return super.visitMemberReference(tree, nothing);
        }

        private void print(long begin, String name, Tree tree) {
            if (Set.of("this", "super", "class", "new", "length").contains(name) && !(tree instanceof IdentifierTree)) return;
            if (Set.of("this", "super").contains(name)) return;
            Element element = trees.getElement(getCurrentPath());
            if (element == null) return;
            int offset = text.codePointCount(0, (int) begin);
            boolean known = element.asType() == null || element.asType().getKind() != javax.lang.model.type.TypeKind.ERROR;
            if (!known) return;
            out.println(String.join("\t", file, String.valueOf(offset), name, kind(element), isStatic(element), packageOf(element)));
        }

        private String kind(Element element) {
            for (TreePath path = getCurrentPath(); path != null; path = path.getParentPath()) {
                if (path.getLeaf() instanceof ImportTree) return "IMPORT";
                if (path.getLeaf() instanceof AssignmentTree assignment && path.getParentPath().getLeaf() instanceof AnnotationTree
                    && isBelow(assignment.getVariable())) return "ARGUMENT_NAME";
            }
            return switch (element.getKind()) {
                case FIELD, ENUM_CONSTANT -> "FIELD";
                case METHOD, CONSTRUCTOR -> "METHOD_CALL";
                case PACKAGE, MODULE -> "IMPORT";
                case CLASS, INTERFACE, ENUM, ANNOTATION_TYPE, RECORD, TYPE_PARAMETER -> "TYPE_REFERENCE";
                default -> "VARIABLE";
            };
        }

        private boolean isBelow(Tree variable) {
            for (TreePath path = getCurrentPath(); path != null; path = path.getParentPath())
                if (path.getLeaf() == variable) return true;
            return false;
        }

        private String isStatic(Element element) {
            boolean type = element.getKind().isClass() || element.getKind().isInterface() || element.getKind() == ElementKind.PACKAGE;
            return String.valueOf(type || element.getModifiers().contains(Modifier.STATIC));
        }

        private String packageOf(Element element) {
            for (Element each = element; each != null; each = each.getEnclosingElement())
                if (each instanceof PackageElement found && each != element) return found.getQualifiedName().toString();
            return "";
        }
    }
}
