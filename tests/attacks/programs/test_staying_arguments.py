# ruff: noqa: E501  # programs in other languages
"""Arguments that cannot cross to a solution's program, handed over after it has answered.

Where tests made them themselves, the tests are one program with any solution. Where an answer brings
them about, that is the solution's failure: else a completion would choose its label.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest_asyncio

from reward_server.app import App, running_app
from reward_server.domain import Integrity, Verdict
from reward_server.settings import Settings
from tests.attacks.programs.test_programs_apart import Row, cpp, java, js, judged, rows
from tests.support.common import is_refused, on_the_servers_loop
from tests.support.tools import offered

pytestmark = on_the_servers_loop
LANGUAGES = ("javascript", "java", "go", "c++17")
REFUSES = "const f = (x) => { if (!Array.isArray(x)) throw new TypeError('no'); return x.length }"
KINDS = "const f = (x) => x === null ? 'null' : Array.isArray(x) ? 'array' : typeof x"
REFUSED = "for (const bad of [null, 'a', () => {}]) assert.throws(() => f(bad), TypeError);"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def app() -> AsyncIterator[App]:
    """Yields a server that has what is installed here."""
    async with running_app(Settings(port=0, workers=2, languages=offered(*LANGUAGES))) as running:
        yield running


STAYING = {
    "js: a function that must be refused": js(
        REFUSES, f"assert.strictEqual(f([1]), 1);\n{REFUSED}"
    ),
    "js: functions in a table": js(
        KINDS,
        "for (const [x, kind] of [[1, 'number'], [null, 'null'], [() => {}, 'function']]) assert.strictEqual(f(x), kind);",
    ),
    "js: functions of the language": js(
        KINDS,
        "assert.strictEqual(f(1), 'number');\nfor (const x of [parseInt, Math.max, console.log, Boolean]) assert.strictEqual(f(x), 'function');",
    ),
    "js: a promise": js(
        REFUSES,
        "assert.strictEqual(f([1]), 1);\nassert.throws(() => f(Promise.resolve([1])), TypeError);",
    ),
    "js: a key of the language's own": js(
        "const f = (o) => Object.keys(o).length",
        'assert.strictEqual(f({ a: 1 }), 1);\nassert.strictEqual(f(JSON.parse(\'{"__proto__": 1, "b": 2}\')), 2);',
    ),
    "js: a field that throws": js(
        "const f = (o) => o.x",
        "assert.strictEqual(f({ x: 1 }), 1);\nassert.throws(() => f({ get x() { throw new Error('no') } }), /no/);",
    ),
    "java: an object of no kind": java(
        "public String f(Object x)",
        'return x instanceof Integer ? "int" : "other"; }}',
        'check(s.f(1).equals("int")); check(s.f(new Object()).equals("other"));',
    ),
    "java: an order that is left out at first": java(
        "public int f(List<Integer> a, Comparator<Integer> by)",
        "return by == null ? Collections.min(a) : Collections.min(a, by); }}",
        "check(s.f(List.of(1, 2), null) == 1); check(s.f(List.of(1, 2), Comparator.reverseOrder()) == 2);",
    ),
    "go: a type of the tests'": Row(
        language="go",
        prompt="package main\n\nfunc F(x interface{}) string {\n",
        completion='\tif _, is := x.(int); is {\n\t\treturn "int"\n\t}\n\treturn "other"\n}\n',
        tests='type point struct{ x int }\n\nfunc main() {\n\tif F(1) != "int" || F(point{1}) != "other" {\n\t\tpanic(1)\n\t}\n}\n',
    ),
    "c++: a type of the tests'": cpp(
        "#include <any>\nint f(const any &x)",
        "return x.type() == typeid(int) ? any_cast<int>(x) : -1; }",
        "struct point { int x; }; assert(f(any(1)) == 1); assert(f(any(point{2})) == -1);",
    ),
}


@rows(STAYING, 2)
async def test_what_tests_made_takes_the_label_and_no_reward(app: App, row: Row) -> None:
    said = await judged(app, row)
    assert (said.verdict, said.integrity) == (Verdict.PASSED, Integrity.SHARED), said
    again = await judged(app, replace(row, completion=f"{row.completion}\n"))
    assert (again.verdict, again.integrity) == (Verdict.PASSED, Integrity.SHARED), again


LED_TO = {
    "js: what refuses nothing, and an array that is too long": js(
        "const f = (x) => 1",
        "assert.strictEqual(f([1]), 1);\nassert.throws(() => f(new Array(2 ** 25)), TypeError);",
    ),
    "js: a method in the place of a node": js(
        "const f = (x) => x === undefined ? 0 : [1].values()",
        "assert.strictEqual(f(f(1).next), 2);",
    ),
    "js: a key that every object has": js(
        "const f = (x) => 'toString'",
        "const next = { a: 1 };\nassert.strictEqual(f(next[f(0)]), 2);",
    ),
    "java: what a container keeps to itself": java(
        "public Object f(Object x)",
        "return x instanceof Integer ? new ArrayList<>(List.of(1)) : 2; }}",
        "Object a = s.f(1); check(s.f(a instanceof List ? ((List<?>) a).iterator() : 3).equals(3));",
    ),
}


@rows(LED_TO)
async def test_what_an_answer_leads_to_is_the_solutions_failure(app: App, row: Row) -> None:
    assert is_refused(await judged(app, row))
