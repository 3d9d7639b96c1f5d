import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.ToolProvider;

/** Compiles the tests beside it with JUnit, and runs them by CodeRewardRun. */
public class CodeRewardTests {
    private static final Path JUNIT = Path.of("/opt/junit");

    public static void main(String[] arguments) throws Exception {
        List<Path> jars = named(JUNIT, ".jar");
        jars.addAll(named(Path.of("."), ".jar"));
        Path classes = Files.createDirectory(Path.of("codereward-classes"));
        List<String> command = new ArrayList<>(List.of("-nowarn", "-proc:none", "-d", classes + ""));
        command.add("-cp");
        command.add(jars.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator)));
        for (Path source : named(Path.of("."), ".java")) command.add(source.toString());
        String[] given = command.toArray(new String[0]);
        if (ToolProvider.getSystemJavaCompiler().run(null, null, null, given) != 0) System.exit(1);
        System.exit(run(classes, jars));
    }

    private static int run(Path classes, List<Path> jars) throws Exception {
        List<URL> places = new ArrayList<>(List.of(classes.toUri().toURL()));
        for (Path jar : jars) places.add(jar.toUri().toURL());
        ClassLoader loader = new URLClassLoader(places.toArray(new URL[0]));
        Thread.currentThread().setContextClassLoader(loader);
        return (int) loader.loadClass("CodeRewardRun").getMethod("run", Path.class).invoke(null, classes);
    }

    private static List<Path> named(Path folder, String end) throws Exception {
        try (Stream<Path> found = Files.walk(folder)) {
            return found.filter(one -> one.toString().endsWith(end)).collect(Collectors.toList());
        }
    }
}
