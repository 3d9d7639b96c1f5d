# ruff: noqa: E501  # programs in another language
"""What a text that the solution chose can reach in the tests' program of JavaScript."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from reward_server.grading.compiled_tests.split import SPLITTERS, Split, Task
from reward_server.languages import load_languages
from tests.attacks.attack import code
from tests.support.tools import needs

# Goes wherever keys lead from what tests have. Of their own are modules, and what they made.
_WALK = code(r"""
    const modules = ['assert', 'buffer', 'events', 'path', 'timers', 'url', 'util'].map(require);
    class Own extends Error { constructor() { super('m'); this.name = 'Own'; this.toString = 1 } }
    function* counts() {}
    async function* ticks() {}
    const made = [
      {}, [], () => 1, 'a', 1, 1n, true, Symbol.iterator, /a/, new Date(0), new Own(), new Map(),
      new Set(), new WeakMap(), Promise.resolve(), counts(), ticks(),
      async () => 1, [].values(), new Map().keys(), new Set().keys(), 'a'.matchAll(/a/g),
      'a'[Symbol.iterator](), new Uint8Array(1), Buffer.from('a'), new DataView(new ArrayBuffer(1)),
      f, JSON, Math, Node,
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
    const own = [Own, Own.prototype, Node, counts.prototype, ticks.prototype];
    const holds = (one) => Object.isFrozen(one) || (one === Node.prototype && Object.isSealed(one));
    const loose = [...inherited].filter((one) => !own.includes(one) && !holds(one));
    [require, module, ...modules].forEach(walk);
    const fs = ['readSync', 'readFileSync', 'writeSync', 'openSync'];
    const runs = [...found].filter((one) =>
      typeof one === 'function' && (fs.includes(one.name) || one.name === 'runInThisContext'));
    const throws = (run) => { try { run(); return false } catch { return true } };
    const texts = [() => {}, async () => {}, function* () {}, async function* () {}];
    console.log(JSON.stringify({
      loose: loose.map((one) => require('util').inspect(one).slice(0, 80)),
      runs: runs.map((one) => one.name),
      made: texts.filter((one) => !throws(() => one.constructor('return 1'))).length,
      loads: ['fs', 'node:vm', './main.js', 'child_process', 'module', 'process', 'node:test',
        '/etc/hostname', 'worker_threads', 'inspector', 'v8', 'repl', {}, 7,
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
    prompt = "class Node { get() { return 1 } }\n// Adds.\nconst f = (x) => {"
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


# Tests by which the object that is handed over, or a part of it, is known by another name.
KNOWN_TWICE = {
    "another name": ("const a = [3]\nconst b = a", "b", "[...a]"),
    "an index": ("const all = [[3]]\nconst a = all[0]", "a", "[...all[0]]"),
    "a field": ("const a = [3]\nconst o = { v: a }", "o.v", "[...a]"),
    "a field that is set": ("const o = {}\nconst a = [3]\no.v = a", "a", "[...o.v]"),
    "an item that is added": ("const a = [3]\nconst all = []\nall.push(a)", "a", "[...all[0]]"),
    "a copy of what holds it": (
        "const all = [[3]]\nconst copy = [...all]",
        "copy[0]",
        "all[0].slice()",
    ),
    "a pattern": ("const all = [[3]]\nconst [a] = all", "a", "[...all[0]]"),
    "a function": ("const same = (x) => x\nconst a = [3]\nconst b = same(a)", "b", "[...a]"),
    "a template": ("const a = [3]", "a", "`${a}`"),
}
KNOWN_ONCE = {
    "a table": "const all = [[[1], 2]]\nfor (const [a, want] of all) assert.strictEqual(f(a), want)",
    "a table of objects": "const all = [{ a: [1], want: 2 }]\nfor (const { a, want } of all) assert.strictEqual(f(a), want)",
    "a callback": "const all = [[[1], 2]]\nall.forEach(([a, want]) => { assert.strictEqual(f(a), want) })",
    "a helper": "function check(a, want) { assert.strictEqual(f(a), want) }\ncheck([1], 2)\ncheck([2], 3)",
    "indices": "const all = [[1]], wants = [2]\nfor (let i = 0; i < all.length; i++) {\n  const a = all[i]\n  assert.strictEqual(f(a), wants[i])\n}",
    "all results": "const all = [[1], [2]]\nconst got = all.map((a) => f(a))\nassert.deepStrictEqual(got, [1, 2])",
    "a helper that compares": "const same = (got, want) => assert.deepStrictEqual(got, want)\nsame(f(1), [1])\nfor (const one of f(3)) assert(one.length)",
    "methods that are given nothing": "assert.strictEqual(f([1]).toString().trim(), '1')",
    "a method of a text of the tests'": "assert(JSON.stringify(f([1])).includes('1'))",
    "calls that are awaited by a clock": "(async () => { const t = Date.now(); await f(9); assert(Date.now() - t < 99) })()",
    "promises without a clock": "(async () => { assert.deepStrictEqual(await Promise.all([f(1), f(2)]), [1, 2]) })()",
    "calls that are awaited": "(async () => { const got = await f(2); assert(got); assert(f(3)) })()",
    "time, without promises": "const at = Date.now(); assert(f(2)); assert(Date.now() - at < 99)",
    "a promise that is refused": "(async () => { await assert.rejects(() => f(2)) })()",
    "fields of their own": "const kept = {}; kept.n = 1; kept.n++; assert(f(2) === kept.n)",
    "an item that is set": "const got = f(2); got[0] = 3; assert(got[1])",
    "a name that is a keyword elsewhere": "assert(of(2)); assert(get(1)); type(f(3))",
    "a template of a result": "const got = f([1])\nassert.strictEqual(`${got}`, '1')",
}
ONE_PROGRAM = {
    "a template that calls": "assert.strictEqual(`${g(2)}`, '4')\nassert.strictEqual(f(1), 4)",
    "a function that Node has": "assert.strictEqual(f(1), btoa('x'))",
    "a method that is given something": "assert(f([1, 2]).includes(2))",
    "one behind another": "assert(f(1).items[0].trim().startsWith('a'))",
    "one of what brackets hold": "(async () => { assert((await f(1)).at(2)) })()",
    "one of a result with a name": "const got = f([1])\nassert(got?.join(',') === '1')",
    "one of what a helper is given": "const has = (got, want) => assert(got.includes(want))\nhas(f(1), 2)",
    "one of what is passed on to a helper": "function has(got) { assert(got.at(0)) }\nconst got = f(1)\nhas(got)",
    "one of a list of results": "for (const one of [f(1), f(2)]) assert(one.at(0))",
    "one of each result": "for (const one of f(3)) assert(one.indexOf(2) < 0)",
    "calls that wait at once": "(async () => { const t = Date.now(); await Promise.all([f(9), f(9)]); assert(Date.now() - t < 15) })()",
    "calls that are awaited later": "(async () => { const t = performance.now(), all = [1, 2].map((n) => f(n)); for (const one of all) await one; assert(performance.now() - t < 15) })()",
    "a timer": "setTimeout(() => assert(f(2)), 5)",
    "a turn of the loop": "setImmediate(() => assert(f(2)))",
    "a job": "queueMicrotask(() => assert(f(2)))",
    "a job before the others": "process.nextTick(() => assert(f(2)))",
    "timers of a module": "require('timers/promises').setTimeout(5).then(() => assert(f(2)))",
    "a promise that is kept": "const p = f(2); (async () => assert(await p))()",
    "one that is followed": "f(2).then(() => {})",
    "promises that are kept": "const all = [2, 3].map((n) => f(n)); (async () => { for (const one of all) assert(await one) })()",
    "a field that is set": "const got = f(2); got.x = 3; assert(got.x)",
    "a field that counts": "const got = f(2); got[0].x++; assert(got)",
    "a field that is removed": "const got = f(2); delete got['x']; assert(got)",
    "the first that settles": "(async () => { assert.strictEqual(await Promise.race([f(9), f(1)]), 1) })()",
}


@pytest.mark.parametrize("name", KNOWN_TWICE)
def test_tests_that_know_an_object_twice_are_judged_in_one_program(name: str) -> None:
    before, given, expected = KNOWN_TWICE[name]
    assert (
        taken_apart(f"{before}\nconst got = f({given})\nassert.deepEqual(got, {expected})") is None
    )


@pytest.mark.parametrize("tests", KNOWN_ONCE.values(), ids=KNOWN_ONCE)
def test_tests_that_know_an_object_once_are_taken_apart(tests: str) -> None:
    assert taken_apart(f"const assert = require('assert')\n{tests}") is not None


@pytest.mark.parametrize("tests", ONE_PROGRAM.values(), ids=ONE_PROGRAM)
def test_names_that_could_be_the_solutions_are_judged_in_one_program(tests: str) -> None:
    assert taken_apart(f"const assert = require('assert')\n{tests}") is None


HELPERS = {
    "runs text": "const run = (x) => eval(x)",
    "has another module": "const fs = require('fs')",
    "names one later": "const load = (x) => require(x)",
    "has fields that only its constructor makes": "class Stack { #at = 1; get at() { return this.#at } }",
    "extends what is frozen": "class Stack extends Array { of() { this.at = 1 } }",
}


@pytest.mark.parametrize("helper", HELPERS.values(), ids=HELPERS)
def test_a_prompt_that_the_lock_would_break_is_not_taken_apart(helper: str) -> None:
    assert (
        taken_apart("console.assert(f(1) === 1)", f"{helper}\n// Adds.\nconst f = (x) => {{")
        is None
    )
