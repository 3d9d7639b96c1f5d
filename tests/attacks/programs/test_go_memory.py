# ruff: noqa: E501  # programs in another language
"""Go: pointers and slices into a part of what crossed, and errors that are equal.

An ordinary process knows what a pointer leads to. Tests that could see another thing apart are one
program.
"""

from __future__ import annotations

from dataclasses import replace

from reward_server.app import App
from reward_server.domain import Integrity, Verdict
from tests.attacks.programs.test_programs_apart import Row, judged, rows
from tests.attacks.programs.test_programs_apart import app as app  # a fixture
from tests.support.common import on_the_servers_loop

pytestmark = on_the_servers_loop


def go(prompt: str, body: str, checks: str) -> Row:
    return Row(
        language="go",
        prompt=f"package main\n\n{prompt} {{\n",
        completion=f"{body}\n}}\n",
        tests=f"func main() {{\n{checks}\n}}\n",
    )


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

FIND = "type Item struct {\n\tName  string\n\tCount int\n}\n\n// Find returns a pointer to the item of that name in items.\nfunc Find(items []Item, name string) *Item"
TREE = "type N struct {\n\tV    int\n\tKids []N\n}\n\n// Find returns the node with v.\nfunc Find(n *N, v int) *N"
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
}
RIGHT = {
    "go: a pointer to an element": "for _, one := range items { if one.Name == name { c := one; return &c } }\nreturn nil\n}\n",
    "go: a slice of a field": "return append([]int(nil), g.Cells[:]...)\n}\n",
    "go: pointers into a slice": "var r []*int\nfor i := 0; i < len(flat); i += w { x := flat[i]; r = append(r, &x) }\nreturn r\n}\n",
}
TWINS = {name: replace(UNEARNED[name], completion=text) for name, text in RIGHT.items()}
ORDINARY = {
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
    "go: errors that differ": go(
        "func F(x int) error",
        'if x < 0 { return e{x} }\nreturn nil\n}\n\ntype e struct{ x int }\n\nfunc (one e) Error() string { return "neg"',
        "if F(-1) == F(-2) || F(-1) != F(-1) || F(1) != nil { panic(1) }",
    ),
    "go: errors that are made each time": go(
        "func F(x int) error",
        'if x < 0 { return &e{} }\nreturn nil\n}\n\ntype e struct{ x int }\n\nfunc (one *e) Error() string { return "neg"',
        "if F(-1) == F(-1) || F(1) != nil { panic(1) }",
    ),
    "go: a slice that crosses after a part of it": go(
        "// First sets the first number.\nfunc First(all []int)",
        "all[0] = 9",
        "all := []int{1, 2, 3}\nFirst(all[1:])\nFirst(all)\nFirst(all[2:])\nif all[0] != 9 || all[1] != 9 || all[2] != 9 { panic(all) }",
    ),
}
# Parts of memory to which nothing of the signature's types leads.
APART = {
    "go: an array that is copied": go(
        "func Two(all []int) [2]int",
        "return [2]int{all[0], all[1]}",
        "if Two([]int{1, 2}) != [2]int{1, 2} { panic(1) }",
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


@rows(ORDINARY)
async def test_what_an_ordinary_process_passes_is_passed(app: App, row: Row) -> None:
    said = await judged(app, row)
    assert (said.verdict, said.reward) == (Verdict.PASSED, 1.0), said


@rows(APART)
async def test_types_without_parts_in_common_run_apart(app: App, row: Row) -> None:
    said = await judged(app, row)
    assert (said.verdict, said.integrity) == (Verdict.PASSED, Integrity.ISOLATED), said
