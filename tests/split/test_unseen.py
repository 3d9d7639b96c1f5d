# ruff: noqa: E501  # programs in another language
"""Tasks whose prompt keeps a state, or whose tests look at what does not cross, are one program."""

from __future__ import annotations

import pytest

from reward_server.grading.compiled_tests.split import SPLITTERS, Task
from reward_server.languages import load_languages

JAVA = "import java.util.*;\n"
GO = "package main\n\nfunc f(n int) int {\n"
# By the language: of each prompt with a state, what stands in front of the function.
STATES = {
    "java": {
        "a static list": "class Log { static final List<Integer> lines = new ArrayList<>(); }",
        "a static number": "class Log { static int lines; }",
        "a number that is made as it is loaded": "class Log { static final long at = now(); }",
        "a static block": "class Log { static { System.out.println(); } }",
        "a field of an enum's constant": "enum Lamp { RED, BLUE; boolean on; }",
        "a constant of an enum with a body": "enum Lamp { RED { int n; }, BLUE }",
        "an array of an interface": "interface Limits { int[] MOST = {10}; }",
        "a list behind an annotation": 'class Log { @SuppressWarnings("a") static List<Integer> n; }',
        "a class within": "class Log { static class Inner { static int n; } }",
        "a static of a record": "record Pair(int a) { static Map<Integer, Integer> seen = null; }",
    },
    "c++17": {
        "a static field": "struct Stats { static inline int calls = 0; };",
        "a variable of a namespace": "namespace cfg { int limit = 10; }",
        "one of a namespace within": "namespace a { namespace b { struct S {}; std::string s; } }",
        "a static of a method": "struct Ids { static int next() { static int n = 0; return ++n; } };",
        "one of a thread": "int next() { thread_local int n = 0; return ++n; }",
        "a variable that is made by a call": "int limit(10);",
        "a variable of a template": "template <class T> T limit = T(10);",
        "a pointer to what is constant": "const int *limit = nullptr;",
        "a constant container": "const std::vector<int> limits{10};",
        "a constant that is made as it runs": "const int seed = rand();",
        "a struct with a variable": "struct Limit { int n; } limit;",
        "a macro that makes one": "#define NEXT static int n = 0",
        "one of another file": "extern int limit;",
    },
    "javascript": {
        "an array": "const log = [];",
        "an object": "const limit = { value: 10 };",
        "a variable": "let limit = 10;",
        "a static field": "class Stats { static calls = 0; }",
        "a static block": "class Stats { static { Stats.calls = 0; } }",
        "a hidden counter": "const nextId = (() => { let n = 0; return () => ++n; })();",
        "a field of a function": "function next() { return ++next.n; }\nnext.n = 0;",
        "a second constant": "const next = (x) => x, log = [];",
        "a regular expression": "const word = /a/g;",
        "a template with a call": "const name = `${made()}`;",
        "what stands first": "register();\nconst n = 1;",
    },
}
PLAIN = {
    "java": {
        "constants": "class Limits { static final int MOST = (int) 1e9 + 7; final String s = null; }",
        "objects' fields": "class Node { int value; List<Node> kids = new ArrayList<>(); }",
        "an enum": "enum Lamp { RED(1), BLUE(2); private final int n; Lamp(int n) { this.n = n; } }",
        "a record that refuses": "record R(int a) { R { if (a < 0) throw new RuntimeException(); } }",
        "an interface": "interface Shape { int SIDES = 4; double area(); default int f() { return 1; } }",
    },
    "c++17": {
        "constants": "const int MOST = 1e9 + 7;\nconstexpr double PI = 3.14;\nconst std::string A = "
        '"a";',
        "a struct": "struct P { int x, y = 2; P() = default; P(int a) : x(a) {} bool operator==(const P &o)"
        " const { return x == o.x; } };",
        "functions": "int g(int a);\nint g(int a) { return a; }\ntemplate <class T> T h(T a) { return a; }",
        "names": "using namespace std;\ntypedef long long ll;\nnamespace a { enum B { C }; }",
    },
    "javascript": {
        "constants": "const MOST = 10;\nconst NAME = 'a';\nconst LESS = -1 * 2",
        "functions": "const g = (x) => x + 1;\nfunction h(a) { return [a]; }\nconst k = async x => { return x };",
        "a class": "class P extends Q { constructor(x) { super(); this.x = x } static of(x) { return 1 } }",
    },
}
_HEADS = {
    "java": "class Solution {\n    public int f(int n) {\n",
    "c++17": "int f(int n) {\n",
    "javascript": "function f(n) {\n",
    "go": GO,
    "rust": "fn f(n: i32) -> i32 {\n",
}
_TESTS = {
    "java": "public class Main {{ public static void main(String[] a) {{ Solution s = new Solution(); {} }} }}",
    "c++17": "int main() {{ {} }}",
    "javascript": "if (f(1) !== 1) throw new Error(); {}",
    "go": 'import "testing"\nfunc TestF(t *testing.T) {{\n\tf(1)\n\t{}\n}}',
    "rust": "fn main() {{ f(1); {} }}",
}
# By the language: what tests look at that does not cross.
UNSEEN = {
    "java": {
        "a field of an exception": "try { s.f(1); } catch (Coded e) { check(e.code == 1); }",
        "a cause": "try { s.f(1); } catch (RuntimeException e) { check(e.getCause() == null); }",
        "an exception that is kept": "try { s.f(1); } catch (Exception e) { caught = e; }",
        "an exception that is not on the list": "try { s.f(1); } catch (DateTimeParseException e) { }",
        "one of two": "try { s.f(1); } catch (IOException | AssertionError e) { }",
        "an exception's class": "check(s.f(1) instanceof PatternSyntaxException);",
        "a class that an assertion is given": "assertThrows(AssertionError.class, () -> s.f(1));",
        "the locale": "Locale.setDefault(Locale.GERMANY);",
        "the time zone": 'TimeZone.setDefault(TimeZone.getTimeZone("GMT+3"));',
        "a property": 'check(System.getProperty("mode") == null);',
        "an interrupt": "s.f(1); check(Thread.interrupted());",
        "the thread's name": "Thread.currentThread().setName(s.f(1));",
        "a thread": "new Thread(() -> s.f(1)).start();",
        "a pool": "Executors.newFixedThreadPool(2).submit(() -> s.f(1));",
        "a task": "CompletableFuture.supplyAsync(() -> s.f(1)).join();",
        "a parallel stream": "check(IntStream.range(0, 9).parallel().map(s::f).sum() == 9);",
        "an object's text": 'check(s.toString().equals("a"));',
        "an object in a text": 'check((s + "").equals("a"));',
        "an object in a set": "check(Set.of(s, new Solution()).size() == 2);",
        "an object that is printed": "System.out.println(new Solution());",
        "another name of an object": "Object o = s; check(o.hashCode() == 1);",
    },
    "c++17": {
        "an exception of another kind": "try { f(1); } catch (const Negative &e) { }",
        "a number": "try { f(1); } catch (int e) { }",
        "a text": "try { f(1); } catch (const char *e) { }",
        "one of the library's": "try { f(1); } catch (const std::system_error &e) { }",
        "an exception that is kept": "try { f(1); } catch (...) { p = std::current_exception(); }",
        "an exception's class": "try { f(1); } catch (std::exception &e) { typeid(e); }",
        "a seed": "srand(7); f(1);",
        "the locale": 'std::locale::global(std::locale("C")); f(1);',
        "the environment": 'f(1); assert(!getenv("MODE"));',
        "an error's number": "f(1); assert(errno == 0);",
        "a thread": "std::thread t(f, 1); t.join();",
        "a task": "assert(std::async(f, 1).get() == 1);",
        "threads of POSIX": "pthread_create(&t, nullptr, call, nullptr);",
        "an algorithm of threads": "std::for_each(std::execution::par, a.begin(), a.end(), f);",
    },
    "javascript": {
        "the environment": "process.env.MODE = 1",
        "the folder": "process.chdir('..')",
        "what was matched": "if (RegExp.$1 !== 'a') throw 1",
        "how errors tell": "Error.stackTraceLimit = 0",
        "a clock that is replaced": "setTimeout = (g) => g()",
        "keys that are inherited": "for (const k in f(2)) throw k",
        "a loop that waits": "for await (const x of f(2)) if (!x) throw x",
        "promises": "Promise.all(f(2)).then(check)",
        "events": "process.on('exit', () => {})",
    },
    "go": {
        "what was recovered": "defer func() { if r := recover(); r != 2.5 { t.Fatal(r) } }()",
        "an error that was": "defer func() { e, ok := recover().(error); t.Log(e, ok) }()",
        "the type of an error": "if _, ok := err.(*strconv.NumError); !ok { t.Fatal() }",
        "what an error wraps": "if errors.Unwrap(err) != nil { t.Fatal() }",
        "a seed": "rand.Seed(7)",
        "the environment": 't.Setenv("MODE", "x")',
        "processors": "runtime.GOMAXPROCS(1)",
        "a goroutine": "go f(1)",
        "a goroutine of its own": "done := make(chan int)\n\tgo func() { done <- f(1) }()\n\t<-done",
        "a timer": "time.AfterFunc(1, func() { f(1) })",
        "a test beside others": "t.Parallel()",
    },
    "rust": {
        "what a panic carries": "e.downcast_ref::<&str>();",
        "whether it is of a type": "e.is::<String>();",
        "a panic that goes on": "std::panic::resume_unwind(e);",
        "a thread": "std::thread::spawn(|| f(1)).join().unwrap();",
        "threads in a scope": "std::thread::scope(|s| { s.spawn(|| f(1)); });",
        "a thread's maker": "thread::Builder::new().spawn(|| f(1)).unwrap();",
    },
}
SEEN = {
    "java": {
        "a message": 'try { s.f(1); } catch (IllegalStateException e) { check("a".equals(e.getMessage())); }',
        "any": "try { s.f(1); } catch (Exception e) { }",
        "a sleep": "Thread.sleep(1);",
        "what a method returned": "int r = new Solution().f(1); check(r == 1);",
        "a text about threads": 'check("new Thread()".equals("" + s.f(1)));',
        "objects": "Solution t = new Solution(), u = new Solution(); check(t.f(1) == u.f(new Solution().f(1)));",
        "its own": 'if (s.f(1) != 1) throw new AssertionError("wrong");',
    },
    "c++17": {
        "a message": "try { f(1); } catch (const std::out_of_range &e) { assert(e.what()); }",
        "any": "try { f(1); } catch (...) { }",
        "a sleep": "std::this_thread::sleep_for(std::chrono::milliseconds(1));",
    },
    "javascript": {"a message": "try { f(2) } catch (e) { if (e.message) throw e }"},
    "go": {
        "a panic": "defer func() { if r := recover(); r == nil { t.Fatal() } }()",
        "none": "defer func() { recover() }()",
        "its text": 'defer func() { if fmt.Sprint(recover()) != "a" { t.Fatal() } }()',
        "whether there was one": "defer func() { if recover() == nil { t.Fatal() } }()",
        "a text about goroutines": 't.Log("go f(1)", `go`) // go',
    },
    "rust": {
        "a panic": "assert!(std::panic::catch_unwind(|| f(1)).is_err());",
        "a sleep": "std::thread::sleep(std::time::Duration::from_millis(1));",
    },
}


# What asks for methods that only the solution may give to a type of the prompt's.
METHODS = (
    'if fmt.Sprint(p) != "{3}" { t.Fatal() }',
    'if fmt.Errorf("%v", p).Error() != "{3}" { t.Fatal() }',
    "json.Marshal(p)",
    "type shown interface { String() string }; _, ok := any(p).(shown); t.Log(ok)",
)


def is_apart(language: str, before: str, looks: str) -> bool:
    program = load_languages().find(language).program
    assert program is not None
    assert program.assertions is not None
    imports = JAVA if language == "java" else ""
    task = Task(
        prompt=f"{imports}{before}\n{_HEADS[language]}",
        tests=_TESTS[language].format(looks),
        language=program.assertions,
    )
    return SPLITTERS[program.split](task) is not None


def rows(table: dict[str, dict[str, str]]) -> list[tuple[str, str]]:
    return [(language, name) for language, named in table.items() for name in named]


@pytest.mark.parametrize(("language", "name"), rows(STATES))
def test_a_prompt_with_a_state_is_judged_in_one_program(language: str, name: str) -> None:
    assert not is_apart(language, STATES[language][name], "")


@pytest.mark.parametrize(("language", "name"), rows(PLAIN))
def test_a_prompt_without_a_state_is_taken_apart(language: str, name: str) -> None:
    assert is_apart(language, PLAIN[language][name], "")


@pytest.mark.parametrize(("language", "name"), rows(UNSEEN))
def test_what_does_not_cross_is_judged_in_one_program(language: str, name: str) -> None:
    assert not is_apart(language, "", UNSEEN[language][name])


@pytest.mark.parametrize(("language", "name"), rows(SEEN))
def test_what_crosses_is_taken_apart(language: str, name: str) -> None:
    assert is_apart(language, "", SEEN[language][name])


@pytest.mark.parametrize("asks", METHODS)
def test_go_that_asks_for_methods_of_types_is_judged_in_one_program(asks: str) -> None:
    assert not is_apart("go", "type P struct { X int }", asks)
    assert is_apart("go", "type P struct { X int }", "t.Log(p)")
    assert asks.startswith("type") or is_apart("go", "", asks)
