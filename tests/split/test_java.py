# ruff: noqa: E501  # programs in another language
"""Java test programs taken apart: what stays as it was, what is refused and what cannot be forged."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.split.programs import (
    Outcome,
    Workshop,
    answered,
    frame,
    judged,
    known,
    many,
    objects,
    text,
    whole,
    workshop,
)

pytestmark = [
    pytest.mark.timeout(600),
    pytest.mark.skipif(shutil.which("javac") is None, reason="javac is not installed"),
]
HEAD = "import java.util.*;\n"
CLASS = "class Solution {\n    public "


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    return workshop("java", "java", tmp_path_factory.mktemp("java"))


def main(checks: str) -> str:
    return (
        "public class Main {\n    static void check(boolean holds) {"
        " if (!holds) throw new AssertionError(); }\n"
        f"    public static void main(String[] args) throws Exception {{\n{checks}\n    }}\n}}\n"
    )


def verdict(shop: Workshop, prompt: str, completion: str, checks: str) -> Outcome:
    tests = main(checks)
    split = shop.taken_apart(HEAD + prompt, tests)
    assert split is not None
    solution = shop.compiled(split.serving(HEAD + prompt + completion))
    return judged(shop.tests_program(split, tests), solution)


HONEST = {
    "boxed and nested values": (
        f"{CLASS}Map<String, List<Optional<Double>>> f(List<Object> a, int[][] b, char c, long d) {{",
        'return Map.of("" + a.get(0) + c + d, List.of(Optional.of(b[0][1] / 2.0), Optional.empty())); } }',
        "Solution s = new Solution(); var r = s.f(List.of(1L, 'x'), new int[][] {{1, 3}}, 'c', 1L << 40);"
        'check(r.get("1c" + (1L << 40)).equals(List.of(Optional.of(1.5), Optional.empty())));',
    ),
    "objects of any type": (
        f"{CLASS}Object f(Object a) {{",
        "return a; } }",
        "Solution s = new Solution(); for (Object o : new Object[] {1, 2L, 3f, 4.0, 'c', \"s\", true,"
        ' (short) 5, (byte) 6, new java.math.BigInteger("7"), List.of(1, 2L), Map.of(1, 2)})'
        " check(o.equals(s.f(o))); check(s.f(null) == null); check(((int[]) s.f(new int[] {1}))[0] == 1);"
        ' check(s.f("x") == "x"); check(s.f("\\ud800").equals("\\ud800"));',
    ),
    "arguments that a void method changes": (
        f"{CLASS}void f(int[] a, List<List<Integer>> b, StringBuilder c) {{",
        "Arrays.sort(a); b.get(0).add(1); c.reverse(); } }",
        'int[] a = {2, 1}; List<Integer> in = new ArrayList<>(); StringBuilder c = new StringBuilder("ab");'
        "new Solution().f(a, List.of(in), c); check(a[0] == 1); check(in.size() == 1);"
        'check(c.toString().equals("ba"));',
    ),
    "exceptions by name": (
        f"{CLASS}int f(int n) {{",
        'class Mine extends IllegalArgumentException { Mine() { super("no"); } }'
        " if (n < 0) throw new Mine(); return new int[2][n].length; } }",
        "Solution s = new Solution(); try { s.f(-1); check(false); }"
        ' catch (IllegalArgumentException e) { check(e.getMessage().equals("no")); } check(s.f(3) == 2);',
    ),
    "objects with a state": (
        f"{CLASS}int f() {{",
        "return ++calls; }\n    int calls = 0; }",
        "Solution s = new Solution(), t = new Solution(); check(s.f() == 1); check(s.f() == 2);"
        "check(t.f() == 1);",
    ),
    "records of the prompt": (
        "record Point(int x, List<Integer> y) {}\nenum Way { LEFT, RIGHT }\n"
        f"{CLASS}List<Point> f(Point p, Way w) {{",
        "return List.of(new Point(w == Way.LEFT ? -p.x() : p.x(), p.y())); } }",
        "check(new Solution().f(new Point(1, List.of(2)), Way.LEFT).equals(List.of(new Point(-1, List.of(2)))));",
    ),
    "a public class in a package": (
        f"{CLASS}static int f(int... a) {{",
        "return a.length; } }\npublic class Other {}\nclass Main {}",
        "check(Solution.f(1, 2) == 2);",
    ),
}


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_solution_passes_apart(shop: Workshop, name: str) -> None:
    outcome = verdict(shop, *HONEST[name])
    assert outcome.passed, outcome


def test_an_argument_is_looked_at_again_only_where_the_task_asks(shop: Workshop) -> None:
    checks = (
        "List<Integer> a = new ArrayList<>(List.of(1)); new Solution().f(a); check(a.isEmpty());"
    )
    body = "a.clear(); return 0; } }"
    prompt = f"{CLASS}int f(List<Integer> a) {{"
    assert shop.taken_apart(HEAD + prompt, main(checks.replace("a.isEmpty()", "a == null"))) is None
    assert verdict(shop, f"// Changes it in place.\n{prompt}", body, checks).passed


CHEATS = {
    "an object that equals everything": "class Solution { Object f(int n) { return new Object() {"
    " public boolean equals(Object o) { return true; } }; } }",
    "classes of the tests": "class Objects { static boolean equals(Object a, Object b) { return true; } }\n"
    "class Main { static void check(boolean b) {} }\n"
    "class Solution { Object f(int n) { return 0; } }",
    "an exit as it is loaded": "class Solution { static { System.exit(0); } Object f(int n) { return 0; } }",
    "an exit with the tests' last word": "class Solution { Object f(int n) {"
    ' System.out.println("\\n0123456789abcdef"); System.out.flush(); System.exit(0); return 0; } }',
    "a list that never ends": "class Solution { Object f(int n) {"
    " return new AbstractList<Integer>() { public int size() { return Integer.MAX_VALUE; }"
    " public Integer get(int i) { return 42; } }; } }",
    "a list that holds itself": "class Solution { Object f(int n) {"
    " List<Object> a = new ArrayList<>(); a.add(a); return a; } }",
    "a forged answer": "class Solution { Object f(int n) throws Exception {"
    " new java.io.FileOutputStream(\"/proc/self/fd/4\").write(new byte[] {0, 0, 0, 10, 'R', 0, 0, 0, 1,"
    " 0, 0, 0, 1, 't'}); System.exit(0); return 0; } }",
    "an error that tests catch": "class Solution { Object f(int n) { throw new AssertionError(); } }",
    "a deep recursion": "class Solution { Object f(int n) { return f(n + 1); } }",
}


@pytest.mark.parametrize("name", CHEATS)
def test_no_cheat_passes(shop: Workshop, name: str) -> None:
    tests = main("check(Objects.equals(new Solution().f(1), 42));")
    split = shop.taken_apart(f"{HEAD}{CLASS}Object f(int n) {{", tests)
    assert split is not None
    program = shop.tests_program(split, tests)
    try:
        solution = shop.compiled(split.serving(HEAD + CHEATS[name]))
    except subprocess.CalledProcessError:
        return
    assert not judged(program, solution).passed


KEYED = b"s" + text(b"k")
MAP, LIST = text(b"java.util.LinkedHashMap"), text(b"java.util.ArrayList")
BOTH = (MAP, LIST)


def keyed(*items: bytes) -> bytes:
    """Makes an answer of a map, in which a list is that holds items."""
    return objects(BOTH, {0: (KEYED, known(1)), 1: items}, known(0))


HOSTILE = {
    "no size": frame(b""),
    "an answer to another call": objects((MAP,), {0: ()}, known(0), id=2),
    "too few values": objects((MAP,), {0: ()}),
    "more values than said": objects((MAP,), {0: ()}, known(0), b"n"),
    "bytes behind the values": frame(objects((MAP,), {0: ()}, known(0))[4:] + b"n"),
    "a count beyond the frame": frame(b"R\0\0\0\1" + many(b"", 0x7FFFFFFF)),
    "a count below zero": frame(b"R\0\0\0\1" + many(b"", 0xFFFFFFFF)),
    "an array beyond the frame": objects((text(b"[J") + b"\x7f\xff\xff\xff",), {}, known(0)),
    "a text that is not UTF-8": objects((MAP,), {0: (b"s" + text(b"\xff"), b"n")}, known(0)),
    "a text beyond the frame": objects((MAP,), {0: (b"s\x7f\xff\xff\xffab", b"n")}, known(0)),
    "a key without a value": objects((MAP,), {0: (KEYED,)}, known(0)),
    "another type": objects((), {}, whole(1)),
    "a type of no known name": objects((text(b"java.lang.ProcessBuilder"),), {}, known(0)),
    "an array of no known type": objects((text(b"[Ljava.lang.Thread;") + b"\0\0\0\0",), {}, b"n"),
    "a number beyond its type": keyed(whole(1 << 40)),
    "text where a number is declared": keyed(KEYED),
    "a key of another type": objects((MAP,), {0: (whole(1), b"n")}, known(0)),
    "an object that is not there": objects((), {}, known(7)),
    "what is in one that is not there": objects((MAP,), {7: ()}, known(0)),
    "nesting without end": objects((), {}, many(b"o", 1) * 100_000 + b"n"),
    "a map that is its own value": objects((MAP,), {0: (KEYED, known(0))}, known(0)),
    "a constant of no known type": objects((), {}, b"e" + text(b"java.lang.Thread") + text(b"A")),
    "an exception that is an error": frame(
        b"E\0\0\0\1" + text(b"java.lang.OutOfMemoryError") + text(b"")
    ),
}


@pytest.fixture(scope="module")
def besieged(shop: Workshop) -> list[str]:
    """A tests' program that passes with whatever well-formed answer it gets."""
    tests = main("try { new Solution().f(1); } catch (Exception e) { }")
    split = shop.taken_apart(f"{HEAD}{CLASS}Map<String, List<Integer>> f(int n) {{", tests)
    assert split is not None
    return shop.tests_program(split, tests)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_malformed_answer_ends_the_tests_and_is_told(besieged: list[str], name: str) -> None:
    outcome = answered(besieged, HOSTILE[name])
    assert not outcome.passed
    assert outcome.forged, outcome


def test_a_well_formed_answer_passes(besieged: list[str]) -> None:
    assert answered(besieged, keyed(whole(-1), b"n")).passed


REFUSED = {
    "a field": "class Solution {\n    int n = 0;\n    public int f(int a) {",
    "a class of its own": "class Solution {\n    static class A { }\n    public int f(int a) {",
    "a class that extends": "class Solution extends ArrayList {\n    public int f(int a) {",
    "a class with parameters": "class Solution<T> {\n    public int f(int a) {",
    "a method with parameters of types": f"{CLASS}<T> T f(T a) {{",
    "an annotation": "class Solution {\n    @Deprecated public int f(int a) {",
    "an interface": "interface Solution {\n    default int f(int a) {",
    "a body that is begun": f"{CLASS}int f(int a) {{ int b = 1;",
    "nothing open": "class Solution { }",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_taken_apart_is_refused(shop: Workshop, name: str) -> None:
    assert shop.taken_apart(HEAD + REFUSED[name], main("")) is None


@pytest.mark.parametrize(
    "code", ["System.setOut(null);", "Solution.class.getDeclaredMethods();", 'Class.forName("S");']
)
def test_tests_that_look_behind_values_are_refused(shop: Workshop, code: str) -> None:
    assert shop.taken_apart(f"{HEAD}{CLASS}int f(int a) {{", main(code)) is None
