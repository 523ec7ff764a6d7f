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

/** Tests that the code in README.md compiles, and that its program runs. */
class ReadmeTest {
    private static final Pattern BLOCK = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);
    private static final Pattern CLASS = Pattern.compile("public class (\\w+)");

    // The context of a fragment. A fragment's own declarations hide these fields.
    private static final String FRAGMENT = """
            import com.google.protobuf.ByteString;
            import com.google.protobuf.util.JsonFormat;
            import java.nio.file.Files;
            import java.nio.file.Path;
            import java.time.Duration;
            import java.util.HexFormat;
            import sodafountain.*;
            import sodafountain.v1.*;

            abstract class Fragment%d {
                SodaFountain client;
                Seat seat;
                LegalMove move;
                Update update;

                abstract void choose(LegalMovesResponse legal);

                void run() throws java.io.IOException {
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

    private Path write(String name, String code) throws IOException {
        return Files.writeString(folder.resolve(name + ".java"), code);
    }

    private void compile(List<Path> sources) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter problems = new StringWriter();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            List<String> options =
                    List.of("-Xlint:all,-try", "-Werror", "-proc:none", "-d", folder.toString(), "--release", "17");
            boolean compiled = compiler.getTask(
                            problems, files, null, options, null, files.getJavaFileObjectsFromPaths(sources))
                    .call();
            assertTrue(compiled, problems::toString);
        }
    }

    @Test
    void theCodeCompilesAndTheProgramPlaysAGame() throws Exception {
        String program = null;
        List<Path> sources = new ArrayList<>();
        try (ScriptedService service = new ScriptedService()) {
            for (String block : blocks()) {
                Matcher name = CLASS.matcher(block);
                if (name.find()) {
                    program = name.group(1);
                    sources.add(write(program, block.replace("localhost:50051", service.target())));
                } else {
                    int number = sources.size();
                    sources.add(write("Fragment" + number, FRAGMENT.formatted(number, block)));
                }
            }
            compile(sources);
            assertTrue(sources.size() > 1);
            assertEquals("Seat 0 wins.\n", outputOf(program));
        }
    }

    private String outputOf(String program) throws Exception {
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        PrintStream original = System.out;
        System.setOut(new PrintStream(output, true, StandardCharsets.UTF_8));
        try (URLClassLoader loader = new URLClassLoader(
                new URL[] {folder.toUri().toURL()}, getClass().getClassLoader())) {
            loader.loadClass(program).getMethod("main", String[].class).invoke(null, (Object) new String[0]);
        } finally {
            System.setOut(original);
        }
        return output.toString(StandardCharsets.UTF_8);
    }
}
