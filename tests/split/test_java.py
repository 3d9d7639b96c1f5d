# ruff: noqa: E501  # programs in another language
"""Java test programs taken apart: what stays as it was, what is refused and what cannot be forged."""

from __future__ import annotations

import struct
import subprocess

import pytest

from tests.split.programs import (
    Outcome,
    Workshop,
    answer,
    answered,
    frame,
    judged,
    many,
    refusal_of,
    whole,
    workshop,
)
from tests.support.sampling import sampled
from tests.support.tools import needs

pytestmark = [
    needs("javac"),
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
    "a public class in a package": (
        f"{CLASS}static int f(int... a) {{",
        "return a.length; } }\npublic class Other {}\nclass Main {}",
        "check(Solution.f(1, 2) == 2);",
    ),
}


@pytest.mark.parametrize("name", sampled(list(HONEST), step=2))
def test_an_honest_solution_passes_apart(shop: Workshop, name: str) -> None:
    outcome = verdict(shop, *HONEST[name])
    assert outcome.passed, outcome


TWO = f"{CLASS}int f(int a, List<Integer> b) {{"
CALLED = "Solution s = new Solution(); check(s.f(2, List.of(1)) + 0.0 == 5);"
# Solutions that write the method otherwise than the prompt, as tests in one program would call it.
WRITTEN = {
    "wider, in a class that it extends": "abstract class Base<N> { public final <T extends Collection<N>> long f(final long a, T b) throws Exception { return 2 * a + b.size(); } }\nclass Solution extends Base<Integer> { }",
    "for any arguments": "class Solution { int f(String a, int b) { return 0; } int f(int a) { return 0; } static Integer f(Object... all) { return (int) all[0] + 3; } }",
    "in an interface": "interface Adds { default short f(int a, Iterable<? extends Number> b) { return (short) (a + 3); } }\nclass Solution implements Adds { @Deprecated int f(int a, String b) { return 0; } static class Node { } }",
}
# What no test may take for an exception that the method throws, or for its result.
UNCALLED = {
    "no such method": "class Solution { int g(int a, List<Integer> b) { return 5; } }",
    "one that takes no such list": "class Solution { int f(int a, ArrayList<Integer> b) { return 5; } }",
    "no object": "class Solution { Solution() { throw new IllegalArgumentException(); } int f(int a, List<Integer> b) { return 5; } }",
    "no object of its own": "abstract class Solution { int f(int a, List<Integer> b) { return 5; } }",
    "a number beyond the prompt's": "class Solution { long f(int a, List<Integer> b) { return 5 + (1L << 32); } }",
    "a fraction": "class Solution { double f(int a, List<Integer> b) { return 5.0; } }",
}


@pytest.mark.parametrize("name", WRITTEN)
def test_a_method_may_be_written_wider_than_the_prompt(shop: Workshop, name: str) -> None:
    split = shop.taken_apart(HEAD + TWO, main(CALLED))
    assert split is not None
    solution = shop.compiled(split.serving(HEAD + WRITTEN[name]))
    outcome = judged(shop.tests_program(split, main(CALLED)), solution)
    assert outcome.passed, outcome


@pytest.mark.parametrize("name", sampled(list(UNCALLED), step=3))
def test_a_method_that_cannot_be_called_throws_nothing(shop: Workshop, name: str) -> None:
    tests = main(f"try {{ {CALLED} }} catch (Exception e) {{ }}")
    split = shop.taken_apart(HEAD + TWO, tests)
    assert split is not None
    solution = shop.compiled(split.serving(HEAD + UNCALLED[name]))
    assert not judged(shop.tests_program(split, tests), solution).passed


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


@pytest.mark.parametrize("name", sampled(list(CHEATS), step=2))
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


def text(value: bytes) -> bytes:
    """Makes a text as it is on the wire of Java."""
    return struct.pack(">I", len(value)) + value.decode().encode("utf-16-be")


def key(*letters: bytes) -> bytes:
    return many(b"", len(letters), *(b"s" + text(one) for one in letters))


def keyed(*items: bytes) -> bytes:
    """Makes an answer of a map, in which a list is that holds items."""
    return answer(b"m" + key(b"k") + many(b"", 1, many(b"l", len(items), *items)))


NONE = many(b"", 0)
HOSTILE = {
    "no size": frame(b""),
    "an answer to another call": answer(b"m" + NONE + NONE, id=2),
    "no value": answer(),
    "bytes behind the value": answer(b"m" + NONE + NONE + b"n"),
    "a count beyond the frame": answer(many(b"m", 0x7FFFFFFF)),
    "a count below zero": answer(many(b"m", 0xFFFFFFFF)),
    "an array beyond the frame": answer(b"a" + text(b"long") + b"\x7f\xff\xff\xff"),
    "a text beyond the frame": answer(many(b"m", 1, b"s\x7f\xff\xff\xffab") + many(b"", 1, b"n")),
    "a key without a value": answer(b"m" + key(b"k") + NONE),
    "a key twice": answer(b"m" + key(b"k", b"k") + many(b"", 2, b"n", b"n")),
    "another type": answer(whole(1)),
    "a list for a map": answer(many(b"l", 0)),
    "an array of no known type": answer(b"a" + text(b"java.lang.Thread") + NONE),
    "an item of another type": answer(b"a" + text(b"int") + many(b"", 1, b"t")),
    "a number beyond its type": keyed(b"h" + whole(1 << 40)[1:]),
    "text where a number is declared": keyed(b"s" + text(b"k")),
    "a key of another type": answer(b"m" + many(b"", 1, whole(1)) + many(b"", 1, b"n")),
    "a heap of nothing": answer(many(b"P", 1, b"n")),
    "nesting without end": answer(many(b"l", 1) * 100_000 + b"n"),
}


@pytest.fixture(scope="module")
def besieged(shop: Workshop) -> list[str]:
    """A tests' program that passes with whatever well-formed answer it gets."""
    tests = main("try { new Solution().f(1); } catch (Exception e) { }")
    split = shop.taken_apart(f"{HEAD}{CLASS}Map<String, List<Integer>> f(int n) {{", tests)
    assert split is not None
    return shop.tests_program(split, tests)


@pytest.mark.promise(
    "A malformed answer ends tests that run apart, and does not pass.", "Languages"
)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_malformed_answer_ends_the_tests_and_is_told(besieged: list[str], name: str) -> None:
    outcome = answered(besieged, HOSTILE[name])
    assert not outcome.passed
    assert outcome.forged, outcome


def test_a_well_formed_answer_passes(besieged: list[str]) -> None:
    assert answered(besieged, keyed(b"w\xff\xff\xff\xff", b"n")).passed


REFUSED = {
    "a class beside it": "class P { int x; }\nclass Solution {\n    public int f(int a) {",
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
def test_what_cannot_be_taken_apart_is_refused(name: str) -> None:
    assert refusal_of("java", HEAD + REFUSED[name], main("new Solution().f(1);"))
