# crash
raise "crash"
# endless
loop {}

# problem: add
a, b = gets.split.map(&:to_i)
⟪!⟫
puts a ⟪+⟫⟪-⟫ b

# problem: reverse
line = gets.chomp
⟪!⟫
puts line.⟪reverse⟫⟪swapcase⟫

# problem: primes
require 'prime'

n = gets.to_i
⟪!⟫
puts ⟪Prime.each(n)⟫⟪(2..n)⟫.to_a.join(' ')

# problem: words
counts = Hash.new(0)
while (line = gets)
  line.split.each { |word| counts[word] ⟪+=⟫⟪=⟫ 1 }
end
⟪!⟫
counts.sort.each { |word, count| puts "#{word} #{count}" }

# problem: matrix
n = gets.to_i
rows = n.times.map { gets.split.map(&:to_i) }
⟪!⟫
rows.⟪transpose⟫⟪reverse⟫.each { |row| puts row.join(' ') }

# problem: fibonacci
n = gets.to_i
a, b = 0, ⟪1⟫⟪3⟫
n.times { a, b = b, a + b }
⟪!⟫
puts a

# problem: gcd
def gcd(a, b)
  ⟪!⟫
  a, b = b, a % b while b > 0
  ⟪a⟫⟪b⟫
end
# tests: gcd
require 'test/unit'
class TestHumanEval < Test::Unit::TestCase
  def test_gcd
    candidate = method(:gcd)
    assert_equal(6, candidate.call(12, 18))
    assert_equal(1, candidate.call(7, 13))
    assert_equal(25, candidate.call(100, 75))
    assert_equal(9, candidate.call(9, 9))
  end
end

# problem: palindrome
def palindrome?(text)
  letters = text⟪.downcase⟫⟪⟫.scan(/[a-zA-Z]/)
  ⟪!⟫
  letters == letters.reverse
end
# tests: palindrome
raise unless palindrome?("A man, a plan, a canal: Panama!")
raise if palindrome?("Hello")
raise unless palindrome?("x")
raise unless palindrome?("No 'x' in Nixon")
raise if palindrome?("ab")

# problem: running_max
def running_max(values)
  ⟪!⟫
  values.each_with_object([]) { |value, result| result << [value, *result.last].⟪max⟫⟪min⟫ }
end
# tests: running_max
require 'minitest/autorun'

class RunningMaxTest < Minitest::Test
  def test_values
    assert_equal [1, 3, 3, 5, 5], running_max([1, 3, 2, 5, 4])
    assert_equal [-3], running_max([-3])
  end

  def test_more_values
    assert_equal [5, 5, 5], running_max([5, 4, 3])
    assert_equal [-2, -2, -1], running_max([-2, -5, -1])
  end
end

# problem: fizzbuzz
def fizzbuzz(n)
  (1..n).map do |i|
    ⟪!⟫
    text = ''
    text += 'Fizz' if i % 3 == 0
    text += 'Buzz' if i % ⟪5⟫⟪7⟫ == 0
    text.empty? ? i.to_s : text
  end
end
# tests: fizzbuzz
texts = fizzbuzz(15)
exit 1 unless texts.length == 15
exit 1 unless texts[0] == '1'
exit 1 unless texts[2] == 'Fizz'
exit 1 unless texts[4] == 'Buzz'
exit 1 unless texts[14] == 'FizzBuzz'
