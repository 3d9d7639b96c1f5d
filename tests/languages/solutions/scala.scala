// crash
throw new IllegalStateException("crash")
// endless
while (true) {}

// problem: add
import scala.io.StdIn

object Main extends App {
  val Array(a, b) = StdIn.readLine().trim.split(" ").map(_.toLong)
  ⟪!⟫
  println(a ⟪+⟫⟪-⟫ b)
}

// problem: reverse
package org.example

object Reverse {
  def main(args: Array[String]): Unit = {
    val line = scala.io.StdIn.readLine()
    ⟪!⟫
    println(line⟪.reverse⟫⟪.sorted⟫)
  }
}

// problem: primes
class Sieve(n: Int) {
  val composite = new Array[Boolean](n + 1)
}

object Sieve {
  def apply(n: Int) = new Sieve(n)
}

object Primes {
  def main(args: Array[String]): Unit = {
    val n = scala.io.StdIn.readInt()
    val sieve = Sieve(n)
    val primes = for (i <- 2 ⟪to⟫⟪until⟫ n if !sieve.composite(i)) yield {
      ⟪!⟫
      for (j <- 2 * i to n by i) sieve.composite(j) = true
      i
    }
    println(primes.mkString(" "))
  }
}

// problem: words
import scala.io.Source

object Main extends App {
  val words = Source.stdin.getLines().flatMap(_.split("\\s+")).filter(_.nonEmpty).toList
  ⟪!⟫
  val counts = words.groupBy(identity).view.mapValues(_.⟪size⟫⟪head.length⟫)
  counts.toSeq.sorted.foreach { case (word, count) => println(s"$word $count") }
}

// problem: matrix
object Main {
  def main(args: Array[String]): Unit = {
    val n = scala.io.StdIn.readInt()
    val rows = List.fill(n)(scala.io.StdIn.readLine().trim.split(" ").toList)
    ⟪!⟫
    rows⟪.transpose⟫⟪.reverse.reverse.map(row => List.fill(n)(row.head))⟫.foreach(row => println(row.mkString(" ")))
  }
}

// problem: fibonacci
import scala.annotation.tailrec

object Main {
  @tailrec
  def fibonacci(n: Int, a: ⟪Long⟫⟪Int⟫ = 0, b: ⟪Long⟫⟪Int⟫ = 1): ⟪Long⟫⟪Int⟫ = if (n == 0) a else fibonacci(n - 1, b, a + b)

  def main(args: Array[String]): Unit = {
    val n = scala.io.StdIn.readInt()
    ⟪!⟫
    println(fibonacci(n))
  }
}

// problem: gcd
object Problem {
    def gcd(a : Long, b : Long) : Long = {
        ⟪!⟫
        if (b == 0) a else ⟪gcd(b, a % b)⟫⟪b⟫

// tests: gcd
    }
    def main(args: Array[String]) = {
    assert(gcd((12l), (18l)) == (6l));
    assert(gcd((7l), (13l)) == (1l));
    assert(gcd((100l), (75l)) == (25l));
    assert(gcd((9l), (9l)) == (9l));
    }

}

// problem: palindrome
object Solution {
  def isPalindrome(text: String): Boolean = {
    ⟪!⟫
    val letters = text⟪.toLowerCase⟫⟪⟫.filter(_.isLetter)
    letters == letters.reverse
  }
}

// tests: palindrome
object Main {
  def main(args: Array[String]): Unit = {
    assert(Solution.isPalindrome("A man, a plan, a canal: Panama!"))
    assert(!Solution.isPalindrome("Hello"))
    assert(Solution.isPalindrome("x"))
    assert(Solution.isPalindrome("No 'x' in Nixon"))
    assert(!Solution.isPalindrome("ab"))
  }
}

// problem: running_max
object Solution {
  def runningMax(numbers: List[Int]): List[Int] = {
    ⟪!⟫
    numbers.tail.scanLeft(numbers.head)(⟪_ max _⟫⟪_ min _⟫)
  }
}

// tests: running_max
object Main {
  def main(args: Array[String]): Unit = {
    assert(Solution.runningMax(List(1, 3, 2, 5, 4)) == List(1, 3, 3, 5, 5))
    assert(Solution.runningMax(List(-3)) == List(-3))
    assert(Solution.runningMax(List(5, 4, 3)) == List(5, 5, 5))
    assert(Solution.runningMax(List(-2, -5, -1)) == List(-2, -2, -1))
  }
}

// problem: fizzbuzz
object Solution {
  def fizzBuzz(n: Int): Seq[String] = {
    ⟪!⟫
    (1 to n).map {
      case i if i % 15 == 0 => "FizzBuzz"
      case i if i % 3 == 0 => "Fizz"
      case i if i % ⟪5⟫⟪10⟫ == 0 => "Buzz"
      case i => i.toString
    }
  }
}

// tests: fizzbuzz
object Main {
  def main(args: Array[String]): Unit = {
    assert(Solution.fizzBuzz(1) == Seq("1"))
    assert(Solution.fizzBuzz(3) == Seq("1", "2", "Fizz"))
    assert(Solution.fizzBuzz(5) == Seq("1", "2", "Fizz", "4", "Buzz"))
    assert(Solution.fizzBuzz(15).mkString(" ") == "1 2 Fizz 4 Buzz Fizz 7 8 Fizz Buzz 11 Fizz 13 14 FizzBuzz")
  }
}
