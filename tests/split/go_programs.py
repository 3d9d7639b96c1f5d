# ruff: noqa: E501  # programs in another language
"""Go test programs that are taken apart: honest solutions, and attacks.

Honest ones by name: prompt, completion, one without a body, and tests.
"""

from __future__ import annotations

from tests.attacks.attack import code
from tests.split.programs import Corpus

_SETUP = 'package main\n\nimport (\n    "testing"\n)\n\n'


def _asserting(name: str, *checks: str) -> str:
    """Makes a function of tests in which each check must hold."""
    each = "\n".join(f"    if !({one}) {{ t.Errorf(`{one}`) }}" for one in checks)
    return f"{_SETUP}func Test{name}(t *testing.T) {{\n{each}\n}}\n"


# The ten problems of tests/languages as HumanEval-X has them: imports without a package's clause.
PROBLEMS = {
    "add": (
        "// Add two numbers\nfunc Add(x, y int) int {\n",
        "    return x + y\n}\n",
        "    return 0\n}\n",
        _asserting("Add", "Add(0, 1) == 1", "Add(2, 3) == 5", "Add(-1<<62, 1) == 1-1<<62"),
    ),
    "reverse": (
        "func Reverse(text string) string {\n",
        "    var all string\n    for _, one := range text {\n        all = string(one) + all\n    }\n    return all\n}\n",
        '    return ""\n}\n',
        _asserting("Reverse", 'Reverse("größe") == "eßörg"', 'Reverse("a\\xff") != ""'),
    ),
    "primes": (
        'import (\n    "math"\n)\n\n// Primes up to n.\nfunc Primes(n int) (primes []int) {\n',
        "    for i := 2; i <= n; i++ {\n        is := true\n        for j := 2; j <= int(math.Sqrt(float64(i))); j++ {\n            is = is && i%j != 0\n        }\n        if is {\n            primes = append(primes, i)\n        }\n    }\n    return\n}\n",
        "    return nil\n}\n",
        _asserting(
            "Primes", "reflect.DeepEqual(Primes(10), []int{2, 3, 5, 7})", "Primes(1) == nil"
        ),
    ),
    "words": (
        'import (\n    "strings"\n    // another one\n    "sort"\n)\n\nfunc Words(text string) map[string]int {\n',
        "    counts := map[string]int{}\n    for _, one := range strings.Fields(text) {\n        counts[one]++\n    }\n    return counts\n}\n",
        "    return nil\n}\n",
        _asserting(
            "Words",
            'reflect.DeepEqual(Words("a b a"), map[string]int{"a": 2, "b": 1})',
            'len(Words("")) == 0 && Words("") != nil',
        ),
    ),
    "fibonacci": (
        "func Fibonacci(n int) uint64 {\n",
        "    var a, b uint64 = 0, 1\n    for ; n > 0; n-- {\n        a, b = b, a+b\n    }\n    return a\n}\n",
        "    return 0\n}\n",
        _asserting("Fibonacci", "Fibonacci(10) == 55", "Fibonacci(93) == 12200160415121876738"),
    ),
    "palindrome": (
        'package palindrome_test\n\nimport (\n    "testing"\n    "fmt"\n)\n\nfunc is_palindrome(text string) bool {\n',
        "    for i := range text {\n        if text[i] != text[len(text)-1-i] {\n            return false\n        }\n    }\n    return true\n}\n",
        "    return false\n}\n",
        'func TestIs_Palindrome(t *testing.T) {\n  candidate := is_palindrome\n  type test struct {\n    actual   bool\n    expected bool\n  }\n  tests := []test{\n    { actual: candidate("aba"), expected: true },\n    { actual: candidate("ab"), expected: false },\n  }\n  for i, tc := range tests {\n    t.Run(fmt.Sprintf("test num %d", i), func(t *testing.T) {\n      if fmt.Sprintf("%v", tc.actual) != fmt.Sprintf("%v", tc.expected) {\n        t.Errorf("expected \'%v\', got \'%v\'", tc.expected, tc.actual)\n      }\n    })\n  }\n}\n',
    ),
    "fizzbuzz": (
        "func FizzBuzz(n int) []string {\n",
        '    var all []string\n    for i := 1; i <= n; i++ {\n        text := ""\n        if i%3 == 0 {\n            text += "Fizz"\n        }\n        if i%5 == 0 {\n            text += "Buzz"\n        }\n        if text == "" {\n            text = strconv.Itoa(i)\n        }\n        all = append(all, text)\n    }\n    return all\n}\n',
        "    return nil\n}\n",
        'import "strings"\n\nfunc main() {\n    if strings.Join(FizzBuzz(5), " ") != "1 2 Fizz 4 Buzz" {\n        panic("no")\n    }\n}\n',
    ),
}

# By name: prompt, completion, and checks that hold.
VALUES = {
    "texts with a main": (
        "func f(a string) (string, string) {",
        'func f(a string) (string, string) {\n/*\nfunc main() {\n*/\nreturn `\nfunc main() {\n}\n`, "func main() {" + a }\n'
        "// func main() {\nfunc main() { f(``) }",
        'a, b := f("x"); check(a == "\\nfunc main() {\\n}\\n" && b == "func main() {x")',
    ),
    "numbers of all kinds": (
        "func f(a int8, b uint16, c float32, d complex128, e rune, g [2]byte, h uint64) (int8, uint16, float32, complex128, rune, [2]byte, uint64) {",
        "return a, b, c, d, e, g, h }",
        "a, b, c, d, e, g, h := f(-128, 65535, 0.1, 2i, 'ß', [2]byte{1, 255}, 1<<64-1); check(a == -128 && b == 65535 && c == 0.1 && d == 2i && e == 'ß' && g[1] == 255 && h == 1<<64-1)",
    ),
    "nothing and what is empty": (
        "func f(a []int, b []byte, c map[string]int) ([]int, []byte, map[string]int) {",
        "return a, b, c }",
        "a, b, c := f(nil, nil, nil); d, e, g := f([]int{}, []byte{}, map[string]int{}); check(a == nil && b == nil && c == nil && d != nil && e != nil && g != nil)",
    ),
    "panics": (
        "func f(n int) int {",
        'switch n { case 0: panic("text"); case 1: panic(errors.New("error")); case 2: return []int{}[n]; case 3: panic(42) }; return n }',
        'for i, want := range []string{"text", "error", "runtime error: index out of range [2] with length 0", "42"} { func() { defer func() { check(fmt.Sprint(recover()) == want) }(); f(i); check(false) }() }; check(f(4) == 4)',
    ),
    "a solution with a main, helpers and its own imports": (
        'import (\n    "strings"\n    "os"\n)\nfunc f(text string) (sort []string) {',
        'return own(text) }\nfunc own(text string) []string { return strings.Split(text, ",") }\nfunc main() { fmt.Println(f("")) }\nfunc init() { fmt.Print("hello") }',
        'check(len(f("a,b")) == 2)',
    ),
}


def main(checks: str) -> str:
    return (
        f'func check(holds bool) {{ if !holds {{ panic("no") }} }}\nfunc main() {{\n{checks}\n}}\n'
    )


PROMPT = 'import (\n    "sort"\n)\n\nfunc Order(v []int) []int {\n'
SOLUTION = "    w := append([]int{}, v...)\n    sort.Ints(w)\n    return w\n}\n"
TESTS = _SETUP + code("""
    func TestOrder(t *testing.T) {
        for _, one := range []struct{ given, want []int }{{[]int{3, 1, 2}, []int{1, 2, 3}}, {[]int{5, 4}, []int{4, 5}}} {
            if got := Order(one.given); !reflect.DeepEqual(got, one.want) {
                t.Errorf("got %v, want %v", got, one.want)
            }
        }
        if len(Order([]int{})) != 0 {
            t.Fatal("empty")
        }
    }
""")

_ANSWER = code("""
    func put(bytes ...byte) {
        syscall.Write(4, append([]byte{0, 0, 0, byte(len(bytes))}, bytes...))
    }
    func empty(id byte) { put('R', 0, 0, 0, id, 0, 0, 0, 2, 'u', 'l', 0, 0, 0, 0) }
""")


def go(body: str, rest: str = "", imports: str = "") -> str:
    """Makes a completion of a body, imports and declarations behind it."""
    used = "\n".join(f'import "{one}"' for one in ("syscall", *imports.split()))
    return f"    {body}\n    return []int{{}}\n}}\n{used}\n{_ANSWER}\n{rest}\n"


ATTACKS = {
    "equal to everything": {
        "the function that compares": "return v\n}\nvar reflect = struct{ DeepEqual func(a, b any) bool }{func(a, b any) bool { return true }}\n",
        "a type of its own that compares": "return v\n}\ntype int = myInt\ntype myInt struct{}\nfunc (m myInt) Equal(any) bool { return true }\n",
        "a NaN for each": go("v[0] = -v[0]; return v"),
        "arguments that are changed": go("for i := range v { v[i] = i + 1 }; return v[:0]"),
        "the words true and false": "return v\n}\nconst true = false\nvar len = func(any) int { return 0 }\n",
    },
    "leaves": {
        "with status 0": go("os.Exit(0)", "", "os"),
        "as it is loaded": go("", "func init() { os.Exit(0) }", "os"),
        "as a variable is made": go("", "var _ = func() int { os.Exit(0); return 0 }()", "os"),
        "by a system call": go("syscall.Exit(0)"),
        "by a panic": go('panic("FAIL")'),
        "by a panic with nothing": go("panic(nil)"),
        "its goroutine": go("runtime.Goexit()", "", "runtime"),
        "by a signal": go("syscall.Kill(syscall.Getpid(), syscall.SIGKILL)"),
        "with its pipes closed": go("syscall.Close(3); syscall.Close(4)"),
        "without memory": go("for { v = append(v, make([]int, 1<<24)...) }"),
        "without a stack": go("return append(Order(v), Order(v)...)"),
    },
    "prints": {
        "the words of tests": go(
            r'os.Stdout.WriteString("PASS\nok\n\n0123456789abcdef\n"); os.Exit(0)', "", "os"
        ),
        "on every descriptor": go(
            r'for d := 0; d < 64; d++ { syscall.Write(d, []byte("\n0123456789abcdef\n")) }'
        ),
        "tests that pass": go(
            "",
            'func init() { os.Stdout.WriteString("--- PASS: TestOrder (0.00s)\\nPASS\\n") }',
            "os",
        ),
    },
    "forges": {
        "answers in advance": go("for id := byte(1); id < 4; id++ { empty(id) }; syscall.Exit(0)"),
        "another call's answer": go("empty(77)"),
        "the tests' own frame": go("put('F', 0, 0, 0, 1, 'x')"),
        "a call": go("put('C', 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0)"),
        "a value of another type": go(
            "put('R', 0, 0, 0, 1, 0, 0, 0, 2, 'u', 't'); syscall.Exit(0)"
        ),
        "a count that is huge": go(
            "put('R', 0, 0, 0, 1, 0, 0, 0, 2, 'u', 'l', 127, 255, 255, 255); syscall.Exit(0)"
        ),
        "nesting": go(
            "put(append([]byte{'R', 0, 0, 0, 1, 0, 0, 0, 2}, bytes.Repeat([]byte{'l', 0, 0, 0, 1}, 40)...)...); syscall.Exit(0)",
            "",
            "bytes",
        ),
        "an argument of another length": go(
            "put('R', 0, 0, 0, 1, 0, 0, 0, 2, 'l', 0, 0, 0, 0, 'n'); syscall.Exit(0)"
        ),
        "a length without an end": go(
            "syscall.Write(4, []byte{127, 255, 255, 255}); for { syscall.Write(4, make([]byte, 1<<20)) }"
        ),
        "a goroutine that answers early": go(
            "go func() { for { empty(1); empty(2); empty(3) } }(); for { }"
        ),
        "as it is loaded": go("", "func init() { empty(1); empty(2); empty(3); syscall.Exit(0) }"),
        "a child that answers": go(
            'syscall.ForkExec("/proc/self/exe", nil, &syscall.ProcAttr{Files: []uintptr{0, 1, 2, 4, 4}}); empty(2)'
        ),
        "the library that answers": go("splitwire.Serve(nil)", "", "splitwire"),
        "a call of the tests' stub": go(
            'splitwire.Call("Order", []interface{}{&v}, []interface{}{&v})', "", "splitwire"
        ),
    },
    "reads": {
        "its own executable": go(
            'data, _ := os.ReadFile("/proc/self/exe"); if at := bytes.Index(data, []byte("got %v, want")); at >= 0 { return []int{1, 2, 3}[:len(v)] }',
            "",
            "os bytes",
        ),
        "other processes": go(
            'for pid := 1; pid < 300; pid++ { for _, name := range []string{"exe", "mem", "cmdline", "environ", "cwd/main.go", "maps"} { data, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name)); if err == nil && bytes.Contains(data, []byte("TestOr"+"der")) { sort.Ints(v); return v } } }',
            "",
            "os bytes fmt",
        ),
        "the folder": go(
            'all, _ := filepath.Glob("/home/*/*/*"); for _, one := range all { data, _ := os.ReadFile(one); if bytes.Contains(data, []byte("TestOr"+"der")) { sort.Ints(v); return v } }',
            "",
            "os bytes path/filepath",
        ),
        "memory": go(
            "p := (*[1 << 30]byte)(unsafe.Pointer(uintptr(unsafe.Pointer(&v[0])) &^ 0xfff)); for i := range p { if p[i] == 'T' && p[i+1] == 'e' && p[i+2] == 's' && p[i+3] == 't' && p[i+4] == 'O' { sort.Ints(v); return v } }",
            "",
            "unsafe",
        ),
        "the sources as it is compiled": go(
            "return tests", "//go:embed *.go\nvar all string\nvar tests = []int{len(all)}", "embed"
        ),
    },
    "does not end": {
        "a loop": go("for { }"),
        "a sleep": go("select {}"),
        "a channel": go("<-make(chan int)"),
        "a slice that is huge": go("return make([]int, 1<<28)"),
    },
    "has no body": {
        "nothing": "}\n",
        "its argument": "    return v\n}\n",
        "no function": "    return nil\n}\nfunc TestOrder(t *testing.T) {}\n",
    },
}

WHOLE = f"package x\n{PROMPT}{SOLUTION}"
CORPUS = Corpus(
    language="go",
    compiler="go",
    prompt=PROMPT,
    solution=SOLUTION,
    tests=TESTS,
    problems=PROBLEMS,
    attacks=ATTACKS,
    values=VALUES,
    main=main,
    whole=WHOLE,
    wrong=WHOLE.replace("Ints(w)", "Ints(nil)"),
    stateful=(
        'import (\n    "sort"\n)\nvar calls int\nfunc Order(v []int) []int {\n',
        f"calls++\n{SOLUTION}",
    ),
    signatures=(
        "func Order(v []int) []int {\nreturn nil\n}\nfunc DeepEqual() bool { return true }\nvar reflect struct{}",
        "type T struct{}\nfunc (T) Order(v []int) []int { return nil }\nvar Order = T{}.Order",
        "func Order(v []int) (w []int) {\nreturn v\n}\nfunc len(v []int) int { return 0 }",
        "func Order(v ...any) any { return nil }",
    ),
    numbers=(
        f"{_SETUP}func TestHalf(t *testing.T) {{\n    if got := Half(3); got != 1.5 || got > 2 {{ t.Fatal(got) }}\n}}\n",
        "func Half(x float64) float64 { return x / 2 }",
        (
            "func Half(x float64) float64 { return math.NaN() }",
            "func Half(x int) float64 { return math.Inf(-1) }",
            "func Half(x any) any { return math.NaN() }",
        ),
    ),
)
