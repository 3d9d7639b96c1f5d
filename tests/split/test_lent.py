# ruff: noqa: E501  # programs in other languages
"""What tests declare for the solution, or lend to it, is known by the text of prompt and tests."""

from __future__ import annotations

import pytest

from reward_server.grading.compiled_tests.split.base import Task
from reward_server.grading.compiled_tests.split.hazards.lent import lends_names
from reward_server.grading.compiled_tests.split.hazards.lent_references import lends_again
from reward_server.languages import load_languages

JAVA_MAIN = (
    "public class Main { public static void main(String[] a) { assert new S().f(1) == 2; } }"
)
LENT = {
    "a class of the prompt's comment": (
        "java",
        "/** Definition: public class ListNode { } */\nclass S { int f(int a) {",
        f"class ListNode {{ int val; }}\n{JAVA_MAIN.replace('1', 'new ListNode()')}",
    ),
    "a class that no test uses": ("java", "class S { int f(int a) {", f"class P {{}}\n{JAVA_MAIN}"),
    "a record of the method's head": (
        "java",
        "class S { int f(Point a) {",
        f"record Point(int x, int y) {{}}\n{JAVA_MAIN.replace('1', 'new Point(1, 2)')}",
    ),
    "a maker of nodes": (
        "javascript",
        "// function ListNode(val, next)\nconst f = (x) => {",
        "function ListNode(val) { this.val = val }\nassert(f(new ListNode(1)))",
    ),
    "a function that only itself calls": (
        "javascript",
        "",
        "function rest(n) { return n ? rest(n - 1) : 0 }\nassert(f(1))",
    ),
    "a lambda that a comment calls": (
        "javascript",
        "// Use api(n).\nconst f = (x) => {",
        "const api = (n) => n > 3\nassert(f(4) === api(4))",
    ),
    "a type that no test uses": (
        "go",
        "package main\nfunc F(x int) int {",
        "type pair struct{ a, b int }\nfunc main() { F(1) }",
    ),
    "a function of a comment": (
        "go",
        "package main\n// isBadVersion(n) tells.\nfunc F(x int) int {",
        "func isBadVersion(n int) bool { return n > 3 }\nfunc main() { isBadVersion(F(1)) }",
    ),
    "a struct of a comment": (
        "rust",
        "// pub struct ListNode { val: i32 }\nfn f(a: i32) -> i32 {",
        "struct ListNode { val: i32 }\n#[test]\nfn t() { assert_eq!(f(ListNode { val: 1 }), 1); }",
    ),
}
OWN = {
    "a main beside a helper": (
        "java",
        "class S { int f(int a) {",
        f"class Check {{}}\n{JAVA_MAIN.replace('assert', 'assert new Check() != null &&')}",
    ),
    "a class of the prompt's": (
        "java",
        "class ListNode {}\nclass S { int f(int a) {",
        JAVA_MAIN,
    ),
    "a plain word": (
        "javascript",
        "// Check and test that all is even.\nconst f = (x) => {",
        "const check = (a, b) => assert(a === b)\nfunction test() { check(f(1), 2) }\ntest()",
    ),
    "values of a parameter's name": (
        "javascript",
        "const f = (nums1, nums2) => {",
        "const nums1 = [1]\nassert(f(nums1) === 2)",
    ),
    "a function in a template": (
        "javascript",
        "const f = (x) => {",
        "const told = (x) => x + 1\nconsole.log(`${told(f(1))}`)",
    ),
    "tests that are found": (
        "go",
        "package main\nfunc F(x int) int {",
        "type row struct{ a int }\nfunc TestF(t *testing.T) { _ = []row{{F(1)}} }",
    ),
    "a name of another type": (
        "go",
        "package main\nfunc F(x int) int {",
        "type id int\ntype ids []id\nfunc main() { _ = ids{id(F(1))} }",
    ),
    "tests with an attribute": (
        "rust",
        "fn f(a: i32) -> i32 {",
        "#[test]\nfn t() { assert_eq!(f(1), two()); }\nfn two() -> i32 { 2 }",
    ),
}


def is_lent(language: str, prompt: str, tests: str) -> bool:
    program = load_languages().find(language).program
    assert program is not None
    assert program.assertions is not None
    return lends_names(Task(prompt=prompt, tests=tests, language=program.assertions))


@pytest.mark.parametrize("name", LENT)
def test_what_is_there_for_the_solution_is_known(name: str) -> None:
    assert is_lent(*LENT[name])


@pytest.mark.parametrize("name", OWN)
def test_what_tests_have_for_themselves_is_known(name: str) -> None:
    assert not is_lent(*OWN[name])


CASES = "let cases = vec![(vec![1], 1)];"
# Bodies of a test in Rust that calls `f(v: &[i32]) -> i32`, or all that it is made of.
LOOKS_AGAIN = {
    "behind the call": "let v = vec![1]; assert_eq!(f(&v), 1); assert_eq!(v.len(), 1);",
    "in the same assertion": "let v = vec![1]; assert_eq!(f(&v), v.len() as i32);",
    "in a text": 'let v = vec![1]; let n = f(&v); assert_eq!(format!("{n} {v:?}"), "1 [1]");',
    "in a loop": "let v = vec![1]; for _ in 0..3 { assert_eq!(f(&v), 1); }",
    "while there is more": "let v = vec![1]; let mut n = 0; while n < 3 { n += f(&v); }",
    "in cases that are gone through twice": f"{CASES} for _ in 0..2 {{ for (v, w) in &cases {{ assert_eq!(f(v), *w); }} }}",
    "in cases, behind them": f"{CASES} for (v, w) in &cases {{ assert_eq!(f(v), *w); }} assert_eq!(cases[0].0.len(), 1);",
    "by a reference's name": "let v = vec![1]; let r = &v; assert_eq!(f(r), 1); assert_eq!(v.len(), 1);",
    "by another name of the function": "let v = vec![1]; let g = f; assert_eq!(g(&v), 1); assert_eq!(v, [1]);",
    "in a closure": "let v = vec![1]; let run = || f(&v); assert_eq!(run(), run());",
    "in a closure for each": "let all = vec![vec![1]]; assert!(all.iter().map(|v| f(v)).all(|n| n == 1)); assert_eq!(all[0].len(), 1);",
    "by a function that is handed on": "let all = vec![vec![1]]; assert!(all.iter().map(f).all(|n| n == 1)); assert_eq!(all[0].len(), 1);",
    "by who calls a helper": "let v = vec![1]; check(&v, 1); check(&v, 1); } fn check(v: &[i32], w: i32) { assert_eq!(f(v), w);",
    "in a helper": "check(&[1], 1); } fn check(v: &[i32], w: i32) { assert_eq!(f(v), w); assert_eq!(v.len(), 1);",
    "in a method": "let c = C { v: vec![1] }; c.run(); c.run(); } struct C { v: Vec<i32> } impl C { fn run(&self) { assert_eq!(f(&self.v), 1) }",
}
LOOKS_ONCE = {
    "a temporary": "assert_eq!(f(&vec![1]), 1); assert_eq!(f(&[1, 2][..1]), 1);",
    "a copy": "let v = vec![1]; assert_eq!(f(&v.clone()), v.len() as i32);",
    "a name for one call": "let v = vec![1]; assert_eq!(f(&v), 1); let v = vec![2]; assert_eq!(f(&v), 1);",
    "what an assertion says if it fails": 'let v = vec![1]; assert_eq!(f(&v), 1, "{:?} {v:?}", v);',
    "another name of the function": "let candidate = f; assert_eq!(candidate(&[1]), 1);",
    "cases": f"{CASES} for (v, w) in cases {{ assert_eq!(f(&v), w); }}",
    "cases that are borrowed": f"{CASES} for (v, w) in cases.iter() {{ assert_eq!(f(v), *w); }}",
    "constants": "for (v, w) in CASES { assert_eq!(f(v), *w); } for (v, w) in CASES { assert_eq!(f(v), *w); }",
    "a helper": "check(&[1], 1); check(&[2], 1); } fn check(v: &[i32], w: i32) { assert_eq!(f(v), w);",
    "a closure": "let check = |v: &[i32], w: i32| assert_eq!(f(v), w); check(&[1], 1); check(&[2], 1);",
}


@pytest.mark.parametrize("body", LOOKS_AGAIN.values(), ids=LOOKS_AGAIN)
def test_what_is_lent_and_looked_at_again_is_known(body: str) -> None:
    assert lends_again(f"#[test]\nfn t() {{ {body} }}", "f", {0})
    assert not lends_again(f"#[test]\nfn t() {{ {body} }}", "other", {0})


@pytest.mark.parametrize("body", LOOKS_ONCE.values(), ids=LOOKS_ONCE)
def test_what_is_lent_for_one_call_is_known(body: str) -> None:
    assert not lends_again(f"use super::f;\n#[test]\nfn t() {{ {body} }}", "f", {0})
