# crash
stop("crash")
# endless
while (TRUE) {}

# problem: add
numbers <- scan(file("stdin"), quiet = TRUE)
⟪!⟫
cat(⟪sum⟫⟪prod⟫(numbers), "\n", sep = "")

# problem: reverse
line <- readLines(file("stdin"), n = 1)
⟪!⟫
cat(⟪rev⟫⟪sort⟫(strsplit(line, "")[[1]]), "\n", sep = "")

# problem: primes
n <- as.integer(readLines(file("stdin"), n = 1))
is_prime <- function(i) i < 4 || all(i %% 2:⟪floor(sqrt(i))⟫⟪2⟫ != 0)
⟪!⟫
cat(Filter(is_prime, 2:n))
cat("\n")

# problem: words
lines <- readLines(file("stdin"))
words <- unlist(strsplit(lines, "\\s+"))
counts <- table(words[words != ""])
⟪!⟫
for (word in sort(names(counts))) {
  cat(word, ⟪counts[[word]]⟫⟪1⟫, "\n", sep = " ", fill = FALSE)
}

# problem: matrix
connection <- file("stdin", "r")
n <- scan(connection, n = 1, quiet = TRUE)
rows <- matrix(scan(connection, quiet = TRUE), nrow = n, byrow = ⟪TRUE⟫⟪FALSE⟫)
⟪!⟫
for (j in seq_len(n)) cat(paste(rows[, j], collapse = " "), "\n", sep = "")

# problem: fibonacci
n <- scan(file("stdin"), quiet = TRUE)
# Doubles hold 53 bits, so numbers are kept as two halves of nine digits.
a <- c(0, 0)
b <- c(0, 1)
for (i in seq_len(n)) {
  sums <- a + b
  carry <- sums[2] %/% 1e9
  a <- b
  b <- c(sums[1] ⟪+⟫⟪-⟫ carry, sums[2] - carry * 1e9)
}
⟪!⟫
digits <- sprintf("%.0f%09.0f", a[1], a[2])
cat(sub("^0+(?=\\d)", "", digits, perl = TRUE), "\n", sep = "")

# problem: gcd
gcd <- function(a, b) {
  ⟪!⟫
  if (b == 0) ⟪a⟫⟪b⟫ else gcd(b, a %% b)
}
# tests: gcd
test_humaneval <- function() {
  candidate <- gcd
  if (!identical(candidate(12, 18), 6)) quit("no", 1)
  if (!identical(candidate(7, 13), 1)) quit("no", 1)
  if (!identical(candidate(100, 75), 25)) quit("no", 1)
  if (!identical(candidate(9, 9), 9)) quit("no", 1)
}
test_humaneval()

# problem: palindrome
is_palindrome <- function(text) {
  letters <- strsplit(gsub("[^A-Za-z]", "", ⟪tolower⟫⟪trimws⟫(text)), "")[[1]]
  ⟪!⟫
  all(letters == rev(letters))
}
# tests: palindrome
stopifnot(is_palindrome("A man, a plan, a canal: Panama!"))
stopifnot(!is_palindrome("Hello"))
stopifnot(is_palindrome("x"))
stopifnot(is_palindrome("No 'x' in Nixon"))
stopifnot(!is_palindrome("ab"))

# problem: running_max
running_max <- function(values) {
  ⟪!⟫
  Reduce(⟪max⟫⟪min⟫, values, accumulate = TRUE)
}
# tests: running_max
stopifnot(
  identical(running_max(c(1, 3, 2, 5, 4)), c(1, 3, 3, 5, 5)),
  identical(running_max(-3), -3),
  identical(running_max(c(5, 4, 3)), c(5, 5, 5)),
  identical(running_max(c(-2, -5, -1)), c(-2, -2, -1))
)

# problem: fizzbuzz
fizzbuzz <- function(n) {
  i <- seq_len(n)
  ⟪!⟫
  ifelse(i %% ⟪15⟫⟪9⟫ == 0, "FizzBuzz", ifelse(i %% 3 == 0, "Fizz", ifelse(i %% 5 == 0, "Buzz", i)))
}
# tests: fizzbuzz
texts <- fizzbuzz(15)
if (length(texts) != 15) stop("length")
if (texts[1] != "1") stop("1")
if (texts[3] != "Fizz") stop("3")
if (texts[5] != "Buzz") stop("5")
if (texts[15] != "FizzBuzz") stop("15")
