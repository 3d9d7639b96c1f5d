"""Which tests files hold, and what is believed of what a harness told of them."""

from __future__ import annotations

import random

import pytest

from reward_server.domain import CapturedStream
from reward_server.grading.compiled_tests.files import (
    TestFiles,
    harness,
    read_test_files,
    rewrite_test_files,
)
from reward_server.grading.compiled_tests.harness_reports import read_reports, without_reports
from reward_server.grading.compiled_tests.observations import ProgramReport
from reward_server.grading.compiled_tests.rewriting import Rewritten
from reward_server.languages import load_languages
from reward_server.languages.suites import Suites

TAG, WORD = "0123456789abcdef", "0123456789abcdef" + "f" * 16


def suites_of(language: str) -> Suites:
    suites = load_languages().find(language).unit
    assert suites is not None
    return suites


def read(language: str, path: str, text: str) -> TestFiles:
    return read_test_files([(path, text)], suites_of(language))


def names(known: TestFiles) -> list[str]:
    return [test.name for test in known.tests]


# ------------------------------------------------------------------------- which tests there are


@pytest.mark.parametrize(
    ("language", "path", "text", "expected"),
    [
        pytest.param(
            "go",
            "a_test.go",
            "package a\n// func TestNo(t *testing.T) {\n"
            "func TestA(t *testing.T) { f(`func TestB(t *testing.T) {`) }\n"
            "func Testing(t *testing.T) { }\nfunc helper(t *testing.T) { }\n"
            "func Test_c(x *testing.T) {}\nfunc BenchmarkD(b *testing.B) {}\n",
            ["TestA", "Test_c"],
            id="go",
        ),
        pytest.param(
            "rust",
            "tests/a.rs",
            '#[test]\nfn a() {}\nmod m { #[should_panic(expected = "x")]\n#[test] fn b() {} }\n'
            "#[cfg(test)] fn no() {}\n#[test]\n#[ignore]\nfn c() -> Result<(), ()> { Ok(()) }",
            ["a", "b", "c"],
            id="rust",
        ),
        pytest.param(
            "javascript",
            "a.test.js",
            "test('one', () => {}); it(\"two\", () => {}); test.skip(`three`, () => {});"
            "// test('no', f)\nx.test('no'); contest('no'); describe('g', () => { it('four') })"
            "\ntest('outer', (t) => { t.test('inner', f); test('within', f) })",
            ["one", "two", "three", "four", "outer"],
            id="javascript",
        ),
        pytest.param(
            "java",
            "ATest.java",
            'class ATest { @Test @DisplayName("a; {b") public void a() throws X { } '
            '@ParameterizedTest @CsvSource({"1, 2"}) void b(int x, int y) { } '
            "@BeforeEach void no() { } @RepeatedTest(3) void c() { } @Nested class D { @Test "
            "void d() { } } }",
            ["a", "b", "c", "d"],
            id="java",
        ),
    ],
)
def test_tests_are_found_by_their_text(
    language: str, path: str, text: str, expected: list[str]
) -> None:
    known = read(language, path, text)
    assert names(known) == expected
    assert known.complete


@pytest.mark.parametrize(
    "text",
    ["for (const n of [1, 2]) test(`n ${n}`, () => { });", "test(name, () => { });", "test('a', f"],
)
def test_names_that_the_text_does_not_tell_leave_the_list_open(text: str) -> None:
    known = read("javascript", "a.test.js", text)
    assert not known.complete


def test_files_without_tests_are_helpers() -> None:
    known = read("rust", "tests/common/mod.rs", "#[test]\nfn a() { assert_eq!(f(1), 2); }")
    assert known.tests == ()
    assert not known.assertions


@pytest.mark.parametrize(
    ("language", "path", "text", "skipped"),
    [
        ("go", "a_test.go", "func TestA(t *testing.T) { t.SkipNow() }\n{}", {"TestA"}),
        ("rust", "tests/a.rs", "#[test]\n#[ignore]\nfn a() {{}}\n#[test]\nfn b() {{}}", {"a"}),
        ("javascript", "a.test.js", "test('a', {{ skip: true }}, f); test('skip', f)", {"a"}),
        ("java", "ATest.java", "@Disabled class ATest {{ @Test void a() {{ }} }}", {"a"}),
        ("java", "ATest.java", "class ATest {{ @Test void a() {{ }} }}", set()),
    ],
)
def test_only_an_author_skips(language: str, path: str, text: str, skipped: set[str]) -> None:
    known = read(language, path, text.replace("{{", "{").replace("}}", "}"))
    assert {test.name for test in known.tests if known.may_be_skipped(test.name)} == skipped


@pytest.mark.parametrize(
    "head",
    [
        "@TestFactory\n    Stream<DynamicTest> made()",
        '@TestFactory @DisplayName("made();") public Collection<DynamicNode> made()',
        "@org.junit.jupiter.api.TestFactory DynamicTest[] made() throws Exception",
        "@TestFactory\n@Tag(FAST)\nMap.Entry<String, Iterator<DynamicTest>> made()",
        "@org.junit.jupiter.params.ParameterizedTest void made(int a)",
        "@RepeatedTest(3) @DisplayName(NAME) public void made(RepetitionInfo info)",
    ],
)
def test_what_makes_junits_tests_is_one(head: str) -> None:
    known = read("java", "ATest.java", f"class ATest {{ int f; {head} {{ return g(1); }} }}")
    assert [test.name for test in known.tests] == ["made"]
    assert known.complete


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("func TestA(t *testing.T) { t.Parallel(); f(t) }", "{ _ = t; f(t) }"),
        ("func TestA(t *testing.T) {\n\tt.Parallel()\n}", "\n\t_ = t\n"),
        ("func TestA(t *testing.T) { f(); t.Parallel() }", "f(); _ = t }"),
        ("func TestA(t *testing.T) {\n\tgo f(); t.Parallel()\n}", "go f(); _ = t\n"),
        ("func TestA(t *testing.T) { s.t.Parallel() }", "s.t.Parallel()"),
    ],
)
def test_go_tests_run_by_themselves_wherever_they_ask_for_others(text: str, wanted: str) -> None:
    known = read("go", "a_test.go", f'package a\n\nimport "testing"\n\n{text}\n')
    texts, _ = rewrite_test_files(
        known, suites_of("go"), secret="z0", tag=TAG, random=random.Random(1)
    )
    [found] = texts.values()
    assert wanted in found


def junit(body: str, around: str = "") -> TestFiles:
    head = "import org.junit.jupiter.api.*;\n"
    return read(
        "java", "ATest.java", f"{head}class ATest {{ @Test void a() {{ {body} }} {around} }}"
    )


def rewritten_junit(known: TestFiles) -> str:
    texts, _ = rewrite_test_files(
        known, suites_of("java"), secret="z0", tag=TAG, random=random.Random(1)
    )
    return texts["ATest.java"]


@pytest.mark.parametrize("call", ["assertEquals", "Assertions.assertEquals"])
def test_junits_assertions_are_called_where_no_solution_is_seen(call: str) -> None:
    known = junit(f"{call}(3, f(1));")
    text = rewritten_junit(known)
    assert "z0.Asserts.assertEquals(3, z0v)" in text
    assert "import org.junit.jupiter.api.Assertions;" in text


@pytest.mark.parametrize(
    ("body", "around"),
    [
        ("assertEquals(3, f(1));", "void assertEquals(int a, int b) throws X { check(a, b); }"),
        ("assertEquals(3, f(1));", "static <T> List<T> assertEquals(T a, T b) { check(a, b); }"),
        ("Assertions.assertEquals(3, f(1));", "static class Assertions { }"),
    ],
)
def test_assertions_that_the_tests_define_themselves_stay(body: str, around: str) -> None:
    known = junit(body, around)
    assert body in rewritten_junit(known)


def test_an_assertion_that_may_fail_stays() -> None:
    text = "#[test]\n#[should_panic]\nfn a() { assert_eq!(f(1), 2); }"
    known = read("rust", "tests/a.rs", text)
    texts, _ = rewrite_test_files(
        known, suites_of("rust"), secret="z0", tag=TAG, random=random.Random(1)
    )
    assert "assert_eq!(f(1), 2);" in texts["tests/a.rs"]


@pytest.mark.parametrize(
    "statement",
    [
        "var e = assertThrows(X.class, () -> f());",
        "return assertThrows(X.class, () -> f());",
        "check(assertDoesNotThrow(() -> f()));",
        "X e =\nassertThrows(X.class, () -> f());",
    ],
)
def test_an_assertion_whose_value_is_used_stays(statement: str) -> None:
    text = f"class ATest {{ @Test void a() {{ {statement} }} }}"
    known = read("java", "ATest.java", text)
    assert not known.assertions["ATest.java"]


def test_a_tolerance_that_may_not_tell_values_apart_has_no_twins() -> None:
    known = read("java", "ATest.java", "@Test void a() { assertEquals(1.0, f(), 0.5); }")
    [assertion] = known.assertions["ATest.java"]
    assert assertion.parsed[0].expected is None
    known = read("java", "ATest.java", "@Test void a() { assertEquals(1.0, f(), 1e-9); }")
    [assertion] = known.assertions["ATest.java"]
    assert assertion.parsed[0].expected is not None


def test_what_waits_is_not_computed_later() -> None:
    for text in (
        "assert.equal(await f(1), g());",
        "assert.throws(await f(1));",
    ):
        known = read("javascript", "a.test.js", f"test('a', async () => {{ {text} }});")
        assert not known.assertions["a.test.js"]


# --------------------------------------------------------------------------- what is believed


TWO_TESTS = """package a
func TestA(t *testing.T) { if x := f(1); x != 2 { t.Fail() } }
func TestB(t *testing.T) { if x := f(2); x != 3 { t.Fail() } }
"""


class Output:
    """A harness's output, made piece by piece."""

    def __init__(self, text: str = TWO_TESTS) -> None:
        self.known = read("go", "a_test.go", text)
        _, self.rewritten = rewrite_test_files(
            self.known, suites_of("go"), secret="z0", tag=TAG, random=random.Random(7)
        )
        self.output = ""

    def begin(self, name: str, title: str = "") -> Output:
        self.output += f"\n{TAG}+{name}\t{title or name}\n"
        return self

    def end(self, outcome: str, title: str) -> Output:
        self.output += f"\n{TAG}-{outcome}\t0.25\t{title}\twhy\n"
        return self

    def observe(self, index: int, *, right: bool = True) -> Output:
        [rewritten] = self.rewritten.values()
        site = rewritten.sites[index]
        for one in site.observations:
            self.output += f"\n{one.held if one.holds and right else one.missed}\n"
        return self

    def test(self, index: int, *, right: bool = True) -> Output:
        name = self.known.tests[index].name
        return self.begin(name).observe(index, right=right).end("p", name)

    def finish(self) -> Output:
        self.output += f"\n{WORD}\n"
        return self

    def read(self, failed: frozenset[str] = frozenset()) -> ProgramReport:
        rewritten: dict[str, Rewritten] = self.rewritten
        output = self.output.encode()
        return read_reports(output, self.known, rewritten, tag=TAG, ending=WORD, failed=failed)


def outcomes(reports: ProgramReport) -> list[str]:
    return [test.outcome.name for test in reports.tests]


def test_tests_that_told_all_pass() -> None:
    told = Output().test(0).test(1).finish().read()
    assert outcomes(told) == ["PASSED", "PASSED"]
    assert [test.wall_time_seconds for test in told.tests] == [0.25, 0.25]
    assert (told.ended, told.signals) == (True, {})


def test_an_assertion_that_does_not_hold_fails_its_test_alone() -> None:
    told = Output().test(0).begin("TestB").observe(1, right=False).end("p", "TestB").finish().read()
    assert outcomes(told) == ["PASSED", "FAILED"]
    assert told.signals == {}


def test_a_test_that_passed_without_its_assertion_fails() -> None:
    told = Output().begin("TestA").end("p", "TestA").test(1).finish().read()
    assert outcomes(told) == ["FAILED", "PASSED"]
    assert "line 2" in told.tests[0].message


def test_a_test_that_was_not_told_of_fails() -> None:
    told = Output().test(0).finish().read()
    assert outcomes(told) == ["PASSED", "FAILED"]
    assert told.signals == {"missing_test": 1}


def test_what_did_not_end_tells_of_no_other_test() -> None:
    told = Output().test(0).read()
    assert outcomes(told) == ["PASSED", "NOT_RUN"]
    assert not told.ended


def test_who_skips_a_test_that_no_author_skips_fails() -> None:
    told = Output().test(0).begin("TestB").end("s", "TestB").finish().read()
    assert outcomes(told) == ["PASSED", "FAILED"]
    assert told.signals == {"forged_skip": 1}


def test_what_the_framework_says_failed_has_failed() -> None:
    told = Output().test(0).test(1).finish().read(frozenset({"TestB"}))
    assert outcomes(told) == ["PASSED", "FAILED"]


def test_a_test_around_a_failed_one_fails() -> None:
    made = Output().test(0).begin("TestB").observe(1)
    told = made.begin("", "TestB/x").end("f", "TestB/x").end("p", "TestB").finish().read()
    assert outcomes(told) == ["PASSED", "FAILED", "FAILED"]


def test_tests_that_run_at_once_end_in_any_order() -> None:
    made = Output().begin("TestA").begin("TestB").observe(0).end("p", "TestA")
    told = made.observe(1).end("p", "TestB").finish().read()
    assert (outcomes(told), told.signals) == (["PASSED", "PASSED"], {})
    made = Output().begin("TestA").begin("TestB").begin("x", "TestB/x").observe(0).observe(1)
    told = made.end("p", "TestA").end("f", "TestB/x").end("p", "TestB").finish().read()
    assert outcomes(told) == ["PASSED", "FAILED", "FAILED"]


def test_results_that_the_text_does_not_name_follow_and_count_only_if_they_failed() -> None:
    made = Output().begin("TestX").end("p", "TestX").begin("TestY").end("f", "TestY")
    made.begin("TestB", "TestB#01").end("p", "TestB#01").begin("TestA").observe(0, right=False)
    made.begin("", "TestA/x").end("p", "TestA/x").end("p", "TestA").begin("TestA", "TestA#01")
    told = made.end("p", "TestA#01").test(1).finish().read()
    assert [(test.name, test.outcome.name, test.counts) for test in told.tests] == [
        ("TestX", "PASSED", False),
        ("TestY", "FAILED", True),
        ("TestA", "FAILED", True),
        ("TestA/x", "PASSED", False),
        ("TestA#01", "PASSED", False),
        ("TestB#01", "PASSED", True),
        ("TestB", "PASSED", False),
    ]
    assert told.signals == {}


def test_tests_that_the_text_may_not_name_count_all() -> None:
    text = f"{TWO_TESTS}func TestC(t *testing.T) {{ "
    told = Output(text).begin("TestC").end("p", "TestC").finish().read()
    assert {test.counts for test in told.tests} == {True}


def test_an_assertion_fails_its_own_test_whichever_is_said_to_run() -> None:
    made = Output().begin("TestA").end("p", "TestA").begin("TestX").observe(0, right=False)
    told = made.end("p", "TestX").begin("TestA", "TestA#01").end("p", "TestA#01").test(1).finish()
    found = {test.name: test.outcome.name for test in told.read().tests}
    assert found == {"TestA": "FAILED", "TestA#01": "FAILED", "TestX": "FAILED", "TestB": "PASSED"}


@pytest.mark.parametrize(
    "forged",
    [
        f"\n{TAG}{'0' * 16}\n",
        f"\n{TAG}-p\t0\tTestC\t\n",
        f"\n{WORD}\n\n{TAG}+TestC\tTestC\n",
    ],
)
def test_what_cannot_be_told_costs_every_test(forged: str) -> None:
    made = Output().test(0).test(1)
    made.output += forged
    told = made.finish().read()
    assert outcomes(told)[:2] == ["FAILED", "FAILED"]
    assert told.signals["forged_word"]


def test_nothing_of_it_is_left_in_the_output() -> None:
    made = Output().test(0)
    made.output = f"before{made.output}after"
    data = made.output.encode()
    kept = without_reports(CapturedStream(data=data, size_bytes=len(data)), TAG)
    assert kept.data == b"beforeafter"
    assert kept.size_bytes == len(kept.data)


@pytest.mark.parametrize("language", ["go", "rust", "javascript", "java"])
def test_a_harness_has_no_place_left_open(language: str) -> None:
    known = read("go", "a_test.go", TWO_TESTS)
    files = harness(known, suites_of(language), secret="z0", tag=TAG, word=WORD)
    for path, text in files.items():
        assert "{secret}" not in path + text
        assert "{tests}" not in text
    assert any(WORD in text for text in files.values())
