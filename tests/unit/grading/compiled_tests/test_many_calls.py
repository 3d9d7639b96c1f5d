# ruff: noqa: E501  # programs in other languages
"""How often tests call a function is known by their text, or counts as too often."""

from __future__ import annotations

import pytest

from reward_server.grading.compiled_tests.split.base import Task
from reward_server.grading.compiled_tests.split.hazards.many_calls import calls_often
from reward_server.languages import load_languages


def java(checks: str) -> str:
    return (
        "public class Main { public static void main(String[] a) { Solution s = new Solution(); "
        f"{checks} }} static void check(boolean b) {{ if (!b) throw new AssertionError(); }} }}"
    )


def go(checks: str) -> str:
    return f"func TestF(t *testing.T) {{\n{checks}\n}}\n"


SELDOM = {
    "javascript": {
        "calls that are written out": "assert(f(1)); assert(f(2))",
        "a loop that counts": "for (let i = 0; i < 100; i++) assert(f(i))",
        "cases": "const cases = [[1, 2], [3, 4]]\nfor (const [a, b] of cases) assert(f(a) === b)",
        "a callback for each case": "[[1, 2], [3, 4]].forEach(([a, b]) => { assert(f(a) === b) })",
        "a helper": "const check = (a, b) => assert(f(a) === b)\ncheck(1, 2)\ncheck(2, 3)",
        "tests with names": "test('a', () => { assert(f(1)) })\ntest('b', () => { assert.throws(() => f(2)) })",
        "a large argument": "const big = Array.from({ length: 50000 }, (_, i) => i)\nassert(f(big))",
        "large numbers in cases": "for (const [a, b] of [[100000, 1], [200000, 2]]) assert(f(a) === b)",
        "a main without semicolons": "const testF = () => {\n  assert(f(1))\n  assert(f(2))\n}\n\ntestF()",
        "large items": "for (const one of ['', 'a'.repeat(70000), 2 ** 53, 1 << 20]) assert(f(one))",
        "another name": "let candidate = f\nassert(candidate(2))",
        "an answer with a name": "for (const n of [1, 2]) { const got = f(n); assert(got); assert(got > 1) }",
        "rows of rows": "const rows = [[1, 2], [3]]\nfor (const row of rows) for (const x of row) f(x)",
        "cases that are added": "const cases = []\ncases.push([1, 2])\ncases.push([3, 4])\nfor (const [a, b] of cases) f(a)",
    },
    "java": {
        "a loop that counts": java("for (int i = 0; i < 100; i++) { check(s.f(i) == 1); }"),
        "cases": java(
            "int[][] cases = {{1, 2}, {3, 4}}; for (int[] c : cases) check(s.f(c[0]) == c[1]);"
        ),
        "indices": java(
            "int[] in = {1, 2}; for (int i = 0; i < in.length; i++) check(s.f(in[i]) == i);"
        ),
        "a list": java("for (int n : List.of(1, 2, 3)) check(s.f(n) == n);"),
    },
    "go": {
        "a table": go(
            "\tcases := []struct{ in, want int }{{1, 2}, {3, 4}}\n\tfor _, c := range cases {\n\t\tif f(c.in) != c.want {\n\t\t\tt.Fatal()\n\t\t}\n\t}"
        ),
        "a loop that counts": go("\tfor i := 0; i < 100; i++ {\n\t\tf(i)\n\t}"),
        "a line behind a loop": go("\tfor _, n := range []int{1, 2} { f(n) }; f(3)"),
        "tests with names": go(
            '\tcandidate := f\n\tt.Run("a", func(t *testing.T) { candidate(1) })'
        ),
    },
    "rust": {
        "cases": "#[test]\nfn t() { for (v, w) in [(1, 2), (3, 4)] { assert_eq!(f(v), w); } }",
        "a range": "#[test]\nfn t() { assert!((0..100).all(|i| f(i) == i)); for i in 0..=9 { f(i); } }",
        "another name": "fn main() {\n    let candidate = f;\n    assert_eq!(candidate(1), 2);\n}",
    },
    "c++17": {
        "a loop that counts": "int main() { for (int i = 0; i < 100; i++) { int x = i; assert(f(x) == x); } }",
        "cases": "int main() { vector<pair<int, int>> cases{{1, 2}, {3, 4}}; for (auto c : cases) assert(f(c.first)); }",
        "indices": "int main() { vector<int> in = {1, 2}; for (size_t i = 0; i < in.size(); i++) f(in[i]); }",
    },
}
OFTEN = {
    "javascript": {
        "a loop that counts": "for (let i = 0; i < 100000; i++) {\n  assert(f(i))\n}",
        "a helper in a loop": "function check(a) { assert(f(a)) }\nfor (let i = 0; i < 1e5; i++) check(i)",
        "a constant": "const N = 100_000\nfor (let i = 0; i < N; i++) assert(f(i))",
        "loops in each other": "for (let i = 0; i < 200; i++) for (let j = 0; j < 200; j++) assert(f(i, j))",
        "items that are made": "Array.from({ length: 50000 }, (_, i) => assert(f(i)))",
        "items that were made": "const big = Array.from({ length: 50000 }, (_, i) => i)\nfor (const x of big) f(x)",
        "items that are added in a loop": "const xs = []\nfor (let i = 0; i < 30000; i++) xs.push(i)\nfor (const x of xs) f(x)",
        "a loop without a number": "let i = 0; while (i < 5) { f(i++) }",
        "a number that is computed": "for (let i = 0; i < 2 ** 20; i++) f(i)",
        "a product": "for (let i = 0; i < 100 * 1000; i++) f(i)",
        "a shift": "for (let i = 0; i < 1 << 20; i++) f(i)",
        "a shift in brackets": "for (let i = 0; i < (1 << 20); i++) f(i)",
        "a list that is repeated": "for (const x of 'ab'.repeat(9000)) f(x)",
        "an answer's items": "for (const x of f(3)) assert(f(x))",
        "a callback of their own": "const often = (run) => { for (let i = 0; i < 1e5; i++) run(i) }\noften((i) => assert(f(i)))",
        "a helper that calls itself": "const check = (n) => { assert(f(n)); if (n) check(n - 1) }\ncheck(100000)",
        "another name": "const g = f\nfor (let i = 0; i < 1e5; i++) g(i)",
        "backwards": "for (let i = 100000; i > 0; i--) f(i)",
    },
    "java": {
        "a variable": java("int n = 20000; for (int i = 0; i < n; i++) { check(s.f(i) == 1); }"),
        "a stream": java("IntStream.range(0, 50000).forEach(i -> check(s.f(i) == i));"),
        "a stream's condition": java(
            "check(IntStream.range(0, 50000).allMatch(i -> s.f(i) == i));"
        ),
        "an array that is filled": java(
            "int[] in = new int[50000]; for (int x : in) check(s.f(x) == 0);"
        ),
        "a loop until": java("int i = 0; do { check(s.f(i) == i); } while (i++ < 50000);"),
    },
    "go": {
        "a loop that counts": go(
            "\tfor i := 0; i < 100000; i++ {\n\t\tif f(i) != i {\n\t\t\tt.Fatal()\n\t\t}\n\t}"
        ),
        "a loop without an end": go("\tfor {\n\t\tif f(1) == 1 {\n\t\t\tbreak\n\t\t}\n\t}"),
    },
    "rust": {
        "a range": "#[test]\nfn t() { for i in 0..100000 { assert_eq!(f(i), i); } }",
        "a callback": "#[test]\nfn t() { (0..100000).for_each(|i| assert_eq!(f(i), i)); }",
        "a loop": "#[test]\nfn t() { let mut i = 0; loop { i += f(i); if i > 99999 { break; } } }",
    },
    "c++17": {
        "a loop that counts": "int main() { for (int i = 0; i < 1000000; i++) { int x = i; assert(f(x) == 1); } }",
    },
}


def is_often(language: str, tests: str) -> bool:
    program = load_languages().find(language).program
    assert program is not None
    assert program.assertions is not None
    return calls_often(Task(prompt="", tests=tests, language=program.assertions), ("f",))


def rows(table: dict[str, dict[str, str]]) -> list[tuple[str, str]]:
    return [(language, name) for language, named in table.items() for name in named]


@pytest.mark.parametrize(("language", "name"), rows(SELDOM))
def test_a_few_calls_are_known(language: str, name: str) -> None:
    assert not is_often(language, SELDOM[language][name])


@pytest.mark.parametrize(("language", "name"), rows(OFTEN))
def test_many_calls_are_known(language: str, name: str) -> None:
    assert is_often(language, OFTEN[language][name])
