import kotlin.math.*

// Uses what programs often use, so that the archives of classes have it.
sealed class Shape
data class Square(val side: Double) : Shape()
data class Circle(val radius: Double) : Shape()
object Counter { var count = 0 }
enum class Colour { RED, GREEN }
interface Named { val name: String get() = "named" }
class Person(override val name: String, private val age: Int = 3) : Named, Comparable<Person> {
    companion object { fun of(name: String) = Person(name) }
    override fun compareTo(other: Person) = age.compareTo(other.age)
}

fun area(shape: Shape): Double = when (shape) {
    is Square -> shape.side.pow(2)
    is Circle -> PI * shape.radius * shape.radius
}

fun <T : Comparable<T>> List<T>.largest(): T? = this.maxOrNull()
tailrec fun greatest(a: Int, b: Int): Int = if (b == 0) a else greatest(b, a % b)

fun main() {
    val (a, b) = readLine()!!.trim().split(" ").map { it.toLong() }
    val counts = mutableMapOf<String, Int>()
    for (word in "the cat the dog".split(Regex("\\s+"))) counts[word] = (counts[word] ?: 0) + 1
    val grouped = listOf(1, 2, 3).groupBy { it % 2 }.mapValues { (_, items) -> items.sum() }
    val sorted = counts.entries.sortedWith(compareBy({ -it.value }, { it.key })).joinToString { "${it.key} ${it.value}" }
    val squares = (1..5).filter { it % 2 == 1 }.map { it * it }.fold(0) { x, y -> x + y }
    val matrix = Array(2) { IntArray(2) { it } }
    val pairs = "abc".toList().zip(listOf(1, 2, 3)).toMap().toSortedMap()
    val sequence = generateSequence(1) { it * 2 }.takeWhile { it < 100 }.toList()
    val text = buildString { for (i in 10 downTo 1 step 3) append(i).append(' ') }
    val deque = ArrayDeque(listOf(1, 2)).apply { addLast(removeFirst()) }
    try {
        "x".toInt()
    } catch (error: NumberFormatException) {
        Counter.count++
    }
    while (true) { val line = readLine() ?: break; println(line.reversed().uppercase()) }
    println("${a + b} $grouped $sorted $squares ${matrix.contentDeepToString()} $pairs $sequence $text $deque")
    println(listOf(3, 1, 2).sortedDescending().windowed(2).flatten().largest().toString() + greatest(12, 18))
    println("%.2f".format(area(Circle(1.0))) + Square(2.0) + Colour.RED + Person.of("x").name + max(1, abs(-2)))
    check(listOf("a", "b").any { it == "a" } && "radar".filter { it.isLetter() }.let { it == it.reversed() })
}
