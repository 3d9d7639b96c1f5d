"use strict";
// Closes the tests' program before its first call. What the solution answers is data, but tests may
// use it as a key, merge it into an object, or hand it to a module. After this
// - what every object inherits from cannot be changed;
// - modules are those that run no text and reach neither files nor processes;
// - what a function is made of is not told.
// That text does not become code, and that `__proto__` is a name like any other, is told to Node by
// its options.

const { freeze, defineProperty, getOwnPropertyDescriptors, getPrototypeOf } = Object;

const MODULES = ["assert", "assert/strict"];
const ERRORS = [
  Error, AggregateError, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError,
];
const MAKERS = [
  Object, Function, Array, Boolean, Number, BigInt, String, Symbol, RegExp, Date, Promise,
  Map, Set, WeakMap, WeakSet, WeakRef, ArrayBuffer, SharedArrayBuffer, DataView, Buffer,
  Uint8Array, Int8Array, Uint8ClampedArray, Uint16Array, Int16Array, Uint32Array, Int32Array,
  Float32Array, Float64Array, BigInt64Array, BigUint64Array, getPrototypeOf(Uint8Array),
];
// What is only reached through an object: iterators, generators and functions of other kinds.
const MADE = [
  [].values(), "".matchAll(/a/g), ""[Symbol.iterator](), new Map().keys(), new Set().keys(),
  function* () {}, async function () {}, async function* () {}, (function* () {})(),
  (async function* () {})(),
];
const SPACES = [Math, JSON, Reflect, Intl, Atomics];
// Names that a program gives to its own objects now and then, though they inherit one.
const OVERRIDDEN = ["toString", "valueOf", "toLocaleString", "hasOwnProperty", "name", "message"];

exports.lock = () => {
  const { toString } = { toString() { return `function ${this.name}() { [code] }`; } };
  defineProperty(Function.prototype, "toString", { value: toString });
  for (const maker of [Object, ...ERRORS]) OVERRIDDEN.forEach((name) => open(maker.prototype, name));
  for (const maker of [...MAKERS, ...ERRORS.slice(1)]) freezeMaker(maker);
  freezeMaker(Error);
  for (const made of MADE) freezeChain(getPrototypeOf(made));
  SPACES.forEach(freeze);
  lockModules(module.constructor);
  for (const name of ["binding", "_linkedBinding", "dlopen", "getBuiltinModule", "mainModule"]) {
    delete process[name];
  }
  delete globalThis.WebAssembly;
};

function freezeMaker(maker) {
  freeze(maker);
  freeze(maker.prototype);
}

function freezeChain(object) {
  for (; object !== null && !Object.isFrozen(object); object = getPrototypeOf(object)) {
    freeze(object);
    const maker = object.constructor;
    if (typeof maker === "function") freezeMaker(maker);
  }
}

// Lets an object have a property of its own though the one that it inherits cannot be changed.
function open(prototype, name) {
  const found = Object.getOwnPropertyDescriptor(prototype, name);
  if (found === undefined || !("value" in found)) return;
  defineProperty(prototype, name, {
    get() { return found.value; },
    set(value) {
      defineProperty(this, name, { value, writable: true, enumerable: true, configurable: true });
    },
  });
}

function lockModules(Module) {
  const load = Module._load;
  const refuse = () => { throw new Error("tests that run apart have no such module"); };
  Module._load = (name, parent) => {
    const plain = typeof name === "string" ? name.replace(/^node:/, "") : "";
    return MODULES.includes(plain) ? load(`node:${plain}`, parent, false) : refuse();
  };
  Module.prototype._compile = Module.prototype.load = refuse;
  Module._extensions = freeze({ __proto__: null });
  for (const name of ["register", "registerHooks"]) if (name in Module) Module[name] = refuse;
  freezeMaker(Module);
}
