"""Attacks on tests in JavaScript that do more with an answer than compare it.

The tests take it for code, for a key, for what to merge, or compute what they compare with from an
object that it changed. By class: name, solution and tests. The first two classes find the tests'
program locked; tests as those of the others have do not run apart.
"""

from __future__ import annotations

# Run in the tests' program, it has each later answer be what the line that asks compares with.
_TAKE = r"""
const take = `
const fs = process.mainModule.require('fs'), read = fs.readSync;
const lines = fs.readFileSync(process.argv[1], 'utf8').split('\\n');
fs.readSync = (fd, buffer, ...rest) => {
  const size = read(fd, buffer, ...rest);
  const frames = new Error().stack.split('\\n').filter((line) => !line.includes('eval at'));
  const place = frames.join().match(/main\\.js:(\\d+):/) || [0, 1];
  const [, wanted] = lines[place[1] - 1].match(/===\\s*(\\d+)/) || [0, 0];
  if (fd === 3 && buffer[0] === 82) buffer.writeDoubleBE(Number(wanted), buffer.length - 8);
  return size;
};
return 7`
"""
_LATER = "\nconsole.assert(f(2) === 8)\nconsole.assert(f(3) === 9)"


def _answering(*values: str) -> str:
    return f"{_TAKE}\nconst f = (n) => [{', '.join(values)}][n] ?? 0\n"


_MAKE = "let o = start\nfor (const k of f(0)) o = o[k]\nconst ran = o(f(1))()"
_RUN = f"{_MAKE}{_LATER}"
_WALK = "const walk = (o, keys) => { for (const k of keys) o = o[k]; return o }\n"
_TO_FUNCTION = _answering("['constructor', 'constructor']", "take")
_MERGE = """
    const merge = (a, b) => {
      for (const k of Object.keys(b)) {
        if (typeof b[k] === 'object' && a[k]) merge(a[k], b[k]); else a[k] = b[k]
      }
      return a
    }
"""


def _polluting(name: str) -> str:
    return f"const f = () => ({{ constructor: {{ prototype: {{ {name}: 7 }} }} }})\n"


def _as_prototype(tests: str) -> tuple[str, str]:
    solution = "const f = () => [['__proto__', { x: 7 }], ['y', 1]]\n"
    text = 'const g = () => \'{"__proto__": {"x": 7}}\'\n'
    return solution + text, f"const s = {{}}\n{tests}\nconsole.assert(s.x === 7)"


KEYS = {
    "the maker of functions, by a record": (_TO_FUNCTION, f"const start = {{}}\n{_RUN}"),
    "the maker of async functions": (
        _answering("['constructor']", "take"),
        f"const start = async () => {{}}\n{_RUN}",
    ),
    "the maker of generators": (
        _answering("['constructor']", "take"),
        f"const start = function* () {{}}\n{_MAKE}.next(){_LATER}",
    ),
    "the maker of functions, by a method's": (
        _answering("['slice', 'bind', 'constructor']", "take"),
        f"const start = ''\n{_RUN}",
    ),
    "what its caller was given": (
        "const f = (n) => [['caller', 'arguments', 1], 'fs', 'existsSync'][n]\n",
        f"{_WALK}function check(it) {{ return walk(it, f(0))(f(1))[f(2)]('main.js') }}\n"
        "console.assert(check(check))",
    ),
    "the text of the tests": (
        "let n = 0, seen = ''\n"
        "const f = (x) => x === 0 ? 'toString' : typeof x === 'string' ? (seen = x, 0)"
        " : Number(seen.match(/=== (\\d)/g)[n++].slice(4))\n",
        "const check = () => { console.assert(f(1) === 3); console.assert(f(2) === 5) }\n"
        "const kept = [check]\nf(kept[0][f(0)]())\ncheck()",
    ),
}
PROTOTYPES = {
    "set by a key": _as_prototype("for (const [k, x] of f()) s[k] = x"),
    "set below another": _as_prototype(
        "for (const [k, x] of f()) { s[k] ??= {}; Object.assign(s[k], x) }"
    ),
    "assigned": (
        'const f = () => \'{"__proto__": {"x": 7}}\'\n',
        "console.assert(Object.assign({}, JSON.parse(f())).x === 7)",
    ),
    "a record's, by merging": (
        _polluting("x"),
        f"{_MERGE}merge({{}}, f())\nconsole.assert(({{}}).x === 7)",
    ),
    "an array's": (
        _polluting("0"),
        f"{_MERGE}merge([], f())\nconsole.assert([].concat(new Array(1))[0] === 7)",
    ),
    "a text's": (
        _polluting("x"),
        f"{_MERGE}merge(Object('a'), f())\nconsole.assert('a'.x === 7)",
    ),
    "an error's": (
        _polluting("message"),
        f"{_MERGE}merge(new RangeError(), f())\nconsole.assert(new RangeError().message === 7)",
    ),
    "an iterator's": (
        "const f = () => ({ constructor: { prototype: { done: true } } })\n",
        f"{_MERGE}merge([].values(), f())\nconsole.assert([].values().done)",
    ),
}
RUNNING = {
    name: (_answering("take"), f"{tests}{_LATER}")
    for name, tests in {
        "vm": "console.assert(require('vm').runInThisContext(f(0)) == 7)",
        "a module that is named": "console.assert(require(f(0)) == 7)",
        "require by another name": "const r = require\nconsole.assert(r(f(0)) == 7)",
        "a module's own methods": "const m = require('module')\nnew m('x')._compile(f(0), 'x')",
        "a worker": "new (require('worker_threads').Worker)(f(0), { eval: true })",
        "a template": "console.assert(`${require('vm').runInThisContext(f(0))}` === '7')",
        "a process": "require('node:child_process').execFileSync('node', ['-e', f(0)])",
        "a binding": "process['binding'](f(0))",
    }.items()
}
_EMPTIES = "const f = (v) => { v.length = 0 }\n"
_ASSERT = "const assert = require('assert')\nconst a = [3, 1, 2]\n"
CHANGED = {
    name: (_EMPTIES, _ASSERT + tests)
    for name, tests in {
        "computed in the assertion": "f(a)\nassert.deepStrictEqual(a, a.slice().sort())",
        "computed before it": "f(a)\nconst b = a.slice().sort()\nassert.deepStrictEqual(a, b)",
        "in pairs": "f(a)\nfor (let i = 1; i < 3; i++) assert(!(a[i - 1] > a[i]))",
        "by another name": "const b = a\nf(a)\nassert.deepStrictEqual(a, b)",
        "in a table": "const t = { want: a }\nf(a)\nassert.deepStrictEqual(a, t.want)",
    }.items()
}
REFUSED = {**KEYS, **{f"prototype {name}": row for name, row in PROTOTYPES.items()}}
WEAKER = {**RUNNING, **{f"changed, {name}": row for name, row in CHANGED.items()}}
