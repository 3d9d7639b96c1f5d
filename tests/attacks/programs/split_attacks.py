"""Attacks on a solution's program that answers calls of tests which it cannot see.

The problem is that of `program_attacks`: the middle one of three numbers, and their order as text.
By class: each has three members at least.
"""

from __future__ import annotations

from tests.attacks.attack import code

# What a solution may write to the pipe that its answers go through.
_FRAMES = code("""
    const fs = require('fs');
    const u32 = (v) => { const n = Buffer.alloc(4); n.writeUInt32BE(v); return n };
    const text = (s) => Buffer.concat([u32(s.length), Buffer.from(s, 'latin1')]);
    const bytes = (p) => typeof p === 'string' ? Buffer.from(p, 'latin1') : p;
    const frame = (...parts) => {
      const b = Buffer.concat(parts.map(bytes));
      fs.writeSync(4, Buffer.concat([u32(b.length), b]));
    };
    let asked = 0;
    const head = (...parts) => { asked += 1; return ['R', u32(asked), ...parts] };
    const forge = (...parts) => frame(...head(u32(0), u32(0), u32(1)), ...parts);
    const made = (kind, ...parts) => frame(...head(u32(1), text(kind)), ...parts);
""")
_GARBAGE = code("""
    const middle = (v) => -1
    const order = (v) => []
""")


def _answering(value: str, head: str = "") -> str:
    return f"{code(head)}\nconst middle = (v) => {value}\nconst order = (v) => {value}\n"


def _forging(*statements: str) -> str:
    body = "; ".join(statements)
    return _FRAMES + code(f"""
        const middle = (v) => {{ {body}; return 2 }}
        const order = (v) => {{ {body}; return ['a', 'b', 'c'] }}
    """)


READERS = {
    "its own folder": _answering(
        "found.shift()",
        """
        const fs = require('fs')
        const read = (name) => fs.readFileSync(name, 'utf8').match(/\\b[2-9]\\b/g) || []
        const found = fs.readdirSync('.').flatMap(read).map(Number)
        """,
    ),
    "the stack of who calls": _answering(
        "Number((new Error().stack.match(/=== (\\d)/) || [0, 2])[1])", "Error.stackTraceLimit = 100"
    ),
    "other processes and descriptors": _answering(
        "Number(seen.match(/[258]/)?.[0])",
        """
        const fs = require('fs')
        let seen = ''
        const names = ['cmdline', 'environ', 'maps', 'fd/5', 'fd/6', 'fd/7', 'cwd/main.js']
        for (const pid of fs.readdirSync('/proc').filter((name) => /^\\d+$/.test(name)))
          for (const name of names)
            try { seen += fs.readFileSync(`/proc/${pid}/${name}`, 'latin1') } catch { }
        """,
    ),
    "all that is loaded": _answering(
        "Object.keys(require.cache).length",
        "require('module').prototype.require = function () { return {} }",
    ),
}

FORGED = {
    "answers for the next calls, too": _forging("for (let n = 1; n < 9; n++) { forge('n') }"),
    "a call of its own": _forging("frame('C', u32(1), text('middle'), u32(0))"),
    "the word that its answer is malformed": _forging("frame('F', text('no'))"),
    "an answer to another call": _forging("frame('R', u32(77), u32(1), 'n')"),
    "a length without an end": _forging("fs.writeSync(4, Buffer.alloc(9, 255))"),
    "a count that nothing follows": _forging(
        "frame(...head(u32(0), u32(0), u32(0xffffffff)))", "process.exit()"
    ),
    "an unknown tag": _forging("forge('?')", "process.exit()"),
    "more than one value": _forging("forge('n', 'n')", "process.exit()"),
    "a record with a prototype": _forging(
        "made('record', text('Object'), u32(1), u32(0), u32(4), 'd', Buffer.alloc(8), 's',"
        " text('__proto__'), 'n', 'n', u32(1), 'n')",
        "process.exit()",
    ),
    "an object that nobody knows": _forging("forge('@', u32(77))", "process.exit()"),
    "a change of one that nobody knows": _forging(
        "frame(...head(u32(0), u32(1), u32(9), u32(1)), 'n', u32(1), 'n')", "process.exit()"
    ),
    "an object of no known kind": _forging("made('class', text('Object'))", "process.exit()"),
    "a prototype of no known name": _forging("made('array', text('#5'))", "process.exit()"),
    "a view of what is no buffer": _forging(
        "made('view', text('Uint8Array'), u32(0), u32(0), u32(9), text('Object'))",
        "process.exit()",
    ),
    "an array of more items than follow": _forging(
        "made('array', text('Array'), u32(1), u32(0), u32(2), 'd', Buffer.alloc(8), 'd',"
        " Buffer.from([65, 240, 0, 0, 0, 0, 0, 0]), u32(1), 'n')",
        "process.exit()",
    ),
    "nothing, with its pipes closed": _forging(
        "fs.closeSync(3)", "fs.closeSync(4)", "process.exit()"
    ),
    "what it reads from its own pipe": _forging(
        "fs.writeSync(fs.openSync('/proc/self/fd/3', 'w'), Buffer.from([0, 0, 0, 1, 82]))"
    ),
}

ENDLESS = {
    "an iterator": _answering("(function* () { for (;;) yield 1 })()"),
    "a promise": _answering("new Promise(() => setInterval(() => {}, 1000))"),
    "a text": _answering("'x'.repeat(1 << 28)"),
    "an array": _answering("Array(1 << 25).fill(1)"),
    "an object that holds itself": _answering("{ const a = []; a.push(a); return a }"),
    "a getter": _answering("({ get a() { for (;;); } })"),
}

LEAVERS = {
    "quietly": _answering("process.exit(0)"),
    "past every handler": _answering("process.reallyExit(0)"),
    "by a signal": _answering("process.kill(process.pid, 'SIGTERM')"),
    "once it was asked": _GARBAGE + "setTimeout(() => process.exit(0), 1)\n",
    "with all processes": _answering("process.kill(-1, 'SIGKILL')"),
    "by a thrown nothing": _answering("{ throw undefined }"),
}

EQUAL_TO_EVERYTHING = {
    "by its value": _answering("({ valueOf() { return 2 }, toString() { return '2' } })"),
    "by a primitive": _answering("({ [Symbol.toPrimitive]: () => 2 })"),
    "by JSON": _answering("({ toJSON() { return ['b', 'c', 'a'] } })"),
    "by a getter of another value each time": _answering(
        "[{ get a() { return 'abc'[n++ % 3] } }]", "let n = 0"
    ),
    "by a proxy": _answering(
        "new Proxy([], { get: (o, name) => name === 'length' ? 3 : 'b', has: () => true })"
    ),
    "as a class called Array": _answering("new (class Array { length = 3 })()"),
    "as a function": _answering("Object.assign(() => 2, { valueOf: () => 2 })"),
    "as a symbol": _answering("Symbol.for('2')"),
    "as no number": _answering("NaN"),
    "as nothing": _answering("undefined"),
    "with prototypes of everything polluted": _answering(
        "({})",
        """
        for (const one of [Object, Array, Number, String, Function])
          for (const name of ['toJSON', 'valueOf', 'toString'])
            one.prototype[name] = () => 2
        """,
    ),
    "by what it makes of its argument": _answering("{ v.length = 0; return v }"),
    "by an exception that asserts": _answering(
        "{ const e = new Error('ok'); e.name = 'AssertionError'; e.code = 'ERR_OK'; throw e }"
    ),
}

CLASSES = {
    "reads": READERS,
    "forges": FORGED,
    "does not end": ENDLESS,
    "leaves": LEAVERS,
    "equals": EQUAL_TO_EVERYTHING,
}
