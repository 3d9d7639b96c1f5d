// crash
throw new Exception("crash");
// endless
while (true) {}

// problem: add
<?php
[$a, $b] = explode(' ', trim(fgets(STDIN)));
⟪!⟫
echo $a ⟪+⟫⟪-⟫ $b, "\n";

// problem: reverse
<?php
$line = rtrim(fgets(STDIN), "\n");
⟪!⟫
echo ⟪strrev⟫⟪ucwords⟫($line), PHP_EOL;
?>

// problem: primes
<?php
declare(strict_types=1);

fscanf(STDIN, "%d", $n);
$primes = [];
for ($i = 2; $i <= $n; $i++) {
    ⟪!⟫
    for ($j = 2; $j * $j ⟪<=⟫⟪<⟫ $i; $j++) {
        if ($i % $j === 0) continue 2;
    }
    $primes[] = $i;
}
echo implode(' ', $primes), "\n";

// problem: words
<?php
$counts = [];
foreach (preg_split('/\s+/', stream_get_contents(STDIN), -1, PREG_SPLIT_NO_EMPTY) as $word) {
    $counts[$word] = ⟪($counts[$word] ?? 0) + 1⟫⟪1⟫;
}
⟪!⟫
ksort($counts);
foreach ($counts as $word => $count) {
    echo "$word $count\n";
}

// problem: matrix
<?php
$n = (int) fgets(STDIN);
$rows = [];
for ($i = 0; $i < $n; $i++) {
    $rows[] = explode(' ', trim(fgets(STDIN)));
}
⟪!⟫
for ($i = 0; $i < $n; $i++) {
    echo implode(' ', ⟪array_column($rows, $i)⟫⟪array_reverse($rows[$i])⟫), "\n";
}

// problem: fibonacci
<?php
fscanf(STDIN, "%d", $n);
[$a, $b] = [0, ⟪1⟫⟪1.0⟫];
while ($n-- > 0) {
    [$a, $b] = [$b, $a + $b];
}
⟪!⟫
echo $a, "\n";

// problem: gcd
<?php
function gcd(int $a, int $b): int
{
    ⟪!⟫
    return $b === 0 ? ⟪$a⟫⟪$b⟫ : gcd($b, $a % $b);
}
// tests: gcd
function candidate(...$args) {
    return gcd(...$args);
}

function test(): void {
    if (candidate(12, 18) !== 6) { throw new Exception("Test failed!"); }
    if (candidate(7, 13) !== 1) { throw new Exception("Test failed!"); }
    if (candidate(100, 75) !== 25) { throw new Exception("Test failed!"); }
    if (candidate(9, 9) !== 9) { throw new Exception("Test failed!"); }
}

test();

// problem: palindrome
<?php
function isPalindrome(string $text): bool
{
    $letters = preg_replace('/[^a-z]/i', '', ⟪strtolower⟫⟪trim⟫($text));
    ⟪!⟫
    return $letters === strrev($letters);
}
?>
// tests: palindrome
if (!isPalindrome("A man, a plan, a canal: Panama!")) exit(1);
if (isPalindrome("Hello")) exit(1);
if (!isPalindrome("x")) exit(1);
if (!isPalindrome("No 'x' in Nixon")) exit(1);
if (isPalindrome("ab")) exit(1);

// problem: running_max
<?php
function runningMax(array $values): array
{
    $result = [];
    foreach ($values as $value) {
        ⟪!⟫
        $result[] = $result ? ⟪max⟫⟪min⟫(end($result), $value) : $value;
    }
    return $result;
}
// tests: running_max
ini_set('zend.assertions', '1');
foreach ([
    [[1, 3, 2, 5, 4], [1, 3, 3, 5, 5]],
    [[-3], [-3]],
    [[5, 4, 3], [5, 5, 5]],
    [[-2, -5, -1], [-2, -2, -1]],
] as [$values, $expected]) {
    assert(runningMax($values) === $expected);
}

// problem: fizzbuzz
<?php
function fizzBuzz(int $n): array
{
    ⟪!⟫
    return array_map(fn ($i) => match (true) {
        $i % ⟪15⟫⟪9⟫ === 0 => 'FizzBuzz',
        $i % 3 === 0 => 'Fizz',
        $i % 5 === 0 => 'Buzz',
        default => (string) $i,
    }, range(1, $n));
}
// tests: fizzbuzz
$texts = fizzBuzz(15);
if (count($texts) !== 15) throw new Exception("length");
if ($texts[0] !== '1') throw new Exception("1");
if ($texts[2] !== 'Fizz') throw new Exception("3");
if ($texts[4] !== 'Buzz') throw new Exception("5");
if ($texts[14] !== 'FizzBuzz') throw new Exception("15");
