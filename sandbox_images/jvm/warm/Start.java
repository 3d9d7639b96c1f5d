import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;

/** Starts a program past the class path, whose other classes are all that an archive then keeps. */
class Start {
    public static void main(String[] arguments) throws Exception {
        URL[] places = {Path.of(arguments[0]).toUri().toURL()};
        Class<?> main = new URLClassLoader(places).loadClass(arguments[1]);
        main.getMethod("main", String[].class).invoke(null, (Object) new String[0]);
    }
}
