package sodafountain;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.StringWriter;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** That the guide's code compiles as it stands, and its program runs. */
class ReadmeTest {
    private static final Pattern BLOCK = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);
    private static final Pattern CLASS = Pattern.compile("public class (\\w+)");

    // What the guide's fragments take for granted; what one declares itself goes before it.
    private static final String AROUND = """
            import java.time.Duration;
            import sodafountain.*;
            import sodafountain.v1.*;

            abstract class Fragment%d {
                SodaFountain client;
                Seat seat;
                LegalMove move;
                Update update;

                abstract void choose(LegalMovesResponse legal);

                void run() {
            %s
                }
            }
            """;

    @TempDir
    private Path folder;

    private static List<String> blocks() throws IOException {
        Matcher blocks = BLOCK.matcher(Files.readString(Path.of("README.md")));
        List<String> found = new ArrayList<>();
        while (blocks.find()) {
            found.add(blocks.group(1));
        }
        return found;
    }

    private Path written(String name, String code) throws IOException {
        return Files.writeString(folder.resolve(name + ".java"), code);
    }

    private void compile(List<Path> sources) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter problems = new StringWriter();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            List<String> options =
                    List.of("-Xlint:all,-try", "-Werror", "-proc:none", "-d", folder.toString(), "--release", "17");
            boolean good = compiler.getTask(
                            problems, files, null, options, null, files.getJavaFileObjectsFromPaths(sources))
                    .call();
            assertTrue(good, problems::toString);
        }
    }

    @Test
    void itsCodeCompilesAndItsProgramPlaysAGame() throws Exception {
        String program = null;
        List<Path> sources = new ArrayList<>();
        try (ScriptedService service = new ScriptedService()) {
            for (String block : blocks()) {
                Matcher named = CLASS.matcher(block);
                if (named.find()) {
                    program = named.group(1);
                    sources.add(written(program, block.replace("localhost:50051", service.target())));
                } else {
                    int number = sources.size();
                    sources.add(written("Fragment" + number, AROUND.formatted(number, block)));
                }
            }
            compile(sources);
            assertTrue(sources.size() > 1);
            assertEquals("Seat 0 wins.\n", printedBy(program));
        }
    }

    private String printedBy(String program) throws Exception {
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        PrintStream before = System.out;
        System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try (URLClassLoader loader = new URLClassLoader(
                new URL[] {folder.toUri().toURL()}, getClass().getClassLoader())) {
            loader.loadClass(program).getMethod("main", String[].class).invoke(null, (Object) new String[0]);
        } finally {
            System.setOut(before);
        }
        return printed.toString(StandardCharsets.UTF_8);
    }
}
