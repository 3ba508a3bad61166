import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.regex.*;
import jdk.jshell.*;

/**
 * Answers completions by the JDK's own jdk.jshell, a line per question: "OFFSET BASE64-OF-TEXT" → "MS BASE64-OF-NAMES", the
 * names one per line. The imports of the file become imports of the shell; nothing else of it is evaluated.
 */
public class JShellDriver {
    private static final Pattern PACKAGE = Pattern.compile("(?m)^\\s*package\\s+([\\w.]+)\\s*;");
    private static final Pattern IMPORT = Pattern.compile("(?m)^\\s*import\\s+(?:static\\s+)?[\\w.]+(?:\\.\\*)?\\s*;");

    private final String classes;
    private JShell shell;
    private List<String> known = List.of("?");

    JShellDriver(String classes) {
        this.classes = classes;
    }

    public static void main(String[] arguments) throws Exception {
        JShellDriver driver = new JShellDriver(arguments[0]);
        Scanner lines = new Scanner(System.in, StandardCharsets.UTF_8).useDelimiter("\n");
        while (lines.hasNext()) {
            String[] parts = lines.next().split(" ");
            String text = new String(Base64.getDecoder().decode(parts[1]), StandardCharsets.UTF_8);
            int offset = text.offsetByCodePoints(0, Integer.parseInt(parts[0]));
            long started = System.nanoTime();
            Set<String> names = driver.complete(text, offset);
            double taken = (System.nanoTime() - started) / 1e6;
            String answer = Base64.getEncoder().encodeToString(String.join("\n", names).getBytes(StandardCharsets.UTF_8));
            System.out.println(String.format(Locale.ROOT, "%.3f %s", taken, answer));
        }
    }

    private Set<String> complete(String text, int offset) {
        List<String> imports = new ArrayList<>();
        Matcher own = PACKAGE.matcher(text);
        int begin = 0;
        if (own.find()) {
            imports.add("import " + own.group(1) + ".*;");
            begin = own.end();
        }
        for (Matcher found = IMPORT.matcher(text); found.find(); begin = found.end()) imports.add(found.group().trim());
        prepare(imports);
        Set<String> names = new LinkedHashSet<>();
        if (offset < begin) {
            return names;
        }
        // What is typed already comes back as a part of each continuation.
        for (SourceCodeAnalysis.Suggestion each
                : shell.sourceCodeAnalysis().completionSuggestions(text.substring(begin), offset - begin, new int[1])) {
            names.add(each.continuation());
        }
        return names;
    }

    private void prepare(List<String> imports) {
        if (imports.equals(known)) return;
        if (shell != null) shell.close();
        shell = JShell.builder().executionEngine("local").build();
        shell.addToClasspath(classes);
        for (String each : imports) shell.eval(each);
        known = imports;
    }
}
