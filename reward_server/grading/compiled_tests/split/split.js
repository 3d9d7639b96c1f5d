"use strict";
// Both ends of a test program that was split; the wire is described beside this file.
// The solution's end runs beside untrusted code, and promises nothing. The tests' end reads what
// comes from there like bytes from an enemy: all that it makes of them is plain data.

const { readFileSync, readSync, writeSync } = require("fs");
const { isNativeError } = require("util").types;

const READ = 3, WRITE = 4;
const MOST_DEPTH = 1000, MOST_BYTES = 1 << 26, MOST_ITEMS = 1 << 20;
const SURROGATE = /\p{Surrogate}/u;
const USUAL = { writable: true, enumerable: true, configurable: true };
const HOLE = Symbol("hole"); // no item of an array
const ENDLESS = Symbol("endless"); // behind the items of an iterator that gives more
const ERRORS = {
  Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError,
};

function readExactly(size) {
  const data = Buffer.allocUnsafe(size);
  for (let at = 0; at < size; ) {
    const count = readSync(READ, data, at, size - at);
    if (count === 0) return null;
    at += count;
  }
  return data;
}

function readFrame() {
  const size = readExactly(4);
  return size && readExactly(size.readUInt32BE());
}

function writeFrame(payload) {
  const size = Buffer.allocUnsafe(4);
  size.writeUInt32BE(payload.length);
  const data = Buffer.concat([size, payload]);
  for (let at = 0; at < data.length; ) at += writeSync(WRITE, data, at);
}

class NoDataError extends Error {}

// Ends the program, and says why.
function leave(why) {
  writeSync(2, `split: ${why}\n`);
  process.reallyExit(1);
}

// ------------------------------------------------------------------------------ values

class Writer {
  constructor(kind, number, isExact = false) {
    this.isExact = isExact;
    this.around = [];
    this.data = Buffer.allocUnsafe(512);
    this.size = 0;
    this.tag(kind);
    this.u32(number);
  }

  room(size) {
    if (this.size + size > MOST_BYTES) throw new NoDataError("a value is too large");
    if (this.size + size > this.data.length) {
      const data = Buffer.allocUnsafe(2 * (this.size + size));
      this.data.copy(data, 0, 0, this.size);
      this.data = data;
    }
    this.size += size;
    return this.size - size;
  }

  tag(letter) { const at = this.room(1); this.data[at] = letter.charCodeAt(0); }
  u32(number) { const at = this.room(4); this.data.writeUInt32BE(number, at); }
  f64(number) { const at = this.room(8); this.data.writeDoubleBE(number, at); }
  bytes(data) { const at = this.room(data.length); data.copy(this.data, at); }

  text(text) {
    const data = Buffer.from(text);
    this.u32(data.length);
    this.bytes(data);
  }

  string(text) {
    if (!SURROGATE.test(text)) { this.tag("s"); this.text(text); return; }
    const data = Buffer.from(text, "utf16le");
    this.tag("v"); this.u32(data.length); this.bytes(data);
  }

  value(value, depth = 0) {
    if (value === null) return this.tag("n");
    switch (typeof value) {
      case "undefined": return this.tag("u");
      case "boolean": return this.tag(value ? "t" : "f");
      case "number": this.tag("d"); return this.f64(value);
      case "bigint": this.tag("I"); return this.text(value.toString());
      case "string": return this.string(value);
      default: return value === HOLE ? this.tag("h") : value === ENDLESS ? this.tag("z") : this.object(value, depth);
    }
  }

  object(object, depth) {
    if (depth > MOST_DEPTH) throw new NoDataError("a value is nested too deep");
    if (has(object, "next") && has(object, Symbol.iterator)) {
      return this.items("i", drained(object), depth);
    }
    this.around.length = depth;
    const [tag, parts, ...more] = this.around.includes(object) ? CYCLE : looks(object);
    this.around.push(object);
    if (more.length === 0) return this.items(tag, parts, depth);
    if (this.isExact) throw new NoDataError("an argument is no plain data");
    return this.items("q", [tag, parts, ...more], depth);
  }

  items(tag, items, depth) {
    this.tag(tag);
    this.u32(items.length);
    for (const item of items) this.value(item, depth + 1);
  }

  get payload() { return this.data.subarray(0, this.size); }
}

// Returns what an iterator gives, as far as it may cross.
function drained(iterator) {
  const items = [];
  for (const item of iterator) {
    if (items.length === MOST_ITEMS) { items.push(ENDLESS); break; }
    items.push(item);
  }
  return items;
}

function* given(items) {
  for (const item of items) {
    if (item === ENDLESS) leave("an iterator gave more than may cross");
    yield item === HOLE ? undefined : item;
  }
}

function said(kind, message) {
  const text = Buffer.from(message), frame = new Writer(kind, text.length);
  frame.bytes(text);
  return frame.payload;
}

class Reader {
  constructor(data, at) {
    this.data = data;
    this.at = at;
  }

  get left() { return this.data.length - this.at; }

  take(size) {
    if (size > this.left) throw new TypeError("a value is cut short");
    this.at += size;
    return this.at - size;
  }

  letter() { return String.fromCharCode(this.data[this.take(1)]); }
  u32() { return this.data.readUInt32BE(this.take(4)); }
  f64() { return this.data.readDoubleBE(this.take(8)); }

  bytes() {
    const size = this.u32(), at = this.take(size);
    return this.data.subarray(at, at + size);
  }

  text() { return this.bytes().toString("utf8"); }

  value(depth = 0) {
    const letter = this.letter();
    switch (letter) {
      case "n": return null;
      case "u": return undefined;
      case "h": return HOLE;
      case "z": return ENDLESS;
      case "t": return true;
      case "f": return false;
      case "d": return this.f64();
      case "s": return this.text();
      case "v": return this.bytes().toString("utf16le");
      case "I": return this.integer();
      default: return this.object(letter, depth);
    }
  }

  integer() {
    const digits = this.text();
    if (!/^-?[0-9]+$/.test(digits)) throw new TypeError("an integer has no digits");
    return BigInt(digits);
  }

  object(letter, depth) {
    if (depth > MOST_DEPTH) throw new TypeError("a value is nested too deep");
    const items = this.items(depth);
    if (letter === "i") return given(items);
    if (letter === "q") return looked(items);
    const [, , , make] = KINDS.find(([tag]) => tag === letter) ?? [];
    return make(items); // there is none of another tag
  }

  items(depth) {
    const count = this.u32(), items = [];
    if (count > this.left) throw new TypeError("a count is larger than what follows");
    for (let at = 0; at < count; at++) items.push(this.value(depth + 1));
    return items;
  }

  ended() {
    if (this.left) throw new TypeError("there is more behind the last value");
  }
}

function filled(items) {
  items.forEach((item, at) => { if (item === HOLE) delete items[at]; });
  return items;
}

function pairs(items) {
  if (items.length % 2) throw new TypeError("a key has no value");
  return items.flatMap((key, at) => (at % 2 ? [] : [[key, items[at + 1]]]));
}

// Neither a setter nor a prototype takes part in this.
function defined(object, items, more = {}) {
  for (const [key, value] of pairs(items)) {
    if (typeof key !== "string") throw new TypeError("a field has no name");
    Object.defineProperty(object, key, { ...USUAL, ...more, value });
  }
  return object;
}

// ------------------------------------------------------------------- values that have parts

const has = (object, name) => typeof object[name] === "function";
const instance = (maker) => (value) => value instanceof maker;
const flat = (names, value) => names.flatMap((name) => [name, value[name]]);

// Their kinds: the tag, which values are of a kind, their parts, and what is made of parts. A value
// whose tag is a word is never plain: one may look at it, and call nothing of it.
const KINDS = [
  ["function", (value) => typeof value === "function", () => [], () => () => leave("an answer is called")],
  ["symbol", (value) => typeof value === "symbol", (value) => [value.description], ([text]) => Object(Symbol(text))],
  ["promise", instance(Promise), () => [], () => new Promise(() => {})],
  ...Object.entries(ERRORS).reverse().map(([name, maker]) => [
    name, (value) => isNativeError(value) && value instanceof maker,
    (value) => [value.message], ([text]) => new maker(text),
  ]),
  ["l", Array.isArray, (value) => Array.from(value, (item, at) => (at in value ? item : HOLE)), filled],
  ["m", instance(Map), (value) => [...value].flat(1), (items) => new Map(pairs(items))],
  ["e", instance(Set), (value) => [...value], (items) => new Set(items)],
  ["D", instance(Date), (value) => [value.getTime()], ([time]) => new Date(time)],
  ["iterable", (value) => has(value, Symbol.iterator), drained,
    (items) => Object.defineProperty({}, Symbol.iterator, { value: () => given(items) })],
  ["r", () => true, (value) => Object.entries(value).flat(1), (items) => defined({}, items)],
];
const COUNTS = ["length", "size"]; // of a value with items, only if there are so many
const SHOWN = [...COUNTS, "name", "message"]; // also of a prototype, and if computed
const CYCLE = ["r", [], [], [], [], true]; // stands for a value in itself
const SAYING = ["toString", "valueOf", "toJSON"]; // what a value says of itself

// Returns a value's tag and parts; if it is more than these, also its further fields, what is shown
// and said of it, and whether its class or a key is the solution's own.
function looks(value) {
  const [tag, , told, make] = KINDS.find(([, is]) => is(value));
  const parts = told(value), like = make([...parts]);
  const base = Object.getPrototypeOf(like), symbols = Object.getOwnPropertySymbols(value);
  const isOwn = Object.getPrototypeOf(Object(value)) !== base || symbols.length > 0;
  const fields = Object.keys(value).filter((name) => !Object.hasOwn(like, name));
  const counts = tag === "iterable" ? [parts.length] : tag.length > 1 || tag === "r" ? [value.length, value.size] : [];
  const shown = SHOWN.filter((name) => !fields.includes(name) && value[name] !== like[name]
    && (!COUNTS.includes(name) || counts.includes(value[name])));
  const said = SAYING.filter((name) => has(value, name) && value[name] !== base[name]);
  if (tag.length === 1 && !isOwn && ![fields, shown, said].some((names) => names.length)) return [tag, parts];
  const says = said.flatMap((name) => [name, saying(value, name)]);
  return [tag, parts, flat(fields, value), flat(shown, value), says, isOwn];
}

function saying(value, name) {
  if (name === "toJSON") return JSON.parse(JSON.stringify(value) ?? "null");
  const said = value[name]();
  return Object(said) === said ? null : said;
}

function looked([tag, parts, fields, shown, said, isOwn]) {
  const [, , , make] = KINDS.find(([one]) => one === tag), made = make(parts);
  if (tag === "symbol") return made.valueOf();
  if (isOwn) Object.setPrototypeOf(made, Object.create(Object.getPrototypeOf(made)));
  defined(defined(made, fields), shown, { enumerable: false });
  for (const [name, value] of pairs(said)) {
    if (!SAYING.includes(name)) throw new TypeError("a value says what is not on the list");
    const enumerable = Object.hasOwn(made, name);
    Object.defineProperty(made, name, { ...USUAL, enumerable, value: () => value });
  }
  return made;
}

// --------------------------------------------------------------------------- the tests' end

let calls = 0;

// Returns a function that has the solution's of that name called.
exports.stub = (name) => (...args) => {
  const call = new Writer("C", ++calls, true);
  try {
    call.text(name);
    call.items("l", args, 0);
  } catch (error) {
    writeFrame(said("S", error.message));
    process.reallyExit(1); // tests could take it for an exception
  }
  writeFrame(call.payload);
  const answer = readFrame();
  if (answer === null) process.reallyExit(1);
  const value = heard(answer);
  if (answer[0] === "E".charCodeAt(0)) throw value;
  return value;
};

// Returns what an answer holds, once it was read to its end.
function heard(answer) {
  try {
    const reader = new Reader(answer, 5), value = reader.value();
    reader.ended();
    return value;
  } catch (error) {
    writeFrame(said("F", error.message));
    return process.reallyExit(1);
  }
}

// ------------------------------------------------------------------------- the solution's end

// Loads a solution, whose module exports what can be called, and answers calls for ever.
exports.load = (file) => {
  let functions;
  try {
    functions = require(file);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    try {
      new (require("vm").Script)(`(function () {${readFileSync(require.resolve(file), "utf8")}\n})`);
    } catch (refusal) {
      writeFrame(said("X", `${refusal.name}: ${refusal.message}`));
      process.reallyExit(1);
    }
    throw error;
  }
  exports.serve(functions);
};

// Answers calls for ever.
exports.serve = (functions) => {
  for (let call = readFrame(); call !== null; call = readFrame()) {
    const reader = new Reader(call, 5), name = reader.text(), number = call.readUInt32BE(1);
    const args = reader.value();
    try {
      if (typeof functions[name] !== "function") throw new ReferenceError(`${name} is not defined`);
      writeFrame(answer("R", number, functions[name](...args)));
    } catch (error) {
      writeFrame(answer("E", number, error));
    }
  }
  process.reallyExit(0);
};

// What cannot cross ends the program: tests could take it for an exception.
function answer(kind, number, value) {
  const frame = new Writer(kind, number);
  try {
    frame.value(value);
  } catch (error) {
    if (kind === "E" || error instanceof NoDataError) leave(error.message);
    throw error;
  }
  return frame.payload;
}
