# crash
raise "crash"
# endless
Enum.each(Stream.cycle([1]), fn _ -> :ok end)

# problem: add
[a, b] = IO.gets("") |> String.split() |> Enum.map(&String.to_integer/1)
⟪!⟫
IO.puts(a ⟪+⟫⟪-⟫ b)

# problem: reverse
line = IO.gets("") |> String.trim_trailing("\n")
⟪!⟫
IO.puts(String.⟪reverse⟫⟪upcase⟫(line))

# problem: primes
defmodule Primes do
  def prime?(i), do: not Enum.any?(2..i//1, fn d -> d * d ⟪<=⟫⟪<⟫ i and rem(i, d) == 0 end)
end

n = IO.read(:line) |> String.trim() |> String.to_integer()
⟪!⟫
2..n |> Enum.filter(&Primes.prime?/1) |> Enum.join(" ") |> IO.puts()

# problem: words
counts =
  IO.stream(:stdio, :line)
  |> Enum.flat_map(&String.split/1)
  |> Enum.⟪frequencies()⟫⟪into(%{}, &{&1, 1})⟫

⟪!⟫
for {word, count} <- Enum.sort(counts), do: IO.puts("#{word} #{count}")

# problem: matrix
[[_] | rows] =
  IO.read(:all)
  |> String.split("\n", trim: true)
  |> Enum.map(fn line -> line |> String.split() |> Enum.map(&String.to_integer/1) end)

⟪!⟫
rows
|> Enum.⟪zip_with(& &1)⟫⟪reverse()⟫
|> Enum.each(&IO.puts(Enum.join(&1, " ")))

# problem: fibonacci
defmodule Fibonacci do
  def of(0, a, _), do: a
  def of(n, a, b), do: of(n - 1, b, a + b)
end

n = IO.gets("") |> String.trim() |> String.to_integer()
⟪!⟫
IO.inspect(Fibonacci.of(n, 0, ⟪1⟫⟪2⟫))

# problem: gcd
defmodule HumanEval do
  def gcd(a, 0), do: ⟪a⟫⟪0⟫

  def gcd(a, b) do
    ⟪!⟫
    gcd(b, rem(a, b))
  end
end
# tests: gcd
ExUnit.start()

defmodule HumanEvalTest do
  use ExUnit.Case, async: true

  test "gcd" do
    import HumanEval
    assert gcd(12, 18) == 6
    assert gcd(7, 13) == 1
    assert gcd(100, 75) == 25
    assert gcd(9, 9) == 9
  end
end

# problem: palindrome
defmodule Palindrome do
  def palindrome?(text) do
    letters = ⟪String.downcase(text)⟫⟪text⟫ |> String.replace(~r/[^a-zA-Z]/, "")
    ⟪!⟫
    letters == String.reverse(letters)
  end
end
# tests: palindrome
true = Palindrome.palindrome?("A man, a plan, a canal: Panama!")
false = Palindrome.palindrome?("Hello")
true = Palindrome.palindrome?("x")
true = Palindrome.palindrome?("No 'x' in Nixon")
false = Palindrome.palindrome?("ab")

# problem: running_max
defmodule Maxima do
  def running_max(values) do
    ⟪!⟫
    Enum.scan(values, &⟪max⟫⟪min⟫/2)
  end
end
# tests: running_max
ExUnit.start()

defmodule MaximaTest do
  use ExUnit.Case

  for {values, expected} <- [
        {[1, 3, 2, 5, 4], [1, 3, 3, 5, 5]},
        {[-3], [-3]},
        {[5, 4, 3], [5, 5, 5]},
        {[-2, -5, -1], [-2, -2, -1]}
      ] do
    test "of #{inspect(values)}" do
      assert Maxima.running_max(unquote(values)) == unquote(expected)
    end
  end
end

# problem: fizzbuzz
defmodule FizzBuzz do
  def fizzbuzz(n) do
    Enum.map(1..n, fn i ->
      ⟪!⟫

      case {rem(i, 3), rem(i, ⟪5⟫⟪4⟫)} do
        {0, 0} -> "FizzBuzz"
        {0, _} -> "Fizz"
        {_, 0} -> "Buzz"
        _ -> Integer.to_string(i)
      end
    end)
  end
end
# tests: fizzbuzz
texts = FizzBuzz.fizzbuzz(15)
if length(texts) != 15, do: System.halt(1)
if Enum.at(texts, 0) != "1", do: System.halt(1)
if Enum.at(texts, 2) != "Fizz", do: System.halt(1)
if Enum.at(texts, 4) != "Buzz", do: System.halt(1)
if Enum.at(texts, 14) != "FizzBuzz", do: System.halt(1)
