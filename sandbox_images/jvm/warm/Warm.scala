import scala.annotation.tailrec
import scala.collection.mutable
import scala.io.{Source, StdIn}
import scala.util.{Failure, Success, Try}

// Uses what programs often use, so that the archives of classes have it.
sealed trait Shape
case class Square(side: Double) extends Shape
case class Circle(radius: Double) extends Shape
class Person(val name: String, age: Int = 3) extends Ordered[Person] {
  def compare(other: Person): Int = age - other.hashCode
}
object Person { def apply(name: String) = new Person(name) }

object Warm {
  def area(shape: Shape): Double = shape match {
    case Square(side) => math.pow(side, 2)
    case Circle(radius) if radius > 0 => math.Pi * radius * radius
    case _ => 0
  }
  @tailrec def greatest(a: Int, b: Int): Int = if (b == 0) a else greatest(b, a % b)
  def largest[T: Ordering](items: List[T]): Option[T] = items.maxOption

  def main(args: Array[String]): Unit = {
    val Array(a, b) = StdIn.readLine().trim.split(" ").map(_.toLong)
    val rest = Source.stdin.getLines().toList
    val counts = mutable.Map[String, Int]().withDefaultValue(0)
    for (word <- "the cat the dog".split("\\s+")) counts(word) += 1
    val grouped = List(1, 2, 3).groupBy(_ % 2).map { case (key, items) => key -> items.sum }
    val sorted = counts.toSeq.sortBy { case (word, count) => (-count, word) }.map(p => s"${p._1} ${p._2}").mkString(", ")
    val squares = (1 to 5).filter(_ % 2 == 1).map(i => i * i).foldLeft(0)(_ + _)
    val matrix = Array.ofDim[Int](2, 2).map(_.toVector).toVector.transpose
    val primes = LazyList.from(2).filter(i => (2 until i).forall(i % _ != 0)).takeWhile(_ < 20).toList
    val buffer = mutable.ListBuffer(1, 2) ++= mutable.ArrayBuffer(3)
    val queue = mutable.PriorityQueue(3, 1, 2)
    val found = for { x <- Option(1); y <- List("a").headOption } yield y * x
    val either: Either[String, Int] = Try("x".toInt) match { case Success(i) => Right(i); case Failure(_) => Left("no") }
    println(s"${a + b} $rest $grouped $sorted $squares $matrix $primes $buffer ${queue.dequeue()} $found $either")
    println(f"${area(Circle(1))}%.2f" + Square(2) + largest(List(3, 1)).getOrElse(0) + greatest(12, 18) + Person("x").name)
    println("radar".filter(_.isLetter).reverse.toLowerCase.zipWithIndex.toMap.keySet.toString + Set(1, 2).sliding(2).mkString)
    var i = 0
    while (i < 3) { i += 1; BigInt(2).pow(i); new StringBuilder().append(i) }
    assert(Vector(1, 2).exists(_ == 1) && (1 :: 2 :: Nil) == List(1, 2), "wrong")
  }
}
