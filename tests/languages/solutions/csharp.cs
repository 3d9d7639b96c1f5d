// crash
if (Environment.TickCount64 >= 0) throw new InvalidOperationException("crash");
// endless
while (Environment.TickCount64 >= 0) { }

// problem: add
var numbers = Console.ReadLine()!.Split(' ').Select(long.Parse).ToArray();
⟪!⟫
Console.WriteLine(numbers[0] ⟪+⟫⟪-⟫ numbers[1]);

// problem: reverse
using System;

namespace Example
{
    class Program
    {
        static void Main(string[] args)
        {
            char[] letters = Console.ReadLine().ToCharArray();
            ⟪!⟫
            Array.⟪Reverse⟫⟪Sort⟫(letters);
            Console.WriteLine(new string(letters));
        }
    }
}

// problem: primes
namespace Example;

public class Sieve
{
    public bool[] Composite { get; }

    public Sieve(int size) => Composite = new bool[size + 1];

    public IEnumerable<int> Primes(int n)
    {
        for (int i = 2; i ⟪<=⟫⟪<⟫ n; i++)
        {
            ⟪!⟫
            if (Composite[i]) continue;
            yield return i;
            for (int j = 2 * i; j <= n; j += i) Composite[j] = true;
        }
    }
}

public static class Program
{
    public static int Main()
    {
        int n = int.Parse(Console.ReadLine()!);
        Console.WriteLine(string.Join(" ", new Sieve(n).Primes(n)));
        return 0;
    }
}

// problem: words
using System;
using System.Collections.Generic;

class Program
{
    record Entry(string Word, int Count);

    static void Main()
    {
        var counts = new SortedDictionary<string, int>();
        string? line;
        while ((line = Console.ReadLine()) != null)
        {
            foreach (var word in line.Split(' ', StringSplitOptions.RemoveEmptyEntries))
            {
                ⟪!⟫
                counts[word] = ⟪counts.GetValueOrDefault(word) + 1⟫⟪1⟫;
            }
        }
        foreach (var (word, count) in counts.Select(pair => new Entry(pair.Key, pair.Value)))
            Console.WriteLine($"{word} {count}");
    }
}

// problem: matrix
int n = int.Parse(Console.ReadLine()!);
var rows = Enumerable.Range(0, n).Select(_ => Console.ReadLine()!.Split(' ')).ToList();
⟪!⟫
for (int i = 0; i < n; i++) Console.WriteLine(string.Join(' ', rows.Select(row => row[⟪i⟫⟪0⟫])));

// problem: fibonacci
using System;

public class Program
{
    static ⟪long⟫⟪int⟫ Fibonacci(int n)
    {
        ⟪long⟫⟪int⟫ a = 0, b = 1;
        for (int i = 0; i < n; i++) (a, b) = (b, a + b);
        return a;
    }

    public static async Task Main()
    {
        int n = int.Parse(await Console.In.ReadToEndAsync());
        ⟪!⟫
        Console.WriteLine(Fibonacci(n));
    }
}

// problem: gcd
using System;
using System.Diagnostics;
class Problem {
    public static long Gcd(long a, long b) {
        ⟪!⟫
        return b == 0 ? a : ⟪Gcd(b, a % b)⟫⟪b⟫;

// tests: gcd
    }
    public static void Main(string[] args) {
    Debug.Assert(Gcd((12L), (18L)) == (6L));
    Debug.Assert(Gcd((7L), (13L)) == (1L));
    Debug.Assert(Gcd((100L), (75L)) == (25L));
    Debug.Assert(Gcd((9L), (9L)) == (9L));
    }

}

// problem: palindrome
public static class Solution
{
    public static bool IsPalindrome(string text)
    {
        ⟪!⟫
        var letters = text.Where(char.IsLetter)⟪.Select(char.ToLower)⟫⟪⟫.ToList();
        return letters.SequenceEqual(Enumerable.Reverse(letters));
    }
}

// tests: palindrome
class Tests
{
    static void Check(bool held)
    {
        if (!held) throw new Exception("wrong");
    }

    static void Main()
    {
        Check(Solution.IsPalindrome("A man, a plan, a canal: Panama!"));
        Check(!Solution.IsPalindrome("Hello"));
        Check(Solution.IsPalindrome("x"));
        Check(Solution.IsPalindrome("No 'x' in Nixon"));
        Check(!Solution.IsPalindrome("ab"));
    }
}

// problem: running_max
using System.Diagnostics;

public class Solution
{
    public List<int> RunningMax(List<int> numbers)
    {
        ⟪!⟫
        var largest = new List<int>();
        foreach (int number in numbers)
            largest.Add(largest.Count == 0 ? number : Math.⟪Max⟫⟪Min⟫(number, largest[^1]));
        return largest;
    }
}

// tests: running_max
public class Program
{
    static string Run(params int[] numbers) => string.Join(" ", new Solution().RunningMax(numbers.ToList()));

    public static void Main(string[] args)
    {
        Debug.Assert(Run(1, 3, 2, 5, 4) == "1 3 3 5 5");
        Debug.Assert(Run(-3) == "-3");
        Debug.Assert(Run(5, 4, 3) == "5 5 5");
        Debug.Assert(Run(-2, -5, -1) == "-2 -2 -1");
    }
}

// problem: fizzbuzz
class Solution
{
    public static IEnumerable<string> FizzBuzz(int n)
    {
        ⟪!⟫
        return Enumerable.Range(1, n).Select(i => (i % 3, i % ⟪5⟫⟪10⟫) switch
        {
            (0, 0) => "FizzBuzz",
            (0, _) => "Fizz",
            (_, 0) => "Buzz",
            _ => i.ToString(),
        });
    }
}

// tests: fizzbuzz
class Tests
{
    static void Main(string[] args)
    {
        foreach (var (n, expected) in new[] { (1, "1"), (3, "1 2 Fizz"), (5, "1 2 Fizz 4 Buzz"), (10, "1 2 Fizz 4 Buzz Fizz 7 8 Fizz Buzz") })
            if (string.Join(" ", Solution.FizzBuzz(n)) != expected) throw new Exception(expected);
    }
}
