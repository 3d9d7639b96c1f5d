// crash
throw new Exception("crash");
// endless
for (;;) {}

// problem: add
import std.stdio;

void main()
{
    long a, b;
    readf(" %d %d", a, b);
    ⟪!⟫
    writeln(a ⟪+⟫⟪-⟫ b);
}

// problem: reverse
import std.stdio, std.string, std.range;

void main()
{
    auto line = readln().chomp;
    ⟪!⟫
    writeln(line⟪.retro⟫⟪.toUpper⟫);
}

// problem: primes
import std.stdio;

void main()
{
    int n;
    readf(" %d", n);
    auto composite = new bool[n + 1];
    string separator;
    for (int i = 2; i ⟪<=⟫⟪<⟫ n; ++i)
    {
        ⟪!⟫
        if (composite[i]) continue;
        write(separator, i);
        separator = " ";
        for (int j = 2 * i; j <= n; j += i) composite[j] = true;
    }
    writeln();
}

// problem: words
import std.algorithm, std.array, std.stdio;

void main()
{
    int[string] counts;
    foreach (line; stdin.byLineCopy)
        foreach (word; line.split)
            counts[word]⟪++⟫⟪ = 1⟫;
    ⟪!⟫
    foreach (word; counts.keys.sort)
        writeln(word, " ", counts[word]);
}

// problem: matrix
import std.stdio, std.conv, std.array, std.algorithm, std.string;

void main()
{
    const n = readln.strip.to!int;
    int[][] rows;
    foreach (i; 0 .. n) rows ~= readln.split.map!(to!int).array;
    ⟪!⟫
    foreach (i; 0 .. n)
        writeln(rows.map!(row => row[⟪i⟫⟪0⟫].to!string).join(" "));
}

// problem: fibonacci
import std.stdio;

void main()
{
    int n;
    readf(" %d", n);
    ⟪long⟫⟪int⟫ a = 0, b = 1;
    foreach (i; 0 .. n)
    {
        const next = a + b;
        a = b;
        b = next;
    }
    ⟪!⟫
    writeln(a);
}

// problem: gcd
long gcd(long a, long b)
{
    while (b)
    {
        const rest = a % b;
        a = b;
        b = rest;
    }
    ⟪!⟫
    return ⟪a⟫⟪b⟫;
}
// tests: gcd
unittest
{
    alias candidate = gcd;

    assert(candidate(12L, 18L) == 6L);
    assert(candidate(7L, 13L) == 1L);
    assert(candidate(100L, 75L) == 25L);
    assert(candidate(9L, 9L) == 9L);
}
void main(){}

// problem: palindrome
import std.ascii;

bool isPalindrome(string text)
{
    string letters;
    foreach (c; text)
        if (isAlpha(c)) letters ~= ⟪toLower(c)⟫⟪c⟫;
    ⟪!⟫
    foreach (i, c; letters)
        if (c != letters[$ - 1 - i]) return false;
    return true;
}
// tests: palindrome
void main()
{
    assert(isPalindrome("A man, a plan, a canal: Panama!"));
    assert(!isPalindrome("Hello"));
    assert(isPalindrome("x"));
    assert(isPalindrome("No 'x' in Nixon"));
    assert(!isPalindrome("ab"));
}

// problem: running_max
import std.algorithm, std.array;

int[] runningMax(int[] values)
{
    ⟪!⟫
    return values.cumulativeFold!⟪max⟫⟪min⟫.array;
}
// tests: running_max
int main()
{
    if (runningMax([1, 3, 2, 5, 4]) != [1, 3, 3, 5, 5]) return 1;
    if (runningMax([-3]) != [-3]) return 1;
    if (runningMax([5, 4, 3]) != [5, 5, 5]) return 1;
    if (runningMax([-2, -5, -1]) != [-2, -2, -1]) return 1;
    return 0;
}

// problem: fizzbuzz
import std.conv;

string[] fizzbuzz(int n)
{
    string[] result;
    foreach (i; 1 .. n + 1)
    {
        ⟪!⟫
        if (i % ⟪15⟫⟪9⟫ == 0) result ~= "FizzBuzz";
        else if (i % 3 == 0) result ~= "Fizz";
        else if (i % 5 == 0) result ~= "Buzz";
        else result ~= i.to!string;
    }
    return result;
}
// tests: fizzbuzz
void main()
{
    const texts = fizzbuzz(15);
    assert(texts.length == 15);
    assert(texts[0] == "1");
    assert(texts[2] == "Fizz");
    assert(texts[4] == "Buzz");
    assert(texts[14] == "FizzBuzz");
}
