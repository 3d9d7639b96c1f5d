# ruff: noqa: E501  # programs in another language
"""C++ test programs taken apart: what stays as it was, what is refused and what cannot be forged."""

from __future__ import annotations

import subprocess
from pathlib import Path

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
    text,
    whole,
    workshop,
)
from tests.support.sampling import sampled
from tests.support.tools import needs

pytestmark = [
    needs("g++"),
]
HEAD = """\
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>
using namespace std;
"""
ASSERT = "#undef NDEBUG\n#include <cassert>\n"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    return workshop("c++17", "cpp", tmp_path_factory.mktemp("cpp"))


def verdict(shop: Workshop, prompt: str, completion: str, checks: str) -> Outcome:
    tests = f"{ASSERT}int main() {{\n{checks}\n}}\n"
    split = shop.taken_apart(HEAD + prompt, tests)
    assert split is not None
    solution = shop.compiled(split.serving(HEAD + prompt + completion))
    return judged(shop.tests_program(split, tests), solution)


HONEST = {
    "what the standard library holds": (
        "tuple<map<string, vector<bool>>, set<char>, optional<double>, deque<string>> "
        "f(string a, pair<int, unsigned long long> b, optional<int> c) {",
        "return {{{a, {true, false}}}, {'x'}, c ? 1.5 : -0.0, {\"v\"}}; }",
        'auto r = f("k", {1, ~0ull}, nullopt); assert(get<0>(r)["k"][0]);'
        "assert(get<1>(r).count('x')); assert(1 / *get<2>(r) < 0);"
        'assert(get<3>(r).back() == "v");',
    ),
    "exceptions by name": (
        "int f(int n) {",
        'struct Mine : invalid_argument { Mine() : invalid_argument("no") {} };'
        "if (n < 0) throw Mine(); return vector<int>(2).at(n); }",
        'try { f(-1); assert(false); } catch (const invalid_argument &e) { assert(string("no") == e.what()); }'
        "try { f(2); assert(false); } catch (const out_of_range &) {} assert(f(1) == 0);",
    ),
    "a function of a name that the library has": (
        "int strlen(string s) {",
        "return s.size() + 1; }",
        'assert(strlen("ab") == 3);',
    ),
    "objects with a state": (
        "class Solution {\npublic:\n  int f(int n) const {",
        "return calls += n; }\n  mutable int calls = 0; };",
        "Solution s; const Solution t; assert(s.f(1) == 1); assert(s.f(1) == 2);"
        "assert(t.f(1) == 1); assert(Solution().f(1) == 1);",
    ),
    "structs of the prompt": (
        "struct Node { int v; vector<Node> kids; };\nint total(Node n) {",
        "int s = n.v; for (auto &k : n.kids) s += total(k); return s; }",
        "assert(total({1, {{2, {}}, {3, {{4, {}}}}}}) == 10);",
    ),
    "default arguments": (
        'int f(int a, int b = 3, string c = "x") {',
        "return a + b + c.size(); }",
        'assert(f(1) == 5); assert(f(1, 1, "") == 2);',
    ),
    "a main of its own": (
        "int f(int a) {",
        "return a; }\nint main() { return f(3); }",
        "assert(f(1) == 1);",
    ),
    "its own words for those of the language": (
        "int f(int a) {",
        "return a; }\n#define int long long\n#define for while\n#define return\n#define in cin\n"
        "#define size (sizeof)\n  #  define tag(x) #x\n#if 1\n#define Entry\n#endif\n"
        '// #define main x\nconst char *text = "#define f g";\n',
        "assert(f(1) == 1);",
    ),
    "a macro for the name of the function": (
        "int f(int a) {",
        "return 0; }\n#define f g\n#define a b\nint f(int a) { return a; }\n",
        "assert(f(1) == 1);",
    ),
    "another signature that fits": (
        "int f(vector<int> a) {",
        "return 1; }\ntemplate <class T> int f(T a) { return 2; }",
        "assert(f({1}) == 1);",
    ),
}


@pytest.mark.parametrize("name", sampled(list(HONEST), step=4))
def test_an_honest_solution_passes_apart(shop: Workshop, name: str) -> None:
    outcome = verdict(shop, *HONEST[name])
    assert outcome.passed, outcome


def test_tests_may_close_what_the_prompt_opens(shop: Workshop) -> None:
    prompt, tests = HEAD + "int f(int a) {", f"{ASSERT}}}\nint main() {{ assert(f(1) == 1); }}\n"
    split = shop.taken_apart(prompt, tests)
    assert split is not None
    for completion in (" return a;\n", " return a;\n}\n"):
        solution = shop.compiled(split.serving(prompt + completion))
        assert judged(shop.tests_program(split, tests), solution).passed


CHEATS = {
    "a result that equals everything": "struct A { bool operator==(int) const { return true; }"
    "operator int() const { return 0; } }; A f(int) { return {}; }",
    "operators that say yes": "bool operator==(const vector<int> &, const vector<int> &)"
    "{ return true; } int f(int) { return 0; }",
    "macros": "int f(int) { return 0; }\n#define assert(x)\n#define main main_of_mine\n",
    "an exit before the loop": "#include <unistd.h>\nint f(int) { return 0; }\n"
    "struct B { B() { _exit(0); } } b;",
    "an exit with the tests' last word": "#include <unistd.h>\nint f(int) {"
    ' for (int d = 0; d < 9; ++d) if (write(d, "\\n0123456789abcdef\\n", 18)) {} _exit(0); }',
    "no answer": "#include <unistd.h>\nint f(int) { close(4); for (;;) close(3), _exit(0); }",
    "an exception": "int f(int) { throw 1; }",
    "a forged answer of another type": "#include <unistd.h>\nint f(int) {"
    ' if (write(4, "\\0\\0\\0\\012R\\0\\0\\0\\1\\0\\0\\0\\1t", 14)) {} _exit(0); }',
    "a loop of its own": "int f(int) { return 0; }\nnamespace splitwire { struct mine {}; }\n"
    'extern "C" long splitwire_own(int, const void *, unsigned long);',
}


@pytest.mark.parametrize("name", CHEATS)
def test_no_cheat_passes(shop: Workshop, name: str) -> None:
    prompt, tests = f"{HEAD}int f(int n) {{", f"{ASSERT}int main() {{ assert(f(1) == 42); }}\n"
    split = shop.taken_apart(prompt, tests)
    assert split is not None
    program = shop.tests_program(split, tests)
    try:
        solution = shop.compiled(split.serving(HEAD + CHEATS[name]))
    except subprocess.CalledProcessError:
        return
    assert not judged(program, solution).passed


HOSTILE = {
    "no size": frame(b""),
    "a size that is not there": b"\xff\xff\xff\xff",
    "a kind that is none": frame(b"Q\0\0\0\1\0\0\0\0"),
    "an answer to another call": answer(many(b"m", 0), id=2),
    "too few values": answer(),
    "more values than one": answer(many(b"m", 0), b"n"),
    "a count beyond the frame": answer(many(b"m", 0xFFFFFFFF)),
    "a text beyond the frame": answer(many(b"m", 1, b"s\xff\xff\xff\xffab", b"n")),
    "another type": answer(whole(1)),
    "a sequence for a map": answer(many(b"l", 0)),
    "a number beyond its type": answer(
        many(b"m", 1, b"s" + text(b"k"), many(b"l", 1, many(b"p", 2, whole(1 << 40), b"n")))
    ),
    "a pair of three": answer(
        many(b"m", 1, b"s" + text(b"k"), many(b"l", 1, many(b"p", 3, whole(1), b"n", b"n")))
    ),
    "an option of another type": answer(
        many(b"m", 1, b"s" + text(b"k"), many(b"l", 1, many(b"p", 2, whole(1), b"o" + b"t")))
    ),
    "a failure cut short": frame(b"E\0\0\0\1\0\0\0\x0eout_of_range"),
}


@pytest.fixture(scope="module")
def besieged(shop: Workshop) -> list[str]:
    """A tests' program that passes with whatever well-formed answer it gets."""
    prompt = HEAD + "map<string, vector<pair<int, optional<double>>>> f(vector<int> given) {"
    tests = f"{ASSERT}int main() {{ try {{ f({{1}}); }} catch (...) {{}} }}\n"
    split = shop.taken_apart(prompt, tests)
    assert split is not None
    return shop.tests_program(split, tests)


@pytest.mark.promise(
    "A malformed answer ends tests that run apart, and does not pass.", "Languages"
)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_malformed_answer_ends_the_tests_and_is_told(besieged: list[str], name: str) -> None:
    outcome = answered(besieged, HOSTILE[name])
    assert not outcome.passed
    assert outcome.forged or name == "a size that is not there", outcome


def test_a_well_formed_answer_passes(besieged: list[str]) -> None:
    inner = many(b"l", 1, many(b"p", 2, whole(-1), b"od\x7f\xf0\0\0\0\0\0\0"))
    assert answered(besieged, answer(many(b"m", 1, b"s" + text(b"\0k"), inner))).passed


def test_nesting_is_bounded(shop: Workshop) -> None:
    prompt = HEAD + "struct Node { vector<Node> kids; };\nNode f(int n) {"
    tests = f"{ASSERT}int main() {{ f(1); }}\n"
    split = shop.taken_apart(prompt, tests)
    assert split is not None
    nested = (b"r" + text(b"Node") + b"\0\0\0\1" + text(b"kids") + b"l\0\0\0\1") * 2000
    outcome = answered(shop.tests_program(split, tests), answer(nested))
    assert "deep" in outcome.forged, outcome


REFUSED = {
    "a variable that both would have": "int counter = 0;\nint f(int a) {",
    "a static of a helper": "int g() { static int n; return ++n; }\nint f(int a) {",
    "a field": "class S { int n = 0;\npublic:\n int f(int a) {",
    "an argument that changes": "void f(vector<int> &a) {",
    "a reference for a result": "int &f(int a) {",
    "a map without an order": "unordered_map<int, int> f(int a) {",
    "pointers": "int f(int *a, int n) {",
    "arrays": "int f(int a[], int n) {",
    "a template": "template <class T> T f(T a) {",
    "a deduced type": "auto f(int a) {",
    "attributes": "[[nodiscard]] int f(int a) {",
    "a class that extends": "struct S : vector<int> {\n int f(int a) {",
    "a body that is begun": "int f(int a) { int b = 1;",
    "an open loop": "int f(int a) { for (;;) {",
    "nothing open": "int f(int a);",
    "code for a type": "int f(decltype(exit(0)) a) {",
    "a value that is handed over for good": "int f(vector<int> &&a) {",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_taken_apart_is_refused(name: str) -> None:
    assert refusal_of("c++17", HEAD + REFUSED[name], "int main() { f(1); }")


def test_a_type_without_a_plain_form_does_not_compile(shop: Workshop) -> None:
    prompt = HEAD + "#include <functional>\nint f(function<int(int)> a) {"
    assert shop.taken_apart(prompt, "int main() {}") is None
    prompt = HEAD + "#include <stack>\nint f(stack<int> a) {"
    split = shop.taken_apart(prompt, "int main() { f({}); }")
    assert split is not None
    with pytest.raises(subprocess.CalledProcessError):
        shop.tests_program(split, "int main() { f({}); }")


def test_the_support_files_are_part_of_the_package(shop: Workshop) -> None:
    split = shop.taken_apart("int f(int a) {", "int main() {}")
    assert split is not None
    folder = Path(__file__).parents[2] / "reward_server" / "grading" / "compiled_tests" / "split"
    for name, content in {**split.stubs.files, **split.serving("").files}.items():
        assert (folder / name).read_bytes() == content


# By what is declared and what is written: an expression that the declared type holds, and one
# that it would change.
CONVERTED = {
    ("int", "double"): ("a / 2.0", 4, 5),
    ("bool", "int"): ("a", 1, 2),
    ("int", "size_t"): ("size_t(a)", 3, -1),
    ("float", "double"): ("a / 10.0", 5, 1),
    ("char", "int"): ("a", 65, 321),
}


@pytest.mark.parametrize(("declared", "written"), sampled(list(CONVERTED), step=4))
def test_an_answer_that_the_declared_type_changes_does_not_pass(
    shop: Workshop, declared: str, written: str
) -> None:
    value, holds, changes = CONVERTED[declared, written]
    tests = f"{ASSERT}int main(int n, char **) {{ f(n > 9 ? {changes} : {holds}); }}\n"
    other = tests.replace("n > 9", "n < 9")
    whole = f"{HEAD}{written} f(int a) {{ return {value}; }}"
    split = shop.taken_apart(f"{HEAD}{declared} f(int a) {{", tests)
    assert split is not None
    solution = shop.compiled(split.serving(whole))
    assert judged(shop.tests_program(split, tests), solution).passed
    assert not judged(shop.tests_program(split, other), solution).passed


def test_a_header_that_images_have_compiled_is_read_first(shop: Workshop) -> None:
    prompt = "#include <bits/stdc++.h>\nusing namespace std;\nint twice(int n) {"
    tests = f"{ASSERT}int main() {{\nassert(twice(2) == 4);\n}}\n"
    split = shop.taken_apart(prompt, tests)
    assert split is not None
    for before, first in (("// All of it.\n", "<bits/stdc++.h>"), ("#define U 1\n", '"split.hpp"')):
        solution = split.serving(f"{before}{prompt} return 2 * n; }}")
        assert solution.text.startswith(f"#include {first}\n")
        assert judged(shop.tests_program(split, tests), shop.compiled(solution)).passed


@pytest.mark.parametrize(
    ("begins", "first"),
    [
        ("#include <map>\n#include<vector> // of what?\n/* and */ #include <string>\n", "<string>"),
        ("#include <vector>\n#include <iostream>\n", "<iostream>"),
        ("#include <stdio.h>\nint n;\n#include <vector>\n", '"split.hpp"'),
        ("// #include <vector>\n#include <stdio.h>\n", '"split.hpp"'),
        ("/*\n#include <vector>\n*/\n", '"split.hpp"'),
        ("// It goes on \\\n#include <vector>\n", '"split.hpp"'),
        ("// It goes on ??/\n#include <vector>\n", '"split.hpp"'),
        ("#define _GLIBCXX_DEBUG\n#include <vector>\n", '"split.hpp"'),
        ('#include "vector"\n', '"split.hpp"'),
        ("#if 0\n#include <vector>\n#endif\n", '"split.hpp"'),
    ],
)
def test_only_a_header_that_the_solution_includes_is_read_first(
    shop: Workshop, begins: str, first: str
) -> None:
    split = shop.taken_apart("int f() {", f"{ASSERT}int main() {{ assert(f() == 1); }}")
    assert split is not None
    solution = split.serving(f"{begins}int f() {{ return 1; }}")
    assert solution.text.startswith(f"#include {first}\n")


@pytest.mark.parametrize(
    ("parameter", "given", "is_rare"),
    sampled(
        [
            ("vector<int> a", "{1, 2}", False),
            ("const map<string, long long> &a", "{}", False),
            ("tuple<int, string> a", '{1, "x"}', True),
            ("array<int, 2> a", "{1, 2}", True),
        ],
        step=2,
    ),
)
def test_both_programs_include_rare_types_if_a_signature_names_one(
    shop: Workshop, parameter: str, given: str, is_rare: bool
) -> None:
    prompt = f"#include <bits/stdc++.h>\nusing namespace std;\nint f({parameter}) {{"
    tests = f"{ASSERT}int main() {{\nassert(f({given}) == 3);\n}}\n"
    split = shop.taken_apart(prompt, tests)
    assert split is not None
    solution = split.serving(f"{prompt} return 3; }}")
    for source in (split.stubs, solution):
        assert ("split_types.hpp" in source.files) is is_rare
        assert ('#include "split_types.hpp"' in source.text) is is_rare
    assert judged(shop.tests_program(split, tests), shop.compiled(solution)).passed


UNDEFINED = {
    "a conversion": ("double f(int n) {", "return 1e300; }", "assert((int)f(1) < 0);"),
    "an overflow": (
        "int f(int n) {",
        "return 2147483647; }",
        "int x = f(1); x *= 2; assert(x < 0);",
    ),
    "a shift": ("int f(int n) {", "return 35; }", "assert(1 << f(1) != 0);"),
    "a division": ("int f(int n) {", "return 0; }", "assert(10 / f(1) == 10 / f(1));"),
    "a negation": ("int f(int n) {", "return -2147483647 - 1; }", "assert(-f(1) == f(1));"),
}


@pytest.mark.parametrize("name", UNDEFINED)
def test_what_an_answer_makes_undefined_ends_the_tests(shop: Workshop, name: str) -> None:
    assert not verdict(shop, *UNDEFINED[name]).passed
