# ruff: noqa: E501  # programs in another language
"""Java tests that ask a prompt's object for more than fields, or hand views over, are known."""

from __future__ import annotations

import pytest

from reward_server.grading.compiled_tests.split import SPLITTERS, Task
from reward_server.grading.compiled_tests.split.hazards.views import hands_views
from reward_server.languages import load_languages

POINT = "class P { int x; P(int x) { this.x = x; } }\n"
FIXED = "class P { int x; P(int x) { this.x = x; } final int get() { return x; } }\n"
BOX = "class N<T> { T val; N<T> next; N(T v, N<T> n) { val = v; next = n; } }\n"
LIST = "class N { int val; N next; N(int val) { this.val = val; } N(int val, N next) { this.val = val; this.next = next; } }\n"
TREE = "class N { int val; N left, right; N(int val) { this.val = val; } }\n"
GRAPH = "class N { int val; List<N> near = new ArrayList<>(); }\n"
HELPERS = "static N list(int... a) { N head = null; for (int i = a.length - 1; i >= 0; i--) head = new N(a[i], head); return head; }\nstatic List<Integer> values(N n) { List<Integer> out = new ArrayList<>(); while (n != null) { out.add(n.val); n = n.next; } return out; }\n"
SAME = "static boolean same(N a, N b) { if (a == null || b == null) return a == b; return a.val == b.val && same(a.left, b.left) && same(a.right, b.right); }\n"
# By name: the prompt's class, the method, checks, and methods of the tests'.
FIELDS_ALONE = {
    "a field of an answer": (POINT, "P f(int a)", "check(s.f(1).x == 1);", ""),
    "a name": (POINT, "P f(int a)", "P p = s.f(1); check(p.x == 1 && p != null);", ""),
    "a name without a type": (POINT, "P f(int a)", "var p = s.f(1); check(p.x == 1);", ""),
    "an argument": (POINT, "int f(P a)", "check(s.f(new P(2)) == 2);", ""),
    "a method that none overrides": (FIXED, "P f(int a)", "check(s.f(1).get() == 1);", ""),
    "a list's helpers": (
        LIST,
        "N f(N head)",
        "check(values(s.f(list(1, 2))).equals(List.of(2, 1))); N r = s.f(list(1)); check(r.next == null);",
        HELPERS,
    ),
    "nodes that are linked": (
        LIST,
        "N f(N head)",
        "N a = new N(1); a.next = new N(2); N r = s.f(a); check(r.next.val == 1);",
        "",
    ),
    "trees that are compared": (
        TREE,
        "N f(N root)",
        "check(same(s.f(new N(1)), new N(1)));",
        SAME,
    ),
    "a class with a parameter": (
        BOX,
        "N<Integer> f(N<Integer> a)",
        "N<Integer> r = s.f(new N<>(1, new N<>(2, null))); check(r.val == 2 && r.next.val == 1);",
        "",
    ),
    "a final class": (f"final {POINT}", "P f(int a)", "check(s.f(1).equals(s.f(1)));", ""),
    "a record": ("record P(int x) {}\n", "P f(int a)", "check(s.f(1).equals(new P(1)));", ""),
}
MORE = {
    "whether it equals": (POINT, "P f(int a)", "check(!s.f(1).equals(new P(1)));", ""),
    "its text": (POINT, "P f(int a)", "check(s.f(1).toString().length() > 3);", ""),
    "its text, in another": (POINT, "P f(int a)", 'check(("" + s.f(1)).length() > 3);', ""),
    "its text, by a method": (POINT, "P f(int a)", "P p = s.f(1); String.valueOf(p);", ""),
    "a name of another type": (POINT, "P f(int a)", "P p = s.f(1); Object o = p;", ""),
    "the text of a class with a parameter": (
        BOX,
        "N<Integer> f(N<Integer> a)",
        "check(s.f(new N<>(1, null)).toString().length() > 3);",
        "",
    ),
    "one with a parameter, with a name": (
        BOX,
        "N<Integer> f(int a)",
        "N<Integer> r = s.f(1); check(r.next.hashCode() == 1);",
        "",
    ),
    "a map to a class with a parameter": (
        BOX,
        "Map<String, N<Integer>> f(int a)",
        "check(s.f(1).size() == 1);",
        "",
    ),
    "a set": (POINT, "P f(int a)", "var p = s.f(1); check(Set.of(p, s.f(2)).size() == 2);", ""),
    "a list of them": (POINT, "List<P> f(int a)", "check(s.f(1).equals(s.f(1)));", ""),
    "an array of them": (POINT, "P[] f(int a)", "check(s.f(1).length == 1);", ""),
    "a class of the library's": (FIXED, "P f(int a)", "Objects.equals(s.f(1), s.f(1));", ""),
    "a field's object": (LIST, "N f(N head)", "check(s.f(new N(1)).next.hashCode() == 1);", ""),
    "a helper that takes any": (
        POINT,
        "P f(int a)",
        "check(one(s.f(1)));",
        "static boolean one(Object a) { return a.hashCode() == 1; }\n",
    ),
    "a helper's answer": (
        POINT,
        "P f(int a)",
        "P p = one(s); check(p.hashCode() == 1);",
        "static P one(Solution s) { return s.f(1); }\n",
    ),
    "objects in a list's field": (GRAPH, "N f(N a)", "s.f(new N()).near.contains(new N());", ""),
    "what is printed": (POINT, "P f(int a)", "P p = s.f(1); System.out.println(p);", ""),
}
HANDED = {
    "a part of a list": "s.f(l, l.subList(0, 2));",
    "a map's keys": "s.f(m, m.keySet());",
    "a list around another": "s.f(l, Collections.synchronizedList(l));",
    "an array's list": "s.f(a, Arrays.asList(a));",
    "a part with a name": "List<Integer> part = l.subList(0, 1); s.f(l, part);",
    "another name of a view": "var v = m.values(); var w = v; s.f(m, w);",
    "an entry": "for (Map.Entry<Integer, Integer> e : m.entrySet()) s.f(m, e);",
    "a view in a list": "s.f(List.of(l, l.subList(0, 1)));",
    "a part of a set": "s.f(t, t.headSet(3));",
    "another order": "s.f(t.descendingMap(), t);",
    "an entry that is looked up": "s.f(m.firstEntry(), m);",
    "a view of what a method returns": "s.f(get(m).keySet());",
    "a view that a helper hands on": "run(s, l.subList(0, 2));",
}
KEPT = {
    "a list that is written out": "s.f(Arrays.asList(1, 2));",
    "a copy of an array's list": "s.f(new ArrayList<>(Arrays.asList(a)));",
    "a copy of keys": "s.f(new ArrayList<>(m.keySet())); s.f(List.copyOf(m.values()));",
    "how many there are": "s.f(m.values().size());",
    "keys and values": "for (Map.Entry<Integer, Integer> e : m.entrySet()) check(s.f(e.getKey()) == e.getValue());",
    "a list that none changes": "s.f(Collections.unmodifiableList(Arrays.asList(1)));",
    "constants": "for (Color c : Color.values()) check(s.f(c) == 1);",
    "one key": "s.f(m.keySet().iterator().next());",
    "what is expected": "check(s.f(l).equals(other.subList(0, 1)));",
}


def main(checks: str, rest: str = "") -> str:
    return (
        "public class Main {\n    public static void main(String[] args) {\n"
        f"        Solution s = new Solution();\n{checks}\n    }}\n"
        "    static void check(boolean b) { if (!b) throw new AssertionError(); }\n"
        f"    static int run(Solution s, List<Integer> x) {{ return s.f(x); }}\n{rest}}}\n"
    )


def is_apart(before: str, method: str, checks: str, rest: str) -> bool:
    program = load_languages().find("java").program
    assert program is not None
    assert program.assertions is not None
    task = Task(
        prompt=f"import java.util.*;\n{before}class Solution {{\n    public {method} {{\n",
        tests=main(checks, rest).replace("    static int run", "    static int other"),
        language=program.assertions,
    )
    return SPLITTERS["java"](task) is not None


@pytest.mark.parametrize("name", FIELDS_ALONE)
def test_who_looks_at_fields_alone_runs_apart(name: str) -> None:
    assert is_apart(*FIELDS_ALONE[name])


@pytest.mark.parametrize("name", MORE)
def test_who_asks_an_object_for_more_is_one_program(name: str) -> None:
    assert not is_apart(*MORE[name])


@pytest.mark.parametrize("checks", HANDED.values(), ids=HANDED)
def test_a_view_that_is_handed_over_is_known(checks: str) -> None:
    assert hands_views(main(checks), "f")


@pytest.mark.parametrize("checks", KEPT.values(), ids=KEPT)
def test_what_shows_nothing_else_is_known(checks: str) -> None:
    assert not hands_views(main(checks), "f")
