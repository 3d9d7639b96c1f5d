"""Tests that do more with an answer than compare it are not taken apart."""

from __future__ import annotations

import pytest

from reward_server.grading.compiled_tests.split.hazards.trusting import (
    is_trusting_cpp,
    is_trusting_go,
    is_trusting_java,
    is_trusting_rust,
)

CPP = {
    "a format": "printf(f(1).c_str());",
    "a format to a stream": "fprintf(stderr, f(1).c_str(), 7);",
    "a format into a buffer": "char b[9]; snprintf(b, 9, format, 1);",
    "a command": "assert(system(f(1).c_str()) == 0);",
    "a library": "auto h = dlopen(f(1).c_str(), 1);",
    "a file": "std::ofstream out(f(1));",
    "a text into a buffer": "char b[9]; strcpy(b, f(1).c_str());",
    "a length": "memcpy(b, a, f(1));",
    "a raw array's index": "int seen[3] = {}; seen[f(1)] = 1;",
    "an index that has a name": "int n[4]; auto at = f(1) - 1; n[at]++;",
    "indexes one by one": "int n[4]; for (auto at : f(1)) n[at] = 0;",
    "an index of a helper's": "int n[4]; void put(int at) { n[at] = 1; } void t() { put(f(1)); }",
    "an index of another name": "int n[4]; auto g = f; n[g(2)] = 7;",
    "a pointer": "int *p = a; *(p + f(1)) = 3;",
    "an iterator": "*(v.begin() + f(1)) = 3;",
    "an iterator that is moved": "auto it = v.begin(); std::advance(it, f(1)); *it = 3;",
    "what is copied to the end of another": "auto r = f(1); std::copy(r.begin(), r.end(), a);",
    "a length of copies": "std::fill_n(a, f(1), 0);",
}
CPP_COMPARING = {
    "values": "assert(f({1, 2}) == 3); assert(abs(f({}) - 0.5) < 1e-6);",
    "a format of its own": 'printf("%d of %s\\n", f(1), "system(");',
    "a table": (
        "int cases[][2] = {{1, 2}, {3, 4}};"
        "for (int i = 0; i < 2; i++) assert(f(cases[i][0]) == cases[i][1]);"
    ),
    "a place that is checked": "vector<int> v(3); v[f(1)] = 7; assert(v[1] == 7);",
    "a slice": "assert(f({1}) == vector<int>(v.begin() + 1, v.end()));",
    "what is inserted": "std::copy(r.begin(), r.end(), std::back_inserter(s));",
}
JAVA = {
    "a class": "Class<?> c = Class.forName(s.f(1));",
    "a method": "s.getClass().getMethod(s.f(1)).invoke(s);",
    "a field": "s.getClass().getField(s.f(1)).set(null, 7);",
    "a constructor": "String.class.getConstructors()[0].newInstance();",
    "objects from bytes": "new ObjectInputStream(new ByteArrayInputStream(s.f(1))).readObject();",
    "a script": 'new javax.script.ScriptEngineManager().getEngineByName("js").eval(s.f(1));',
    "a handle": "MethodHandles.lookup().findStatic(c, s.f(1), t);",
    "a command": "Runtime.getRuntime().exec(s.f(1));",
    "a file": "Files.writeString(Path.of(s.f(1)), s.f(2));",
    "a library": "System.load(s.f(1));",
    "a bundle": "ResourceBundle.getBundle(s.f(1));",
    "the output": "System.setOut(null);",
}
JAVA_COMPARING = {
    "values": 'assert s.f(1).equals(List.of(1, 2)); // Class.forName("x")',
    "a format": 'assert String.format(s.f(1), 7).equals("File");',
    "a class": "assert s.f(1).getClass() == Integer.class;",
}
_GO_IMPORT = 'import (\n    "testing"\n    run "os/exec"\n    "net/http"\n)\n'
_TESTIFY = 'import (\n    "testing"\n    "github.com/stretchr/testify/assert"\n)\n'


def _tested(body: str) -> str:
    return f"{_TESTIFY}func TestF(t *testing.T) {{ {body} }}"


GO = {
    "a command": f"{_GO_IMPORT}func TestF(t *testing.T) {{ run.Command(F(1)).Run() }}",
    "a request": f"{_GO_IMPORT}func TestF(t *testing.T) {{ http.Get(F(1)) }}",
    "a file": "func TestF(t *testing.T) { b, _ := os.ReadFile(F(1)); _ = b }",
    "a file, by all names of its package": 'import . "io/ioutil"\nfunc main() { ReadFile(F(1)) }',
    "a file, in what the prompt defines": "func TestF(t *testing.T) { read(F(1)) }",
    "a variable": "func TestF(t *testing.T) { t.Setenv(F(1), F(2)) }",
    "a method by its name": "func main() { reflect.ValueOf(t).MethodByName(F(1)).Call(nil) }",
    "a field by its name": "func main() { reflect.ValueOf(&t).Elem().FieldByName(F(1)).SetInt(7) }",
    "a function that is made": "func main() { reflect.MakeFunc(kind, body) }",
    "a place in memory": 'import "unsafe"\nfunc main() { *(*int)(unsafe.Pointer(F(1))) = 7 }',
    "a library": 'import "plugin"\nfunc main() { plugin.Open(F(1)) }',
    "a template": 'import "text/template"\nfunc main() { template.New("").Parse(F(1)) }',
    "a function of C": 'import "C"\nfunc main() { C.system(F(1)) }',
    "a file that is linked in": "//go:embed answers\nvar text string\nfunc main() { F(text) }",
    "another package's name": "//go:linkname exit os.runtime_beforeExit\nfunc exit(code int)",
    "a file that testify looks for": _tested("assert.FileExists(t, F(1))"),
    "a request of testify": _tested("assert.HTTPSuccess(t, handler, F(1), F(2), nil)"),
    "testify by another name": _tested("a := assert.New(t); a.DirExists(F(1))"),
    "tests that leave themselves out": "func TestF(t *testing.T) { if F(1) < 0 { t.SkipNow() } }",
}
GO_PROMPT = 'import "os"\n\nfunc read(s string) []byte { b, _ := os.ReadFile(s); return b }\n'
GO_COMPARING = {
    "values": "func TestF(t *testing.T) { if !reflect.DeepEqual(F(1), 1) { t.Fatal(F(1)) } }",
    "a command in a comment": "// exec.Run\nfunc main() { if F(1) != `os.Open` { os.Exit(1) } }",
    "a field called like a package": "func main() { if F(1).os.Open != 3 { panic(time.Now()) } }",
    "assertions of testify": _tested(
        "assert := assert.New(t); assert.Equal(F(1), 2); assert.Len(F(2), 3)"
    ),
    "assertions that need no object": (
        'import "github.com/stretchr/testify/require"\n'
        "func TestF(t *testing.T) { require.InDelta(t, F(1), 2.0, 0.1) }"
    ),
    "formats and numbers": 'import "fmt"\nfunc main() { fmt.Sprintf("%v", math.Abs(F(1)-2)) }',
}
_RUST_HEAD = (
    "use std::{slice::Iter, cmp::{max, self}, collections::{HashSet, fs}, any::{Any, TypeId}};"
)
RUST = {
    "a command": "use std::process::Command;\nfn main() { Command::new(f(1)).status(); }",
    "a command by its path": "fn main() { std::process::Command::new(f(1)).status(); }",
    "a file": "fn main() { std::fs::write(f(1), f(2)); }",
    "a file in a tree": "use std::{cmp::{max, self}, fs};\nfn main() { fs::read(f(1)); }",
    "a file of another name": "use std::{cmp::{self}, fs as g};\nfn main() { g::read(f(1)); }",
    "the library of another name": "use std as s;\nfn main() { s::fs::read(f(1)); }",
    "a path": "fn main() { assert!(std::path::Path::new(&f(1)).exists()); }",
    "a variable": "fn main() { std::env::set_var(f(1), f(2)); }",
    "a place in memory": "fn main() { unsafe { *(f(1) as *mut u8) = 7 } }",
    "a function of C": 'extern "C" { fn system(s: *const u8) -> i32; }',
    "a library": "use libloading::Library;\nfn main() { Library::new(f(1)); }",
    "a connection": "use std::net::*;\nfn main() { TcpStream::connect(f(1)); }",
    "a file that is linked in": 'fn main() { assert_eq!(f(1), include_str!("answers")); }',
    "what happens at a panic": "fn main() { std::panic::set_hook(Box::new(|_| ())); }",
    "all of the library": "use core::*;\nfn main() { ptr::read(f(1)); }",
}
RUST_COMPARING = {
    "values": f"{_RUST_HEAD}\n#[test]\nfn t() {{ assert_eq!(f(1), vec!['\\'', '\"']); }}",
    "words in texts": 'fn main() { assert_eq!(f(1), r#"unsafe { std::fs "#); // std::fs',
    "lifetimes": "fn g<'a>(x: &'a str) -> &'a str { x }\nfn main() { std::process::exit(0) }",
}


@pytest.mark.parametrize("tests", CPP.values(), ids=CPP)
def test_cpp_that_trusts(tests: str) -> None:
    assert is_trusting_cpp(tests, "f")


@pytest.mark.parametrize("tests", CPP_COMPARING.values(), ids=CPP_COMPARING)
def test_cpp_that_compares(tests: str) -> None:
    assert not is_trusting_cpp(tests, "f")


@pytest.mark.parametrize("tests", JAVA.values(), ids=JAVA)
def test_java_that_trusts(tests: str) -> None:
    assert is_trusting_java(tests)


@pytest.mark.parametrize("tests", JAVA_COMPARING.values(), ids=JAVA_COMPARING)
def test_java_that_compares(tests: str) -> None:
    assert not is_trusting_java(tests)


@pytest.mark.parametrize("tests", GO.values(), ids=GO)
def test_go_that_trusts(tests: str) -> None:
    assert is_trusting_go(GO_PROMPT if "read(" in tests else "", tests)


@pytest.mark.parametrize("tests", GO_COMPARING.values(), ids=GO_COMPARING)
def test_go_that_compares(tests: str) -> None:
    assert not is_trusting_go('import (\n    "os/exec"\n)\nfunc F(n int) int {\n', tests)


@pytest.mark.parametrize("tests", RUST.values(), ids=RUST)
def test_rust_that_trusts(tests: str) -> None:
    assert is_trusting_rust("fn f(n: i32) -> String {", tests)


@pytest.mark.parametrize("tests", RUST_COMPARING.values(), ids=RUST_COMPARING)
def test_rust_that_compares(tests: str) -> None:
    assert not is_trusting_rust("fn f<'a>(n: &'a str) -> Vec<char> {", tests)
