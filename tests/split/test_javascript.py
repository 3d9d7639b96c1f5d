# programs in another language
"""What a text that the solution chose can reach in the tests' program of JavaScript."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from reward_server.grading.compiled_tests.split import SPLITTERS, Split, Task
from reward_server.languages import load_languages
from tests.attacks.attack import code
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
