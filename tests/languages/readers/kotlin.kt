fun main() {
    for ((index, name) in listOf("a", "b", "c", "d").withIndex()) {
        val number = java.io.File("given/$name").readText().trim().toInt()
        check(number == index + 1)
        println(number)
    }
}
