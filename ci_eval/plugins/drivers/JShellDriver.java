import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.*;
import java.util.*;
import java.util.regex.*;
import jdk.jshell.*;

/**
 * Answers completions by the JDK's own jdk.jshell, a line per question: "OFFSET PATH TEXT" → "MS NAMES": the offset in
 * code points, the other two and the names, one per line, in base64. The imports of the file become imports of the shell; nothing else of it is evaluated.
 */
public class JShellDriver {
    private static final Pattern PACKAGE = Pattern.compile("(?m)^\\s*package\\s+([\\w.]+)\\s*;");
    private static final Pattern IMPORT = Pattern.compile("(?m)^\\s*import\\s+(?:static\\s+)?[\\w.]+(?:\\.\\*)?\\s*;");

    private final String classes;
    private JShell shell;
    /** How long the last question took, in nanoseconds, without the making of its shell. */
    private long taken;

    JShellDriver(String classes) {
        this.classes = classes;
    }

    public static void main(String[] arguments) throws Exception {
        // Whatever else writes to standard output must not be taken for an answer.
        PrintStream answers = System.out;
        System.setOut(System.err);
        JShellDriver driver = new JShellDriver(arguments[0]);
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, UTF_8));
        for (String question = questions.readLine(); question != null; question = questions.readLine()) {
            answers.println(driver.answer(question.split(" ")));
        }
    }

    private String answer(String[] parts) {
        String text = new String(Base64.getDecoder().decode(parts[2]), UTF_8);
        int offset = text.offsetByCodePoints(0, Integer.parseInt(parts[0]));
        try {
            String names = String.join("\n", complete(text, offset));
            return String.format(Locale.ROOT, "%.3f %s", taken / 1e6, encoded(names));
        } catch (RuntimeException | StackOverflowError error) {
            return "error " + encoded(error.toString());
        }
    }

    private static String encoded(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(UTF_8));
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
        long started = System.nanoTime();
        if (offset >= begin) {
            // What is typed already comes back as a part of each continuation.
            for (SourceCodeAnalysis.Suggestion each
                    : shell.sourceCodeAnalysis().completionSuggestions(text.substring(begin), offset - begin, new int[1])) {
                names.add(each.continuation());
            }
        }
        taken = System.nanoTime() - started;
        return names;
    }

    /** Each question gets a shell of its own: its compilers are used again, and know which classes they saw before. */
    private void prepare(List<String> imports) {
        if (shell != null) shell.close();
        // Else the compiler would start the plugins it finds in the project's jars; in our own class path there are none.
        String plugins = System.getProperty("java.class.path");
        shell = JShell.builder().executionEngine("local").compilerOptions("-processorpath", plugins).build();
        shell.addToClasspath(classes);
        for (String each : imports) shell.eval(each);
        // JShell reads the class path in a thread of its own; until that is done, its packages and classes are missing.
        while (!shell.sourceCodeAnalysis().listQualifiedNames("String", 6).isUpToDate()) pause();
    }

    private static void pause() {
        try {
            Thread.sleep(10);
        } catch (InterruptedException error) {
            throw new IllegalStateException(error);
        }
    }
}
