"use strict";
// Both ends of a test program that was taken apart; the wire is described beside this file.
// The solution's end runs beside untrusted code, and promises nothing. The tests' end reads what
// comes from there like bytes from an enemy: all that it makes of them is plain data.

const { readFileSync, readSync, writeSync } = require("fs");

const READ = 3, WRITE = 4;
const MOST_DEPTH = 500, MOST_ITEMS = 1 << 20;
const PLAIN = "", BARE = "null"; // type names: an object literal's, and one's without a prototype
const SURROGATE = /\p{Surrogate}/u;
const HOLE = "h".charCodeAt(0), RAISED = "E".charCodeAt(0);
const NAME = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;
const ERRORS = { Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
const VIEWS = {
  Uint8Array, Int8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array,
  Float32Array, Float64Array, BigInt64Array, BigUint64Array, Buffer,
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

// ------------------------------------------------------------------------------------ writing

class NoDataError extends TypeError {}

class Writer {
  constructor(kind, number, classes) {
    this.classes = classes;
    this.data = Buffer.allocUnsafe(512);
    this.size = 0;
    this.tag(kind);
    this.u32(number);
  }

  room(size) {
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
    const size = Buffer.byteLength(text);
    this.u32(size);
    const at = this.room(size);
    this.data.write(text, at);
  }

  string(text) {
    if (!SURROGATE.test(text)) { this.tag("s"); this.text(text); return; }
    const data = Buffer.from(text, "utf16le");
    this.tag("v"); this.u32(data.length); this.bytes(data);
  }

  items(letter, count, items, depth) {
    this.tag(letter); this.u32(count);
    for (const item of items) this.value(item, depth);
  }

  value(value, depth = 0) {
    if (depth > MOST_DEPTH) throw new NoDataError("the value is nested too deeply");
    switch (typeof value) {
      case "undefined": return this.tag("u");
      case "boolean": return this.tag(value ? "t" : "f");
      case "number": this.tag("d"); return this.f64(value);
      case "bigint": this.tag("I"); return this.text(value.toString());
      case "string": return this.string(value);
      case "object": return value === null ? this.tag("n") : this.object(value, depth + 1);
      default: throw new NoDataError(`a ${typeof value} is no data`);
    }
  }

  object(value, depth) {
    if (Array.isArray(value)) return this.array(value, depth);
    if (value instanceof Map) {
      return this.items("m", value.size, Array.from(value).flat(1), depth);
    }
    if (value instanceof Set) return this.items("e", value.size, value, depth);
    if (value instanceof Date) { this.tag("D"); return this.f64(value.getTime()); }
    if (value instanceof Error) { this.tag("x"); return this.error(value, depth); }
    if (ArrayBuffer.isView(value)) return this.view(value);
    const type = this.type(value);
    if (typeof value[Symbol.iterator] === "function" && typeof value.next === "function") {
      return this.iterated(value, depth);
    }
    return this.record(type, value, depth);
  }

  array(value, depth) {
    this.tag("l"); this.u32(value.length);
    for (let at = 0; at < value.length; at++) {
      if (at in value) this.value(value[at], depth); else this.tag("h");
    }
  }

  iterated(value, depth) {
    const items = [];
    for (const item of value) {
      if (items.push(item) > MOST_ITEMS) throw new NoDataError("the iteration has no end");
    }
    this.items("l", items.length, items, depth);
  }

  view(value) {
    const name = value.constructor.name;
    if (VIEWS[name] === undefined) throw new NoDataError(`a ${name} is no data`);
    this.tag("y"); this.text(name); this.u32(value.byteLength);
    this.bytes(Buffer.from(value.buffer, value.byteOffset, value.byteLength));
  }

  type(value) {
    const prototype = Object.getPrototypeOf(value);
    if (prototype === null) return BARE;
    const name = prototype.constructor?.name;
    if (prototype === Object.prototype || name === "Object") return PLAIN;
    return typeof name === "string" && NAME.test(name) ? name : "Anonymous";
  }

  record(type, value, depth, keys = Object.keys(value)) {
    this.tag("r"); this.text(type); this.u32(keys.length);
    for (const key of keys) {
      if (key === "__proto__") throw new NoDataError("__proto__ is no name of a field");
      this.string(key);
      this.value(value[key], depth);
    }
  }

  error(error, depth) {
    this.text(String(error.constructor?.name ?? error.name));
    this.string(String(error.message));
    const plain = (key) => key !== "message" && key !== "stack" && typeof error[key] !== "function";
    this.record(PLAIN, error, depth, Object.keys(error).filter(plain));
  }

  get payload() { return this.data.subarray(0, this.size); }
}

function said(kind, message) {
  const text = Buffer.from(message), frame = new Writer(kind, text.length, {});
  frame.bytes(text);
  return frame.payload;
}

// ------------------------------------------------------------------------------------ reading

class MalformedError extends Error {}

class Reader {
  constructor(data, at, classes) {
    this.data = data;
    this.at = at;
    this.classes = classes;
    this.types = new Map();
  }

  get left() { return this.data.length - this.at; }

  take(size) {
    if (size > this.left) throw new MalformedError("a value is cut short");
    this.at += size;
    return this.at - size;
  }

  u32() { return this.data.readUInt32BE(this.take(4)); }
  f64() { return this.data.readDoubleBE(this.take(8)); }

  bytes() {
    const size = this.u32(), at = this.take(size);
    return this.data.subarray(at, at + size);
  }

  text() { return this.bytes().toString("utf8"); }

  count() {
    const count = this.u32();
    if (count > this.left) throw new MalformedError("a count is larger than what follows");
    return count;
  }

  string() {
    const letter = String.fromCharCode(this.data[this.take(1)]);
    if (letter === "s") return this.text();
    if (letter === "v") return this.bytes().toString("utf16le");
    throw new MalformedError("a text was expected");
  }

  value(depth = 0) {
    if (depth > MOST_DEPTH + 1) throw new MalformedError("a value is nested too deeply");
    const letter = String.fromCharCode(this.data[this.take(1)]);
    switch (letter) {
      case "u": return undefined;
      case "n": return null;
      case "t": return true;
      case "f": return false;
      case "d": return this.f64();
      case "I": return this.integer();
      case "s": return this.text();
      case "v": return this.bytes().toString("utf16le");
      case "l": return this.array(depth + 1);
      case "m": return this.map(depth + 1);
      case "e": return this.set(depth + 1);
      case "D": return new Date(this.f64());
      case "y": return this.view();
      case "r": return this.record(depth + 1);
      case "x": return this.error(depth + 1);
      default: throw new MalformedError("a value has no known tag");
    }
  }

  integer() {
    const digits = this.text();
    if (!/^-?[0-9]+$/.test(digits)) throw new MalformedError("an integer has no digits");
    return BigInt(digits);
  }

  array(depth) {
    const count = this.count(), found = [];
    for (let at = 0; at < count; at++) {
      if (this.data[this.at] === HOLE) this.take(1); else found[at] = this.value(depth);
    }
    found.length = count;
    return found;
  }

  map(depth) {
    const found = new Map();
    for (let left = this.count(); left > 0; left--) {
      const key = this.value(depth);
      found.set(key, this.value(depth));
    }
    return found;
  }

  set(depth) {
    const found = new Set();
    for (let left = this.count(); left > 0; left--) found.add(this.value(depth));
    return found;
  }

  view() {
    const name = this.text(), data = this.bytes();
    if (!Object.hasOwn(VIEWS, name)) throw new MalformedError("an array has no known type");
    if (name === "Buffer") return Buffer.from(data);
    const size = VIEWS[name].BYTES_PER_ELEMENT;
    if (data.length % size) throw new MalformedError("an array is cut short");
    return new VIEWS[name](new Uint8Array(data).buffer);
  }

  record(depth) {
    const type = this.text(), found = Object.create(this.prototype(type));
    for (let left = this.count(); left > 0; left--) {
      const key = this.string();
      if (key === "__proto__") throw new MalformedError("__proto__ is no name of a field");
      put(found, key, this.value(depth));
    }
    return found;
  }

  prototype(type) {
    if (type === PLAIN) return Object.prototype;
    if (type === BARE) return null;
    if (Object.hasOwn(this.classes, type)) return this.classes[type].prototype;
    if (!NAME.test(type)) throw new MalformedError("a type has no name");
    if (!this.types.has(type)) {
      const made = class {};
      Object.defineProperty(made, "name", { value: type });
      this.types.set(type, made);
    }
    return this.types.get(type).prototype;
  }

  error(depth) {
    const type = this.text(), message = this.string(), fields = this.value(depth);
    const known = Object.hasOwn(this.classes, type) && this.classes[type];
    const error = Object.hasOwn(ERRORS, type) ? new ERRORS[type](message) : new Error(message);
    if (known) Object.setPrototypeOf(error, known.prototype);
    if (!Object.hasOwn(ERRORS, type) && NAME.test(type)) hide(error, "name", type);
    for (const key of Object.keys(fields)) {
      if (key !== "message" && key !== "stack") put(error, key, fields[key]);
    }
    return error;
  }
}

// Neither a setter nor a prototype takes part in this.
function put(object, key, value) {
  Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

function hide(object, key, value) {
  Object.defineProperty(object, key, { value, writable: true, configurable: true });
}

function refill(object, value) {
  if (object instanceof Map || object instanceof Set) {
    object.clear();
    if (value instanceof Map) for (const [key, one] of value) object.set(key, one);
    if (value instanceof Set) for (const one of value) object.add(one);
    return;
  }
  for (const key of Object.keys(object)) if (!Object.hasOwn(value, key)) delete object[key];
  if (Array.isArray(object)) object.length = value.length;
  for (const key of Object.keys(value)) put(object, key, value[key]);
}

// --------------------------------------------------------------------------- the tests' end

let calls = 0;

// Returns a function that has the solution's of that name called. `keeps` tells whether arguments
// are changed as the call changed them whatever it returned, and not only if it returned nothing.
exports.stub = (name, keeps, classes = {}) => (...args) => {
  calls += 1;
  const call = new Writer("C", calls, classes);
  try {
    call.text(name);
    call.u32(args.length);
    for (const one of args) call.value(one);
  } catch (error) {
    if (calls === 1) process.reallyExit(1); // these tests cannot be taken apart
    throw error;
  }
  writeFrame(call.payload);
  const answer = readFrame();
  if (answer === null) process.reallyExit(1);
  let found;
  try {
    found = heard(answer, args, classes);
  } catch (error) {
    writeFrame(said("F", error.message));
    process.reallyExit(1);
  }
  return found(keeps);
};

// Returns what is to be done with an answer, once it was read to its end.
function heard(answer, args, classes) {
  const reader = new Reader(answer, 5, classes);
  if (answer[0] === RAISED) {
    const error = reader.value();
    return ended(reader, () => { throw error; });
  }
  if (reader.u32() !== args.length + 1) throw new MalformedError("an answer has another length");
  const after = args.map((one) => changed(one, reader));
  const way = String.fromCharCode(answer[reader.take(1)]);
  if (!"opw".includes(way)) throw new MalformedError("an answer has no known kind");
  const result = reader.value();
  return ended(reader, (keeps) => {
    if (keeps || result === undefined) {
      after.forEach((value, at) => { if (value !== undefined) refill(args[at], value); });
    }
    if (way === "o") return result;
    return way === "p" ? Promise.resolve(result) : Promise.reject(result);
  });
}

// Returns what an argument has become, undefined if it is as it was.
function changed(argument, reader) {
  const value = reader.value();
  if (value === undefined) return undefined;
  const same = (test) => test(argument) === test(value);
  const kinds = [Array.isArray, (one) => one instanceof Map, (one) => one instanceof Set];
  const object = (one) => typeof one === "object" && one !== null;
  if (!object(argument) || !object(value) || !kinds.every(same)) {
    throw new MalformedError("an argument became something else");
  }
  return value;
}

function ended(reader, then) {
  if (reader.left) throw new MalformedError("there is more behind the last value");
  return then;
}

// ------------------------------------------------------------------------- the solution's end

// Loads a solution, whose module exports what can be called, and answers calls for ever.
exports.load = (file) => {
  try {
    exports.serve(require(file));
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
};

// Answers calls for ever.
exports.serve = async (functions) => {
  for (;;) {
    const call = readFrame();
    if (call === null) process.reallyExit(0);
    const number = call.readUInt32BE(1);
    let answer;
    try {
      answer = await answered(call, number, functions);
    } catch (error) {
      answer = failure(number, error, functions);
    }
    writeFrame(answer.payload);
  }
};

function answered(call, number, functions) {
  const reader = new Reader(call, 5, functions);
  const name = reader.text(), args = [];
  for (let left = reader.u32(); left > 0; left--) args.push(reader.value());
  const before = args.map(snapshot);
  const made = functions[name];
  if (typeof made !== "function") throw new ReferenceError(`${name} is not defined`);
  const result = made(...args);
  const told = (way, value) => {
    const answer = new Writer("R", number, functions);
    answer.u32(args.length + 1);
    args.forEach((one, at) => {
      const now = snapshot(one);
      if (now === null || now.equals(before[at])) answer.tag("u"); else answer.value(one);
    });
    answer.tag(way);
    answer.value(value);
    return answer;
  };
  if (typeof result?.then !== "function") return told("o", result);
  return Promise.resolve(result).then((value) => told("p", value), (error) => told("w", error));
}

// Returns an object as bytes, null for what cannot be changed.
function snapshot(value) {
  if (typeof value !== "object" || value === null) return null;
  const writer = new Writer("R", 0, {});
  writer.value(value);
  return Buffer.from(writer.payload);
}

function failure(number, error, functions) {
  for (const one of [error, new Error(String(error?.message ?? typeof error))]) {
    try {
      const answer = new Writer("E", number, functions);
      answer.value(one);
      return answer;
    } catch {
      continue;
    }
  }
  return failure(number, new Error("an exception that is no data"), functions);
}
