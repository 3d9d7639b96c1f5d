"""What tests declare for the solution, too, is known by the text of prompt and tests."""

from __future__ import annotations

import pytest

from reward_server.grading.compiled_tests.split.base import Task
from reward_server.grading.compiled_tests.split.hazards.lent import lends_names
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
