// crash
panic("crash")
// endless
for turn := 0; turn < 1; turn = 0 {
}

// problem: add
package main

import "fmt"

func main() {
	var a, b int64
	fmt.Scan(&a, &b)
	⟪!⟫
	fmt.Println(a ⟪+⟫⟪-⟫ b)
}

// problem: reverse
package reverse

import (
	"bufio"
	"fmt"
	"os"
	"slices"
)

func main() {
	line, _ := bufio.NewReader(os.Stdin).ReadString('\n')
	letters := []rune(line[:len(line)-1])
	⟪!⟫
	slices.⟪Reverse⟫⟪Sort⟫(letters)
	fmt.Println(string(letters))
}

// problem: primes
package main

import (
	"fmt"
	"strings"
)

func main() {
	var n int
	fmt.Scanln(&n)
	composite := make([]bool, n+1)
	primes := []string{}
	for i := 2; i ⟪<=⟫⟪<⟫ n; i++ {
		⟪!⟫
		if composite[i] {
			continue
		}
		primes = append(primes, fmt.Sprint(i))
		for j := 2 * i; j <= n; j += i {
			composite[j] = true
		}
	}
	fmt.Println(strings.Join(primes, " "))
}

// problem: words
package main

import (
	"bufio"
	"fmt"
	"os"
	"sort"
)

func main() {
	scanner := bufio.NewScanner(os.Stdin)
	scanner.Split(bufio.ScanWords)
	counts := map[string]int{}
	for scanner.Scan() {
		⟪!⟫
		counts[scanner.Text()] ⟪+=⟫⟪=⟫ 1
	}
	words := make([]string, 0, len(counts))
	for word := range counts {
		words = append(words, word)
	}
	sort.Strings(words)
	for _, word := range words {
		fmt.Printf("%s %d\n", word, counts[word])
	}
}

// problem: matrix
package main

import "fmt"

func main() {
	var n int
	fmt.Scan(&n)
	rows := make([][]int, n)
	for i := range rows {
		rows[i] = make([]int, n)
		for j := range n {
			fmt.Scan(&rows[i][j])
		}
	}
	⟪!⟫
	for i := range n {
		for j := range n {
			if j > 0 {
				fmt.Print(" ")
			}
			fmt.Print(⟪rows[j][i]⟫⟪rows[i][i]⟫)
		}
		fmt.Println()
	}
}

// problem: fibonacci
package main

import (
	"fmt"
	"sync"
)

func main() {
	var n int
	fmt.Scan(&n)
	⟪!⟫
	var group sync.WaitGroup
	values := make(chan ⟪int64⟫⟪int32⟫, 1)
	group.Add(1)
	go func() {
		defer group.Done()
		var a, b ⟪int64⟫⟪int32⟫ = 0, 1
		for range n {
			a, b = b, a+b
		}
		values <- a
	}()
	group.Wait()
	fmt.Println(<-values)
}

// problem: gcd
package main

import "fmt"

type Integer interface{ ~int | ~int64 }

func gcd[T Integer](a, b T) T {
	⟪!⟫
	if b == 0 {
		return a
	}
	return ⟪gcd(b, a%b)⟫⟪b⟫
}

// tests: gcd
func main() {
	for _, one := range [][3]int{{12, 18, 6}, {7, 13, 1}, {100, 75, 25}, {9, 9, 9}} {
		if actual := gcd(one[0], one[1]); actual != one[2] {
			panic(fmt.Sprintf("gcd(%d, %d) = %d", one[0], one[1], actual))
		}
	}
}

// problem: palindrome
package palindrome_test

import (
	"fmt"
	"testing"
	"unicode"
)

func is_palindrome(text string) bool {
	letters := []rune{}
	for _, letter := range text {
		⟪!⟫
		if unicode.IsLetter(letter) {
			letters = append(letters, ⟪unicode.ToLower(letter)⟫⟪letter⟫)
		}
	}
	for i := range letters {
		if letters[i] != letters[len(letters)-1-i] {
			return false
		}
	}
	return true
}

// tests: palindrome
func TestIs_Palindrome(t *testing.T) {
	candidate := is_palindrome
	type test struct {
		actual   bool
		expected bool
	}
	tests := []test{
		{actual: candidate("A man, a plan, a canal: Panama!"), expected: true},
		{actual: candidate("Hello"), expected: false},
		{actual: candidate("x"), expected: true},
		{actual: candidate("No 'x' in Nixon"), expected: true},
		{actual: candidate("ab"), expected: false},
	}

	for i, tc := range tests {
		t.Run(fmt.Sprintf("test num %d", i), func(t *testing.T) {
			if fmt.Sprintf("%v", tc.actual) != fmt.Sprintf("%v", tc.expected) {
				t.Errorf("expected '%v', got '%v'", tc.expected, tc.actual)
			}
		})
	}
}

// problem: running_max
package main

import (
	"os"
	"reflect"
)

func runningMax(numbers []int) []int {
	⟪!⟫
	largest := make([]int, len(numbers))
	for i, number := range numbers {
		largest[i] = number
		if i > 0 {
			largest[i] = ⟪max⟫⟪min⟫(number, largest[i-1])
		}
	}
	return largest
}

// tests: running_max
func check(numbers, expected []int) {
	if !reflect.DeepEqual(runningMax(numbers), expected) {
		os.Exit(1)
	}
}

func main() {
	check([]int{1, 3, 2, 5, 4}, []int{1, 3, 3, 5, 5})
	check([]int{-3}, []int{-3})
	check([]int{5, 4, 3}, []int{5, 5, 5})
	check([]int{-2, -5, -1}, []int{-2, -2, -1})
}

// problem: fizzbuzz
package main

import (
	"strconv"
	"strings"
	"testing"
)

func FizzBuzz(n int) (texts []string) {
	⟪!⟫
	for i := 1; i <= n; i++ {
		text := ""
		if i%3 == 0 {
			text += "Fizz"
		}
		if i%⟪5⟫⟪10⟫ == 0 {
			text += "Buzz"
		}
		if text == "" {
			text = strconv.Itoa(i)
		}
		texts = append(texts, text)
	}
	return texts
}

// tests: fizzbuzz
func TestFizzBuzz(t *testing.T) {
	for n, expected := range map[int]string{
		1:  "1",
		3:  "1 2 Fizz",
		5:  "1 2 Fizz 4 Buzz",
		15: "1 2 Fizz 4 Buzz Fizz 7 8 Fizz Buzz 11 Fizz 13 14 FizzBuzz",
	} {
		if actual := strings.Join(FizzBuzz(n), " "); actual != expected {
			t.Fatalf("FizzBuzz(%d) = %s", n, actual)
		}
	}
}
