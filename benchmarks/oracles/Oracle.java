import com.sun.source.tree.*;
import com.sun.source.util.*;
import com.sun.tools.javac.parser.Scanner;
import com.sun.tools.javac.parser.ScannerFactory;
import com.sun.tools.javac.parser.Tokens;
import com.sun.tools.javac.util.Context;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import java.util.stream.Collectors;
import javax.lang.model.element.*;
import javax.lang.model.type.TypeKind;
import javax.tools.*;

/**
 * An oracle of Java: the names and keywords of files, by javac's tree API and scanner. Paths are read from standard input,
 * one a line; a line of JSON is written for each: path, and tokens (offset in UTF-16 units, text, kind) or error.
 * DEFINITION is the kind of names that refer to nothing; of several kinds between "|", any is right.
 */
public class Oracle {
    private static final Set<String> CONTEXTUAL = Set.of("var", "record", "sealed", "permits", "yield", "when", "module");

    public static void main(String[] arguments) throws Exception {
        Map<Path, List<Path>> bySourceRoot = new LinkedHashMap<>();
        for (String line : new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).lines().toList()) {
            Path path = Path.of(line);
            bySourceRoot.computeIfAbsent(sourceRoot(path), root -> new ArrayList<>()).add(path);
        }
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        for (Map.Entry<Path, List<Path>> group : bySourceRoot.entrySet()) answer(group.getKey(), group.getValue(), out);
        out.flush();
    }

    /** The folder that the file's package is in. */
    private static Path sourceRoot(Path path) throws IOException {
        var clause = java.util.regex.Pattern.compile("(?m)^package\\s+([\\w.]+)").matcher(Files.readString(path));
        Path root = path.getParent();
        int depth = clause.find() ? clause.group(1).split("\\.").length : 0;
        // A file alone may lie less deep than its package says.
        while (depth-- > 0 && root.getParent() != null) root = root.getParent();
        return root;
    }

    private static void answer(Path root, List<Path> paths, PrintStream out) throws Exception {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StandardJavaFileManager files = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8);
        Map<Path, String> errors = new HashMap<>();
        boolean[] parsed = {false};
        DiagnosticListener<JavaFileObject> listener = diagnostic -> {
            if (!parsed[0] && diagnostic.getKind() == Diagnostic.Kind.ERROR && diagnostic.getSource() != null)
                errors.putIfAbsent(Path.of(diagnostic.getSource().toUri()), diagnostic.getMessage(Locale.ROOT));
        };
        String release = String.valueOf(Runtime.version().feature());
        List<String> options = List.of("-proc:none", "-Xmaxerrs", "1000000", "--enable-preview", "--release", release, "-sourcepath", root.toString());
        JavacTask task = (JavacTask) compiler.getTask(null, files, listener, options, null, files.getJavaFileObjectsFromPaths(paths));
        Iterable<? extends CompilationUnitTree> units = task.parse();
        parsed[0] = true;
        task.analyze();
        for (CompilationUnitTree unit : units) {
            Path path = Path.of(unit.getSourceFile().toUri());
            String error = errors.get(path);
            String result = error != null ? "\"error\": " + quoted(error)
                : "\"tokens\": [" + new File_(task, unit).tokens().stream().collect(Collectors.joining(", ")) + "]";
            out.println("{\"path\": " + quoted(path.toString()) + ", " + result + "}");
        }
    }

    private static String quoted(String text) {
        StringBuilder result = new StringBuilder("\"");
        for (char c : text.toCharArray()) result.append(c < ' ' || c == '"' || c == '\\' || c > '~' ? String.format("\\u%04x", (int) c) : String.valueOf(c));
        return result.append('"').toString();
    }

    /** The names of a file. */
    private static class File_ extends TreePathScanner<Void, Void> {
        private final Trees trees;
        private final SourcePositions positions;
        private final CompilationUnitTree unit;
        private final String text;
        private final List<Tokens.Token> tokens = new ArrayList<>();
        private final Map<Integer, String> kinds = new HashMap<>();

        File_(JavacTask task, CompilationUnitTree unit) throws IOException {
            this.trees = Trees.instance(task);
            this.positions = trees.getSourcePositions();
            this.unit = unit;
            this.text = unit.getSourceFile().getCharContent(true).toString();
        }

        List<String> tokens() {
            Context context = new Context();
            new com.sun.tools.javac.file.JavacFileManager(context, true, StandardCharsets.UTF_8);
            Scanner scanner = ScannerFactory.instance(context).newScanner(text, false);
            for (scanner.nextToken(); scanner.token().kind != Tokens.TokenKind.EOF; scanner.nextToken()) tokens.add(scanner.token());
            scan(unit, null);
            List<String> result = new ArrayList<>();
            boolean inPackage = false;
            for (Tokens.Token token : tokens) {
                // No token stands in the clause of the package.
                if (token.kind == Tokens.TokenKind.PACKAGE) inPackage = true;
                if (token.kind == Tokens.TokenKind.SEMI) inPackage = false;
                if (inPackage) continue;
                String word = text.substring(token.pos, token.endPos);
                if (token.kind != Tokens.TokenKind.IDENTIFIER) {
                    if (token.kind.name != null && Character.isLetter(token.kind.name.charAt(0)))
                        result.add(entry(token.pos, word, "KEYWORD"));
                } else if (kinds.containsKey(token.pos)) {
                    result.add(entry(token.pos, word, kinds.get(token.pos)));
                } else if (text.startsWith("non-sealed", token.pos)) {
                    result.add(entry(token.pos, "non-sealed", "KEYWORD"));
                    kinds.put(token.pos + "non-".length(), "DEFINITION");
                } else {
                    result.add(entry(token.pos, word, CONTEXTUAL.contains(word) ? "KEYWORD" : "DEFINITION"));
                }
            }
            return result;
        }

        private static String entry(int begin, String word, String kind) {
            return "[" + begin + ", " + quoted(word) + ", " + quoted(kind) + "]";
        }

        private void put(long begin, String name, String kind) {
            if (begin >= 0 && text.startsWith(name, (int) begin)) kinds.putIfAbsent((int) begin, kind);
        }

        /** Marks the first place of a name behind a position as its definition. */
        private void define(long begin, CharSequence name) {
            if (begin < 0) return;
            for (Tokens.Token token : tokens)
                if (token.pos >= begin && token.kind == Tokens.TokenKind.IDENTIFIER && text.substring(token.pos, token.endPos).contentEquals(name)) {
                    kinds.putIfAbsent(token.pos, "DEFINITION");
                    return;
                }
        }

        private long end(Tree tree, Tree otherwise) {
            long end = tree == null ? -1 : positions.getEndPosition(unit, tree);
            return end >= 0 ? end : positions.getStartPosition(unit, otherwise);
        }

        @Override public Void visitIdentifier(IdentifierTree tree, Void nothing) {
            String name = tree.getName().toString();
            put(positions.getStartPosition(unit, tree), name, kind(tree));
            return super.visitIdentifier(tree, nothing);
        }

        @Override public Void visitMemberSelect(MemberSelectTree tree, Void nothing) {
            return member(tree, tree.getIdentifier().toString(), nothing, () -> super.visitMemberSelect(tree, nothing));
        }

        @Override public Void visitMemberReference(MemberReferenceTree tree, Void nothing) {
            return member(tree, tree.getName().toString(), nothing, () -> super.visitMemberReference(tree, nothing));
        }

        private Void member(Tree tree, String name, Void nothing, java.util.function.Supplier<Void> inner) {
            long end = positions.getEndPosition(unit, tree);
            if (end >= 0) put(end - name.length(), name, kind(tree));
            return inner.get();
        }

        @Override public Void visitVariable(VariableTree tree, Void nothing) {
            // Words such as `record` are names, too.
            if (CONTEXTUAL.contains(tree.getName().toString())) define(end(tree.getType(), tree), tree.getName());
            return super.visitVariable(tree, nothing);
        }

        @Override public Void visitMethod(MethodTree tree, Void nothing) {
            if (CONTEXTUAL.contains(tree.getName().toString())) define(end(tree.getReturnType(), tree), tree.getName());
            return super.visitMethod(tree, nothing);
        }

        @Override public Void visitAssignment(AssignmentTree tree, Void nothing) {
            if (getCurrentPath().getParentPath().getLeaf() instanceof AnnotationTree)
                put(positions.getStartPosition(unit, tree.getVariable()), tree.getVariable().toString(), "ARGUMENT_NAME");
            return super.visitAssignment(tree, nothing);
        }

        private String kind(Tree tree) {
            for (TreePath path = getCurrentPath(); path != null; path = path.getParentPath()) {
                if (path.getLeaf() instanceof ImportTree || path.getLeaf() instanceof PackageTree) return "IMPORT";
                if (!(path.getLeaf() instanceof MemberSelectTree || path.getLeaf() instanceof IdentifierTree)) break;
            }
            Element element = trees.getElement(getCurrentPath());
            // A name that nothing declares counts as a package.
            if (element instanceof PackageElement known && known.getEnclosedElements().isEmpty()) return unresolved(tree);
            if (element == null || (element.asType() != null && element.asType().getKind() == TypeKind.ERROR)) return unresolved(tree);
            return switch (element.getKind()) {
                case FIELD, ENUM_CONSTANT, RECORD_COMPONENT -> "FIELD";
                case METHOD, CONSTRUCTOR -> "METHOD_CALL";
                case PACKAGE, MODULE -> "IMPORT";
                case CLASS, INTERFACE, ENUM, ANNOTATION_TYPE, RECORD, TYPE_PARAMETER -> "TYPE_REFERENCE";
                default -> "VARIABLE";
            };
        }

        /** The kind of a name of which javac does not know what it stands for, since other libraries are not there. */
        private String unresolved(Tree tree) {
            Tree parent = getCurrentPath().getParentPath().getLeaf();
            if (tree instanceof MemberReferenceTree || (parent instanceof MethodInvocationTree call && call.getMethodSelect() == tree)) return "METHOD_CALL";
            if (parent instanceof NewClassTree made && made.getIdentifier() == tree || parent instanceof ParameterizedTypeTree
                || parent instanceof AnnotationTree note && note.getAnnotationType() == tree || parent instanceof ClassTree
                || parent instanceof VariableTree variable && variable.getType() == tree || parent instanceof MethodTree
                || parent instanceof InstanceOfTree test && test.getType() == tree || parent instanceof TypeCastTree cast && cast.getType() == tree
                || parent instanceof ArrayTypeTree || parent instanceof TypeParameterTree || parent instanceof WildcardTree) return "TYPE_REFERENCE";
            return tree instanceof IdentifierTree ? "VARIABLE|FIELD|TYPE_REFERENCE|IMPORT" : "FIELD|TYPE_REFERENCE|IMPORT";
        }
    }
}
