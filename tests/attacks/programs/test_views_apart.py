# ruff: noqa: E501  # programs in other languages
"""Test programs that run apart, as a seventh review found them.

Three things should hold: what an ordinary process fails is not passed as ISOLATED, what it passes
is passed, and the same tests pass a right solution. Rows are grouped by the place in the code that
lets them through; each group says which mend is the most general one that was seen.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from reward_server.app import App
from reward_server.domain import Integrity, Verdict
from tests.attacks.programs.test_programs_apart import Row, cpp, java, js, judged, rows, rust
from tests.attacks.programs.test_programs_apart import app as app  # a fixture
from tests.support.common import on_the_servers_loop

pytestmark = [on_the_servers_loop, pytest.mark.timeout(300)]


def go(prompt: str, body: str, checks: str) -> Row:
    return Row(
        language="go",
        prompt=f"package main\n\n{prompt} {{\n",
        completion=f"{body}\n}}\n",
        tests=f"func main() {{\n{checks}\n}}\n",
    )


# ------------------------------------------------------------------ a pointer into something (Go)
# split.go:reference gives each pointer a number of its own by its address and type. One that leads
# into an array, a slice's element or a field of what crossed before becomes a variable of its own
# in the other program, so that what is written through it changes one of the two alone. So does a
# slice of an array that lies in a struct (split.go:array knows slices alone), and a larger slice
# that crosses after a part of it.
# Mend: an object is memory from an address on, with its type, and a pointer or slice is an object
# and a path into it (element, field), found by the address range; where a pointer arrives whose
# range overlaps an object only in part, or larger than a known one, end the solution's program.
# Cheaper: tests are one program where the signature has a pointer (`*T`, `[]*T`) in its result and
# anything in its arguments from which a `*T` can be taken, but a `*T` itself.

ITEMS = "type Item struct {\n\tName  string\n\tCount int\n}\n\n// Copy returns a copy of the item of that name.\nfunc Copy(items []Item, name string) *Item"
ITEMS_TESTS = 'items := []Item{{"a", 1}, {"b", 2}}\np := Copy(items, "b")\nif p == nil || p.Count != 2 { panic(1) }\np.Count = 5\nif items[1].Count != 2 { panic(2) }'
CELLS = (
    "type G struct{ Cells [4]int }\n\n// Copy returns a copy of the cells.\nfunc Copy(g *G) []int"
)
CELLS_TESTS = (
    "g := &G{Cells: [4]int{1, 2, 3, 4}}\nc := Copy(g)\nc[0] = 9\nif g.Cells[0] != 1 { panic(g) }"
)
ROWS_OF = "// Rows returns the first number of each row, by pointers to numbers of their own.\nfunc Rows(flat []int, w int) []*int"
ROWS_TESTS = (
    "flat := []int{1, 2, 3, 4}\nr := Rows(flat, 2)\n*r[1] = 9\nif flat[2] != 3 { panic(flat) }"
)

# -------------------------------------------------------------------------- views of a list (Java)
# Splitwire.java:library makes what shows a part of another container (`subList`, `headSet`,
# `descendingMap`, `synchronizedList`, an entry of a map) a container of its own. What a test writes
# to it does not reach what it shows, and `values()` of a map of the tests' loses its map, too. By
# its text a test may look again where the prompt says "modify" (java.py:_IN_PLACE), as it does in
# "must not modify", or where no argument can be changed.
# Mend: what is a view of a class that is not known to own its elements ends the solution's
# program, as does a class of its own (decision 125): a list of what owns its elements (ArrayList,
# LinkedList, HashMap, TreeMap and the like, by class), and of what is immutable, instead of
# "starts with java.util.". `subList` is what an honest solution returns where nobody writes to it:
# it may cross as a list that the tests' program refuses to write to (the run ends, as the
# solution's failure).


def unmodified(method: str, body: str, checks: str) -> Row:
    row = java(method, body, checks)
    note = "    /** It must not modify its argument. */\n"
    return replace(row, prompt=row.prompt.replace("    public", f"{note}    public", 1))


FIRST = "List<Integer> nums = new ArrayList<>(List.of(1, 2, 3)); List<Integer> r = s.first(nums, 2); check(r.equals(List.of(1, 2))); r.set(0, 99); check(nums.get(0) == 1);"
CHUNKS = "var g = s.chunks(3); check(g.equals(List.of(List.of(0, 1), List.of(1, 2)))); g.get(0).set(1, 9); check(g.get(1).get(0) == 1);"
BELOW = "TreeSet<Integer> t = new TreeSet<>(List.of(1, 2, 3)); SortedSet<Integer> r = s.below(t, 3); check(r.equals(Set.of(1, 2))); r.remove(1); check(t.contains(1));"
COPY = "List<Integer> m = new ArrayList<>(List.of(1, 2)); var e = s.copy(m); check(e.size() == 2); e.add(1); check(m.size() == 2);"
REVERSED = "TreeMap<Integer, Integer> m = new TreeMap<>(Map.of(1, 2)); var e = s.reversed(m); check(e.size() == 1); e.put(3, 4); check(m.size() == 1);"
VALUES = 'Map<String, Integer> m = new HashMap<>(Map.of("a", 1, "b", 2)); var e = s.values(m); check(e.size() == 2); e.remove(1); check(m.size() == 2);'
ENTRY = 'Map<String, Integer> m = new HashMap<>(Map.of("a", 1, "b", 2)); var e = s.best(m); check(e.getValue() == 2); e.setValue(7); check(m.get("b") == 2);'
BOXED = "Integer[] nums = {1, 2}; List<Integer> r = s.list(nums); check(r.equals(List.of(1, 2))); nums[0] = 9; check(r.get(0) == 1);"
BEST = "Map.Entry<String, Integer> best = null; for (var e : m.entrySet()) if (best == null || e.getValue() > best.getValue()) best = e;"

# ------------------------------------------------------- a class derived from the prompt's (Java)
# Splitwire.java:kind takes an object of a class of the solution's own that extends a class of the
# prompt's for one of the prompt's: its `equals`, `toString` and methods are the prompt's in the
# tests' program. Wrong ones pass, and right ones (a factory of shapes) fail, see REFUSED below.
# Mend: by the prompt's text. A class of the prompt's that is neither final, a record nor an enum,
# and that the signature leads to, may be extended: one program, as an abstract one is already. Or
# an object of a derived class that overrides a method ends the solution's program (it takes the
# unearned ones and leaves the honest zero).
POINT = "class P { int x; P(int x) { this.x = x; } int get() { return x; } public boolean equals(Object o) { return o instanceof P && ((P) o).get() == get(); } public int hashCode() { return x; } }\n"

# ------------------------------------------------ what is handed over more than once, or by another
# name (C++, Rust). aliasing.py:_looks_again looks for an argument's own name behind the call in the
# text. A loop around the call, a reference's or pointer's other name, a field that a method of the
# tests' own hands over, and functions that stand before their caller are not followed. Rust's
# `&Vec` is not followed at all, whatever `unsafe` the solution has.
# Mend: the other way about. Let the tests' text prove that what is handed over by a reference that
# promises to change nothing is a temporary, or a variable that has one place in the text beside its
# declaration and no loop, lambda or helper around; all else is one program. That costs labels, as
# HumanEval-X's tests hand over literals mostly. Without a loss: `const` arguments come back, too,
# and a program whose answer shows one that differs from what was sent ends. The solution's program
# can hide that only by code that undoes it, and then it has kept to the promise for its caller.
# For C++ that needs the parameter as the solution wrote it.
CLEARS = "int n = b.size(); const_cast<vector<int> &>(b).clear(); return n; }"
CONST = "int f(const vector<int> &b)"

# --------------------------------------------------- what the process of the tests is measured for
# CPU time and memory are of the tests' program, in which the solution does not run. Python has a
# list (grading/python_tests/isolation/process_state.py); unseen.py:_CPP_SETTINGS, _JAVA_SETTINGS and
# javascript.py:_PROCESS have not: `clock()`, `clock_gettime` of CPU clocks, `getrusage`,
# `java.lang.management`, `process.cpuUsage`, `process.memoryUsage`; Go's `testing.Benchmark`
# counts what our stub allocates, so that an honest solution fails (REFUSED below).
# Mend: such names make the tests one program. For C++ and Java the general form is a list of
# headers and packages that compute with values, as Go and Rust have (decision 102).
SLOW_CPP = "return n < 2 ? n : fib(n - 1) + fib(n - 2); }"
FAST_CPP = "long long a = 0, b = 1; while (n--) { long long c = a + b; a = b; b = c; } return a; }"
CLOCK = "clock_t t = clock(); assert(fib(42) == 267914296LL); assert((double)(clock() - t) / CLOCKS_PER_SEC < 0.2);"
CPU_CLOCK = "auto cpu = [] { timespec t; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); return t.tv_sec + t.tv_nsec / 1e9; };\ndouble t = cpu(); assert(fib(42) == 267914296LL); assert(cpu() - t < 0.2);"
THREAD_CPU = "var b = java.lang.management.ManagementFactory.getThreadMXBean(); long t = b.getCurrentThreadCpuTime(); check(s.fib(41) == 165580141L); check(b.getCurrentThreadCpuTime() - t < 100_000_000L);"
CPU_USAGE = "const t = process.cpuUsage();\nassert.strictEqual(fib(38), 39088169);\nassert(process.cpuUsage(t).user < 200000);"
MEMORY = "const before = process.memoryUsage().heapUsed;\nassert.strictEqual(sum(1000000), 499999500000);\nassert(process.memoryUsage().heapUsed - before < 4000000);"

# ------------------------------------------------------------- what a stub says of itself (JS)
# javascript.py:_is_allowed lets tests ask `typeof f`, and the stub is a function whether or not
# the solution has one. A missing function then also passes `assert.throws(() => f(-1))`. An
# optional one fails (REFUSED below).
# Mend: before its first statement the tests' program asks which names the solution's has as
# functions (a frame that a solution may lie in, and is held to at the call); or `typeof` of a stub
# makes one program unless the same text calls it where a ReferenceError fails.
TYPEOF = "assert.strictEqual(typeof add, 'function');\nassert.strictEqual(typeof half, 'function');\nassert.strictEqual(add(1, 2), 3);\nassert.throws(() => half('a'));"

# --------------------------------------------- a kind that is another in the tests' program (JS)
# split.js:kindOf says "promise" of whatever has a `then`, and promised() makes a Promise of it; a
# Proxy arrives as the object that it shows; an iterator of an array, a map or a set (COPIED) as
# one over the items that there are when it crosses, which a right solution whose tests expect a
# live one fails (REFUSED below).
# Mend: a thenable arrives as an object without Promise's prototype whose `then` waits for it;
# a Proxy (util.types.isProxy) ends the solution's program, or the tests that say `isProxy` are one
# program; iterators of the solution's are all of the kind "source".
KEYS = "put('a');\nconst it = keys();\nput('b');\nassert.deepStrictEqual([...it], ['a']);"
KEPT = "const m = new Map()\nconst put = (k) => { m.set(k, 1) }\n"
SQUARE = "(async () => { assert(f(3) instanceof Promise); assert.strictEqual(await f(3), 9) })();"

# ------------------------------------------------------------------- a thread for each test (Rust)
# The harness runs each test in a thread of its own; rust.py's stubs call one thread of the
# solution's, where what is `thread_local!` lives on from test to test (REFUSED below has the other
# half). Mend: the call has the caller's thread in it, and the loop has a thread for each.
COUNTED = (
    "#[test]\nfn a() { assert_eq!(next(1), 1); }\n#[test]\nfn b() { assert_eq!(next(1), 2); }\n"
)
NEXT = "fn next(by: i32) -> i32 {\n"
LOCAL = "    N.with(|n| { n.set(n.get() + by); n.get() })\n}\nuse std::cell::Cell;\nthread_local! { static N: Cell<i32> = Cell::new(0); }\n"


def rust_clears(body: str) -> Row:
    return rust(
        f"{body}\n}}\n",
        "let v = vec![1, 2]; assert_eq!(f(&v), 2); assert_eq!(v.len(), 2);",
        "fn f(v: &Vec<i32>) -> i32 {\n",
    )


UNEARNED = {
    "go: a pointer to an element": go(
        ITEMS,
        "for i := range items { if items[i].Name == name { return &items[i] } }\nreturn nil",
        ITEMS_TESTS,
    ),
    "go: a slice of a field": go(CELLS, "return g.Cells[:]", CELLS_TESTS),
    "go: pointers into a slice": go(
        ROWS_OF,
        "var r []*int\nfor i := 0; i < len(flat); i += w { r = append(r, &flat[i]) }\nreturn r",
        ROWS_TESTS,
    ),
    "java: a part of the argument": unmodified(
        "public List<Integer> first(List<Integer> nums, int k)",
        "return nums.subList(0, k); }}",
        FIRST,
    ),
    "java: parts that overlap": java(
        "public List<List<Integer>> chunks(int n)",
        "List<Integer> all = new ArrayList<>(); for (int i = 0; i < n; i++) all.add(i); List<List<Integer>> r = new ArrayList<>(); for (int i = 0; i + 1 < n; i++) r.add(all.subList(i, i + 2)); return r; }}",
        CHUNKS,
    ),
    "java: a part of a set": unmodified(
        "public SortedSet<Integer> below(TreeSet<Integer> all, int k)",
        "return all.headSet(k); }}",
        BELOW,
    ),
    "java: a list around the argument": unmodified(
        "public List<Integer> copy(List<Integer> m)",
        "return Collections.synchronizedList(m); }}",
        COPY,
    ),
    "java: the argument in another order": unmodified(
        "public NavigableMap<Integer, Integer> reversed(TreeMap<Integer, Integer> m)",
        "return m.descendingMap(); }}",
        REVERSED,
    ),
    "java: the values of the argument": unmodified(
        "public Collection<Integer> values(Map<String, Integer> m)", "return m.values(); }}", VALUES
    ),
    "java: an entry of the argument": unmodified(
        "public Map.Entry<String, Integer> best(Map<String, Integer> m)",
        f"{BEST} return best; }}}}",
        ENTRY,
    ),
    "java: a list of the argument's array": unmodified(
        "public List<Integer> list(Integer[] nums)", "return Arrays.asList(nums); }}", BOXED
    ),
    "java: a derived class with a method of its own": java(
        "public P f(int a)",
        "return new P(a) { int get() { return 99; } }; }}",
        "check(s.f(1).get() == 1);",
        POINT,
    ),
    "java: a derived class with an equality of its own": java(
        "public P f(int a)",
        "return new P(a) { public boolean equals(Object o) { return false; } }; }}",
        "check(s.f(1).equals(new P(1)));",
        POINT,
    ),
    "c++: the same argument in a loop": cpp(
        CONST, CLEARS, "vector<int> b{1, 2}; for (int i = 0; i < 3; i++) assert(f(b) == 2);"
    ),
    "c++: cases that are gone through twice": cpp(
        CONST,
        CLEARS,
        "vector<pair<vector<int>, int>> cases{{{1, 2}, 2}}; for (int round = 0; round < 2; round++) for (auto &[in, want] : cases) assert(f(in) == want);",
    ),
    "c++: an argument by a reference's name": cpp(
        CONST,
        CLEARS,
        "vector<int> a{1, 2}; const auto &b = a; assert(f(b) == 2); assert(a.size() == 2);",
    ),
    "c++: a field that a method hands over": cpp(
        CONST,
        CLEARS,
        "struct Case { vector<int> in; int want; void run() const { assert(f(in) == want); } }; vector<Case> cases{{{1, 2}, 2}}; for (const auto &c : cases) c.run(); for (const auto &c : cases) c.run();",
    ),
    "c++: a clock of CPU time": cpp("long long fib(int n)", SLOW_CPP, CLOCK),
    "c++: another clock of CPU time": cpp("long long fib(int n)", SLOW_CPP, CPU_CLOCK),
    "java: the CPU time of a thread": java(
        "public long fib(int n)", "return n < 2 ? n : fib(n - 1) + fib(n - 2); }}", THREAD_CPU
    ),
    "js: CPU time": js("const fib = (n) => n < 2 ? n : fib(n - 1) + fib(n - 2)", CPU_USAGE),
    "js: memory": js(
        "const kept = []\nconst sum = (n) => { const a = Array.from({ length: n }, (_, i) => i); kept.push(a); return a.reduce((x, y) => x + y, 0) }",
        MEMORY,
    ),
    "js: a function that is not there": js("const add = (a, b) => a + b", TYPEOF),
    "js: what has a `then` is no promise": js(
        "const f = (x) => ({ then(r) { r(x * x) } })", SQUARE
    ),
    "js: a proxy": js(
        "const f = (o) => new Proxy(o, {})",
        "const util = require('util');\nassert(!util.types.isProxy(f({ a: 1 })));",
    ),
}
# The same tests, and a right solution.
RIGHT = {
    "go: a pointer to an element": "for _, one := range items { if one.Name == name { c := one; return &c } }\nreturn nil\n}\n",
    "go: a slice of a field": "return append([]int(nil), g.Cells[:]...)\n}\n",
    "go: pointers into a slice": "var r []*int\nfor i := 0; i < len(flat); i += w { x := flat[i]; r = append(r, &x) }\nreturn r\n}\n",
    "java: a part of the argument": "return new ArrayList<>(nums.subList(0, k)); }}",
    "java: parts that overlap": "List<List<Integer>> r = new ArrayList<>(); for (int i = 0; i + 1 < n; i++) r.add(new ArrayList<>(List.of(i, i + 1))); return r; }}",
    "java: a part of a set": "return new TreeSet<>(all.headSet(k)); }}",
    "java: a list around the argument": "return new ArrayList<>(m); }}",
    "java: the argument in another order": "NavigableMap<Integer, Integer> r = new TreeMap<>(Comparator.reverseOrder()); r.putAll(m); return r; }}",
    "java: the values of the argument": "return new ArrayList<>(m.values()); }}",
    "java: an entry of the argument": f"{BEST} return new AbstractMap.SimpleEntry<>(best); }}}}",
    "java: a list of the argument's array": "return new ArrayList<>(Arrays.asList(nums)); }}",
    "java: a derived class with a method of its own": "return new P(a); }}",
    "java: a derived class with an equality of its own": "return new P(a); }}",
    "c++: the same argument in a loop": "return b.size(); }\n",
    "c++: cases that are gone through twice": "return b.size(); }\n",
    "c++: an argument by a reference's name": "return b.size(); }\n",
    "c++: a field that a method hands over": "return b.size(); }\n",
    "c++: a clock of CPU time": f"{FAST_CPP}\n",
    "c++: another clock of CPU time": f"{FAST_CPP}\n",
    "java: the CPU time of a thread": "long a = 0, b = 1; while (n-- > 0) { long c = a + b; a = b; b = c; } return a; }}",
    "js: CPU time": "const fib = (n) => { let [a, b] = [0, 1]; while (n--) [a, b] = [b, a + b]; return a }\n",
    "js: memory": "const sum = (n) => { let t = 0; for (let i = 0; i < n; i++) t += i; return t }\n",
    "js: a function that is not there": "const add = (a, b) => a + b\nconst half = (a) => { if (typeof a !== 'number') throw new TypeError('no'); return a / 2 }\n",
    "js: what has a `then` is no promise": "const f = async (x) => x * x\n",
    "js: a proxy": "const f = (o) => ({ ...o })\n",
}
TWINS = {name: replace(UNEARNED[name], completion=text) for name, text in RIGHT.items()}

# -------------------------------------------------------------------------- right, and refused
# Groups as above, by the first words: a pointer into something, a derived class, what is measured,
# what a stub says, iterators, threads of tests. Besides:
# - Errors of the solution's own in Go are another `*remoteError` each time (split.go:message), so
#   that two of them never compare equal: give errors that are pointers, or are comparable, a number.
FIND = "type Item struct {\n\tName  string\n\tCount int\n}\n\n// Find returns a pointer to the item of that name in items.\nfunc Find(items []Item, name string) *Item"
TREE = "type N struct {\n\tV    int\n\tKids []N\n}\n\n// Find returns the node with v.\nfunc Find(n *N, v int) *N"
REFUSED = {
    "go: a pointer to an element, which tests change": go(
        FIND,
        "for i := range items { if items[i].Name == name { return &items[i] } }\nreturn nil",
        'items := []Item{{"a", 1}, {"b", 2}}\np := Find(items, "b")\np.Count = 5\nif items[1].Count != 5 { panic(2) }',
    ),
    "go: a pointer to a field": go(
        "type P struct{ A, B int }\n\n// Larger returns a pointer to the larger field of p.\nfunc Larger(p *P) *int",
        "if p.A > p.B { return &p.A }\nreturn &p.B",
        "p := &P{1, 2}\n*Larger(p) = 7\nif p.B != 7 { panic(p) }",
    ),
    "go: a node of a tree without pointers": go(
        TREE,
        "if n.V == v { return n }\nfor i := range n.Kids { if f := Find(&n.Kids[i], v); f != nil { return f } }\nreturn nil",
        "n := &N{1, []N{{2, nil}, {3, nil}}}\nif f := Find(n, 3); f != &n.Kids[1] { panic(1) }",
    ),
    "go: errors of its own that are equal": go(
        "func F(x int) error",
        'if x < 0 { return e("neg") }\nreturn nil\n}\n\ntype e string\n\nfunc (x e) Error() string { return string(x)',
        "if err := F(-1); err == nil || err != F(-2) { panic(1) }",
    ),
    "java: a factory of a class that the prompt defines": java(
        "public Shape make(double r)",
        "return new Circle(r); }}\nclass Circle extends Shape { double r; Circle(double r) { this.r = r; } double area() { return 3 * r * r; } }",
        "check(s.make(2).area() == 12);",
        "class Shape { double area() { return 0; } }\n",
    ),
    "go: nothing is allocated": Row(
        language="go",
        prompt="package main\n\nfunc Add(a, b int) int {\n",
        completion="\treturn a + b\n}\n",
        tests='import "testing"\n\nfunc TestAdd(t *testing.T) {\n\tr := testing.Benchmark(func(b *testing.B) {\n\t\tfor i := 0; i < b.N; i++ {\n\t\t\tAdd(i, 1)\n\t\t}\n\t})\n\tif r.AllocsPerOp() > 0 || Add(1, 2) != 3 {\n\t\tt.Fatal(r.AllocsPerOp())\n\t}\n}\n',
    ),
    "js: a function that may be missing": js(
        "const isEven = (x) => x % 2 === 0",
        "assert.strictEqual(isEven(2), true);\nif (typeof isOdd === 'function') assert.strictEqual(isOdd(2), false);",
    ),
}


@rows(UNEARNED)
async def test_what_an_ordinary_process_fails_is_not_passed_apart(app: App, row: Row) -> None:
    said = await judged(app, row)
    assert said.verdict is not Verdict.PASSED or said.integrity is Integrity.SHARED, said


@rows(TWINS)
async def test_the_same_tests_pass_a_right_solution(app: App, row: Row) -> None:
    said = await judged(app, row)
    assert (said.verdict, said.reward) == (Verdict.PASSED, 1.0), said


@rows(REFUSED)
async def test_what_an_ordinary_process_passes_is_passed(app: App, row: Row) -> None:
    said = await judged(app, row)
    assert (said.verdict, said.reward) == (Verdict.PASSED, 1.0), said
