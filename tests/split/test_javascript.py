# programs in another language
"""What a text that the solution chose can reach in the tests' program of JavaScript."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from reward_server.grading.compiled_tests.split import SPLITTERS, Split, Task
from reward_server.languages import load_languages
from tests.attacks.attack import code
from tests.split.programs import Workshop, judged, refusal_of, workshop
from tests.support.tools import needs

# Goes wherever keys lead from what tests have. Of their own are modules, and what they made.
_WALK = code(r"""
    const modules = ['assert', 'assert/strict'].map(require);
    class Own extends Error { constructor() { super('m'); this.name = 'Own'; this.toString = 1 } }
    function* counts() {}
    async function* ticks() {}
    const made = [
      {}, [], () => 1, 'a', 1, 1n, true, Symbol.iterator, /a/, new Date(0), new Own(), new Map(),
      new Set(), new WeakMap(), Promise.resolve(), counts(), ticks(),
      async () => 1, [].values(), new Map().keys(), new Set().keys(), 'a'.matchAll(/a/g),
      'a'[Symbol.iterator](), new Uint8Array(1), Buffer.from('a'), new DataView(new ArrayBuffer(1)),
      f, JSON, Math,
    ];
    const found = new Set(), inherited = new Set();
    const walk = (start) => {
      const open = [start];
      while (open.length) {
        const one = open.pop();
        if (Object(one) !== one || found.has(one)) continue;
        found.add(one);
        for (let at = one; at !== null; at = Object.getPrototypeOf(at)) {
          if (at !== one) inherited.add(at).add(at.constructor);
          for (const key of Object.getOwnPropertyNames(at)) {
            try { open.push(one[key]) } catch { }
          }
        }
      }
    };
    made.forEach(walk);
    const own = [Own, Own.prototype, counts.prototype, ticks.prototype];
    const holds = Object.isFrozen;
    const loose = [...inherited].filter((one) => !own.includes(one) && !holds(one));
    [require, module, ...modules].forEach(walk);
    const fs = ['readSync', 'readFileSync', 'writeSync', 'openSync'];
    const runs = [...found].filter((one) =>
      typeof one === 'function' && (fs.includes(one.name) || one.name === 'runInThisContext'));
    const throws = (run) => { try { run(); return false } catch { return true } };
    const texts = [() => {}, async () => {}, function* () {}, async function* () {}];
    console.log(JSON.stringify({
      loose: loose.map((one) => String(one).slice(0, 80)),
      runs: runs.map((one) => one.name),
      made: texts.filter((one) => !throws(() => one.constructor('return 1'))).length,
      loads: ['fs', 'node:vm', './main.js', 'child_process', 'module', 'process', 'node:test',
        '/etc/hostname', 'worker_threads', 'inspector', 'v8', 'repl', 'util', {}, 7,
      ].filter((name) => !throws(() => require(name))),
      compiles: !throws(() => new module.constructor('x')._compile('1', 'x')),
      resolves: !throws(() => require.extensions['.js'](module, __filename)),
      binds: !throws(() => process.binding('fs')),
      leads: !throws(() => process.mainModule.require('fs')),
      told: String(() => 'secret').includes('secret'),
      inherits: '__proto__' in {},
    }));
""")


def taken_apart(tests: str, prompt: str = "") -> Split | None:
    language = load_languages().find("javascript").program
    assert language is not None
    assert language.assertions is not None
    task = Task(prompt=prompt, tests=tests, language=language.assertions)
    return SPLITTERS["javascript"](task)


@needs("node")
def test_keys_lead_to_nothing_that_can_be_changed_or_runs_text(tmp_path: Path) -> None:
    prompt = "// Adds.\nconst f = (x) => {"
    split = taken_apart("console.assert(f(1) === 1)", prompt)
    assert split is not None
    for name, data in split.stubs.files.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "main.js").write_text(split.stubs.text + _WALK)
    command = ["node", *split.stubs.options, "main.js"]
    told = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    assert json.loads(told.stdout) == {
        "loose": [], "runs": [], "made": 0, "loads": [], "compiles": False, "resolves": False,
        "binds": False, "leads": False, "told": False, "inherits": False,
    }  # fmt: skip


# What a right solution answers, and tests that look at it.
LOOKED_AT = {
    "a function": ("const f = (x) => () => x", "typeof f(1) === 'function'"),
    "functions in an object": (
        "const f = () => ({ a: 1, b() {} })",
        "Object.keys(f()).length === 2",
    ),
    "JSON without functions": (
        "const f = () => ({ a: 1, b() {} })",
        "JSON.stringify(f()) === '{\"a\":1}'",
    ),
    "JSON of its own": (
        "const f = () => ({ toJSON() { return 7 } })",
        "JSON.stringify(f()) === '7'",
    ),
    "a text of its own": (
        "class A { toString() { return 'a' } }; const f = () => new A()",
        "`${f()}` === 'a'",
    ),
    "a number of its own": ("const f = () => ({ valueOf() { return 3 } })", "f() == 3"),
    "a size of its own": (
        "class A { get size() { return 2 } }; const f = () => new A()",
        "f().size === 2",
    ),
    "items of its own": (
        "class A { *[Symbol.iterator]() { yield 1 } }; const f = () => new A()",
        "[...f()][0] === 1",
    ),
    "items without end": (
        "function* f() { for (;;) yield 1 }",
        "Array.from([1], (x) => x)[0] === 1 && f() !== null",
    ),
    "an array of its own": (
        "class A extends Array {}; const f = () => A.from([1])",
        "f().map((x) => x + 1)[0] === 2",
    ),
    "numbers in bytes": ("const f = () => new Uint8Array([3])", "f()[0] === 3 && f().length === 1"),
    "an error": (
        "const f = () => new TypeError('a')",
        "f() instanceof TypeError && f().message === 'a'",
    ),
    "a cycle": (
        "const f = () => { const a = { b: [1] }; a.b.push(a); return a }",
        "Object.keys(f()).length === 1",
    ),
    "a symbol": ("const f = () => Symbol('a')", "typeof f() === 'symbol'"),
}
# What a wrong solution answers instead of `{}`, `[1]` or an Error, and deepStrictEqual tells apart.
UNLIKE = {
    "a promise": ("async function f() { return 1 }", "{}"),
    "an object of its own class": ("class A {}; const f = () => new A()", "{}"),
    "an object without a prototype": ("const f = () => Object.create(null)", "{}"),
    "a number's object": ("const f = () => new Number(3)", "{}"),
    "a key that is a symbol": ("const f = () => ({ [Symbol('a')]: 1 })", "{}"),
    "an array with a field": ("const f = () => Object.assign([1], { a: 1 })", "[1]"),
    "an array of its own": ("class A extends Array {}; const f = () => A.from([1])", "[1]"),
    "a hole": ("const f = () => [, ]", "[undefined]"),
    "an error of its own class": (
        "class E extends Error {}; const f = () => new E('a')",
        "new Error('a')",
    ),
}


def passes(shop: Workshop, solution: str, tests: str) -> bool:
    split = shop.taken_apart("", tests)
    assert split is not None
    return judged(shop.tests_program(split, tests), shop.compiled(split.serving(solution))).passed


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    return workshop("javascript", "javascript", tmp_path_factory.mktemp("javascript"))


@needs("node")
@pytest.mark.parametrize("name", LOOKED_AT)
def test_what_is_more_than_data_can_be_looked_at(shop: Workshop, name: str) -> None:
    solution, check = LOOKED_AT[name]
    tests = f"if (!({check})) throw new Error()"
    assert refusal_of("javascript", "", tests) == ""
    assert passes(shop, solution, tests)


@needs("node")
@pytest.mark.parametrize("name", UNLIKE)
def test_what_is_more_than_data_equals_no_data(shop: Workshop, name: str) -> None:
    solution, expected = UNLIKE[name]
    tests = f"const assert = require('assert'); assert.deepStrictEqual(f(), {expected})"
    assert refusal_of("javascript", "", tests) == ""
    assert not passes(shop, solution, tests)
    assert passes(shop, f"const f = () => ({expected})", tests)
