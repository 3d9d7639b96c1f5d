#![crate_type = "rlib"]
#![crate_name = "splitwire"]
// Plain data between a test program and a solution's program; the wire is described in
// `reward_server.grading.compiled_tests.split`.
//
// What this stops: the side of the tests takes each byte for an enemy's. Counts are checked against
// the bytes that are left and against a budget of memory, depth is bounded, numbers must fit their
// type, and whatever else is wrong ends the program with a frame of the kind F.
// What it does not: the solution may answer with any value of the declared type.
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::fs::File;
use std::hash::{BuildHasher, Hash};
use std::mem::ManuallyDrop;
use std::os::raw::c_int;
use std::os::unix::io::FromRawFd;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Mutex;

const READS: c_int = 3;
const WRITES: c_int = 4;
const FRAME_BYTES: usize = 64 << 20;
const ROOM_BYTES: usize = 256 << 20;
const DEPTH: usize = 1024;
const MESSAGE_BYTES: usize = 4096;

extern "C" {
    fn _exit(status: c_int) -> !;
}

// ---- frames

pub fn leave(why: &str) -> ! {
    eprintln!("split: {}", why);
    unsafe { _exit(1) }
}

/// Hands an integer over as the type that a function takes that was written anew.
pub fn fitting<A, B: std::convert::TryFrom<A>>(given: A) -> B {
    B::try_from(given).unwrap_or_else(|_| leave("an argument does not fit the type that takes it"))
}

/// Gives an open descriptor, which stays open.
fn file(descriptor: c_int) -> ManuallyDrop<File> {
    ManuallyDrop::new(unsafe { File::from_raw_fd(descriptor) })
}

fn send(payload: &[u8]) {
    let mut frame = (payload.len() as u32).to_be_bytes().to_vec();
    frame.extend_from_slice(payload);
    if std::io::Write::write_all(&mut *file(WRITES), &frame).is_err() {
        leave("the other program reads no more");
    }
}

fn next() -> Option<Vec<u8>> {
    let mut head = [0; 4];
    if std::io::Read::read_exact(&mut *file(READS), &mut head).is_err() {
        return None;
    }
    let size = u32::from_be_bytes(head) as usize;
    if size == 0 || size > FRAME_BYTES {
        forged("a frame has no size that is allowed");
    }
    let mut frame = vec![0; size];
    std::io::Read::read_exact(&mut *file(READS), &mut frame).ok().map(|()| frame)
}

/// Tells whoever relays the frames that the last one is malformed, and leaves.
pub fn forged(why: &str) -> ! {
    last(b'F', why)
}

fn last(kind: u8, why: &str) -> ! {
    let mut out = Out { data: vec![kind], depth: 0 };
    out.text(why.as_bytes());
    send(&out.data);
    leave(why)
}

// ---- values

pub struct Out {
    data: Vec<u8>,
    depth: usize,
}

struct Unwritable(&'static str);

impl Out {
    fn room(&self, more: usize) {
        if more > FRAME_BYTES - self.data.len().min(FRAME_BYTES) {
            std::panic::panic_any(Unwritable("a value is too large"));
        }
    }
    pub fn tag(&mut self, tag: u8) {
        self.room(1);
        self.data.push(tag);
    }
    pub fn count(&mut self, number: usize) {
        self.data.extend_from_slice(&(number as u32).to_be_bytes());
    }
    pub fn text(&mut self, text: &[u8]) {
        self.room(text.len());
        self.count(text.len());
        self.data.extend_from_slice(text);
    }
    fn deeper(&mut self) {
        self.depth += 1;
        if self.depth > DEPTH {
            std::panic::panic_any(Unwritable("a value is nested too deep"));
        }
    }
    fn all<'a, T: Write + 'a>(&mut self, tag: u8, count: usize, values: impl Iterator<Item = &'a T>) {
        self.deeper();
        self.tag(tag);
        self.count(count);
        values.for_each(|one| one.write(self));
        self.depth -= 1;
    }
    fn pairs<'a, K: Write + 'a, V: Write + 'a>(&mut self, count: usize, pairs: impl Iterator<Item = (&'a K, &'a V)>) {
        self.deeper();
        self.tag(b'm');
        self.count(count);
        for (key, value) in pairs {
            key.write(self);
            value.write(self);
        }
        self.depth -= 1;
    }
    pub fn record(&mut self, name: &str, count: usize) {
        self.deeper();
        self.tag(b'r');
        self.text(name.as_bytes());
        self.count(count);
    }
    pub fn field<T: Write + ?Sized>(&mut self, name: &str, value: &T) {
        self.text(name.as_bytes());
        value.write(self);
    }
    pub fn end(&mut self) {
        self.depth -= 1;
    }
}

pub struct In<'a> {
    data: &'a [u8],
    depth: usize,
    budget: usize,
}

impl<'a> In<'a> {
    fn new(data: &'a [u8]) -> Self {
        In { data, depth: 0, budget: ROOM_BYTES }
    }
    fn bytes(&mut self, many: usize) -> &'a [u8] {
        if many > self.data.len() {
            forged("a frame is too short");
        }
        let (taken, rest) = self.data.split_at(many);
        self.data = rest;
        taken
    }
    pub fn tag(&mut self) -> u8 {
        self.bytes(1)[0]
    }
    fn u32(&mut self) -> usize {
        let four = self.bytes(4);
        u32::from_be_bytes([four[0], four[1], four[2], four[3]]) as usize
    }
    fn u64(&mut self) -> u64 {
        (self.u32() as u64) << 32 | self.u32() as u64
    }
    pub fn text(&mut self) -> &'a [u8] {
        let many = self.u32();
        self.bytes(many)
    }
    fn utf8(&mut self) -> &'a str {
        std::str::from_utf8(self.text()).unwrap_or_else(|_| forged("a text is not UTF-8"))
    }
    pub fn expect(&mut self, tag: u8) {
        if self.tag() != tag {
            forged("a value is of another type than declared");
        }
    }
    /// Reads how many values follow, of which each takes a byte at least, and so much memory.
    fn counted(&mut self, bytes: usize) -> usize {
        let many = self.u32();
        if many > self.data.len() || many.saturating_mul(bytes) > self.budget {
            forged("a count is larger than what is left");
        }
        self.budget -= many * bytes;
        many
    }
    pub fn exactly(&mut self, many: usize) {
        if self.u32() != many {
            forged("a value has another count of parts than declared");
        }
    }
    fn deeper(&mut self) {
        self.depth += 1;
        if self.depth > DEPTH {
            forged("a value is nested too deep");
        }
    }
    fn all<T: Read>(&mut self, tag: u8, mut keep: impl FnMut(T)) {
        self.deeper();
        self.expect(tag);
        for _ in 0..self.counted(std::mem::size_of::<T>()) {
            keep(T::read(self));
        }
        self.depth -= 1;
    }
    fn pairs<K: Read, V: Read>(&mut self, mut keep: impl FnMut(K, V) -> bool) {
        self.deeper();
        self.expect(b'm');
        for _ in 0..self.counted(std::mem::size_of::<(K, V)>() + 16) {
            let key = K::read(self);
            if !keep(key, V::read(self)) {
                forged("a map has a key twice");
            }
        }
        self.depth -= 1;
    }
    fn boxed<T: Read>(&mut self) -> T {
        let size = std::mem::size_of::<T>() + 16;
        if size > self.budget {
            forged("a value takes too much memory");
        }
        self.budget -= size;
        T::read(self)
    }
    /// Reads a record's name, of which there may be several, and gives its number.
    pub fn record(&mut self, names: &[(&str, usize)]) -> usize {
        self.deeper();
        self.expect(b'r');
        let name = self.text();
        let found = names.iter().position(|one| one.0.as_bytes() == name);
        let found = found.unwrap_or_else(|| forged("a record has another name than declared"));
        self.exactly(names[found].1);
        found
    }
    pub fn field<T: Read>(&mut self, name: &str) -> T {
        if self.text() != name.as_bytes() {
            forged("a field has another name than declared");
        }
        self.boxed()
    }
    pub fn end(&mut self) {
        self.depth -= 1;
    }
}

pub trait Write {
    fn write(&self, out: &mut Out);
}

pub trait Read: Sized {
    fn read(from: &mut In) -> Self;
}

macro_rules! whole {
    ($($kind:ty)*) => { $(
        impl Write for $kind {
            fn write(&self, out: &mut Out) {
                if let Ok(one) = i32::try_from(*self) {
                    out.tag(b'w');
                    out.data.extend_from_slice(&one.to_be_bytes());
                    return;
                }
                match i64::try_from(*self) {
                    Ok(one) => { out.tag(b'i'); out.data.extend_from_slice(&one.to_be_bytes()); }
                    Err(_) => { out.tag(b'I'); out.text(self.to_string().as_bytes()); }
                }
            }
        }
        impl Read for $kind {
            fn read(from: &mut In) -> Self {
                let found = match from.tag() {
                    b'w' => <$kind>::try_from(from.u32() as u32 as i32).ok(),
                    b'i' => <$kind>::try_from(from.u64() as i64).ok(),
                    b'I' => { let text = from.text(); if text.len() > 40 { None } else { std::str::from_utf8(text).ok().and_then(|one| one.parse().ok()) } }
                    _ => None,
                };
                found.unwrap_or_else(|| forged("a number is out of range"))
            }
        }
    )* };
}
whole!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);

impl Write for f64 {
    fn write(&self, out: &mut Out) {
        out.tag(b'd');
        out.data.extend_from_slice(&self.to_bits().to_be_bytes());
    }
}
impl Read for f64 {
    fn read(from: &mut In) -> Self {
        from.expect(b'd');
        f64::from_bits(from.u64())
    }
}
impl Write for f32 {
    fn write(&self, out: &mut Out) {
        (*self as f64).write(out)
    }
}
impl Read for f32 {
    fn read(from: &mut In) -> Self {
        f64::read(from) as f32
    }
}
impl Write for bool {
    fn write(&self, out: &mut Out) {
        out.tag(if *self { b't' } else { b'f' })
    }
}
impl Read for bool {
    fn read(from: &mut In) -> Self {
        match from.tag() {
            b't' => true,
            b'f' => false,
            _ => forged("a value is no truth value"),
        }
    }
}
impl Write for char {
    fn write(&self, out: &mut Out) {
        out.tag(b'c');
        out.data.extend_from_slice(&(*self as u64).to_be_bytes());
    }
}
impl Read for char {
    fn read(from: &mut In) -> Self {
        from.expect(b'c');
        let found = u32::try_from(from.u64()).ok().and_then(char::from_u32);
        found.unwrap_or_else(|| forged("a character is out of range"))
    }
}
impl Write for () {
    fn write(&self, out: &mut Out) {
        out.tag(b'n')
    }
}
impl Read for () {
    fn read(from: &mut In) -> Self {
        from.expect(b'n')
    }
}
impl Write for str {
    fn write(&self, out: &mut Out) {
        out.tag(b's');
        out.text(self.as_bytes());
    }
}
impl Write for String {
    fn write(&self, out: &mut Out) {
        self.as_str().write(out)
    }
}
impl Read for String {
    fn read(from: &mut In) -> Self {
        from.expect(b's');
        from.utf8().to_owned()
    }
}
impl Read for &'static str {
    fn read(from: &mut In) -> Self {
        Box::leak(String::read(from).into_boxed_str())
    }
}
impl<T: Write + ?Sized> Write for &T {
    fn write(&self, out: &mut Out) {
        (**self).write(out)
    }
}
impl<T: Write + ?Sized> Write for Box<T> {
    fn write(&self, out: &mut Out) {
        (**self).write(out)
    }
}
impl<T: Read> Read for Box<T> {
    fn read(from: &mut In) -> Self {
        Box::new(from.boxed())
    }
}
impl<T: Write> Write for [T] {
    fn write(&self, out: &mut Out) {
        out.all(b'l', self.len(), self.iter())
    }
}
impl<T: Write, const N: usize> Write for [T; N] {
    fn write(&self, out: &mut Out) {
        self[..].write(out)
    }
}
impl<T: Read, const N: usize> Read for [T; N] {
    fn read(from: &mut In) -> Self {
        Vec::read(from).try_into().unwrap_or_else(|_| forged("an array has another length"))
    }
}

macro_rules! sequence {
    ($kind:ident, $tag:literal, $put:ident $(, $bound:ident)*) => {
        impl<T: Write> Write for $kind<T> {
            fn write(&self, out: &mut Out) {
                out.all($tag, self.len(), self.iter())
            }
        }
        impl<T: Read $(+ $bound)*> Read for $kind<T> {
            fn read(from: &mut In) -> Self {
                let mut all = $kind::new();
                from.all($tag, |one| { all.$put(one); });
                all
            }
        }
    };
}
sequence!(Vec, b'l', push);
sequence!(VecDeque, b'l', push_back);
sequence!(BTreeSet, b'e', insert, Ord);

impl<T: Write, S> Write for HashSet<T, S> {
    fn write(&self, out: &mut Out) {
        out.all(b'e', self.len(), self.iter())
    }
}
impl<T: Read + Eq + Hash, S: BuildHasher + Default> Read for HashSet<T, S> {
    fn read(from: &mut In) -> Self {
        let mut all = HashSet::default();
        from.all(b'e', |one| { all.insert(one); });
        all
    }
}
impl<K: Write, V: Write, S> Write for HashMap<K, V, S> {
    fn write(&self, out: &mut Out) {
        out.pairs(self.len(), self.iter())
    }
}
impl<K: Read + Eq + Hash, V: Read, S: BuildHasher + Default> Read for HashMap<K, V, S> {
    fn read(from: &mut In) -> Self {
        let mut all = HashMap::default();
        from.pairs(|key, value| all.insert(key, value).is_none());
        all
    }
}
impl<K: Write, V: Write> Write for BTreeMap<K, V> {
    fn write(&self, out: &mut Out) {
        out.pairs(self.len(), self.iter())
    }
}
impl<K: Read + Ord, V: Read> Read for BTreeMap<K, V> {
    fn read(from: &mut In) -> Self {
        let mut all = BTreeMap::new();
        from.pairs(|key, value| all.insert(key, value).is_none());
        all
    }
}
impl<T: Write> Write for Option<T> {
    fn write(&self, out: &mut Out) {
        match self {
            None => out.tag(b'n'),
            Some(one) => {
                out.deeper();
                out.tag(b'o');
                one.write(out);
                out.depth -= 1;
            }
        }
    }
}
impl<T: Read> Read for Option<T> {
    fn read(from: &mut In) -> Self {
        match from.tag() {
            b'n' => None,
            b'o' => {
                from.deeper();
                let one = T::read(from);
                from.depth -= 1;
                Some(one)
            }
            _ => forged("a value is no option"),
        }
    }
}
impl<T: Write, E: Write> Write for Result<T, E> {
    fn write(&self, out: &mut Out) {
        match self {
            Ok(one) => { out.record("Ok", 1); out.field("0", one); }
            Err(one) => { out.record("Err", 1); out.field("0", one); }
        }
        out.end();
    }
}
impl<T: Read, E: Read> Read for Result<T, E> {
    fn read(from: &mut In) -> Self {
        let found = if from.record(&[("Ok", 1), ("Err", 1)]) == 0 { Ok(from.field("0")) } else { Err(from.field("0")) };
        from.end();
        found
    }
}

macro_rules! parts {
    ($count:literal $($name:ident $index:tt)*) => {
        impl<$($name: Write),*> Write for ($($name,)*) {
            fn write(&self, out: &mut Out) {
                out.deeper();
                out.tag(b'p');
                out.count($count);
                $(self.$index.write(out);)*
                out.depth -= 1;
            }
        }
        impl<$($name: Read),*> Read for ($($name,)*) {
            fn read(from: &mut In) -> Self {
                from.deeper();
                from.expect(b'p');
                from.exactly($count);
                let found = ($($name::read(from),)*);
                from.depth -= 1;
                found
            }
        }
    };
}
parts!(1 A 0);
parts!(2 A 0 B 1);
parts!(3 A 0 B 1 C 2);
parts!(4 A 0 B 1 C 2 D 3);
parts!(5 A 0 B 1 C 2 D 3 E 4);
parts!(6 A 0 B 1 C 2 D 3 E 4 F 5);

// ---- the side of the tests

static CALLS: Mutex<u32> = Mutex::new(0);

/// Calls a function of the other program: writes its arguments, and gives the frame that answers.
pub fn call(name: &str, count: usize, write: &dyn Fn(&mut Out)) -> Vec<u8> {
    let mut calls = CALLS.lock().unwrap_or_else(|error| error.into_inner());
    *calls += 1;
    let mut out = Out { data: vec![b'C'], depth: 0 };
    out.count(*calls as usize);
    out.text(name.as_bytes());
    out.count(count);
    if catch_unwind(AssertUnwindSafe(|| write(&mut out))).is_err() {
        last(b'S', "an argument cannot be written");
    }
    send(&out.data);
    let frame = next().unwrap_or_else(|| unsafe { _exit(1) });
    let mut from = In::new(&frame);
    let kind = from.tag();
    if from.u32() != *calls as usize || kind != b'R' && kind != b'E' {
        forged("a frame answers another call");
    }
    drop(calls);
    if kind == b'E' {
        thrown(&mut from);
    }
    frame
}

/// Reads the value of an answer.
pub fn taken<R: Read>(frame: Vec<u8>) -> R {
    let mut from = In::new(&frame[5..]);
    let result = R::read(&mut from);
    ended(&from);
    result
}

fn ended(from: &In) {
    if !from.data.is_empty() {
        forged("there are bytes behind the last value");
    }
}

fn thrown(from: &mut In) -> ! {
    let message = from.utf8().to_owned();
    ended(from);
    panic!("{}", message)
}

// ---- the loop of a solution's program

type Function<'a> = &'a (dyn Fn(&mut In, &mut Out) + Sync);

/// Answers calls of some functions, which read their arguments and write their answer.
pub fn serve(functions: &[(&str, Function)]) {
    while let Some(frame) = next() {
        let mut from = In::new(&frame);
        from.expect(b'C');
        let id = from.u32();
        let name = from.text();
        from.u32();
        let mut out = Out { data: vec![b'R'], depth: 0 };
        out.count(id);
        let found = functions.iter().find(|one| one.0.as_bytes() == name);
        if let Err(why) = catch_unwind(AssertUnwindSafe(|| (found.unwrap().1)(&mut from, &mut out))) {
            out = failure(id, why);
        }
        send(&out.data);
    }
}

fn failure(id: usize, why: Box<dyn std::any::Any + Send>) -> Out {
    let mut out = Out { data: vec![b'E'], depth: 0 };
    out.count(id);
    if let Some(one) = why.downcast_ref::<Unwritable>() {
        leave(one.0); // tests could take it for a panic
    }
    let message = match (why.downcast_ref::<String>(), why.downcast_ref::<&str>()) {
        (Some(one), _) => one.as_str(),
        (_, Some(one)) => one,
        _ => "",
    };
    let mut end = message.len().min(MESSAGE_BYTES);
    while !message.is_char_boundary(end) {
        end -= 1;
    }
    out.text(message[..end].as_bytes());
    std::mem::forget(why);
    out
}
