# ruff: noqa: E501  # programs in other languages
"""Test programs whose tests could see that they run apart: by views, classes, clocks and names.

What an ordinary process fails is not passed as ISOLATED, what it passes is passed, and the same
tests pass a right solution. `test_go_memory` has the rows of Go's pointers.
"""

from __future__ import annotations

from dataclasses import replace

from reward_server.app import App
from reward_server.domain import Integrity, Verdict
from tests.attacks.programs.test_programs_apart import Row, cpp, java, js, judged, rows, rust
from tests.attacks.programs.test_programs_apart import app as app  # a fixture
from tests.support.common import on_the_servers_loop

pytestmark = on_the_servers_loop


# -------------------------------------------------------------------------- views of a list (Java)


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
POINT = "class P { int x; P(int x) { this.x = x; } int get() { return x; } public boolean equals(Object o) { return o instanceof P && ((P) o).get() == get(); } public int hashCode() { return x; } }\n"

PLAIN = "class P { int x; P(int x) { this.x = x; } }\n"
FIXED = "class P { int x; P(int x) { this.x = x; } final int get() { return x; } }\n"
ITS_TEXT = "check(new P(1).toString().length() > 1); check(s.f(1).toString().length() > 1);"
AS_KEY = "Set<P> all = new HashSet<>(Arrays.asList(s.f(1), s.f(1))); check(all.size() == 2);"
ITSELF = "var p = s.f(1); check(p.get() == 1); check(List.of(p).equals(List.of(p)));"
CUT = "List<Integer> l = new ArrayList<>(List.of(1, 2, 3)); check(s.rest(l, l.subList(0, 2)) == 1);"
KEY_SET = (
    "Map<Integer, Integer> m = new HashMap<>(Map.of(1, 2)); check(s.left(m, m.keySet()) == 0);"
)
BEHIND = "Integer[] a = {1, 2}; check(s.first(a, Arrays.asList(a)) == 7);"

# ------------------------------------------------ what is handed over more than once, or by another
CLEARS = "int n = b.size(); const_cast<vector<int> &>(b).clear(); return n; }"
CONST = "int f(const vector<int> &b)"

# --------------------------------------------------- what the process of the tests is measured for
SLOW_CPP = "return n < 2 ? n : fib(n - 1) + fib(n - 2); }"
FAST_CPP = "long long a = 0, b = 1; while (n--) { long long c = a + b; a = b; b = c; } return a; }"
CLOCK = "clock_t t = clock(); assert(fib(42) == 267914296LL); assert((double)(clock() - t) / CLOCKS_PER_SEC < 0.2);"
CPU_CLOCK = "auto cpu = [] { timespec t; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); return t.tv_sec + t.tv_nsec / 1e9; };\ndouble t = cpu(); assert(fib(42) == 267914296LL); assert(cpu() - t < 0.2);"
THREAD_CPU = "var b = java.lang.management.ManagementFactory.getThreadMXBean(); long t = b.getCurrentThreadCpuTime(); check(s.fib(41) == 165580141L); check(b.getCurrentThreadCpuTime() - t < 100_000_000L);"
CPU_USAGE = "const t = process.cpuUsage();\nassert.strictEqual(fib(38), 39088169);\nassert(process.cpuUsage(t).user < 200000);"
MEMORY = "const before = process.memoryUsage().heapUsed;\nassert.strictEqual(sum(1000000), 499999500000);\nassert(process.memoryUsage().heapUsed - before < 4000000);"

# ------------------------------------------------------------- what a stub says of itself (JS)
TYPEOF = "assert.strictEqual(typeof add, 'function');\nassert.strictEqual(typeof half, 'function');\nassert.strictEqual(add(1, 2), 3);\nassert.throws(() => half('a'));"

# --------------------------------------------- a kind that is another in the tests' program (JS)
SQUARE = "(async () => { assert(f(3) instanceof Promise); assert.strictEqual(await f(3), 9) })();"
REFUSES = (
    "(async () => { await assert.rejects(f(-1), /no/); assert.strictEqual(await f(3), 9) })();"
)
CHAINED = "(async () => { assert.strictEqual(await f(3).then((x) => x), 9) })();"
KEPT = "const m = new Map()\nconst put = (k) => { m.set(k, 1) }\n"
KEYS = "put('a');\nconst it = keys();\nput('b');\nassert.deepStrictEqual([...it], ['a']);"
KEYS_HELD = "const same = (got, want) => assert.deepStrictEqual([...got], want);\nput('a');\nconst it = keys();\nput('b');\nsame(it, ['a']);"
KEYS_MET = "put('a');\nlet n = 0;\nfor (const k of keys()) { n++; if (n < 3) put(k + k) }\nassert.strictEqual(n, 1);"
KEYS_TAKEN = "const more = () => { put('b') };\nput('a');\nconst it = keys();\nmore();\nconst [first, second] = it;\nassert.strictEqual(second, undefined);"
LENT = "let v = vec![1, 2]; assert_eq!(f(&v), 2); assert_eq!(v.len(), 2);"
LENT_HEAD = "fn f(v: &Vec<i32>) -> i32 {\n"
JS_ITEMS = (
    "const a = [1];\nconst it = f(a);\na.push(2);\nassert.deepStrictEqual(Array.from(it), [1]);"
)


UNEARNED = {
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
    "java: a derived class with a text of its own": java(
        "public P f(int a)",
        'return new P(a) { public String toString() { return "7"; } }; }}',
        ITS_TEXT,
        PLAIN,
    ),
    "java: a derived class in a set": java(
        "public P f(int a)",
        "return new P(a) { public boolean equals(Object o) { return o instanceof P; } public int hashCode() { return 1; } }; }}",
        AS_KEY,
        PLAIN,
    ),
    "java: a derived class whose methods are final": java(
        "public P f(int a)",
        "return new P(a) { public boolean equals(Object o) { return false; } }; }}",
        ITSELF,
        FIXED,
    ),
    "java: a list and a part of it": java(
        "public int rest(List<Integer> l, List<Integer> part)",
        "int n = l.size() - part.size(); l.clear(); return part.size() == 2 ? n : 0; }}",
        CUT,
    ),
    "java: a map and its keys": java(
        "public int left(Map<Integer, Integer> m, Set<Integer> keys)",
        "m.clear(); return keys.size() == 1 ? 0 : 1; }}",
        KEY_SET,
    ),
    "java: an array and its list": java(
        "public int first(Integer[] a, List<Integer> l)",
        "a[0] = 7; return l.get(0) == 1 ? 7 : 0; }}",
        BEHIND,
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
    "js: a proxy that computes what is in it": js(
        "const f = (o) => new Proxy(o, { get: () => 7 })", "assert.strictEqual(f({ a: 1 }).a, 1);"
    ),
    "js: what refuses is no promise": js(
        "const f = (x) => ({ then(r, e) { x < 0 ? e(new Error('no')) : r(x * x) } })", REFUSES
    ),
    "js: what is followed is no promise": js(
        "const f = (x) => ({ then(r) { r(x * x) } })", CHAINED
    ),
    "rust: what a reference promises to leave": rust(
        "    let n = v.len() as i32; unsafe { (*(v as *const Vec<i32> as *mut Vec<i32>)).clear(); } n\n}\n",
        LENT,
        LENT_HEAD,
    ),
    "js: keys that change": js(f"{KEPT}const keys = () => m.keys()", KEYS),
    "js: keys that change, in a helper": js(f"{KEPT}const keys = () => m.keys()", KEYS_HELD),
    "js: keys that change while they are gone through": js(
        f"{KEPT}const keys = () => m.keys()", KEYS_MET
    ),
    "js: keys that a helper changes": js(f"{KEPT}const keys = () => m.keys()", KEYS_TAKEN),
    "js: items that change": js("const f = (a) => a.values()", JS_ITEMS),
}
# The same tests, and a right solution.
RIGHT = {
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
    "java: a derived class with a text of its own": "return new P(a); }}",
    "java: a derived class in a set": "return new P(a); }}",
    "java: a derived class whose methods are final": "return new P(a); }}",
    "java: a list and a part of it": "return l.size() - part.size(); }}",
    "java: a map and its keys": "m.clear(); return keys.size(); }}",
    "java: an array and its list": "a[0] = 7; return l.get(0); }}",
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
    "js: a proxy that computes what is in it": "const f = (o) => new Proxy(o, {})\n",
    "js: what refuses is no promise": "const f = async (x) => { if (x < 0) throw new Error('no'); return x * x }\n",
    "js: what is followed is no promise": "const f = async (x) => x * x\n",
    "rust: what a reference promises to leave": "    v.len() as i32\n}\n",
    "js: keys that change": f"{KEPT}const keys = () => [...m.keys()]\n",
    "js: keys that change, in a helper": f"{KEPT}const keys = () => [...m.keys()]\n",
    "js: keys that change while they are gone through": f"{KEPT}const keys = () => [...m.keys()]\n",
    "js: keys that a helper changes": f"{KEPT}const keys = () => [...m.keys()]\n",
    "js: items that change": "const f = (a) => [...a]\n",
}
TWINS = {name: replace(UNEARNED[name], completion=text) for name, text in RIGHT.items()}

# -------------------------------------------------------------------------- right, and refused
REFUSED = {
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
    "js: keys that are to change": js(
        f"{KEPT}const keys = () => m.keys()",
        "put('a');\nconst it = keys();\nput('b');\nassert.deepStrictEqual([...it], ['a', 'b']);",
    ),
    "js: fields that any name has": replace(
        js(
            "const c = {}\nfor (const w of words) c[w] = (c[w] || 0) + 1\nreturn new Proxy(c, { get: (t, k) => t[k] || 0 })\n}",
            "assert.strictEqual(counts(['a']).b, 0);",
        ),
        prompt="// Returns a proxy in which a word that is missing counts 0.\nconst counts = (words) => {\n",
    ),
}
ADDS = "const add = (a, b) => a + b"
MANY = {
    "js: many calls": js(
        "const total = (a) => a[0] + a[1]",
        "for (let i = 0; i < 150000; i++) assert.strictEqual(total([i, 1]), i + 1);",
    ),
    "js: many calls of a helper": js(
        ADDS,
        "const check = (i) => assert.strictEqual(add(i, 1), i + 1);\nArray.from({ length: 150000 }, (_, i) => check(i));",
    ),
    "js: loops in each other": js(
        ADDS,
        "for (let i = 0; i < 400; i++) for (let j = 0; j < 400; j++) assert.strictEqual(add(i, j), i + j);",
    ),
    "java: many calls": java(
        "public List<Integer> pair(int a, int b)",
        "return new ArrayList<>(List.of(a, b)); }}",
        "for (int i = 0; i < 150000; i++) check(s.pair(i, 1).equals(List.of(i, 1)));",
    ),
    "go: many calls": Row(
        language="go",
        prompt="package main\n\nfunc Add(a []int, b int) []int {\n",
        completion="return []int{a[0] + b}\n}\n",
        tests="func main() {\nfor i := 0; i < 150000; i++ { if Add([]int{i}, 1)[0] != i+1 { panic(1) } }\n}\n",
    ),
}
# Right, and ISOLATED: the answer is iterated over at once, or is waited for as its own `then` says.
APART = {
    "js: keys that are gone through at once": js(
        f"{KEPT}const keys = () => m.keys()",
        "put('a');\nput('b');\nassert.deepStrictEqual([...keys()], ['a', 'b']);\nconst it = keys();\nassert.deepStrictEqual([...it], ['a', 'b']);\nconst found = [];\nfor (const k of keys()) found.push(k);\nassert.strictEqual(found.length, 2);",
    ),
    "js: what is waited for": js(
        "class Later { constructor(x) { this.x = x } then(r) { setTimeout(() => r(this.x * this.x), 5) } }\nconst f = (x) => new Later(x)",
        "(async () => { assert.strictEqual(f(3).x, 3); assert.deepStrictEqual(await Promise.all([f(3), f(4)]), [9, 16]); assert.strictEqual(await f(5), 25) })();",
    ),
    "js: what is waited for and refuses": js(
        "const f = (x) => ({ then(r, e) { x < 0 ? e(new Error('no')) : r(x * x) }, catch() {} })",
        REFUSES,
    ),
    "js: fields that are computed": js(
        "const f = (o) => new Proxy(o, { get: (t, k) => t[k] * 2 })",
        "assert.strictEqual(f({ a: 1 }).a, 2);",
    ),
}


@rows(UNEARNED, 2)
async def test_what_an_ordinary_process_fails_is_not_passed_apart(app: App, row: Row) -> None:
    said = await judged(app, row)
    assert said.verdict is not Verdict.PASSED or said.integrity is Integrity.SHARED, said


@rows(TWINS, 3)
async def test_the_same_tests_pass_a_right_solution(app: App, row: Row) -> None:
    said = await judged(app, row)
    assert (said.verdict, said.reward) == (Verdict.PASSED, 1.0), said


@rows(REFUSED | MANY | APART, 2)
async def test_what_an_ordinary_process_passes_is_passed(app: App, row: Row) -> None:
    said = await judged(app, row)
    assert (said.verdict, said.reward) == (Verdict.PASSED, 1.0), said
