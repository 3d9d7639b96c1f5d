import java.nio.file.*;

public class Main {
  public static void main(String[] args) throws Exception {
    int wanted = 0;
    for (String name : new String[] {"a", "b", "c", "d"}) {
      int number = Integer.parseInt(Files.readString(Path.of("given", name)).trim());
      if (number != ++wanted) throw new AssertionError(number);
      System.out.println(number);
    }
  }
}
