"use strict";
// Both ends of a test program that was split; the wire is described beside this file.
// The solution's end runs beside untrusted code, and promises nothing. The tests' end reads what
// comes from there like bytes from an enemy: all that it makes of them is plain data.

const { readFileSync, readSync, writeSync } = require("fs");
const { isNativeError } = require("util").types;

const READ = 3, WRITE = 4;
const MOST_DEPTH = 1000, MOST_BYTES = 1 << 26, MOST_ITEMS = 1 << 22;
const SURROGATE = /\p{Surrogate}/u;
const USUAL = { writable: true, enumerable: true, configurable: true };
const HOLE = Symbol("hole"); // no item of an array
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
class MalformedError extends Error {}

// Ends the program, and says why.
function leave(why) {
  writeSync(2, `split: ${why}\n`);
  process.reallyExit(1);
}

// ------------------------------------------------------------------------------ values

class Writer {
  constructor(kind, number) {
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
      case "object": return this.object(value, depth);
      default: if (value === HOLE) return this.tag("h"); throw new NoDataError(`a ${typeof value} is no data`);
    }
  }

  object(object, depth) {
    if (depth > MOST_DEPTH) throw new NoDataError("a value is nested too deep");
    if (object instanceof Date) { this.tag("D"); return this.f64(object.getTime()); }
    if (object instanceof Map) return this.items("m", [...object].flat(1), depth);
    if (object instanceof Set) return this.items("e", [...object], depth);
    if (Array.isArray(object)) {
      const items = Array.from(object, (item, at) => (at in object ? item : HOLE));
      return this.items("l", items, depth);
    }
    if (object instanceof Promise) return this.items("r", [], depth); // nothing can be asked of it
    if (typeof object.next === "function" && typeof object[Symbol.iterator] === "function") {
      return this.items("i", drained(object), depth);
    }
    if (isNativeError(object) || ArrayBuffer.isView(object) || object instanceof RegExp
      || object instanceof WeakMap || object instanceof WeakSet) {
      throw new NoDataError(`a ${object.constructor?.name} is no data`);
    }
    return this.items("r", Object.entries(object).flat(1), depth);
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
    if (items.push(item) > MOST_ITEMS) throw new NoDataError("an iterator gives too much");
  }
  return items;
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
    if (size > this.left) throw new MalformedError("a value is cut short");
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
      case "t": return true;
      case "f": return false;
      case "d": return this.f64();
      case "D": return new Date(this.f64());
      case "s": return this.text();
      case "v": return this.bytes().toString("utf16le");
      case "I": return this.integer();
      default: return this.object(letter, depth);
    }
  }

  integer() {
    const digits = this.text();
    if (!/^-?[0-9]+$/.test(digits)) throw new MalformedError("an integer has no digits");
    return BigInt(digits);
  }

  object(letter, depth) {
    if (depth > MOST_DEPTH) throw new MalformedError("a value is nested too deep");
    const items = this.items(depth);
    if (letter === "l") return filled(items);
    if (letter === "i") return filled(items).values();
    if (letter === "e") return new Set(items);
    if (items.length % 2) throw new MalformedError("a key has no value");
    const pairs = [];
    for (let at = 0; at < items.length; at += 2) pairs.push([items[at], items[at + 1]]);
    if (letter === "m") return new Map(pairs);
    if (letter === "r") return record(pairs);
    throw new MalformedError("a value has no tag that is known");
  }

  items(depth) {
    const count = this.u32(), items = [];
    if (count > this.left) throw new MalformedError("a count is larger than what follows");
    for (let at = 0; at < count; at++) items.push(this.value(depth + 1));
    return items;
  }

  ended() {
    if (this.left) throw new MalformedError("there is more behind the last value");
  }
}

function filled(items) {
  items.forEach((item, at) => { if (item === HOLE) delete items[at]; });
  return items;
}

// Neither a setter nor a prototype takes part in this.
function record(pairs) {
  const made = {};
  for (const [key, value] of pairs) {
    if (typeof key !== "string") throw new MalformedError("a field has no name");
    Object.defineProperty(made, key, { ...USUAL, value });
  }
  return made;
}

// --------------------------------------------------------------------------- the tests' end

let calls = 0;

// Returns a function that has the solution's of that name called.
exports.stub = (name) => (...args) => {
  calls += 1;
  const call = new Writer("C", calls);
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
    const reader = new Reader(answer, 5);
    const value = answer[0] === "R".charCodeAt(0) ? reader.value() : raised(reader);
    reader.ended();
    return value;
  } catch (error) {
    writeFrame(said("F", error.message));
    return process.reallyExit(1);
  }
}

// An own class of the solution's comes as an error of its name.
function raised(reader) {
  const made = reader.value(), name = reader.value(), own = reader.value();
  const message = reader.value(), fields = Object.entries(reader.value());
  if (made === "") return message; // what was thrown is a value
  if (!Object.hasOwn(ERRORS, made)) throw new MalformedError("an error has no class that is known");
  const error = new ERRORS[made](String(message));
  if (own) Object.defineProperty(error, "name", { value: String(name), configurable: true });
  for (const [key, value] of fields) Object.defineProperty(error, key, { ...USUAL, value });
  return error;
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

// Answers calls for ever. What cannot cross ends the program: tests could take it for an exception.
exports.serve = (functions) => {
  for (let call = readFrame(); call !== null; call = readFrame()) {
    const reader = new Reader(call, 5), name = reader.text(), number = call.readUInt32BE(1);
    let frame = new Writer("R", number);
    try {
      const args = reader.value();
      if (typeof functions[name] !== "function") throw new ReferenceError(`${name} is not defined`);
      frame.value(functions[name](...args));
    } catch (error) {
      if (error instanceof NoDataError) leave(error.message);
      frame = failure(number, error);
    }
    writeFrame(frame.payload);
  }
  process.reallyExit(0);
};

const isData = ([, value]) => typeof value !== "function";

function failure(number, error) {
  const frame = new Writer("E", number), isError = isNativeError(error);
  const made = Object.keys(ERRORS).findLast((name) => error instanceof ERRORS[name]);
  try {
    frame.value(isError ? made ?? "Error" : "");
    frame.value(isError ? String(error.name) : "");
    frame.value(isError && error.name !== (made ?? "Error"));
    frame.value(isError ? String(error.message) : error);
    frame.items("r", isError ? Object.entries(error).filter(isData).flat(1) : [], 0);
  } catch (refusal) {
    leave(refusal.message);
  }
  return frame;
}
