import java.io.*;
import java.math.*;
import java.util.*;
import java.util.function.*;
import java.util.regex.*;
import java.util.stream.*;

/** Uses what programs often use, so that the archive of classes has it. */
public class Warm {
    sealed interface Shape permits Square, Circle {}
    record Square(double side) implements Shape {}
    record Circle(double radius) implements Shape {}
    enum Colour { RED, GREEN }

    static double area(Shape shape) {
        if (shape instanceof Square square) return square.side() * square.side();
        return shape instanceof Circle circle ? Math.PI * circle.radius() * circle.radius() : 0;
    }

    static <T extends Comparable<T>> T largest(List<? extends T> items) {
        T best = null;
        for (T item : items) if (best == null || item.compareTo(best) > 0) best = item;
        return best;
    }

    public static void main(String[] arguments) throws Exception {
        BufferedReader reader = new BufferedReader(new InputStreamReader(System.in));
        StringTokenizer tokens = new StringTokenizer(reader.readLine());
        long sum = Long.parseLong(tokens.nextToken()) + Integer.parseInt(tokens.nextToken());
        Scanner scanner = new Scanner("1 2.5 word\nline\n");
        sum += scanner.nextInt() + (long) scanner.nextDouble() + scanner.next().length();
        while (scanner.hasNextLine()) sum += scanner.nextLine().length();
        Map<String, Integer> counts = new TreeMap<>(new HashMap<>(Map.of("a", 1)));
        for (String word : "the cat the dog".split("\\s+")) counts.merge(word, 1, Integer::sum);
        Map<String, List<Integer>> grouped = new LinkedHashMap<>();
        grouped.computeIfAbsent("x", key -> new ArrayList<>()).add(3);
        Deque<Integer> deque = new ArrayDeque<>(List.of(1, 2));
        PriorityQueue<int[]> queue = new PriorityQueue<>((a, b) -> a[0] - b[0]);
        queue.add(new int[] {deque.pollFirst()});
        Set<Integer> seen = new HashSet<>(new LinkedList<>(Arrays.asList(1, 2, 3)));
        String joined = seen.stream().filter(i -> i > 1).map(String::valueOf).sorted()
            .collect(Collectors.joining(", ", "[", "]"));
        int[] numbers = IntStream.rangeClosed(1, 5).map(i -> i * i).toArray();
        Arrays.sort(numbers);
        Function<Integer, Integer> twice = i -> 2 * i;
        Supplier<Optional<Integer>> maximum = () -> Arrays.stream(numbers).boxed().max(Comparator.naturalOrder());
        Map<Boolean, List<Integer>> parts = Stream.of(1, 2, 3).collect(Collectors.partitioningBy(i -> i % 2 == 0));
        Matcher matcher = Pattern.compile("(\\w+)").matcher("some text");
        StringBuilder text = new StringBuilder();
        while (matcher.find()) text.append(matcher.group(1)).reverse();
        String size = switch (numbers.length) { case 0 -> "none"; case 1, 2 -> "few"; default -> { yield "many"; } };
        try {
            Object[] none = new Object[0];
            none[1] = Integer.valueOf("x");
        } catch (NumberFormatException | ArrayIndexOutOfBoundsException error) {
            text.append(error.getMessage());
        } finally {
            text.append(BigInteger.TWO.pow(70).mod(BigInteger.valueOf(97))).append(new BigDecimal("1.5"));
        }
        Thread thread = new Thread(() -> seen.add(4));
        thread.start();
        thread.join();
        Collections.reverse(new ArrayList<>(seen));
        System.out.printf("%d %.2f %s %s%n", sum, area(new Circle(1)), joined, size);
        System.out.println(String.format("%5d|%-5s|%x", twice.apply(4), Colour.RED, 255) + maximum.get() + parts + text);
        System.out.println(counts + grouped.toString() + new Square(2) + largest(List.of("a", "b")) + queue.size());
        System.out.println("""
            A block of text: """ + String.join("-", counts.keySet()) + Objects.hash(1, 2) + Arrays.toString(numbers));
    }
}
