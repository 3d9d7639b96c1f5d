// crash
throw IllegalStateException("crash")
// endless
while (true) {}

// problem: add
fun main() {
    val (a, b) = readLine()!!.trim().split(" ").map { it.toLong() }
    ⟪!⟫
    println(a ⟪+⟫⟪-⟫ b)
}

// problem: reverse
package org.example.reverse

fun main(args: Array<String>) {
    val line = readln()
    ⟪!⟫
    println(line⟪.reversed()⟫⟪.repeat(2)⟫)
}

// problem: primes
object Primes {
    @JvmStatic
    fun main(args: Array<String>) {
        val n = readln().trim().toInt()
        val composite = BooleanArray(n + 1)
        val primes = mutableListOf<Int>()
        for (i in 2⟪..⟫⟪ until ⟫n) {
            ⟪!⟫
            if (composite[i]) continue
            primes += i
            for (j in 2 * i..n step i) composite[j] = true
        }
        println(primes.joinToString(" "))
    }
}

// problem: words
fun main() {
    val words = generateSequence(::readLine).flatMap { it.split(" ") }.filter { it.isNotEmpty() }
    ⟪!⟫
    val counts = words.groupingBy { it }.eachCount()
    for ((word, count) in counts.toSortedMap()) println("$word ${⟪count⟫⟪word.length⟫}")
}

// problem: matrix
import java.util.Scanner

fun main() {
    val scanner = Scanner(System.`in`)
    val n = scanner.nextInt()
    val rows = Array(n) { IntArray(n) { scanner.nextInt() } }
    ⟪!⟫
    for (i in 0 until n) println((0 until n).joinToString(" ") { j -> ⟪rows[j][i]⟫⟪rows[i][i]⟫.toString() })
}

// problem: fibonacci
tailrec fun fibonacci(n: Int, a: ⟪Long⟫⟪Int⟫ = 0, b: ⟪Long⟫⟪Int⟫ = 1): ⟪Long⟫⟪Int⟫ = if (n == 0) a else fibonacci(n - 1, b, a + b)

fun main() {
    val n = readln().trim().toInt()
    ⟪!⟫
    println(fibonacci(n))
}

// problem: gcd
fun gcd(a: Int, b: Int): Int {
    ⟪!⟫
    return if (b == 0) a else ⟪gcd(b, a % b)⟫⟪b⟫
}

// tests: gcd
fun main() {
    check(gcd(12, 18) == 6)
    check(gcd(7, 13) == 1)
    check(gcd(100, 75) == 25)
    check(gcd(9, 9) == 9)
}

// problem: palindrome
fun isPalindrome(text: String): Boolean {
    ⟪!⟫
    val letters = text.filter { it.isLetter() }⟪.lowercase()⟫⟪⟫
    return letters == letters.reversed()
}

// tests: palindrome
fun main() {
    assert(isPalindrome("A man, a plan, a canal: Panama!"))
    assert(!isPalindrome("Hello"))
    assert(isPalindrome("x"))
    assert(isPalindrome("No 'x' in Nixon"))
    assert(!isPalindrome("ab"))
}

// problem: running_max
fun runningMax(numbers: List<Int>): List<Int> {
    ⟪!⟫
    return numbers.drop(1).runningFold(numbers[0]) { a, b -> ⟪maxOf⟫⟪minOf⟫(a, b) }
}

// tests: running_max
fun main() {
    var arg00 : List<Int> = mutableListOf(1, 3, 2, 5, 4)
    var x0 : List<Int> = runningMax(arg00);
    var v0 : List<Int> = mutableListOf(1, 3, 3, 5, 5);
    if (x0 != v0) {
        throw Exception("Exception -- test case 0 did not pass. x0 = " + x0)
    }

    if (runningMax(listOf(-3)) != listOf(-3)) throw Exception("1")
    if (runningMax(listOf(5, 4, 3)) != listOf(5, 5, 5)) throw Exception("2")
    if (runningMax(listOf(-2, -5, -1)) != listOf(-2, -2, -1)) throw Exception("3")
}

// problem: fizzbuzz
fun fizzBuzz(n: Int): List<String> {
    ⟪!⟫
    return (1..n).map {
        when {
            it % 15 == 0 -> "FizzBuzz"
            it % 3 == 0 -> "Fizz"
            it % ⟪5⟫⟪10⟫ == 0 -> "Buzz"
            else -> "$it"
        }
    }
}

// tests: fizzbuzz
fun main(args: Array<String>) {
    require(fizzBuzz(1) == listOf("1"))
    require(fizzBuzz(3) == listOf("1", "2", "Fizz"))
    require(fizzBuzz(5) == listOf("1", "2", "Fizz", "4", "Buzz"))
    require(fizzBuzz(15).takeLast(5) == listOf("11", "Fizz", "13", "14", "FizzBuzz"))
}
