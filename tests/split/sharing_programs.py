# ruff: noqa: E501  # programs in another language
"""Tests that tell values from their copies, by language.

In Go and Java each probe is a case of one function, and prints what it saw, so that many are
compiled at once. `OUTPUT` is what they print in one program.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from tests.attacks.attack import code


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One look at what a call did or returned.

    Args:
        solution: statements of the function, which has `a` and `b`.
        tests: statements that call it as `f(a, b)`, and end with `see(...)`.
        seen: what they see in one program.
    """

    solution: str
    tests: str
    seen: str


JAVA: Mapping[str, Probe] = {
    "rows that are one": Probe(
        solution="List<Integer> r = new ArrayList<>(List.of(0)); return new ArrayList<>(List.of(r, r));",
        tests="var g = f(n, n); g.get(0).set(0, 1); see(g);",
        seen="[[1], [1]]",
    ),
    "rows that are not": Probe(
        solution="return List.of(new ArrayList<>(List.of(0)), new ArrayList<>(List.of(0)));",
        tests="var g = f(n, n); g.get(0).set(0, 1); see(g);",
        seen="[[1], [0]]",
    ),
    "the argument itself": Probe(
        solution="return a;",
        tests='var a = rows(1); f(a, n).add(null); see(a.size() + " " + (f(a, n) == a));',
        seen="2 true",
    ),
    "a part of it": Probe(
        solution="return List.of(a.get(1));",
        tests="var a = rows(1, 2); see(f(a, n).get(0) == a.get(1));",
        seen="true",
    ),
    "one for all calls": Probe(
        solution="return kept;",
        tests='f(n, n).add(null); see(f(n, n).size() + " " + (f(n, n) == f(n, n)));',
        seen="1 true",
    ),
    "what a later call changes": Probe(
        solution="last.addAll(a); return last;",
        tests="var g = f(rows(1), n); f(rows(2, 3), n); see(g.size());",
        seen="3",
    ),
    "an argument that is kept": Probe(
        solution="if (seen.isEmpty()) seen.add(a); return List.of(List.of(seen.get(0).size()));",
        tests="var a = rows(1); f(a, n); a.add(null); see(f(n, n));",
        seen="[[2]]",
    ),
    "one that is used up": Probe(
        solution="int s = 0; while (!a.isEmpty()) s += a.remove(0).get(0); return List.of(List.of(s));",
        tests='var a = rows(1, 2); see(f(a, n) + " " + f(a, n));',
        seen="[[3]] [[0]]",
    ),
    "the same one twice": Probe(
        solution="a.clear(); return List.of(List.of(b.size()));",
        tests="var a = rows(1); see(f(a, a));",
        seen="[[0]]",
    ),
    "rows that change places": Probe(
        solution="Collections.reverse(a); return null;",
        tests="var a = rows(1, 2); var x = a.get(0); f(a, n); see(a.get(1) == x && x.get(0) == 1);",
        seen="true",
    ),
    "one that is changed before an exception": Probe(
        solution="a.clear(); throw new IllegalStateException();",
        tests="var a = rows(1); try { f(a, n); } catch (IllegalStateException e) { } see(a.size());",
        seen="0",
    ),
    "a list that cannot be changed": Probe(
        solution="return Collections.unmodifiableList(a);",
        tests='String what = "no"; try { f(rows(1), n).add(null); } catch (UnsupportedOperationException e) { what = "yes"; } see(what);',
        seen="yes",
    ),
    "one of another length": Probe(
        solution="return Arrays.asList(a.get(0), null);",
        tests='var g = f(rows(1), n); g.set(1, List.of(7)); String what = "no"; try { g.add(null); } catch (UnsupportedOperationException e) { what = "yes"; } see(g + what);',
        seen="[[1], [7]]yes",
    ),
    "keys that are looked at": Probe(
        solution="return new ArrayList<>(new TreeMap<List<Integer>, Integer>(Comparator.comparing(x -> -x.get(0))) {{ put(a.get(0), 1); put(a.get(1), 2); }}.keySet());",
        tests="see(f(rows(1, 2), n));",
        seen="[[2], [1]]",
    ),
}


def _calling(probe: Probe, begun: str) -> str:
    return re.sub(r"\bf\(", begun, probe.tests)


def java(probes: Mapping[str, Probe]) -> tuple[str, str, str]:
    """Returns a prompt, a completion and tests."""
    prompt = code("""
        import java.util.*;
        class Solution {
            // Changes rows in place.
            public List<List<Integer>> f(int way, List<List<Integer>> a, List<List<Integer>> b) {
    """)
    ways = "".join(f"case {at}: {{ {one.solution} }}\n" for at, one in enumerate(probes.values()))
    lists = "static List<List<Integer>> kept = new ArrayList<>(), last = new ArrayList<>();\n"
    seen = "static List<List<List<Integer>>> seen = new ArrayList<>();\n"
    completion = f"switch (way) {{\n{ways}default: return null; }}\n}}\n{lists}{seen}}}\n"
    calls = "".join(
        f"static void probe{at}() {{ {_calling(one, f's.f({at}, ')} }}\n"
        for at, one in enumerate(probes.values())
    )
    runs = "".join(
        f'System.out.print("{name}: "); probe{at}();\n' for at, name in enumerate(probes)
    )
    tests = (
        "public class Main {\nstatic Solution s = new Solution();\n"
        "static List<List<Integer>> n = null;\n"
        "static void see(Object o) { System.out.println(o); }\n"
        "static List<List<Integer>> rows(int... of) { List<List<Integer>> made = new ArrayList<>();"
        " for (int one : of) made.add(new ArrayList<>(List.of(one))); return made; }\n"
        f"{calls}public static void main(String[] args) {{\n{runs}}}\n}}\n"
    )
    return prompt, completion, tests


GO: Mapping[str, Probe] = {
    "rows that are one": Probe(
        solution="r := []int{0}; return [][]int{r, r}",
        tests="g := f(nil, nil); g[0][0] = 1; see(g)",
        seen="[[1] [1]]",
    ),
    "rows that are not": Probe(
        solution="return [][]int{{0}, {0}}",
        tests="g := f(nil, nil); g[0][0] = 1; see(g)",
        seen="[[1] [0]]",
    ),
    "the argument itself": Probe(
        solution="return a",
        tests="a := [][]int{{1}}; f(a, nil)[0] = nil; see(a)",
        seen="[[]]",
    ),
    "a part of it": Probe(
        solution="return a[1:]",
        tests="a := [][]int{{1}, {2}}; g := f(a, nil); g[0] = []int{7}; see(a, len(g), cap(g))",
        seen="[[1] [7]] 1 1",
    ),
    "what lies behind it": Probe(
        solution="return append(a, []int{9})",
        tests="a := make([][]int, 1, 4); f(a, nil); see(a[:2])",
        seen="[[] [9]]",
    ),
    "one for all calls": Probe(
        solution="return kept",
        tests="f(nil, nil)[0] = nil; see(f(nil, nil))",
        seen="[[]]",
    ),
    "what a later call changes": Probe(
        solution="kept[0] = a[0]; return kept",
        tests="g := f([][]int{{1}}, nil); f([][]int{{2}}, nil); see(g)",
        seen="[[2]]",
    ),
    "an argument that is kept": Probe(
        solution="if a != nil { held = a }; return [][]int{held[0]}",
        tests="a := [][]int{{1}}; f(a, nil); a[0] = []int{5}; see(f(nil, nil))",
        seen="[[5]]",
    ),
    "the same one twice": Probe(
        solution="a[0] = nil; return b",
        tests="a := [][]int{{1}}; see(f(a, a))",
        seen="[[]]",
    ),
    "parts that overlap": Probe(
        solution="copy(a, b); return nil",
        tests="a := [][]int{{1}, {2}, {3}}; f(a[1:], a); see(a)",
        seen="[[1] [1] [2]]",
    ),
    "rows that change places": Probe(
        solution="a[0], a[1] = a[1], a[0]; return nil",
        tests="a := [][]int{{1}, {2}}; x := a[0]; f(a, nil); x[0] = 8; see(a)",
        seen="[[2] [8]]",
    ),
    "one that is changed before a panic": Probe(
        solution='a[0] = nil; panic("no")',
        tests="a := [][]int{{1}}; func() { defer func() { recover() }(); f(a, nil) }(); see(a)",
        seen="[[]]",
    ),
    "nothing and no elements": Probe(
        solution="if a == nil { return [][]int{} }; return nil",
        tests="see(f(nil, nil) == nil, f([][]int{}, nil) == nil)",
        seen="false true",
    ),
    "room": Probe(
        solution="return make([][]int, 2, 7)",
        tests="g := f(nil, nil); see(len(g), cap(g), len(g[:5]))",
        seen="2 7 5",
    ),
}


def go(probes: Mapping[str, Probe]) -> tuple[str, str, str]:
    """Returns a prompt, a completion and tests."""
    prompt = 'package main\n\nimport "fmt"\n\nfunc F(way int, a, b [][]int) [][]int {\n'
    ways = "".join(f"case {at}: {one.solution}\n" for at, one in enumerate(probes.values()))
    completion = (
        f"switch way {{\n{ways}}}\nreturn nil\n}}\nvar kept = [][]int{{{{0}}}}\nvar held [][]int\n"
    )
    calls = "".join(
        f"func probe{at}() {{ {_calling(one, f'F({at}, ')} }}\n"
        for at, one in enumerate(probes.values())
    )
    runs = "".join(f'fmt.Print("{name}: "); probe{at}()\n' for at, name in enumerate(probes))
    see = "func see(all ...interface{}) { fmt.Println(all...) }\n"
    return prompt, completion, f"{see}{calls}func main() {{\n{runs}}}\n"


ASSERT = "const assert = require('node:assert')\n"
# By name: a solution, tests that it passes in one program, and tests that it does not.
JAVASCRIPT: Mapping[str, tuple[str, str, str]] = {
    "rows that are one": (
        "const f = (n) => Array(n).fill(Array(n).fill(0))",
        "const g = f(2)\ng[0][0] = 1\nassert.deepStrictEqual(g, [[1, 0], [1, 0]])",
        "const g = f(2)\ng[0][0] = 1\nassert.deepStrictEqual(g, [[1, 0], [0, 0]])",
    ),
    "one for all calls": (
        "const c = {}\nconst f = (n) => c[n] ??= { n }",
        "assert.strictEqual(f(1), f(1))",
        "assert.notStrictEqual(f(1), f(1))",
    ),
    "an argument that is used up": (
        "const f = (a) => { let s = 0; while (a.length) s += a.pop(); return s }",
        "const a = [3, 1, 2]\nassert.strictEqual(f(a), 6)\nassert.strictEqual(f(a), 0)",
        "const a = [3, 1, 2]\nassert.strictEqual(f(a), 6)\nassert.strictEqual(f(a), 6)",
    ),
    "what a later call changes": (
        "const c = []\nconst f = (n) => { c.push(n); return c }",
        "const a = f(1)\nconst b = f(2)\nassert.deepStrictEqual(a, [1, 2])",
        "const a = f(1)\nconst b = f(2)\nassert.deepStrictEqual(a, [1])",
    ),
    "rows that change places": (
        "const f = (rows) => { rows.reverse() }",
        "const rows = [[3], [1]]\nconst want = [rows[1], rows[0]]\nf(rows)\nassert.deepStrictEqual(rows, want)",
        "const rows = [[3], [1]]\nconst before = rows.slice()\nf(rows)\nassert.deepStrictEqual(rows, before)",
    ),
    "fields that share": (
        "const f = () => { const a = [1]; return { x: a, y: a } }",
        "const r = f()\nr.x[1] = 2\nassert.deepStrictEqual(r.y, [1, 2])",
        "const r = f()\nr.x[1] = 2\nassert.deepStrictEqual(r.y, [1])",
    ),
    "bytes that share": (
        "const f = () => { const b = new ArrayBuffer(4); return [new Uint8Array(b), new Uint16Array(b)] }",
        "const [a, b] = f()\na[0] = 7\nassert.strictEqual(b[0], 7)",
        "const [a, b] = f()\na[0] = 7\nassert.strictEqual(b[0], 0)",
    ),
    "an object that holds itself": (
        "const f = () => { const a = { v: 1 }; a.self = a; return a }",
        "const r = f()\nassert.strictEqual(r.self.self.v, 1)\nassert(r.self === r)",
        "assert.deepStrictEqual(f(), { v: 1, self: { v: 1, self: null } })",
    ),
    "a generator": (
        "function* f(n) { for (let i = 0; i < n; i++) yield i }",
        "assert.deepStrictEqual([...f(3)], [0, 1, 2])\nassert.deepStrictEqual(Array.from(f(2)), [0, 1])",
        "assert.deepStrictEqual(f(3), [0, 1, 2])",
    ),
    "an iterator of a set": (
        "const f = (a) => new Set(a).values()",
        "assert.deepStrictEqual([...f([1, 1, 2])], [1, 2])",
        "assert(Array.isArray(f([1, 1, 2])))",
    ),
    "an iterator of a map": (
        "const f = (a) => new Map(a).entries()",
        "assert.deepStrictEqual(new Map(f([[1, 2]])), new Map([[1, 2]]))",
        "assert.deepStrictEqual(f([[1, 2]]), [[1, 2]])",
    ),
    "an array of a class of its own": (
        "class A extends Array {}\nconst f = () => A.from([1, 2])",
        "const r = f()\nassert(Array.isArray(r))\nassert.deepEqual(r, [1, 2])",
        "assert.deepStrictEqual(f(), [1, 2])",
    ),
    "a class by the name of Object": (
        "const C = class Object { constructor() { this.a = 1 } }\nconst f = () => new C()",
        "assert.strictEqual(f().a, 1)",
        "assert.deepStrictEqual(f(), { a: 1 })",
    ),
    "an object that inherits nothing": (
        "const f = () => Object.assign(Object.create(null), { a: 1 })",
        "assert.strictEqual(f().a, 1)",
        "assert.deepStrictEqual(f(), { a: 1 })",
    ),
    "fields of an array": (
        "const f = () => Object.assign([1, 2], { x: 1 })",
        "assert.strictEqual(f().x, 1)",
        "assert.deepStrictEqual(f(), [1, 2])",
    ),
    "keys that are symbols": (
        "const f = () => ({ a: 1, [Symbol.for('x')]: 2 })",
        "assert.strictEqual(f()[Symbol.for('x')], 2)",
        "assert.deepStrictEqual(f(), { a: 1 })",
    ),
    "a number that is an object": (
        "const f = () => new Number(5)",
        "assert.strictEqual(f() + 0, 5)",
        "assert.strictEqual(f(), 5)",
    ),
    "values that are alike": (
        "const f = () => [NaN, -0, undefined, , null, 1n, '\\ud800']",
        "const r = f()\nassert(Object.is(r[1], -0) && 2 in r && !(3 in r))\nassert.deepStrictEqual(r, [NaN, -0, undefined, , null, 1n, '\\ud800'])",
        "assert.deepStrictEqual(f(), [NaN, 0, undefined, undefined, null, 1, '\\ufffd'])",
    ),
    "what is frozen": (
        "const f = () => Object.freeze([1])",
        "assert(Object.isFrozen(f()))",
        "assert(!Object.isFrozen(f()))",
    ),
    "holes and fields of an array": (
        "const f = (a) => { if (a.k) { delete a.k; a[1] = 5 } else { delete a[1]; a.k = 1 } }",
        "const a = [1, 2, 3]\nf(a)\nassert.deepStrictEqual(a, Object.assign([1, , 3], { k: 1 }))\nf(a)\nassert.deepStrictEqual(a, [1, 5, 3])",
        "const a = [1, 2, 3]\nf(a)\nassert.deepStrictEqual(a, [1, 2, 3])",
    ),
    "what can only be changed in part": (
        "const f = (a) => { delete a.k; a.n = 2 }",
        "const a = Object.preventExtensions({ n: 1, k: 1 })\nf(a)\nassert.deepStrictEqual(a, { n: 2 })",
        "const a = Object.preventExtensions({ n: 1, k: 1 })\nf(a)\nassert.deepStrictEqual(a, { n: 1, k: 1 })",
    ),
    "the order of keys": (
        "const f = (o) => { delete o.a; o.a = 1 }",
        "const o = { a: 1, b: 2 }\nf(o)\nassert.deepStrictEqual(Object.keys(o), ['b', 'a'])",
        "const o = { a: 1, b: 2 }\nf(o)\nassert.deepStrictEqual(Object.keys(o), ['a', 'b'])",
    ),
    "what a class of its own computes": (
        "class A { constructor(x) { this.x = x } get twice() { return 2 * this.x } toString() { return `<${this.x}>` } }\n"
        "class B extends A { valueOf() { return this.x } get [Symbol.toStringTag]() { return 'B' } }\n"
        "const f = (x) => new B(x)",
        "const r = f(3)\nassert.strictEqual(`${r} ${r + 1} ${r.twice}`, '<3> 4 6')\nr.x = 5\nassert.strictEqual(r.twice, 10)\nassert.deepStrictEqual(Object.keys(r), ['x'])",
        "assert.strictEqual(String(f(3)), '[object Object]')",
    ),
    "what it becomes": (
        "const f = (x) => ({ x, [Symbol.toPrimitive](hint) { return hint === 'number' ? x : hint }, toJSON() { return [x] } })",
        "const r = f(3)\nassert.strictEqual(`${r} ${+r} ${r + ''}`, 'string 3 default')\nassert.strictEqual(JSON.stringify({ r }), '{\"r\":[3]}')",
        "assert.strictEqual(JSON.stringify(f(3)), '{\"x\":3}')",
    ),
    "a property that counts": (
        "const f = () => ({ n: 0, get next() { return this.n++ } })",
        "const r = f()\nconst one = r.next\nf()\nassert.deepStrictEqual([one, r.next, r.n], [0, 1, 2])",
        "const r = f()\nconst one = r.next\nf()\nassert.deepStrictEqual([one, r.next], [0, 0])",
    ),
    "what it inherits as data": (
        "const f = () => Object.create(Object.create({ base: [1] }, { deep: { get() { return this.base[0] } } }))",
        "const r = f()\nr.base[1] = 2\nassert.deepStrictEqual([r.base, r.deep, Object.keys(r)], [[1, 2], 1, []])",
        "assert.strictEqual(f().base, undefined)",
    ),
    "an iteration without an end": (
        "function* g() { let n = 0; try { for (;;) yield n++ } finally { f.ended = n } }\nconst f = (x) => x ? f.ended : g()",
        "const got = []\nfor (const n of f()) { got.push(n); if (n === 3) break }\nassert.deepStrictEqual(got, [0, 1, 2, 3])\nassert.strictEqual(f(1), 4)",
        "const [a] = f()\nassert.strictEqual(f(1), undefined)",
    ),
    "a class that iterates": (
        "class R { constructor(n) { this.n = n } *[Symbol.iterator]() { for (let i = 0; i < this.n; i++) yield i } }\nconst f = (n) => new R(n)",
        "assert.deepStrictEqual([...f(2), ...f(40)].length, 42)\nassert.strictEqual(Math.max(...f(9)), 8)",
        "assert.throws(() => [...f(2)])",
    ),
    "a method that is told what is expected": (
        "const f = (x) => ({ includes: () => true })",
        "assert.strictEqual(typeof f(1).includes, 'function')",
        "const all = [1].map((n) => f(n))\nassert(!all[0].includes(4))",
    ),
    "a function for an exception": (
        "const f = () => () => 1",
        "assert.strictEqual(typeof f(1), 'function')",
        "assert.throws(() => f(-1))",
    ),
    "what is no data for an exception": (
        "const f = () => new WeakMap()",
        "assert.strictEqual(typeof f, 'function')",
        "assert.throws(() => f(-1))",
    ),
    "an exception by its class": (
        "class RangeProblem extends RangeError {}\nconst f = () => { throw Object.assign(new RangeProblem('no'), { name: 'SyntaxError', at: [1] }) }",
        "assert.throws(() => f(1), RangeError)\nassert.throws(() => f(1), { name: 'SyntaxError', message: 'no', at: [1] })",
        "assert.throws(() => f(1), SyntaxError)",
    ),
}

# Tests that are judged with the solution, by prompt and tests, since copies would show in them.
CPP_TOGETHER: Mapping[str, tuple[str, str]] = {
    "a result that is the argument": ("int &f(int &a) {", "int a = 1; f(a) = 2; assert(a == 2);"),
    "one argument for two": (
        "void f(vector<int> &a, const vector<int> &b) {",
        "vector<int> a{1}; f(a, a);",
    ),
    "an argument and a part of it": (
        "void f(vector<int> &a, int &b) {",
        "vector<int> a{1}; f(a, a[0]);",
    ),
    "an iterator that is kept": (
        "void f(vector<int> &a) {",
        "vector<int> a{1}; auto at = a.begin(); f(a); assert(*at == 2);",
    ),
    "a reference that is kept": (
        "void f(vector<int> &a) {",
        "vector<int> a{1}; int &one = a[0]; f(a); assert(one == 2);",
    ),
    "a pointer that is kept": (
        "void f(string &a) {",
        "string a; const char *at = a.c_str(); f(a); assert(at == a.c_str());",
    ),
    "what an exception leaves behind": (
        "void f(vector<int> &a) {",
        "vector<int> a{1}; try { f(a); } catch (...) {} assert(a.size() == 1);",
    ),
    "values that are handed over twice": (
        "int f(vector<int> a, vector<int> b) {",
        "vector<int> a{1}; assert(f(a, a) == 1 && a[0] == 1);",
    ),
    "what an exception leaves of a constant": (
        "int f(const vector<int> &a) {",
        "vector<int> a{1}; try { f(a); assert(false); } catch (const out_of_range &) {} assert(a[0] == 1);",
    ),
    "a constant that is handed over again": (
        "int f(const vector<int> &a) {",
        "vector<int> a{1}; assert(f(a) == 1); assert(f(a) == 1);",
    ),
    "a field of a value": (
        "int f(vector<int> a) {",
        "struct { vector<int> in; } one{{1}}; assert(f(one.in) == 1); assert(one.in.size() == 1);",
    ),
    "a number that is counted with": (
        "int f(int a) {",
        "int n = 1; assert(f(n) == 1); assert(n == 1);",
    ),
    "the room that there is": ("vector<int> f(int a) {", "assert(f(3).capacity() == 3);"),
    "texts by their place": ("const char *f(int a) {", "assert(f(1) != f(1));"),
    "a constant beside what changes": (
        "void f(vector<int> &a, const vector<int> &b) {",
        "vector<int> a, b{1, 2}; f(a, b); assert(a.size() == 2 && b.size() == 2);",
    ),
    "a constant that another name is given": (
        "int f(const vector<int> &a) {",
        "auto g = f; auto h = g; vector<int> b{1}; assert(h(b) == 1); assert(b.size() == 1);",
    ),
    "a constant that a pointer is given": (
        "int f(const vector<int> &a) {",
        "int (*g)(const vector<int> &) = &f; vector<int> b{1}; assert(g(b) == 1 && b.size() == 1);",
    ),
    "a constant that a lambda hands on": (
        "int f(const vector<int> &a) {",
        "auto g = [](auto &one) { return f(one); }; vector<int> b{1}; g(b); assert(b.size() == 1);",
    ),
    "a constant that whoever is given the function hands on": (
        "int f(const vector<int> &a) {",
        "vector<int> b{1}; assert(invoke(f, b) == 1); assert(b.size() == 1);",
    ),
    "one buffer for all answers": (
        "const char *f(int n) {",
        'auto a = f(1); auto b = f(2); assert(string(b) == "2"); assert(string(a) == "1");',
    ),
    "views of one buffer": (
        "vector<string_view> f(int n) {",
        'auto a = f(1); auto b = f(2); assert(b[0] == "2"); assert(a[0] == "1");',
    ),
    "views in a record": (
        "struct R { string_view name; };\nR f(int n) {",
        'auto a = f(1); auto b = f(2); assert(b.name == "2"); assert(a.name == "1");',
    ),
}
# Tests in which they would not, by prompt and tests.
CPP_ALONE: Mapping[str, tuple[str, str]] = {
    "another name": (
        "int f(const vector<int> &a) {",
        "auto candidate = f; assert(candidate({1}) == 1); assert(candidate({1}) == 1);",
    ),
    "a helper that takes values": (
        "int f(const vector<int> &a) {",
        "auto check = [](vector<int> in, int n) { assert(f(in) == n); }; vector<int> a; check(a, 1); check(a, 1);",
    ),
    "a helper that takes what changes": (
        "void f(vector<int> &a, int n) {",
        "auto g = [](auto &one) { f(one, 1); }; vector<int> b{1}; g(b); assert(b.size() == 2);",
    ),
    "a view for an argument": ("int f(string_view a) {", 'assert(f("a") == 1);'),
}
CPP_APART: Mapping[str, tuple[str, str, str]] = {
    "rows that are copies": (
        "vector<vector<int>> f(int n) {",
        "return vector<vector<int>>(n, vector<int>(n)); }",
        "auto g = f(2); g[0][0] = 1; assert(g[1][0] == 0 && f(2)[0][0] == 0);",
    ),
    "arguments that change": (
        "int f(vector<vector<int>> &a, const string &b) {",
        "swap(a[0], a[1]); return b.size(); }",
        'vector<vector<int>> a{{1}, {2}}; assert(f(a, "ab") == 2 && a[0][0] == 2); for (const auto &row : a) assert(row.size() == 1);',
    ),
}
RUST_TOGETHER: Mapping[str, tuple[str, str]] = {
    "what a panic leaves behind": (
        "fn f(a: &mut Vec<i32>) {",
        "let mut a = vec![1]; let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| f(&mut a))); assert_eq!(a.len(), 1);",
    ),
    "what a thread leaves behind": (
        "fn f(a: &mut Vec<i32>) {",
        "let mut a = vec![1]; std::thread::scope(|s| { s.spawn(|| f(&mut a)); }); assert_eq!(a.len(), 1);",
    ),
    "where it lies": (
        "fn f(a: &Vec<i32>) -> Vec<i32> {",
        "let a = vec![1]; assert!(f(&a).as_ptr() != a.as_ptr());",
    ),
    "where it is said to lie": (
        "fn f(a: i32) -> Vec<i32> {",
        'assert!(format!("{:p}", &f(1)) != "");',
    ),
    "the room that there is": ("fn f(a: i32) -> Vec<i32> {", "assert_eq!(f(3).capacity(), 3);"),
}
RUST_APART: Mapping[str, str] = {
    "arguments that change": "let mut a = vec![1]; f(&mut a); assert_eq!(a.len(), 1);",
    "after it was borrowed": "let mut a = vec![1]; { let b = &mut a; f(b); } assert_eq!(a, vec![1]);",
    "a clone": "let a = vec![1]; f(&mut a.clone()); assert_eq!(a, vec![1]);",
    "two calls": "let mut a = vec![1]; f(&mut a); f(&mut a); assert!(!a.is_empty());",
}
JAVA_HEAD = "import java.util.*;\nclass Solution {\n    public int f(List<Integer> a) {\n"
JAVA_TOGETHER: Mapping[str, tuple[str, str]] = {
    "what the expected value is made of": (
        JAVA_HEAD,
        "var a = new ArrayList<>(List.of(1)); check(new Solution().f(a) == a.get(0));",
    ),
    "what it becomes by a loop": (
        JAVA_HEAD,
        "for (List<Integer> a : all) { int r = new Solution().f(a); int n = 0; for (int x : a) n += x; check(r == n); }",
    ),
    "classes of what comes back": (
        JAVA_HEAD.replace("int f", "Object f"),
        "check(new Solution().f(null).getClass() == ArrayList.class);",
    ),
}
