"use strict";
// Both ends of a test program that was taken apart; the wire is described beside this file.
// The solution's end runs beside untrusted code, and promises nothing. The tests' end reads what
// comes from there like bytes from an enemy: all that it makes of them is plain data.
//
// Objects that crossed once are known to both programs, by number, for as long as these run. Each
// frame brings the content of all that are new or that have changed since the last one. So an object
// is the same one wherever it is met, and whoever changes it changes it for both, as in one program.

const { readFileSync, readSync, writeSync } = require("fs");
const { isNativeError, isPromise, isBoxedPrimitive, isProxy } = require("util").types;

const READ = 3, WRITE = 4;
const MOST_ITEMS = 1 << 20, MOST_LENGTH = 1 << 24;
const MOST_KEYS = 1 << 12; // of an array of bytes that is asked for other fields
const SURROGATE = /\p{Surrogate}/u;
const RAISED = "E".charCodeAt(0);
const NAME = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;
const HOLE = Symbol("hole"); // no item of an array
const [WRITABLE, ENUMERABLE, CONFIGURABLE, ASKED] = [1, 2, 4, 8];
const USUAL = WRITABLE | ENUMERABLE | CONFIGURABLE;
const [OPEN, CLOSED, SEALED, FROZEN] = [0, 1, 2, 3];
const ERRORS = {
  Error, AggregateError, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError,
};
const VIEWS = {
  Uint8Array, Int8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array,
  Float32Array, Float64Array, BigInt64Array, BigUint64Array, DataView,
};
const MAKERS = {
  Object, Array, Map, Set, Date, RegExp, ArrayBuffer, Buffer, Number, String, Boolean, BigInt, Symbol,
  Function, ...ERRORS, ...VIEWS,
};
const PRIMITIVE = { Number, String, Boolean, BigInt };
const SYMBOLS = new Map(
  Object.getOwnPropertyNames(Symbol)
    .filter((name) => typeof Symbol[name] === "symbol").map((name) => [Symbol[name], name]),
);
const MOST_INHERITED = 64;
const ITERATOR = Object.getPrototypeOf(Object.getPrototypeOf([].values()));
const COPIED = ["Array Iterator", "Set Iterator", "Map Iterator"]; // iterators that run nothing of the solution's
const HINTS = ["default", "number", "string"];
const CONVERSIONS = [Symbol.toPrimitive, "valueOf", "toString", "toJSON"];
const MOST_PICTURED = 1 << 20; // values of an answer, which are compared with those of the one before
// Symbols of a type's own that cross; others would be asked with more than what the solution may know.
const ASKED_FOR = new Set([Symbol.iterator, Symbol.toPrimitive, Symbol.toStringTag]);
const OURS = new WeakSet(); // getters that ask the other program, and makers of its types
const nativeText = Function.prototype.toString;
// What holds values by rules of its own, which no name that an object has may hide from comparisons.
const CONTAINERS = new Set(
  [Map, Set, WeakMap, WeakSet, Array, Date, RegExp, ArrayBuffer, Buffer, Promise, ...Object.values(VIEWS)]
    .map((one) => one.prototype).concat(Object.getPrototypeOf(Uint8Array.prototype)),
);
const COMPARED = [Symbol.iterator, "getTime", "valueOf"]; // methods, besides getters, that comparisons read
let serves = false; // whether this is the solution's end
// Each frame looks at all objects, until it saw so many values; later at some that nobody mentions.
const MOST_LOOKS = 1 << 22, LOOKS = 32;
const OBJECT = 16; // what an object counts without what is in it

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

// ------------------------------------------------------------------------------- what is in objects

class NoDataError extends Error {}
class StaysError extends NoDataError {} // whatever the other program answered
class MalformedError extends Error {}

// Returns what a value is made as: "" if it is no object, and the same one everywhere.
function kindOf(value) {
  if (typeof value === "symbol") return "symbol";
  if (typeof value === "function") return "function";
  if (typeof value !== "object" || value === null) return "";
  if (Array.isArray(value)) return "array";
  if (value instanceof Map) return "map";
  if (value instanceof Set) return "set";
  if (value instanceof Date) return "date";
  if (value instanceof RegExp) return "pattern";
  if (isNativeError(value)) return "error";
  if (Buffer.isBuffer(value)) return "octets";
  if (ArrayBuffer.isView(value)) return "view";
  if (value instanceof ArrayBuffer) return "buffer";
  if (isBoxedPrimitive(value)) return "boxed";
  if (serves && isPromise(value)) return "promise";
  if (isPromise(value) || value instanceof WeakMap || value instanceof WeakSet) {
    throw new StaysError(`a ${value.constructor?.name} is no data`);
  }
  if (serves) return ITERATOR.isPrototypeOf(value) ? iteratorKind(value) : "record";
  const iterates = typeof value[Symbol.iterator] === "function" && typeof value.next === "function";
  return iterates ? "iterator" : "record";
}

function iteratorKind(value) {
  return COPIED.includes(value[Symbol.toStringTag]) ? "iterator" : "source";
}

// Returns what can change of an object: values, in an order that its kind tells.
function partsOf(object, kind) {
  switch (kind) {
    case "symbol": case "function": case "source": case "promise": return [];
    case "array": return arrayParts(object);
    case "map": {
      const items = [];
      Map.prototype.forEach.call(object, (value, key) => items.push(key, value));
      return [integrity(object), items.length / 2, ...items, ...fields(object)];
    }
    case "set": {
      const items = [...Set.prototype.values.call(object)];
      return [integrity(object), items.length, ...items, ...fields(object)];
    }
    case "date": return [integrity(object), Date.prototype.getTime.call(object), ...fields(object)];
    case "octets": return [Buffer.prototype.toString.call(object, "latin1")];
    case "prototype": return [OPEN, ...described(object, inherited(object))];
    case "buffer": return [integrity(object), Buffer.from(object).toString("latin1"), ...fields(object)];
    case "view": return [integrity(object), ...(object.length > MOST_KEYS ? [] : fields(object, object.length))];
    case "iterator": return iterated(object);
    default: return [integrity(object), ...fields(object)];
  }
}

function integrity(object) {
  if (Object.isExtensible(object)) return OPEN;
  if (Object.isFrozen(object) && !hasWritableLength(object)) return FROZEN;
  return Object.isSealed(object) ? SEALED : CLOSED;
}

// Node calls an array frozen that has no items, though its length can be changed.
function hasWritableLength(object) {
  return Array.isArray(object) && Object.getOwnPropertyDescriptor(object, "length").writable;
}

function arrayParts(array) {
  const count = array.length;
  if (count > MOST_LENGTH) throw new NoDataError("an array is too long");
  const parts = [integrity(array), count];
  let found = 0;
  for (let at = 0; at < count; at++) {
    const value = array[at];
    const is = value !== undefined || Object.hasOwn(array, at);
    parts.push(is ? value : HOLE);
    found += is;
  }
  const hasFields = Reflect.ownKeys(array).length > found + 1;
  return hasFields ? [...parts, ...fields(array, count)] : parts;
}

// Returns the own fields of an object but those that are its items: key, attributes, value.
function fields(object, items) {
  return described(object, named(object, items));
}

function described(object, keys) {
  const parts = [];
  for (const key of keys) {
    if (key === "__proto__") throw new NoDataError("__proto__ is no name of a field");
    const found = Object.getOwnPropertyDescriptor(object, key), isData = "value" in found;
    const isAsked = !isData && (serves || OURS.has(found.get));
    const way = (isData ? found.writable : !isAsked) * WRITABLE | isAsked * ASKED;
    parts.push(key, way | found.enumerable * ENUMERABLE | found.configurable * CONFIGURABLE);
    const kept = isData && serves && isProxy(object) ? object[key] : found.value; // a proxy may compute it
    parts.push(isData ? HINTS_OF.get(kept) ?? kept : isAsked ? undefined : object[key]);
  }
  return parts;
}

// Returns the keys of a prototype that its objects can be asked for.
function inherited(prototype) {
  return Reflect.ownKeys(prototype).filter(isInherited);
}

function isInherited(key) {
  return typeof key === "symbol" ? ASKED_FOR.has(key) : key !== "constructor" && key !== "__proto__";
}

// Returns the keys of what is no item, and belongs to no program alone as the stack of an error does.
function named(object, items = object instanceof String ? object.length : -1) {
  const keys = Reflect.ownKeys(object);
  if (isNativeError(object)) return keys.filter((one) => one !== "stack");
  return items < 0 ? keys : keys.filter((one) => one !== "length" && !isItem(one, items));
}

function isItem(key, count) {
  const number = typeof key === "string" ? Number(key) : NaN;
  return number < count && String(number) === key;
}

function iterated(iterator) {
  const items = [];
  for (;;) {
    const { done, value } = iterator.next();
    items.push(value);
    if (done) return items;
    if (items.length > MOST_ITEMS) throw new NoDataError("the iteration has no end");
  }
}

function primitive(object) {
  for (const { prototype } of Object.values(PRIMITIVE)) {
    try { return prototype.valueOf.call(object); } catch { continue; }
  }
  throw new StaysError("an object of a symbol is no data");
}

function viewName(view) {
  if (view instanceof DataView) return "DataView";
  return view[Symbol.toStringTag];
}

function isSame(one, other) {
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at++) if (!Object.is(one[at], other[at])) return false;
  return true;
}

// Returns true if an object surely has not changed, without a look at more than there is in most.
function isAsItWas({ object, kind, parts }) {
  switch (kind) {
    case "iterator": case "source": case "function": case "symbol": case "promise": return true;
    case "array": return isPlainArray(object, parts);
    case "record": return isPlainRecord(object, parts);
    default: return false;
  }
}

function isPlainArray(array, parts) {
  const count = array.length;
  let holes = 0;
  if (count + 2 !== parts.length || parts[0] !== OPEN || !Object.isExtensible(array)) return false;
  for (let at = 0; at < count; at++) {
    const value = array[at], was = parts[at + 2];
    if (value !== was || value === undefined || value === 0) {
      if (!Object.is(value, was === HOLE ? undefined : was) || Object.hasOwn(array, at) === (was === HOLE)) return false;
      holes += was === HOLE;
    }
  }
  return Reflect.ownKeys(array).length === count - holes + 1;
}

function isPlainRecord(object, parts) {
  if (parts[0] !== OPEN || !Object.isExtensible(object) || isProxy(object)) return false;
  let at = 1;
  for (const key of Reflect.ownKeys(object)) {
    if (parts[at] !== key || parts[at + 1] !== USUAL) return false;
    const found = Object.getOwnPropertyDescriptor(object, key);
    if (!found.writable || !Object.is(found.value, parts[at + 2])) return false;
    at += 3;
  }
  return at === parts.length;
}

// Gives an object what is in its like in the other program.
function fill({ object, kind, take }, parts) {
  switch (kind) {
    case "symbol": case "function": case "source": case "promise": return;
    case "view": return finish(object, parts, 1, object.length);
    case "octets": Buffer.prototype.write.call(object, text(parts[0], object.length), "latin1"); return;
    case "prototype": return finish(object, parts, 1, -1, inherited(object));
    case "iterator": return take(parts);
    case "array": return fillArray(object, parts);
    case "map": return fillMap(object, parts);
    case "set": return fillSet(object, parts);
    case "date":
      Date.prototype.setTime.call(object, parts[1]);
      return finish(object, parts, 2);
    case "buffer":
      Buffer.from(object).write(text(parts[1], object.byteLength), "latin1");
      return finish(object, parts, 2);
    default: return finish(object, parts, 1);
  }
}

function text(value, size) {
  if (typeof value !== "string" || value.length !== size) throw new MalformedError("bytes are cut short");
  return value;
}

function counted(count, parts, each) {
  if (!Number.isInteger(count) || count < 0 || count * each > parts.length - 2) {
    throw new MalformedError("a count is larger than what follows");
  }
  return 2 + count * each;
}

function fillArray(array, parts) {
  const end = counted(parts[1], parts, 1);
  if (array.length !== end - 2) array.length = end - 2;
  for (let at = 2; at < end; at++) {
    if (parts[at] === HOLE) delete array[at - 2];
    else if (!Object.hasOwn(array, at - 2)) put(array, at - 2, parts[at]);
    else if (!Object.is(array[at - 2], parts[at])) array[at - 2] = parts[at];
  }
  finish(array, parts, end, end - 2);
}

function fillMap(map, parts) {
  const end = counted(parts[1], parts, 2);
  Map.prototype.clear.call(map);
  for (let at = 2; at < end; at += 2) Map.prototype.set.call(map, parts[at], parts[at + 1]);
  finish(map, parts, end);
}

function fillSet(set, parts) {
  const end = counted(parts[1], parts, 1);
  Set.prototype.clear.call(set);
  for (let at = 2; at < end; at++) Set.prototype.add.call(set, parts[at]);
  finish(set, parts, end);
}

// Gives an object its own fields, from a place in its parts on, in their order.
function finish(object, parts, from, items, own = named(object, items)) {
  const found = [];
  for (let at = from; at + 2 < parts.length; at += 3) found.push(key(parts[at]));
  if (parts.length !== from + 3 * found.length) throw new MalformedError("a field is cut short");
  if (!serves) found.forEach((one) => refuseHidden(object, one));
  const wanted = new Set(found), stay = own.filter((one) => wanted.has(one));
  const isInOrder = stay.every((one, at) => one === found[at]);
  for (const one of own) {
    if (!wanted.has(one) || (!isInOrder && Object.isExtensible(object))) Reflect.deleteProperty(object, one);
  }
  found.forEach((one, at) => put(object, one, parts[from + 3 * at + 2], parts[from + 3 * at + 1]));
  if (parts[0] === CLOSED) Object.preventExtensions(object);
  if (parts[0] === SEALED) Object.seal(object);
  if (parts[0] === FROZEN) Object.freeze(object);
}

// Refuses a field that hides what containers have; of a type's own, one that comparisons read.
function refuseHidden(object, name) {
  if (Object.hasOwn(object, name)) return;
  const isType = Object.hasOwn(object, "constructor");
  for (let at = Object.getPrototypeOf(object); at !== null; at = Object.getPrototypeOf(at)) {
    const found = CONTAINERS.has(at) ? Object.getOwnPropertyDescriptor(at, name) : undefined;
    if (found === undefined || (isType && !("get" in found) && !COMPARED.includes(name))) continue;
    throw new MalformedError("a field hides what a container has");
  }
}

function key(value) {
  if (value === "__proto__") throw new MalformedError("__proto__ is no name of a field");
  if (typeof value !== "string" && typeof value !== "symbol") throw new MalformedError("a field has no name");
  return value;
}

// Neither a setter nor a prototype takes part in this.
function put(object, name, value, attributes = USUAL) {
  const enumerable = (attributes & ENUMERABLE) !== 0, configurable = (attributes & CONFIGURABLE) !== 0;
  if ((attributes & ASKED) !== 0) return putAsked(object, name, { enumerable, configurable });
  const made = name === Symbol.toPrimitive && HINTED.has(value) ? HINTED.get(value) : value;
  Object.defineProperty(object, name, {
    value: made, writable: (attributes & WRITABLE) !== 0, enumerable, configurable,
  });
}

// Gives an object a property that the other program computes, unless it has one.
function putAsked(object, name, attributes) {
  const own = Object.getOwnPropertyDescriptor(object, name);
  if (own !== undefined && !("value" in own)) return;
  const get = { get() { return asked("get", this, name); } }.get;
  const set = () => leave("a property was set that the solution computes");
  OURS.add(get);
  Object.defineProperty(object, name, { get, set, ...attributes });
}

// ------------------------------------------------------------------------------------ the heap

// What has no prototype that the other program could not know.
const BARE = ["symbol", "function", "iterator", "source", "promise"];

// The objects that both programs know, by number.
class Heap {
  // `classes` are the prompt's, by name; only the solution's functions are known to the other program.
  constructor(classes, takesFunctions) {
    this.takesFunctions = takesFunctions;
    this.numbers = new Map();
    this.entries = []; // object, kind, and the parts that both programs know
    this.prototypes = new Map();
    this.looks = this.turn = 0;
    this.filled = []; // entries that the last frame brought something for
    const named = { ...MAKERS, ...classes };
    for (const name of Object.keys(named)) {
      const prototype = typeof named[name] === "function" ? named[name].prototype : undefined;
      if (prototype) this.prototypes.set(prototype, name);
    }
    this.named = new Map(Array.from(this.prototypes, ([prototype, name]) => [name, prototype]));
  }

  // ---- writing

  // Writes objects that are new or have changed, and values; returns true if there are such objects.
  write(out, values) {
    const first = this.entries.length;
    for (const value of values) this.add(value);
    const changed = this.looks < MOST_LOOKS ? this.changes() : this.latestChanges(values, first);
    out.u32(this.entries.length - first);
    for (let at = first; at < this.entries.length; at++) this.head(out, this.entries[at]);
    out.u32(changed.length);
    for (const at of changed) {
      out.u32(at);
      this.values(out, this.entries[at].parts);
    }
    this.values(out, values);
    return changed.length > 0;
  }

  add(value) {
    if (value === HOLE || this.numbers.has(value)) return;
    const kind = kindOf(value);
    if (kind === "") return;
    if (kind === "function" && !this.takesFunctions) {
      throw new (isOfTests(value) ? StaysError : NoDataError)("a function is no data");
    }
    if (kind === "view") this.add(value.buffer);
    if (kind === "promise") follow(value);
    if (!BARE.includes(kind)) this.addPrototype(Object.getPrototypeOf(value));
    this.push(value, kind);
  }

  // Adds a prototype of whose class the other program has none, and those that it inherits from.
  addPrototype(prototype, depth = 0) {
    if (prototype === null || this.prototypes.has(prototype) || this.numbers.has(prototype)) return;
    if (depth > MOST_INHERITED) throw new NoDataError("a type inherits too much");
    this.addPrototype(Object.getPrototypeOf(prototype), depth + 1);
    this.push(prototype, "prototype");
  }

  push(object, kind) {
    this.numbers.set(object, this.entries.length);
    this.entries.push({ object, kind, parts: null });
  }

  // Returns the numbers of all objects that have changed, or are new.
  changes() {
    const changed = [];
    for (let at = 0; at < this.entries.length; at++) if (this.hasChanged(this.entries[at])) changed.push(at);
    return changed;
  }

  // Returns those of what values lead to, of the youngest objects, and of some others in turn.
  latestChanges(values, first) {
    const due = values.filter((one) => this.numbers.has(one)).map((one) => this.numbers.get(one));
    for (let back = 1; back <= LOOKS && back <= first; back++) {
      due.push(first - back, this.turn++ % first);
    }
    const seen = new Set(due), changed = [];
    for (const at of seen) {
      if (this.hasChanged(this.entries[at])) changed.push(at);
      for (const part of this.entries[at].parts ?? []) if (this.numbers.has(part)) seen.add(this.numbers.get(part));
    }
    for (let at = first; at < this.entries.length; at++) {
      if (this.entries[at].parts === null && this.hasChanged(this.entries[at])) changed.push(at);
    }
    return changed.sort((one, other) => one - other);
  }

  hasChanged(entry) {
    this.looks += OBJECT + (entry.parts?.length ?? 0);
    if (entry.parts !== null && isAsItWas(entry)) return false;
    const parts = partsOf(entry.object, entry.kind);
    if (entry.parts !== null && isSame(parts, entry.parts)) return false;
    for (const part of parts) this.add(part);
    entry.parts = parts;
    return true;
  }

  values(out, values) {
    out.u32(values.length);
    for (const value of values) this.value(out, value);
  }

  value(out, value) {
    if (value === HOLE) return out.tag("h");
    switch (typeof value) {
      case "undefined": return out.tag("u");
      case "boolean": return out.tag(value ? "t" : "f");
      case "number":
        if (Object.is(value | 0, value)) { out.tag("w"); return out.u32(value >>> 0); }
        out.tag("d"); return out.f64(value);
      case "bigint": out.tag("I"); return out.text(value.toString());
      case "string": return out.string(value);
      default:
        if (value === null) return out.tag("n");
        out.tag("@"); return out.u32(this.numbers.get(value));
    }
  }

  // Writes what an object is made as.
  head(out, { object, kind }) {
    out.text(kind);
    switch (kind) {
      case "symbol":
        out.text(SYMBOLS.has(object) ? SYMBOLS.get(object) : Symbol.keyFor(object) === undefined ? "" : "for");
        return out.string(object.description ?? "");
      case "function": return out.string(String(object.name));
      case "boxed": this.value(out, primitive(object)); break;
      case "pattern": out.string(object.source); out.string(object.flags); break;
      case "octets": out.u32(object.length); break;
      case "buffer": out.u32(object.byteLength); break;
      case "view":
        out.text(viewName(object)); out.u32(this.numbers.get(object.buffer)); out.u32(object.byteOffset);
        out.u32(object.length ?? object.byteLength); break;
      case "iterator": return out.text(String(object[Symbol.toStringTag]));
      case "source": case "promise": return undefined;
      case "prototype": out.text(className(object)); break;
    }
    return this.prototype(out, Object.getPrototypeOf(object));
  }

  // Writes the name of a prototype, or else its number.
  prototype(out, prototype) {
    if (prototype === null) return out.text("null");
    return out.text(this.prototypes.get(prototype) ?? `#${this.numbers.get(prototype)}`);
  }

  // ---- reading

  // Reads what the other program wrote, and returns the values.
  read(from) {
    for (let left = from.count(); left > 0; left--) {
      const entry = this.shell(from);
      this.numbers.set(entry.object, this.entries.length);
      this.entries.push({ parts: null, ...entry });
    }
    this.filled = [];
    for (let left = from.count(); left > 0; left--) {
      const entry = this.entry(from.u32());
      this.filled.push(entry);
      const parts = this.readValues(from);
      fill(entry, parts);
      entry.parts = parts;
    }
    return this.readValues(from);
  }

  // Looks at what the last frame brought, so that only what is changed from then on has changed.
  settle() {
    for (const entry of this.filled) this.hasChanged(entry);
  }

  readValues(from) {
    const values = [];
    for (let left = from.count(); left > 0; left--) values.push(this.readValue(from));
    return values;
  }

  readValue(from) {
    const letter = from.letter();
    switch (letter) {
      case "h": return HOLE;
      case "u": return undefined;
      case "n": return null;
      case "t": return true;
      case "f": return false;
      case "w": return from.u32() | 0;
      case "d": return from.f64();
      case "I": return from.integer();
      case "s": case "v": return from.string(letter);
      case "@": return this.entry(from.u32()).object;
      default: throw new MalformedError("a value has no known tag");
    }
  }

  entry(number) {
    if (number >= this.entries.length) throw new MalformedError("an object has no number that is known");
    return this.entries[number];
  }

  // Makes an object that has nothing in it as yet.
  shell(from) {
    const kind = from.text();
    switch (kind) {
      case "symbol": return { kind, object: from.symbol() };
      case "function": return { kind, object: opaque(from.string()) };
      case "iterator": return { kind, ...iterator(from.text()) };
      case "source": return { kind, object: source() };
      case "promise": return { kind, object: promised() };
      case "prototype": return { kind, object: this.type(from) };
      case "boxed": return this.dressed(kind, Object(this.plain(from)), from);
      case "pattern": return this.dressed(kind, new RegExp(from.string(), from.string()), from);
      case "octets": return this.dressed(kind, Buffer.alloc(from.size()), from);
      case "buffer": return this.dressed(kind, new ArrayBuffer(from.size()), from);
      case "view": return this.dressed(kind, this.view(from), from);
      case "array": return this.dressed(kind, [], from);
      case "map": return this.dressed(kind, new Map(), from);
      case "set": return this.dressed(kind, new Set(), from);
      case "date": return this.dressed(kind, new Date(0), from);
      case "error": return this.dressed(kind, new Error(), from);
      case "record": return { kind, object: Object.create(this.readPrototype(from)) };
      default: throw new MalformedError("an object has no known kind");
    }
  }

  dressed(kind, object, from) {
    const prototype = this.readPrototype(from);
    if (Object.getPrototypeOf(object) !== prototype) Object.setPrototypeOf(object, prototype);
    return { kind, object };
  }

  plain(from) {
    const value = this.readValue(from);
    if (!["number", "string", "boolean", "bigint"].includes(typeof value)) {
      throw new MalformedError("an object holds no such value");
    }
    return value;
  }

  view(from) {
    const name = from.text(), { object, kind } = this.entry(from.u32());
    if (!Object.hasOwn(VIEWS, name) || kind !== "buffer") throw new MalformedError("an array has no known type");
    return new VIEWS[name](object, from.u32(), from.u32());
  }

  readPrototype(from) {
    const name = from.text();
    if (name === "null") return null;
    if (this.named.has(name)) return this.named.get(name);
    const { kind, object } = this.entry(name.startsWith("#") ? Number(name.slice(1)) : NaN);
    if (kind === "symbol") throw new MalformedError("a type has no such name");
    return object;
  }

  // Makes the prototype of a class of the other program's.
  type(from) {
    const name = from.text(), { prototype } = class {};
    if (!NAME.test(name)) throw new MalformedError("a type has no name");
    Object.defineProperty(prototype.constructor, "name", { value: name });
    OURS.add(prototype.constructor);
    Object.setPrototypeOf(prototype, this.readPrototype(from));
    return prototype;
  }
}

// Returns the name of a prototype's class, if it can be one.
function className(prototype) {
  const maker = Object.getOwnPropertyDescriptor(prototype, "constructor")?.value;
  const name = typeof maker === "function" ? Object.getOwnPropertyDescriptor(maker, "name")?.value : "";
  return typeof name === "string" && NAME.test(name) ? name : "Anonymous";
}

// What stands for functions of the other program's where a value is asked to become a plain one.
const HINTED = new WeakMap(), HINTS_OF = new WeakMap();

// Stands for a function of the other program, which only that one can call, and with nothing: what
// tests hand over could be what they expect.
function opaque(name) {
  const { made } = { made(...args) {
    if (this?.then === made && args.every(isNative)) return waitFor(made, this, args);
    if (args.length > 0 && this?.toJSON !== made) leave("a function of the solution was handed something that it had answered");
    return asked("call", made, this);
  } };
  const { hinted } = { hinted(hint) { return asked("call", made, this, ...HINTS.filter((one) => one === hint)); } };
  Object.defineProperty(made, "name", { value: name });
  HINTED.set(made, hinted);
  HINTS_OF.set(hinted, made);
  return made;
}

// Returns true of what the engine hands to the `then` of an object that is waited for.
function isNative(given) {
  return typeof given === "function" && nativeText.call(given).endsWith("{ [native code] }");
}

// Settles what waits for an object that is no promise, as the object's own `then` does.
function waitFor(then, object, [keep, refuse]) {
  told.clear();
  if (keep === undefined || !heap.numbers.has(object)) leave("the solution was asked to settle what it does not know");
  const promise = called(".then", [then, object]);
  if (!isPromise(promise)) leave("what was waited for is no promise");
  promise.then(keep, refuse);
}

// Asks the other program for something of what it answered.
function asked(what, object, ...args) {
  const isKnown = (one) => Object(one) !== one || typeof one === "symbol" || heap.numbers.has(one);
  if (![object, ...args].every(isKnown)) leave("the solution was asked for an object that it does not have");
  if (what === "next" || what === "return" || (what === "call" && isMethod(object, args[0]))) told.clear();
  const question = [what, object, ...args].map((one) => heap.numbers.get(one) ?? JSON.stringify(one)).join();
  const answer = called(`.${what}`, [object, ...args]);
  heap.settle();
  const found = picture(answer);
  if (what !== "next" && !isSame(told.get(question) ?? found, found)) leave("an object of the solution told two things of itself");
  told.set(question, found);
  return answer;
}

// What objects told of themselves since the last call. Tests that look twice and do nothing in between
// find the same: else an answer could be two values, as large for one comparison and small for another.
const told = new Map();

// Returns true if an object has a function by a name that is no conversion, and that tests so call.
function isMethod(made, object) {
  let found = false;
  for (let at = Object(object); at !== null; at = Object.getPrototypeOf(at)) {
    for (const name of Reflect.ownKeys(at)) {
      const { value } = Object.getOwnPropertyDescriptor(at, name);
      if ((HINTS_OF.get(value) ?? value) !== made) continue;
      if (CONVERSIONS.includes(name)) return false;
      found = true;
    }
  }
  return found;
}

// Returns what a value is, and what is in it, without asking for anything.
function picture(value) {
  const seen = new Map(), open = [value], found = [];
  for (let at = 0; at < open.length; at++) {
    if (at === MOST_PICTURED) leave("an object told too much of itself");
    const number = heap.numbers.get(open[at]), entry = heap.entries[number];
    if (entry === undefined || ["symbol", "function"].includes(entry.kind)) {
      found.push(open[at]);
    } else if (seen.has(number)) {
      found.push("@", seen.get(number));
    } else {
      seen.set(number, seen.size);
      const parts = entry.parts ?? [];
      found.push(entry.kind, parts.length);
      for (const part of parts) open.push(part);
    }
  }
  return found;
}

// Returns false if a function may have been found by what was answered: by a key, as a method of an
// object of another kind than that of right answers.
function isOfTests(made) {
  if (OURS.has(made) || HINTS_OF.has(made) || Object.values(Buffer.prototype).includes(made)) return false;
  if (!nativeText.call(made).endsWith("{ [native code] }") || String(made.name).startsWith("bound ")) return true;
  const spaces = [Math, JSON, console, Object, Array, Number, String, { parseInt, parseFloat, isNaN, isFinite, Number, Boolean }];
  return spaces.some((one) => Object.values(Object.getOwnPropertyDescriptors(one)).some(({ value }) => value === made));
}

function leave(why) {
  writeSync(2, `split: ${why}\n`);
  process.reallyExit(1);
}

// Makes an iterator, whose items come later.
function iterator(type) {
  switch (type) {
    case "Array Iterator": {
      const items = [];
      return { object: items.values(), take: (found) => { items.push(...found.slice(0, -1)); } };
    }
    case "Set Iterator": {
      const items = new Set();
      return { object: items.values(), take: (found) => found.slice(0, -1).forEach((one) => items.add(one)) };
    }
    case "Map Iterator": {
      const items = new Map();
      return { object: items.values(), take: (found) => found.slice(0, -1).forEach((one, at) => items.set(at, one)) };
    }
    default: {
      const items = [];
      return { object: generated(items), take: (found) => { for (const one of found) items.push(one); } };
    }
  }
}

function* generated(items) {
  for (let at = 0; at < items.length - 1; at++) yield items[at];
  return items.at(-1);
}

// Checks what came of an iterator: whether there is more, the end's value, and items.
function fetched(answer) {
  if (Array.isArray(answer) && Array.isArray(answer[2]) && (answer[0] !== "more" || answer[2].length > 0)) return answer;
  writeFrame(said("F", "an iterator brings nothing that is known"));
  return process.reallyExit(1);
}

// Stands for an iterator of the other program's; the more it gave, the more is asked for at once.
function source() {
  const object = (function* () {
    let given = 0, answer = ["more"];
    try {
      while (answer[0] === "more") {
        answer = fetched(asked("next", object, 1 + (given >> 3)));
        for (let at = 0; at < answer[2].length; at++) yield answer[2][at];
        given += answer[2].length;
      }
    } finally {
      if (answer[0] === "more") asked("return", object);
    }
    if (answer[0] === "thrown") throw answer[1];
    return answer[1];
  })();
  return object;
}

// ------------------------------------------------------------------------------ bytes of frames

class Writer {
  constructor(kind, number) {
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

  get payload() { return this.data.subarray(0, this.size); }
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

  string(letter = this.letter()) {
    if (letter === "s") return this.text();
    if (letter === "v") return this.bytes().toString("utf16le");
    throw new MalformedError("a text was expected");
  }

  // How many things follow; each takes a byte at least.
  count() {
    const count = this.u32();
    if (count > this.left) throw new MalformedError("a count is larger than what follows");
    return count;
  }

  size() { return this.count(); }

  integer() {
    const digits = this.text();
    if (!/^-?[0-9]+$/.test(digits)) throw new MalformedError("an integer has no digits");
    return BigInt(digits);
  }

  symbol() {
    const name = this.text(), description = this.string();
    if (name === "") return Symbol(description);
    if (name === "for") return Symbol.for(description);
    for (const [symbol, known] of SYMBOLS) if (known === name) return symbol;
    throw new MalformedError("a symbol has no name that is known");
  }

  ended() {
    if (this.left) throw new MalformedError("there is more behind the last value");
  }
}

// --------------------------------------------------------------------------- the tests' end

let calls = 0, heap = null, isBusy = false;
let isTurn = false, isWaiting = false; // whether the solution is to be given time
const pending = new Map(); // how promises of the solution's are settled
const awaited = new WeakSet(); // those that something waits for

// Returns a function that has the solution's of that name called. `classes` are the prompt's.
exports.stub = (name, classes = {}) => {
  if (heap === null) process.on("beforeExit", leaveWaiting);
  heap ??= new Heap(classes, false);
  return (...args) => called(name, args);
};

// Has the solution's program run what is due. Between calls that follow each other in the tests' text
// it runs nothing, as in one program.
function giveTime() {
  if (!isTurn) queueMicrotask(() => { isTurn = false; settle(called(".turn", [])); });
  isTurn = true;
}

function settle(found) {
  if (!Array.isArray(found) || found.length % 3 > 0) leave("promises are settled in no known way");
  for (let at = 0; at < found.length; at += 3) {
    const [resolve, reject] = pending.get(found[at]) ?? leave("a promise is settled that does not wait");
    pending.delete(found[at]);
    (found[at + 1] ? resolve : reject)(found[at + 2]);
  }
  if (pending.size > 0 && !isWaiting) setImmediate(wait);
  isWaiting = pending.size > 0;
}

// Waits until a promise is settled, or the solution's program has nothing to do.
function wait() {
  isWaiting = false;
  const found = called(".wait", []);
  if (found !== null) settle(found);
}

// What waits for a promise that nobody settles any more is never run.
function leaveWaiting() {
  for (const promise of pending.keys()) {
    if (awaited.has(promise)) leave("a promise of the solution is never settled");
  }
}

// Stands for a promise of the other program's. Whoever waits for one asks for its constructor first.
function promised() {
  let settles;
  const promise = new Promise((...both) => { settles = both; });
  Object.defineProperty(promise, "constructor", {
    configurable: true, get() { awaited.add(promise); return Promise; },
  });
  pending.set(promise, settles);
  return promise;
}

function called(name, args) {
  if (isBusy) leave("the solution was asked for something while values crossed");
  isBusy = true;
  try {
    return answerTo(name, args);
  } finally {
    isBusy = false;
  }
}

function answerTo(name, args) {
  calls += 1;
  const call = new Writer("C", calls);
  try {
    call.text(name);
    if (heap.write(call, args) || !name.startsWith(".")) told.clear();
  } catch (error) {
    if (calls === 1) process.reallyExit(1); // these tests cannot be taken apart
    if (!(error instanceof StaysError)) leave(error.message); // tests could take it for an exception
    writeFrame(said("S", error.message));
    process.reallyExit(1);
  }
  if (name === ".turn" || name === ".wait") told.clear();
  else giveTime();
  writeFrame(call.payload);
  const answer = readFrame();
  if (answer === null) process.reallyExit(1);
  try {
    return heard(answer);
  } catch (error) {
    if (error instanceof Raised) throw error.value;
    writeFrame(said("F", error.message));
    return process.reallyExit(1);
  }
}

class Raised {
  constructor(value) { this.value = value; }
}

// Returns what a call came to, once its answer was read to its end.
function heard(answer) {
  const reader = new Reader(answer, 5), values = heap.read(reader);
  reader.ended();
  if (values.length !== 1) throw new MalformedError("an answer has another length");
  if (answer[0] === RAISED) throw new Raised(values[0]);
  return values[0];
}

// ------------------------------------------------------------------------- the solution's end

// Loads a solution, whose module exports what can be called, and answers calls for ever.
exports.load = (file) => {
  try {
    const { functions, classes } = require(file);
    exports.serve(functions, classes);
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

// Answers calls for ever. What cannot cross ends the program: tests could take it for an exception.
exports.serve = (functions, classes) => {
  serves = true;
  heap = new Heap(classes, true);
  process.on("beforeExit", () => { waits?.(null); });
  listen(functions);
};

let waits = null; // what goes on when a promise is settled
const settled = []; // promises that crossed, whether each was kept, and with what

// Answers calls, until the other program gives time.
function listen(functions) {
  for (;;) {
    const call = readFrame();
    if (call === null) process.reallyExit(0);
    const number = call.readUInt32BE(1), reader = new Reader(call, 5), name = reader.text();
    const args = heap.read(reader), goOn = (found = settled.splice(0)) => {
      waits = null;
      answer(number, "R", found);
      listen(functions);
    };
    if (name === ".turn") return queueMicrotask(() => goOn());
    if (name === ".wait" && settled.length === 0) { waits = goOn; return undefined; }
    answer(number, ...(name === ".wait" ? ["R", settled.splice(0)] : answered(functions, name, args)));
  }
}

function answer(number, kind, value) {
  const frame = new Writer(kind, number);
  try {
    heap.write(frame, [value]);
  } catch (error) {
    leave(error.message);
  }
  writeFrame(frame.payload);
}

// Returns the kind of an answer, and its value.
function answered(functions, name, args) {
  try {
    return ["R", name.startsWith(".") ? ASKS[name](...args) : functionOf(functions, name)(...args)];
  } catch (error) {
    return ["E", error];
  }
}

// Notes what becomes of a promise that crosses.
function follow(promise) {
  const note = (isKept) => (value) => { settled.push(promise, isKept, value); waits?.(); };
  Promise.resolve(promise).then(note(true), note(false));
}

function functionOf(functions, name) {
  if (typeof functions[name] !== "function") throw new ReferenceError(`${name} is not defined`);
  return functions[name];
}

// What tests ask for of something that was answered.
const ASKS = {
  ".get": (object, key) => object[key],
  ".call": (made, self, ...hint) => Reflect.apply(made, self, hint),
  ".then": (made, self) => new Promise((...both) => { Reflect.apply(made, self, both); }),
  ".return": (iterator) => { iterator.return?.(); },
  ".next": taken,
};

// Returns whether an iterator has more, what it ended with, and up to as many items as wanted.
function taken(iterator, wanted) {
  const items = [];
  try {
    while (items.length < wanted) {
      const { done, value } = iterator.next();
      if (done) return ["done", value, items];
      items.push(value);
    }
  } catch (error) {
    return ["thrown", error, items];
  }
  return ["more", undefined, items];
}
