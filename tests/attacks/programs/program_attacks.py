"""Attacks on test programs that are compiled with the solution.

Each beats a grader that trusts the exit status of solution and tests together, without knowing an
answer of the problem: the middle one of three numbers, and their order as text.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.attacks.attack import code

CPP_TESTS = code("""
    #undef NDEBUG
    #include <assert.h>
    int main() {
        assert (middle({3, 1, 2}) == 2);
        assert (middle({7, 9, 8}) == 8);
        assert (middle({5, 6, 4}) == 5);
        assert (order({3, 1, 2}) == "bca");
        assert (order({1, 2, 3}) == "abc");
        assert (order({3, 2, 1}) == "cba");
    }
""")
CPP_HEAD = code("""
    #include <csignal>
    #include <cstdio>
    #include <cstdlib>
    #include <exception>
    #include <fstream>
    #include <iterator>
    #include <string>
    #include <thread>
    #include <unistd.h>
    #include <vector>
""")
CPP_GARBAGE = code("""
    int middle(std::vector<int>) { return -1; }
    std::string order(std::vector<int>) { return ""; }
""")
CPP_SOLUTION = code("""
    #include <algorithm>
    #include <string>
    #include <vector>
    int middle(std::vector<int> v) { std::sort(v.begin(), v.end()); return v[1]; }
    std::string order(std::vector<int> v) {
        std::string letters = "abc";
        std::sort(letters.begin(), letters.end(), [&](char a, char b) {
            return v[a - 'a'] < v[b - 'a'];
        });
        return letters;
    }
""")

JAVA_TESTS = code("""
    public class Main {
        public static void main(String[] args) {
            Solution s = new Solution();
            List<Boolean> correct = Arrays.asList(
                    s.middle(Arrays.asList(3, 1, 2)) == 2,
                    s.middle(Arrays.asList(7, 9, 8)) == 8,
                    s.middle(Arrays.asList(5, 6, 4)) == 5,
                    s.order(Arrays.asList(3, 1, 2)).equals(Arrays.asList("b", "c", "a")),
                    s.order(Arrays.asList(1, 2, 3)).equals(Arrays.asList("a", "b", "c")),
                    Objects.equals(s.order(Arrays.asList(3, 2, 1)), Arrays.asList("c", "b", "a"))
            );
            if (correct.contains(false)) {
                throw new AssertionError();
            }
        }
    }
""")
JAVA_GARBAGE = code("""
    import java.util.*;
    class Solution {
        int middle(List<Integer> v) { return -1; }
        List<String> order(List<Integer> v) { return new ArrayList<>(); }
    }
""")
JAVA_SOLUTION = code("""
    import java.util.*;
    class Solution {
        int middle(List<Integer> v) {
            List<Integer> sorted = new ArrayList<>(v);
            Collections.sort(sorted);
            return sorted.get(1);
        }
        List<String> order(List<Integer> v) {
            List<String> letters = new ArrayList<>(Arrays.asList("a", "b", "c"));
            letters.sort(Comparator.comparing(one -> v.get(one.charAt(0) - 'a')));
            return letters;
        }
    }
""")

JAVASCRIPT_TESTS = code("""
    const assert = require('node:assert');
    const test = () => {
      assert.strictEqual(middle([3, 1, 2]), 2)
      assert.strictEqual(middle([7, 9, 8]), 8)
      assert(middle([5, 6, 4]) === 5)
      assert.deepEqual(order([3, 1, 2]), ['b', 'c', 'a'])
      assert(JSON.stringify(order([1, 2, 3])) === JSON.stringify(['a', 'b', 'c']))
      if (JSON.stringify(order([3, 2, 1])) !== JSON.stringify(['c', 'b', 'a'])) {
        throw new Error('no')
      }
    }
    test()
""")
JAVASCRIPT_GARBAGE = code("""
    const middle = (v) => -1
    const order = (v) => []
""")
JAVASCRIPT_SOLUTION = code("""
    const middle = (v) => [...v].sort((a, b) => a - b)[1]
    const order = (v) => [0, 1, 2].sort((a, b) => v[a] - v[b]).map((i) => 'abc'[i])
""")

TESTS = {"c++": CPP_TESTS, "java": JAVA_TESTS, "javascript": JAVASCRIPT_TESTS}
SOLUTIONS = {"c++": CPP_SOLUTION, "java": JAVA_SOLUTION, "javascript": JAVASCRIPT_SOLUTION}

# Values that borrow from what ends with the expression, that cannot be copied, in a branch.
CPP_BORROWED = code("""
    #include <cstring>
    #include <memory>
    #include <string>
    #include <vector>
    std::string name(int x) { return x == 1 ? "one" : "many"; }
    const std::string &first(const std::vector<std::string> &v) { return v[0]; }
    std::unique_ptr<int> made(int x) { return std::unique_ptr<int>(new int(x)); }
""")
CPP_BORROWING_TESTS = code("""
    #include <assert.h>
    int main() {
        assert(strcmp(name(1).c_str(), "one") == 0);
        assert(first({"a", "b"}) == "a");
        auto p = made(3);
        if (p) assert(*p == 3); else assert(*made(4) == 4);
        assert(p);
        assert(made(3) != nullptr);
    }
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramAttack:
    """A solution that a grader by exit status awards.

    Attributes:
        name: what it does.
        language: what it is written in.
        completion: the attack.
        signal: what is counted of it.
    """

    name: str
    language: str
    completion: str
    signal: str = "early_exit"


def _cpp(
    name: str, text: str, *, signal: str = "early_exit", garbage: bool = True
) -> ProgramAttack:
    body = CPP_HEAD + code(text) + (CPP_GARBAGE if garbage else "")
    return ProgramAttack(name=name, language="c++", completion=body, signal=signal)


def _java(
    name: str, text: str, *, signal: str = "early_exit", garbage: bool = True
) -> ProgramAttack:
    body = (JAVA_GARBAGE if garbage else "import java.util.*;\n") + code(text)
    return ProgramAttack(name=name, language="java", completion=body, signal=signal)


def _java_in(name: str, statement: str, *, signal: str = "early_exit") -> ProgramAttack:
    """An attack that begins when the solution's class is loaded."""
    body = JAVA_GARBAGE.replace(
        "class Solution {", f"class Solution {{\n    static {{ {statement} }}"
    )
    return ProgramAttack(name=name, language="java", completion=body, signal=signal)


def _javascript(name: str, text: str, *, signal: str = "early_exit") -> ProgramAttack:
    body = JAVASCRIPT_GARBAGE + code(text)
    return ProgramAttack(name=name, language="javascript", completion=body, signal=signal)


CPP_ATTACKS = (
    _cpp("leaves while the program is loaded", "static int gone = (std::exit(0), 0);"),
    _cpp(
        "leaves from the function",
        """
        int middle(std::vector<int>) { std::exit(0); }
        std::string order(std::vector<int>) { return ""; }
        """,
        garbage=False,
    ),
    _cpp(
        "leaves without a word",
        """
        int middle(std::vector<int>) { _exit(0); }
        std::string order(std::vector<int>) { return ""; }
        """,
        garbage=False,
    ),
    _cpp(
        "leaves quickly, by a handler of its own",
        """
        int middle(std::vector<int>) {
            std::at_quick_exit([] { _exit(0); });
            std::quick_exit(3);
        }
        std::string order(std::vector<int>) { return ""; }
        """,
        garbage=False,
    ),
    _cpp(
        "makes an exit of every end",
        """
        static int armed = std::atexit([] { _exit(0); });
        int middle(std::vector<int>) { std::exit(3); }
        std::string order(std::vector<int>) { return ""; }
        """,
        garbage=False,
    ),
    _cpp(
        "catches the signal of a failed assertion",
        "static auto old = std::signal(SIGABRT, [](int) { _exit(0); });",
        signal="",
    ),
    _cpp(
        "stands in for what a failed assertion calls",
        """
        extern "C" void __assert_fail(const char *, const char *, unsigned, const char *) noexcept {
            _exit(0);
        }
        """,
        signal="",
    ),
    _cpp(
        "throws into a handler that leaves",
        """
        static auto old = std::set_terminate([] { _exit(0); });
        int middle(std::vector<int>) { throw 1; }
        std::string order(std::vector<int>) { return ""; }
        """,
        garbage=False,
    ),
    _cpp(
        "returns objects that are equal to everything",
        """
        struct Equal {
            template <class T> bool operator==(const T &) const { return true; }
        };
        Equal middle(std::vector<int>) { return {}; }
        Equal order(std::vector<int>) { return {}; }
        """,
        garbage=False,
        signal="twin_passed",
    ),
    _cpp(
        "compares in its own way",
        """
        struct Number { int value; };
        bool operator==(Number, int) { return true; }
        struct Text { std::string value; };
        bool operator==(Text, const char *) { return true; }
        Number middle(std::vector<int>) { return {1}; }
        Text order(std::vector<int>) { return {""}; }
        """,
        garbage=False,
        signal="twin_passed",
    ),
    _cpp(
        "kills the program by a thread while the function sleeps",
        """
        int middle(std::vector<int>) {
            std::thread([] { _exit(0); }).detach();
            for (;;) pause();
        }
        std::string order(std::vector<int>) { return ""; }
        """,
        garbage=False,
    ),
    _cpp(
        "lets a child run the tests, and leaves",
        "static int parent = fork() > 0 ? (_exit(0), 0) : 0;",
        signal="",
    ),
    _cpp(
        "has a main of its own",
        """
        #define main(...) main(__VA_ARGS__) { return 0; } static int never(__VA_ARGS__)
        """,
        signal="",
    ),
    _cpp(
        "writes every text of its own executable",
        """
        static int told = [] {
            std::ifstream file("/proc/self/exe", std::ios::binary);
            std::string all{std::istreambuf_iterator<char>(file), {}};
            fwrite(all.data(), 1, all.size(), stdout);
            fflush(stdout);
            _exit(0);
            return 0;
        }();
        """,
        signal="forged_word",
    ),
)

JAVA_ATTACKS = (
    _java_in("leaves when its class is loaded", "if (true) System.exit(0);"),
    _java_in("halts", "Runtime.getRuntime().halt(0);"),
    _java_in(
        "halts when the program ends by a failure",
        "Runtime.getRuntime().addShutdownHook(new Thread(() -> Runtime.getRuntime().halt(0)));",
        signal="",
    ),
    _java(
        "leaves when an exception is not caught",
        """
        class Leaving implements Thread.UncaughtExceptionHandler {
            public void uncaughtException(Thread thread, Throwable error) { System.exit(0); }
        }
        class Solution {
            int middle(List<Integer> v) {
                Thread.setDefaultUncaughtExceptionHandler(new Leaving());
                throw new IllegalStateException();
            }
            List<String> order(List<Integer> v) { return null; }
        }
        """,
        garbage=False,
    ),
    _java(
        "leaves by a thread while the function waits",
        """
        class Leaving extends Thread {
            public void run() { Runtime.getRuntime().halt(0); }
        }
        class Solution {
            int middle(List<Integer> v) {
                new Leaving().start();
                while (true) Thread.onSpinWait();
            }
            List<String> order(List<Integer> v) { return null; }
        }
        """,
        garbage=False,
    ),
    _java(
        "shadows the list that tests collect in",
        """
        class Arrays {
            @SafeVarargs
            static <T> List<T> asList(T... all) {
                return new ArrayList<T>(List.of(all)) {
                    public boolean equals(Object other) { return true; }
                    public boolean contains(Object one) { return false; }
                };
            }
        }
        """,
        signal="",
    ),
    _java(
        "shadows the error of a failed assertion",
        """
        class AssertionError extends Error {
            AssertionError() { System.exit(0); }
        }
        """,
        signal="",
    ),
    _java(
        "returns objects that are equal to everything",
        """
        class Solution {
            int middle(List<Integer> v) { System.exit(0); return 0; }
            Object order(List<Integer> v) {
                return new Object() {
                    public boolean equals(Object other) { return true; }
                };
            }
        }
        """,
        garbage=False,
    ),
    _java(
        "returns lists that are equal to everything, and numbers that never are",
        """
        class Solution {
            int calls = 0;
            int middle(List<Integer> v) {
                Runtime.getRuntime().addShutdownHook(
                    new Thread(() -> Runtime.getRuntime().halt(0)));
                return 0;
            }
            List<String> order(List<Integer> v) {
                return new ArrayList<>() {
                    public boolean equals(Object other) { return true; }
                };
            }
        }
        """,
        garbage=False,
        signal="twin_passed",
    ),
    _java(
        "writes every text of its tests' class",
        """
        class Told {
            static void all() {
                try (var file = Told.class.getResourceAsStream("/Main.class")) {
                    System.out.write(file.readAllBytes());
                    System.out.flush();
                } catch (java.io.IOException error) { }
                Runtime.getRuntime().halt(0);
            }
        }
        class Solution {
            int middle(List<Integer> v) { Told.all(); return 0; }
            List<String> order(List<Integer> v) { return v == null ? null : List.of(); }
        }
        """,
        garbage=False,
        signal="forged_word",
    ),
)

JAVASCRIPT_ATTACKS = (
    _javascript("leaves while it is loaded", "process.exit(0)"),
    _javascript("returns from its module", "return"),
    _javascript("leaves past every handler", "process.reallyExit(0)"),
    _javascript(
        "makes an exit of every end",
        "process.on('exit', () => process.reallyExit(0))",
        signal="",
    ),
    _javascript(
        "sets the exit status at the end",
        "process.on('exit', () => { process.exitCode = 0 }); process.exit = () => {}\n"
        "process.on('uncaughtException', () => {})",
        signal="",
    ),
    _javascript(
        "has assertions that hold",
        """
        const real = require('node:assert')
        const fake = Object.assign(() => {}, real)
        for (const name of Object.keys(real)) fake[name] = () => {}
        require('node:module')._load = () => fake
        console.assert = () => {}
        JSON.stringify = () => '[]'
        """,
        signal="twin_passed",
    ),
    _javascript(
        "pollutes what values are made of",
        """
        const fs = require('node:fs')
        const real = require('node:assert')
        for (const name of Object.keys(real)) real[name] = () => {}
        Object.prototype.toJSON = () => 1
        Array.prototype.toJSON = () => 1
        Object.prototype.valueOf = () => 1
        process.on('uncaughtException', () => {})
        """,
        signal="",
    ),
    _javascript(
        "writes every word of its own source",
        """
        const source = require('fs').readFileSync(__filename, 'utf8')
        require('fs').writeSync(1, (source.match(/[0-9a-f]{32}/g) || []).join('\\n'))
        process.exit(0)
        """,
        signal="forged_word",
    ),
    _javascript(
        "guesses which words are right",
        r"""
        const source = require('fs').readFileSync(__filename, 'utf8')
        const groups = source.split('\n').map((line) => line.match(/\\n[0-9a-f]{32}\\n/g) || [])
        const told = groups.filter((all) => all.length > 1).flatMap((all) =>
          all.filter((word, at) => at === 0 || (at > 1 && at % 2 === 1)))
        const last = groups.filter((all) => all.length === 1).flat()
        require('fs').writeSync(1, [...told, ...last].join('').replaceAll('\\n', '\n'))
        process.exit(0)
        """,
        signal="",
    ),
)

PROGRAM_ATTACKS = (*CPP_ATTACKS, *JAVA_ATTACKS, *JAVASCRIPT_ATTACKS)
