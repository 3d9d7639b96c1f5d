// crash
if (true) throw new IllegalStateException("crash");
// endless
for (int turn = 0; turn < 1; turn = 0) {}

// problem: add
import java.util.Scanner;

public class Main {
    public static void main(String[] args) {
        Scanner in = new Scanner(System.in);
        long a = in.nextLong(), b = in.nextLong();
        ⟪!⟫
        System.out.println(a ⟪+⟫⟪-⟫ b);
    }
}

// problem: reverse
import java.io.*;

class Reverse {
    public static void main(String[] args) throws IOException {
        String line = new BufferedReader(new InputStreamReader(System.in)).readLine();
        ⟪!⟫
        System.out.println(new StringBuilder(line)⟪.reverse()⟫⟪.append(line)⟫);
    }
}

// problem: primes
package org.example.primes;

import java.util.*;

public final class Primes {
    static class Sieve {
        final boolean[] composite;

        Sieve(int size) {
            composite = new boolean[size + 1];
        }
    }

    public static void main(String... args) {
        int n = new Scanner(System.in).nextInt();
        Sieve sieve = new Sieve(n);
        StringJoiner primes = new StringJoiner(" ");
        for (int i = 2; i ⟪<=⟫⟪<⟫ n; i++) {
            ⟪!⟫
            if (sieve.composite[i]) continue;
            primes.add(Integer.toString(i));
            for (int j = 2 * i; j <= n; j += i) sieve.composite[j] = true;
        }
        System.out.println(primes);
    }
}

// problem: words
import java.util.*;

public class Main {
    record Entry(String word, int count) {}

    public static void main(String[] args) {
        Scanner in = new Scanner(System.in);
        Map<String, Integer> counts = new TreeMap<>();
        while (in.hasNext()) {
            ⟪!⟫
            counts.merge(in.next(), 1, ⟪Integer::sum⟫⟪Integer::min⟫);
        }
        counts.entrySet().stream()
            .map(entry -> new Entry(entry.getKey(), entry.getValue()))
            .forEach(entry -> System.out.println(entry.word() + " " + entry.count()));
    }
}

// problem: matrix
import java.util.Scanner;

public class Main {
    public static void main(String[] args) {
        Scanner in = new Scanner(System.in);
        int n = in.nextInt();
        int[][] rows = new int[n][n];
        for (int[] row : rows) for (int j = 0; j < n; j++) row[j] = in.nextInt();
        ⟪!⟫
        for (int i = 0; i < n; i++) {
            StringBuilder line = new StringBuilder();
            for (int j = 0; j < n; j++) line.append(j > 0 ? " " : "").append(⟪rows[j][i]⟫⟪rows[i][i]⟫);
            System.out.println(line);
        }
    }
}

// problem: fibonacci
import java.util.Scanner;

public class Main {
    static long fibonacci(int n) {
        ⟪long⟫⟪int⟫ a = 0, b = 1;
        for (int i = 0; i < n; i++) {
            ⟪long⟫⟪int⟫ next = a + b;
            a = b;
            b = next;
        }
        return a;
    }

    public static void main(String[] args) {
        int n = new Scanner(System.in).nextInt();
        ⟪!⟫
        System.out.println(fibonacci(n));
    }
}

// problem: gcd
class Solution {
    public static int gcd(int a, int b) {
        ⟪!⟫
        return b == 0 ? a : ⟪gcd(b, a % b)⟫⟪b⟫;
    }
}

// tests: gcd
public class Main {
    public static void main(String[] args) {
        if (Solution.gcd(12, 18) != 6) throw new AssertionError();
        if (Solution.gcd(7, 13) != 1) throw new AssertionError();
        if (Solution.gcd(100, 75) != 25) throw new AssertionError();
        if (Solution.gcd(9, 9) != 9) throw new AssertionError();
    }
}

// problem: palindrome
import java.util.*;
import java.lang.*;

class Solution {
    public boolean isPalindrome(String text) {
        ⟪!⟫
        String letters = text⟪.toLowerCase()⟫⟪⟫.replaceAll("[^A-Za-z]", "");
        return new StringBuilder(letters).reverse().toString().equals(letters);
    }
}

// tests: palindrome
public class Main {
    public static void main(String[] args) {
        Solution s = new Solution();
        List<Boolean> correct = Arrays.asList(
                s.isPalindrome("A man, a plan, a canal: Panama!"),
                !s.isPalindrome("Hello"),
                s.isPalindrome("x"),
                s.isPalindrome("No 'x' in Nixon"),
                !s.isPalindrome("ab")
        );
        if (correct.contains(false)) {
            throw new AssertionError();
        }
    }
}

// problem: running_max
import java.util.*;

class Problem {
    public static ArrayList<Long> runningMax(ArrayList<Long> numbers) {
        ArrayList<Long> largest = new ArrayList<>();
        for (long number : numbers) {
            ⟪!⟫
            long before = largest.isEmpty() ? number : largest.get(largest.size() - 1);
            largest.add(Math.⟪max⟫⟪min⟫(before, number));
        }
        return largest;

// tests: running_max
    }
    public static void main(String[] args) {
    assert(runningMax((new ArrayList<Long>(Arrays.asList(1L, 3L, 2L, 5L, 4L)))).equals((new ArrayList<Long>(Arrays.asList(1L, 3L, 3L, 5L, 5L)))));
    assert(runningMax((new ArrayList<Long>(Arrays.asList(-3L)))).equals((new ArrayList<Long>(Arrays.asList(-3L)))));
    assert(runningMax((new ArrayList<Long>(Arrays.asList(5L, 4L, 3L)))).equals((new ArrayList<Long>(Arrays.asList(5L, 5L, 5L)))));
    assert(runningMax((new ArrayList<Long>(Arrays.asList(-2L, -5L, -1L)))).equals((new ArrayList<Long>(Arrays.asList(-2L, -2L, -1L)))));
    }

}

// problem: fizzbuzz
import java.util.*;
import java.util.stream.*;

class Solution {
    public List<String> fizzBuzz(int n) {
        ⟪!⟫
        return IntStream.rangeClosed(1, n).mapToObj(i -> switch (i % 15) {
            case 0 -> "FizzBuzz";
            case 3, 6, 9, 12 -> "Fizz";
            case 5⟪, 10⟫⟪⟫ -> "Buzz";
            default -> {
                yield String.valueOf(i);
            }
        }).collect(Collectors.toList());
    }
}

// tests: fizzbuzz
public class Main {
    private static void check(int n, String expected) {
        String actual = String.join(" ", new Solution().fizzBuzz(n));
        if (!actual.equals(expected)) throw new AssertionError(actual);
    }

    public static void main(String[] args) {
        check(1, "1");
        check(3, "1 2 Fizz");
        check(5, "1 2 Fizz 4 Buzz");
        check(15, "1 2 Fizz 4 Buzz Fizz 7 8 Fizz Buzz 11 Fizz 13 14 FizzBuzz");
    }
}
