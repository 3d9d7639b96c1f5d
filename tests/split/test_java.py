# ruff: noqa: E501  # programs in another language
"""Java test programs taken apart: what stays as it was, what is refused and what cannot be forged."""

from __future__ import annotations

import subprocess

import pytest

from reward_server.grading.compiled_tests.split import java
from reward_server.grading.compiled_tests.split.hazards.holding import looks_once
from tests.split.programs import (
    Outcome,
    Workshop,
    answered,
    frame,
    judged,
    known,
    many,
    objects,
    printed,
    text,
    whole,
    workshop,
)
from tests.support.sampling import sampled
from tests.support.tools import needs

pytestmark = [
    pytest.mark.timeout(600),
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


@pytest.mark.parametrize("name", sampled(list(HONEST), step=4))
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


SORTED = 'TreeMap<String, Integer> m = new TreeMap<>({}); m.put("b", 1); m.put("A", 2); return m;'
# Of each value what makes it, what tests do with it as `r`, and what they see in one program.
CONTAINERS = {
    "made as it is read": (
        "return new AbstractList<Integer>() { public Integer get(int i) { return i * i; } public int size() { return 3; } };",
        'List<Integer> l = (List<Integer>) r; see(l + " " + l.equals(List.of(0, 1, 4)) + refused(() -> l.add(1)) + refused(() -> l.subList(0, 0).clear()));',
        "[0, 1, 4] true yes no",
    ),
    "one that its own block fills": (
        "return new ArrayList<Integer>() {{ add(3); add(1); }};",
        "List<Integer> l = (List<Integer>) r; Collections.sort(l); l.add(7); see(l);",
        "[1, 3, 7]",
    ),
    "empty, sorted": (
        "return Collections.emptyList();",
        "List<Integer> l = (List<Integer>) r; Collections.sort(l); see(l + refused(() -> l.add(1)));",
        "[] yes",
    ),
    "one element, sorted": (
        "return Collections.singletonList(4);",
        "List<Integer> l = (List<Integer>) r; Collections.sort(l); see(l + refused(() -> l.set(0, 1)));",
        "[4] yes",
    ),
    "copies of one": (
        "return Collections.nCopies(2, 4);",
        "List<Integer> l = (List<Integer>) r; see(l + refused(() -> l.set(0, 1)));",
        "[4, 4] yes",
    ),
    "a part of a fixed list": (
        "return Arrays.asList(3, 1, 2).subList(0, 2);",
        "List<Integer> l = (List<Integer>) r; Collections.sort(l); see(l + refused(() -> l.add(1)));",
        "[1, 3] yes",
    ),
    "a part of a linked list": (
        "return new LinkedList<>(List.of(3, 1, 2)).subList(0, 2);",
        "List<Integer> l = (List<Integer>) r; Collections.sort(l); l.add(1); see(l);",
        "[1, 3, 1]",
    ),
    "a part of one that is made as it is read": (
        "return new AbstractList<Integer>() { public Integer get(int i) { return i; } public int size() { return 3; } }.subList(0, 2);",
        "List<Integer> l = (List<Integer>) r; see(l + refused(() -> l.set(0, 1)));",
        "[0, 1] yes",
    ),
    "null where none may be": (
        "return List.of(1);",
        'String what = "no"; try { ((List<?>) r).contains(null); } catch (NullPointerException e) { what = "yes"; } see(what);',
        "yes",
    ),
    "null where it may be": (
        "return Collections.unmodifiableList(Arrays.asList(1, null));",
        "see(((List<?>) r).contains(null));",
        "true",
    ),
    "keys of an unmodifiable map": (
        "return Map.of(1, 2).keySet();",
        "Set<Integer> k = (Set<Integer>) r; see(k.equals(Set.of(1)) + refused(() -> k.add(2)));",
        "true yes",
    ),
    "any case": (
        SORTED.format("String.CASE_INSENSITIVE_ORDER"),
        'TreeMap<String, Integer> m = (TreeMap<String, Integer>) r; m.merge("B", 5, Integer::sum); see(m);',
        "{A=2, b=6}",
    ),
    "any case, down": (
        SORTED.format("String.CASE_INSENSITIVE_ORDER.reversed()"),
        'TreeMap<String, Integer> m = (TreeMap<String, Integer>) r; m.put("c", 5); see(m);',
        "{c=5, b=1, A=2}",
    ),
    "an order of its own": (
        SORTED.format("(x, y) -> y.compareTo(x)"),
        'TreeMap<String, Integer> m = (TreeMap<String, Integer>) r; see(m + " " + m.get("A") + m.firstKey() + m.remove("b") + m.equals(Map.of("A", 2)));',
        "{b=1, A=2} 2b1true",
    ),
    "a queue in an order of its own": (
        "PriorityQueue<int[]> q = new PriorityQueue<>((x, y) -> y[0] - x[0]); for (int i = 0; i < 9; i++) q.add(new int[] {i * 5 % 9}); return q;",
        'PriorityQueue<int[]> q = (PriorityQueue<int[]>) r; String t = ""; while (!q.isEmpty()) t += q.poll()[0]; see(t);',
        "876543210",
    ),
    "backwards": (
        "return new TreeSet<>(List.of(1, 2, 3)).descendingSet();",
        'NavigableSet<Integer> s = (NavigableSet<Integer>) r; see(s + " " + s.first() + s.higher(3));',
        "[3, 2, 1] 32",
    ),
    "keys in order": (
        "return new TreeMap<>(Map.of(2, 1, 1, 1)).navigableKeySet();",
        "NavigableSet<Integer> s = (NavigableSet<Integer>) r; see(s.first() + refused(() -> s.add(5)));",
        "1 yes",
    ),
    "by use": (
        "Map<Integer, Integer> m = new LinkedHashMap<>(16, 0.75f, true); m.put(1, 1); m.put(2, 2); return m;",
        "Map<Integer, Integer> m = (Map<Integer, Integer>) r; m.get(1); see(m);",
        "{2=2, 1=1}",
    ),
    "keys and sets of constants": (
        "Map<Way, Object> m = new EnumMap<>(Way.class); m.put(Way.RIGHT, EnumSet.of(Way.RIGHT)); return m;",
        "Map<Way, Set<Way>> m = (Map<Way, Set<Way>>) r; m.get(Way.RIGHT).add(Way.LEFT); m.put(Way.LEFT, null); see(m);",
        "{LEFT=null, RIGHT=[LEFT, RIGHT]}",
    ),
    "queues for threads": (
        "return List.of(new java.util.concurrent.ConcurrentLinkedQueue<>(List.of(1, 2)), new java.util.concurrent.LinkedBlockingDeque<>(List.of(3)), new java.util.concurrent.CopyOnWriteArrayList<>(List.of(4)));",
        'List<Collection<Integer>> l = (List<Collection<Integer>>) r; for (Integer i : l.get(2)) l.get(2).add(5); see(((Queue<?>) l.get(0)).poll() + " " + ((Deque<?>) l.get(1)).peekLast() + l);',
        "1 3[[2], [3], [4, 5]]",
    ),
    "counters": (
        "return List.of(new java.util.concurrent.atomic.AtomicInteger(3), new java.util.concurrent.atomic.AtomicLong(1L << 40));",
        'List<Number> l = (List<Number>) r; see(l + " " + l.get(0).equals(l.get(0)));',
        "[3, 1099511627776] true",
    ),
    "many digits": (
        'return List.of(new java.math.BigInteger("-7").pow(20001), new java.math.BigDecimal("1.50"));',
        'List<?> l = (List<?>) r; see(l.get(0).equals(new java.math.BigInteger("-7").pow(20001)) + " " + l.get(1));',
        "true 1.50",
    ),
    "a lambda that iterates": (
        "return (Iterable<Integer>) () -> java.util.stream.IntStream.range(0, 3).iterator();",
        'Iterable<Integer> i = (Iterable<Integer>) r; String t = ""; for (int a : i) for (int b : i) t += a * b; see(t);',
        "000012024",
    ),
}
# What cannot be the same in both programs, of which one changes or compares it.
UNFAITHFUL = {
    "a list that can be changed where none may be": (
        "return new AbstractList<Integer>() { List<Integer> in = new ArrayList<>(); public Integer get(int i) { return in.get(i); } public int size() { return in.size(); } public void add(int i, Integer x) { in.add(i, x); } };",
        "see(refused(() -> ((List<Integer>) r).add(1)));",
    ),
    "one that equals everything": (
        "return new ArrayList<Integer>() { public boolean equals(Object o) { return true; } };",
        "see(r.equals(1));",
    ),
    "one that takes no more": (
        "return new LinkedHashMap<Integer, Integer>() { protected boolean removeEldestEntry(Map.Entry<Integer, Integer> e) { return size() > 1; } };",
        "see(r);",
    ),
    "a set whose iterator removes": (
        "return new AbstractSet<Integer>() { Set<Integer> in = new HashSet<>(List.of(1)); public Iterator<Integer> iterator() { return in.iterator(); } public int size() { return in.size(); } };",
        "see(refused(() -> ((Set<Integer>) r).remove(1)));",
    ),
    "another list each time": (
        "return new AbstractList<Integer>() { int n; public Integer get(int i) { return n++; } public int size() { return 2; } };",
        "see(r);",
    ),
    "what iterates once": (
        "Iterator<Integer> i = List.of(1, 2).iterator(); return (Iterable<Integer>) () -> i;",
        "see(r);",
    ),
    "an order that contradicts itself": (
        SORTED.format("(x, y) -> x.compareTo(y) < 0 ? -1 : 1"),
        "see(r);",
    ),
    "a key that its order does not know": (
        SORTED.format("(x, y) -> y.compareTo(x)"),
        'see(((Map<?, ?>) r).get("a") == null);',
    ),
}


@pytest.fixture(scope="module")
def containers(shop: Workshop) -> tuple[list[str], list[str]]:
    """Two programs: of the tests, which take a number, and of the solution."""
    rows = [*CONTAINERS.values(), *UNFAITHFUL.values()]
    cases = "".join(f"case {at}: {{ {row[0]} }}\n" for at, row in enumerate(rows))
    looks = "".join(
        f"static void look{at}() {{ Object r = new Solution().f({at}); {row[1]} }}\n"
        for at, row in enumerate(rows)
    )
    calls = "".join(f"case {at}: look{at}(); break;\n" for at in range(len(rows)))
    tests = (
        "public class Main {\nstatic void see(Object o) { System.out.println(o); }\n"
        'static String refused(Runnable r) { try { r.run(); return " no"; }'
        ' catch (UnsupportedOperationException e) { return " yes"; } }\n'
        f"static void look(int at) {{ switch (at) {{\n{calls}}} }}\n{looks}"
        "public static void main(String[] args) {\n"
        f"if (args.length > 0) look(Integer.parseInt(args[0])); else for (int at = 0; at < {len(CONTAINERS)}; at++) look(at);\n}}\n}}\n"
    )
    prompt = f"{HEAD}enum Way {{ LEFT, RIGHT }}\n{CLASS}Object f(int way) {{\n"
    # What the library of the two programs does is shown here, also where the rule that reads the
    # tests keeps such tests in one program.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(java, "writes_to_views", lambda tests, method: False)
        split = shop.taken_apart(prompt, tests)
    assert split is not None
    solution = f"{prompt}switch (way) {{\n{cases}default: return null; }} }} }}\n"
    return shop.tests_program(split, tests), shop.compiled(split.serving(solution))


def test_containers_do_apart_what_they_do_in_one_program(
    containers: tuple[list[str], list[str]],
) -> None:
    lines = printed(*containers).splitlines()
    assert dict(zip(CONTAINERS, lines, strict=False)) == {
        name: row[2] for name, row in CONTAINERS.items()
    }


@pytest.mark.parametrize("name", sampled(list(UNFAITHFUL), step=8))
def test_what_would_do_something_else_apart_is_refused(
    containers: tuple[list[str], list[str]], name: str
) -> None:
    tests, solution = containers
    number = str(len(CONTAINERS) + list(UNFAITHFUL).index(name))
    assert not judged([*tests, number], solution).passed


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


@pytest.mark.parametrize("name", sampled(list(UNCALLED), step=6))
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


@pytest.mark.parametrize("name", sampled(list(CHEATS), step=4))
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


AGAIN = {
    "a constant": "int[] g = s.f(INPUT); int[] w = INPUT.clone(); Arrays.sort(w); check(g, w);",
    "another name": "int[] a = {3}; int[] b = a; int[] g = s.f(b); Arrays.sort(a); check(g, a);",
    "what a method hands out": "class Main { static int[] D = {3}; static int[] in() { return D; } static void main() { int[] g = s.f(in()); int[] w = in().clone(); } }",
    "an element of a table": "int[][] all = {{3}}; for (int i = 0; i < 1; i++) { int[] x = all[i]; int[] g = s.f(x); int[] w = all[i].clone(); }",
    "a field by its class": "class Main { static int[] D = {1}; static void main() { int[] g = s.f(Main.D); int[] w = D.clone(); } }",
    "a field by this": "class Main { int[] d = {1}; void t() { int[] g = s.f(this.d); check(g, d); } }",
    "what each turn of a loop is given": "int[] base = {3,1}; for (int i = 0; i < 2; i++) { int[] want = base.clone(); Arrays.sort(want); check(s.f(base), want); }",
    "the same in another loop": "int[] base = {3,1}; int n = 0; while (n++ < 2) { int[] want = base.clone(); int[] got = s.f(base); check(got, want); }",
    "by the tests' own method": "class Main { static int[] run(int[] a) { return s.f(a); } static void main() { int[] x = {1}; int[] g = run(x); int[] w = x.clone(); check(g, w); } }",
    "what is put into a map": 'Map<String, int[]> m = new HashMap<>(); int[] a = {1}; m.put("x", a); int[] g = s.f(m.get("x")); check(g, a);',
    "an element that is set": "int[][] all = new int[2][]; int[] a = {1}; all[0] = a; int[] g = s.f(a); check(g, all[0]);",
    "by an iterator": "List<int[]> cases = make(); Iterator<int[]> it = cases.iterator(); while (it.hasNext()) { int[] c = it.next(); got.add(s.f(c)); } for (int[] d : cases) want.add(sum(d));",
    "by a parameter of a lambda": "List<int[]> cases = make(); cases.forEach(c -> got.add(s.f(c))); for (int[] d : cases) want.add(sum(d));",
    "by an entry": "for (Map.Entry<int[], Integer> e : cases.entrySet()) { int[] k = e.getKey(); int r = s.f(k); check(r == sum(e.getKey())); }",
    "what a copy shares": "List<List<Integer>> a = make(); List<List<Integer>> b = new ArrayList<>(a); s.f(b); check(a.get(0).isEmpty());",
    "one of two": "int[] a = {1}, c = {2}; int[] b = x ? a : c; int[] g = s.f(b); check(g, c);",
    "what an object of the tests' is made of": "Case c = new Case(a, 3); int g = s.f(c.in); check(g == a[0]);",
}
ONCE = {
    "a copy of an array": "int[] a = {3,1}; int[] want = a.clone(); Arrays.sort(want); int[] got = s.f(a); check(got, want);",
    "a copy of a list": "List<Integer> a = Arrays.asList(3, 1); List<Integer> want = new ArrayList<>(a); Collections.sort(want); check(s.f(a).equals(want));",
    "results": "List<Integer> r = s.f(make()); check(r.get(0) == 1); r = s.f(make()); check(r.isEmpty());",
    "what is made anew": "class Main { static List<Integer> list(int... a) { List<Integer> m = new ArrayList<>(); for (int x : a) m.add(x); return m; } static void main() { check(s.f(list(1, 2)), list(2, 1)); check(s.f(list(3)), list(3)); } }",
    "its length": "int[] a = {1}; int[] g = s.f(a); check(g.length == a.length);",
    "elements one by one": "int[][] in = {{1}, {2}}; int[] want = {1, 2}; for (int i = 0; i < in.length; i++) check(s.f(in[i]) == want[i]);",
    "parameters": "class Main { static void t(int[] a, int[] want) { check(s.f(a), want); } static void main() { t(new int[] {1}, new int[] {2}); t(new int[] {1}, new int[] {2}); } }",
    "a result that is handed over": "List<Integer> r = s.f(make()); List<Integer> q = s.f(s.f(make())); check(r, q);",
    "an expectation first": "for (int[] c : cases) { int want = sum(c); check(s.f(c) == want); }",
}


@pytest.mark.parametrize("code", AGAIN.values(), ids=AGAIN)
def test_tests_that_look_again_by_another_name_are_refused(code: str) -> None:
    assert not looks_once(code, "f")


@pytest.mark.parametrize("code", ONCE.values(), ids=ONCE)
def test_tests_that_look_once_are_taken_apart(code: str) -> None:
    assert looks_once(code, "f")
