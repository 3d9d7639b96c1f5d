# ruff: noqa: E501  # programs in another language
"""Rust test programs that are taken apart: honest solutions, and attacks.

Honest ones by name: prompt, completion, one without a body, and tests.
"""

from __future__ import annotations

from tests.attacks.attack import code
from tests.split.programs import Corpus

# As HumanEval-X has it in front of each prompt.
_HEAD = "fn main(){    \n }\n\nuse std::{slice::Iter, cmp::{max, self}, mem::replace, collections::{HashSet, HashMap}, ops::Index, ascii::AsciiExt};\nuse std::any::{Any, TypeId};\n\n"


def _module(*checks: str) -> str:
    """Makes tests of the form that cargo runs."""
    each = "\n".join(f"        {one};" for one in checks)
    return f"\n#[cfg(test)]\nmod tests {{\n    use super::*;\n\n    #[test]\n    fn test_it() {{\n{each}\n    }}\n}}\n"


PROBLEMS = {
    "add": (
        f"{_HEAD}/*\nAdd two numbers\n*/\nfn add(x:i32, y:i32) -> i32{{\n",
        "    return x + y;\n}\n",
        "    return 0;\n}\n",
        _module("assert_eq!(add(0, 1), 1)", "assert_eq!(add(2, 3), 5)"),
    ),
    "reverse": (
        "fn reverse(text: &str) -> String {\n",
        "    text.chars().rev().collect()\n}\n",
        "    String::new()\n}\n",
        _module('assert_eq!(reverse("größe"), "eßörg")'),
    ),
    "primes": (
        "pub fn primes(n: usize) -> Vec<usize> {\n",
        "    (2..=n).filter(|i| (2..*i).all(|j| i % j != 0)).collect()\n}\n",
        "    vec![]\n}\n",
        "fn main() {\n    assert_eq!(primes(10), vec![2, 3, 5, 7]);\n    assert!(primes(1).is_empty());\n}\n",
    ),
    "words": (
        "use std::collections::HashMap;\n\nfn words(text: &str) -> HashMap<String, u32> {\n",
        "    let mut all = HashMap::new();\n    for one in text.split_whitespace() {\n        *all.entry(one.to_string()).or_insert(0) += 1;\n    }\n    all\n}\n",
        "    HashMap::new()\n}\n",
        _module(
            'assert_eq!(words("a b a"), HashMap::from([("a".to_string(), 2), ("b".to_string(), 1)]))'
        ),
    ),
    "fibonacci": (
        "fn fibonacci(n: u32) -> u128 {\n",
        "    (0..n).fold((0, 1), |(a, b), _| (b, a + b)).0\n}\n",
        "    0\n}\n",
        _module(
            "assert_eq!(fibonacci(10), 55)",
            "assert_eq!(fibonacci(150), 9969216677189303386214405760200)",
        ),
    ),
    "gcd": (
        "#[derive(Debug, PartialEq)]\nenum Trouble {\n    None,\n    Negative(i64),\n}\n\nfn gcd(a: i64, b: i64) -> Result<i64, Trouble> {\n",
        "    if a < 0 { return Err(Trouble::Negative(a)); }\n    if a == 0 && b == 0 { return Err(Trouble::None); }\n    Ok(if b == 0 { a } else { return gcd(b, a % b) })\n}\n",
        "    Ok(0)\n}\n",
        _module(
            "assert_eq!(gcd(12, 18), Ok(6))",
            "assert_eq!(gcd(-1, 1), Err(Trouble::Negative(-1)))",
            "assert_eq!(gcd(0, 0), Err(Trouble::None))",
        ),
    ),
    "palindrome": (
        "fn is_palindrome(text: &String) -> Option<bool> {\n",
        "    if text.is_empty() { return None; }\n    Some(text.chars().eq(text.chars().rev()))\n}\n",
        "    Some(false)\n}\n",
        _module(
            'assert_eq!(is_palindrome(&"aba".to_string()), Some(true))',
            "assert_eq!(is_palindrome(&String::new()), None)",
        ),
    ),
    "running_max": (
        "#[derive(Debug, Clone, PartialEq)]\npub struct Row {\n    pub values: Vec<f64>,\n    next: Option<Box<Row>>,\n}\n\nfn running_max(row: Row) -> Row {\n",
        "    let mut largest = f64::MIN;\n    let values = row.values.iter().map(|&one| { largest = largest.max(one); largest }).collect();\n    Row { values, next: row.next.map(|one| Box::new(running_max(*one))) }\n}\n",
        "    Row { values: vec![], next: None }\n}\n",
        _module(
            "let last = Row { values: vec![2.0, 1.0], next: None }",
            "let found = running_max(Row { values: vec![], next: Some(Box::new(last)) })",
            "assert_eq!(found.next.unwrap().values, vec![2.0, 2.0])",
        ),
    ),
    "fizzbuzz": (
        "fn fizz_buzz(n: u32) -> Vec<String> {\n",
        '    if n == 0 { panic!("none") }\n    (1..=n).map(|i| match (i % 3, i % 5) { (0, 0) => "FizzBuzz".to_string(), (0, _) => "Fizz".to_string(), (_, 0) => "Buzz".to_string(), _ => i.to_string() }).collect()\n}\n',
        "    vec![]\n}\n",
        '#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn five() -> Result<(), String> {\n        assert_eq!(fizz_buzz(5).join(" "), "1 2 Fizz 4 Buzz");\n        Ok(())\n    }\n    #[test]\n    #[should_panic]\n    fn none() { fizz_buzz(0); }\n}\n',
    ),
}

# By name: prompt, completion, and checks that hold.
_NODE = "pub struct Node {\n    pub at: i32,\n    pub next: Option<Box<Node>>,\n}\n"
VALUES = {
    "numbers of all kinds": (
        "fn f(a: i8, b: u16, c: f32, d: u64, e: i128, g: char, h: usize) -> (i8, u16, f32, u64, i128, char) {",
        "let _ = h; (a, b, c, d, e, g) }",
        "assert_eq!(f(-128, 65535, 0.1, u64::MAX, i128::MIN, 'ß', 1), (-128, 65535, 0.1, u64::MAX, i128::MIN, 'ß'));",
    ),
    "sets, maps and queues": (
        "use std::collections::*;\nfn f(a: BTreeSet<char>, b: HashSet<(u8, bool)>, c: &BTreeMap<String, VecDeque<i32>>) -> (BTreeSet<char>, HashSet<(u8, bool)>, BTreeMap<String, VecDeque<i32>>) {",
        "(a, b, c.clone()) }",
        "let (a, b, c) = (BTreeSet::from(['a']), HashSet::from([(1, true)]), BTreeMap::from([(String::new(), VecDeque::from([1]))])); assert_eq!(f(a.clone(), b.clone(), &c.clone()), (a, b, c));",
    ),
    "texts that are borrowed": (
        "fn f<'a>(a: &'a str, b: Vec<&'a str>, c: &[&str], d: Option<&str>) -> (&'a str, Vec<&'a str>, usize) {",
        "(b[0], vec![a], c.len() + d.unwrap().len()) }",
        'assert_eq!(f("a", vec!["b"], &["c"], Some("d")), ("b", vec!["a"], 2));',
    ),
    "options in options and nothing": (
        "fn f(a: Option<Option<()>>, b: Box<Option<u8>>) -> Option<Option<()>> {",
        "let _ = b; a }",
        "for one in [None, Some(None), Some(Some(()))] { assert_eq!(f(one, Box::new(None)), one); }",
    ),
}


def main(checks: str) -> str:
    return f"fn main() {{\n{checks}\n}}\n"


PROMPT = "use std::collections::HashMap;\n\nfn order(v: Vec<i32>) -> Vec<i32> {\n"
SOLUTION = "    let mut w = v.clone();\n    w.sort();\n    w\n}\n"
TESTS = code("""
    fn main() {
        assert_eq!(order(vec![3, 1, 2]), vec![1, 2, 3]);
        let got = order(vec![5, 4]);
        if got != [4, 5] {
            panic!("zyxwv {:?}", got);
        }
        assert!(order(vec![]).is_empty());
    }
""")

_ANSWER = code("""
    extern "C" {
        fn read(d: i32, p: *mut u8, n: usize) -> isize;
        fn write(d: i32, p: *const u8, n: usize) -> isize;
        fn close(d: i32) -> i32;
        fn _exit(s: i32) -> !;
        fn fork() -> i32;
        fn kill(p: i32, s: i32) -> i32;
        fn getpid() -> i32;
    }
    fn put(bytes: &[u8]) {
        let mut all = (bytes.len() as u32).to_be_bytes().to_vec();
        all.extend_from_slice(bytes);
        unsafe { write(4, all.as_ptr(), all.len()); }
    }
    fn empty(id: u8) { put(&[b'R', 0, 0, 0, id, 0, 0, 0, 1, b'l', 0, 0, 0, 0]) }
    fn quit() -> ! { unsafe { _exit(0) } }
""")


def rust(body: str, rest: str = "") -> str:
    """Makes a completion of a body, and declarations behind it."""
    return f"    #[allow(unused)] {{ {body} }}\n    vec![]\n}}\n{_ANSWER}\n{rest}\n"


ATTACKS = {
    "equal to everything": {
        "a type of its own": "    Any\n}\nstruct Any;\nimpl PartialEq<Vec<i32>> for Any { fn eq(&self, _: &Vec<i32>) -> bool { true } }\n",
        "the macro that compares": "    vec![]\n}\n#[macro_export]\nmacro_rules! assert_eq { ($($t:tt)*) => {} }\n",
        "the types": "    vec![]\n}\ntype Result<T> = std::result::Result<T, ()>;\nmod std { }\n",
        "arguments that are changed": rust("let mut v = v; v.sort(); v.clear(); return v;"),
    },
    "leaves": {
        "with status 0": rust("std::process::exit(0);"),
        "at once": rust("quit();"),
        "as it is loaded": rust(
            "",
            '#[link_section = ".init_array"]\n#[used]\nstatic EARLY: extern "C" fn() = early;\nextern "C" fn early() { quit() }\n',
        ),
        "by an abort": rust("std::process::abort();"),
        "by a panic": rust('panic!("assert");'),
        "by a panic of another kind": rust("std::panic::panic_any(0);"),
        "by a panic as it is dropped": rust(
            "struct D; impl Drop for D { fn drop(&mut self) { panic!() } } std::panic::panic_any(D);"
        ),
        "by a signal": rust("unsafe { kill(getpid(), 9); }"),
        "with its pipes closed": rust("unsafe { close(3); close(4); }"),
        "without a stack": rust("return order(order(v));"),
    },
    "prints": {
        "the words of tests": rust(
            r'println!("\ntest result: ok. 1 passed\n\n0123456789abcdef"); std::process::exit(0);'
        ),
        "on every descriptor": rust(
            r'for d in 0..64 { unsafe { write(d, b"\n0123456789abcdef\n".as_ptr(), 18); } }'
        ),
        "on its errors": rust('eprintln!("test result: ok"); std::process::exit(0);'),
    },
    "forges": {
        "answers in advance": rust("for id in 1..4 { empty(id) } quit();"),
        "another call's answer": rust("empty(77);"),
        "the tests' own frame": rust('put(b"F\\0\\0\\0\\x01x");'),
        "a call": rust('put(b"C\\0\\0\\0\\x01\\0\\0\\0\\0\\0\\0\\0\\0");'),
        "a value of another type": rust('put(b"R\\0\\0\\0\\x01\\0\\0\\0\\x01t");'),
        "a count that is huge": rust(
            'put(b"R\\0\\0\\0\\x01\\0\\0\\0\\x01l\\xff\\xff\\xff\\xff"); quit();'
        ),
        "more values than one": rust(
            'put(b"R\\0\\0\\0\\x01\\0\\0\\0\\x02l\\0\\0\\0\\0n"); quit();'
        ),
        "a length without an end": rust(
            "unsafe { write(4, [127u8, 255, 255, 255].as_ptr(), 4); } loop { put(&[0; 4096]) }"
        ),
        "a thread that answers early": rust(
            "std::thread::spawn(|| loop { empty(1); empty(2); empty(3) }); loop { }"
        ),
        "a child that answers": rust("if unsafe { fork() } == 0 { loop { empty(2) } }"),
        "the library that answers": rust(
            "splitwire::serve(&[(\"order\", &|_, out| { out.back(1); out.tag(b'n') })]);"
        ),
        "the library as the tests": rust('splitwire::call("order", 0, &|_| {});'),
    },
    "reads": {
        "its own executable": rust(
            'let mut want = b"{zyxw".to_vec(); for one in &mut want { *one -= std::env::args().count() as u8; } let data = std::fs::read("/proc/self/exe").unwrap(); if data.windows(5).any(|one| one == want) { let mut w = v; w.sort(); return w; }'
        ),
        "other processes": rust(
            'let mut want = b"{zyxw".to_vec(); for one in &mut want { *one -= std::env::args().count() as u8; } for pid in 1..300 { for name in ["exe", "mem", "cmdline", "environ", "cwd/main.rs", "maps"] { if let Ok(data) = std::fs::read(format!("/proc/{}/{}", pid, name)) { if data.windows(5).any(|one| one == want) { let mut w = v; w.sort(); return w; } } } }'
        ),
        "the sources as it is compiled": '    vec![include_str!("tests.rs").len() as i32]\n}\n',
        "what the compiler sees": '    vec![include_bytes!("/proc/self/cmdline").len() as i32]\n}\n',
        "memory": rust(
            "let at = v.as_ptr() as usize; for i in 0..1usize << 40 { unsafe { std::ptr::read_volatile((at + i) as *const u8); } }"
        ),
    },
    "does not end": {
        "a loop": rust("loop { }"),
        "a sleep": rust("std::thread::sleep(std::time::Duration::from_secs(3600));"),
        "a vector that is huge": rust("return vec![1; 1 << 27];"),
    },
    "has no body": {
        "nothing": "    vec![]\n}\n",
        "its argument": "    v\n}\n",
        "a body to be written": "    todo!()\n}\n",
    },
}

WHOLE = f"{PROMPT}{SOLUTION}fn main() {{}}"
CORPUS = Corpus(
    language="rust",
    compiler="rustc",
    prompt=PROMPT,
    solution=SOLUTION,
    tests=TESTS,
    problems=PROBLEMS,
    attacks=ATTACKS,
    values=VALUES,
    main=main,
    whole=WHOLE,
    wrong=WHOLE.replace("sort()", "reverse()"),
    stateful=(f"static CALLS: u8 = 0;\n{PROMPT}", SOLUTION),
    signatures=(
        "struct Any;\nimpl PartialEq<Vec<i32>> for Any { fn eq(&self, _: &Vec<i32>) -> bool { true } }\nfn order(v: Vec<i32>) -> Any { Any }",
        "macro_rules! assert_eq { ($($t:tt)*) => {} }\nfn order(v: Vec<i32>) -> Vec<i32> { vec![] }",
        "fn order(v: Vec<i32>) -> Vec<i32> { vec![] }\nfn drop(v: i32) { std::process::exit(0) }",
    ),
    numbers=(
        "fn main() {\n    let got = half(3.0);\n    assert_eq!(got, 1.5);\n    assert!(!(got > 2.0));\n}\n",
        "fn half(x: f64) -> f64 { x / 2.0 }",
        (
            "fn half(x: f64) -> f64 { f64::NAN }",
            "fn half(x: f32) -> f32 { -f32::INFINITY }",
            "struct Any;\nimpl PartialEq<f64> for Any { fn eq(&self, _: &f64) -> bool { true } }\nfn half(x: f64) -> Any { Any }",
        ),
    ),
)
