# ruff: noqa: E501  # programs in another language
"""Which tests in C++ could look again at what a call is given by its name."""

from __future__ import annotations

import pytest

from reward_server.grading.compiled_tests.split.hazards.aliasing import tells_copies_cpp

CASES = "vector<pair<vector<int>, int>> cases{{{1, 2}, 2}}; "
CASE = "struct Case { vector<int> in; void run() const { assert(f(in) == 2); } }; "
ONCE = {
    "a value that is made in the call": "assert(f({1, 2}) == 2); assert(f(vector<int>{1}) == 1);",
    "a constant": "assert(f(INT_MAX) == 2); assert(f(true) == 1);",
    "a name for one call": "vector<int> a = {1}, b = {2}; assert(f(b) == 1);",
    "a name inside a loop": "while (g()) { vector<int> b{1}; assert(f(b) == 1); }",
    "the counter of a loop": "for (int i = 0; i < 3; i++) assert(f(i) == 2);",
    "a copy of a case": f"{CASES}for (auto [in, want] : cases) assert(f(in) == want);",
    "a field of a copy": "for (auto c : cases) { if (c.x) { assert(f(c.in) == 1); } }",
    "a try": "int n = 3; try { assert(f(n) == 3); } catch (...) { assert(false); }",
    "what a function takes by value": "} void check(vector<int> in) { assert(f(in) == 1);",
}
AGAIN = {
    "a name behind the call": "vector<int> b{1}; assert(f(b) == 1); assert(b.size() == 1);",
    "a name outside a loop": "vector<int> b{1}; for (int i = 0; i < 3; i++) assert(f(b) == 1);",
    "a name outside a loop's block": "vector<int> b{1}; for (;;) { assert(f(b) == 1); break; }",
    "a name outside a loop that ends below": "vector<int> b{1}; do assert(f(b) == 1); while (g());",
    "cases gone through twice": f"{CASES}for (int i = 0; i < 2; i++) for (auto &[in, want] : cases) assert(f(in) == want);",
    "another name for the same": "vector<int> a{1}; const auto &b = a; assert(f(b) == 1);",
    "a field that a method hands over": f"{CASE}Case c{{{{1, 2}}}}; c.run();",
    "what a function takes by reference": "} void check(const vector<int> &in) { assert(f(in) == 1);",
    "a lambda": "vector<int> b{1}; auto g = [&] { return f(b); }; assert(g() == g());",
}


def tells(checks: str) -> bool:
    return tells_copies_cpp(f"int main() {{\n{checks}\n}}", "f", "int", ["const vector<int> &"])


@pytest.mark.parametrize("name", ONCE)
def test_what_is_made_for_one_call_may_cross_as_a_copy(name: str) -> None:
    assert not tells(ONCE[name])


@pytest.mark.parametrize("name", AGAIN)
def test_what_another_call_could_look_at_is_one_program(name: str) -> None:
    assert tells(AGAIN[name])
