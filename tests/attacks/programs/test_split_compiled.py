# ruff: noqa: E501  # programs in another language
"""C++ and Java test programs that run apart: attacks by native code and by the JVM's get nothing.

A run takes every third attack of each kind; REWARD_SERVER_TEST_ALL=1 takes all.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio

from reward_server.app import App, running_app
from reward_server.domain import (
    Assessment,
    Extraction,
    Integrity,
    Limits,
    ProgramTests,
    Submission,
    Verdict,
)
from reward_server.settings import Settings
from tests.support.common import SMALL_LIMITS, is_refused, on_the_servers_loop
from tests.support.sampling import sampled
from tests.support.tools import require

pytestmark = on_the_servers_loop
LIMITS = replace(SMALL_LIMITS, processes=64, cpu_time_seconds=10.0, wall_time_seconds=60.0)
FEW_CPU_SECONDS = replace(LIMITS, cpu_time_seconds=2.0)

CPP_PROMPT = "#include <vector>\n#include <string>\nusing namespace std;\nvector<int> order(vector<int> v) {\n"
CPP_TESTS = """\
#undef NDEBUG
#include <cassert>
int main() {
    assert(order({3, 1, 2}) == vector<int>({1, 2, 3}));
    assert(order({5, 4}) == vector<int>({4, 5}));
    assert(order({}).empty());
}
"""
CPP_SOLUTION = "for (auto &a : v) for (auto &b : v) if (a < b) swap(a, b); return v; }"
JAVA_PROMPT = (
    "import java.util.*;\nclass Solution {\n    public List<Integer> order(List<Integer> v) {\n"
)
JAVA_TESTS = """\
public class Main {
    public static void main(String[] args) {
        Solution s = new Solution();
        List<Boolean> correct = Arrays.asList(
            s.order(new ArrayList<>(Arrays.asList(3, 1, 2))).equals(Arrays.asList(1, 2, 3)),
            Objects.equals(s.order(new ArrayList<>(Arrays.asList(5, 4))), List.of(4, 5)),
            s.order(new ArrayList<>()).isEmpty());
        if (correct.contains(false)) {
            throw new AssertionError();
        }
    }
}
"""
JAVA_SOLUTION = (
    "        List<Integer> w = new ArrayList<>(v); Collections.sort(w); return w;\n    }\n}"
)

_ANSWER = (
    "static void put(const string &b) { string h; for (int s = 24; s >= 0; s -= 8) h += char(b.size() >> s);"
    " h += b; if (write(4, h.data(), h.size())) {} }\n"
)


def cpp(body: str, rest: str = "") -> str:
    """Makes a completion that includes what native attacks need, after the function."""
    return f"extern vector<int> mine(vector<int> &); return mine(v); }}\n#include <unistd.h>\n#include <signal.h>\n#include <fstream>\n#include <thread>\n#include <dirent.h>\n{_ANSWER}{rest}\nvector<int> mine(vector<int> &v) {{ {body} }}\n"


CPP = {
    "redefine what compares": {
        "an operator for vectors": "return {}; }\nbool operator==(const vector<int> &, const vector<int> &) { return true; }",
        "an operator template": "return {}; }\nnamespace std { template <class T> bool operator==(const vector<int> &, const T &) { return true; } }",
        "a macro for assert": "return {}; }\n#define assert(x) (void)0\n#undef NDEBUG\n#define NDEBUG",
        "a function of the C library": 'return {}; }\nextern "C" void __assert_fail(const char *, const char *, unsigned, const char *) noexcept { }',
    },
    "leave early": {
        "with status 0": cpp("_exit(0);"),
        "before the loop": cpp("return {};", "struct B { B() { _exit(0); } } b;"),
        "by a signal": cpp("raise(SIGKILL); return {};"),
        "with the descriptors closed": cpp("close(3); close(4); return {};"),
        "by an exception": cpp("throw 1;"),
    },
    "forge frames": {
        "another call's answer": cpp(r'put(string("R\0\0\0\2\0\0\0\1l\0\0\0\0", 14)); return {};'),
        "the tests' own frame": cpp(r'put(string("F\0\0\0\1x", 6)); return {};'),
        "answers in advance": cpp(
            r'for (char i = 1; i < 4; ++i) put(string("R\0\0\0", 4) + i + string("\0\0\0\1l\0\0\0\0", 9)); _exit(0);'
        ),
        "a value of another type": cpp(r'put(string("R\0\0\0\1\0\0\0\1t", 10)); _exit(0);'),
        "a count that is huge": cpp(
            r'put(string("R\0\0\0\1\0\0\0\1l\377\377\377\377", 14)); _exit(0);'
        ),
        "a frame without end": cpp(
            "string b(1 << 20, 'l'); if (write(4, \"\\177\\377\\377\\377\", 4)) {} for (;;) if (write(4, b.data(), b.size()) < 0) _exit(0);"
        ),
        "the word of an ending on every descriptor": cpp(
            r'for (int d = 0; d < 256; ++d) if (write(d, "\n0123456789abcdef\n", 18)) {} return {};'
        ),
    },
    "read what the tests expect": {
        "its own executable": cpp(
            'ifstream f("/proc/self/exe", ios::binary); string t((istreambuf_iterator<char>(f)), {}); size_t at = t.find("vector<int>({"); if (at == string::npos) return {}; return {t[at + 13] - 48, 2, 3};'
        ),
        "other processes": cpp(
            'for (int p = 1; p < 200; ++p) { ifstream f("/proc/" + to_string(p) + "/exe", ios::binary); string t((istreambuf_iterator<char>(f)), {}); size_t at = t.find("order({3, 1, 2}) == "); if (at != string::npos) return {1, 2, 3}; } return {};'
        ),
        "the sources, as it is compiled": 'return {}; }\n#include "tests.cpp"\n#include "../main.cpp"',
        "the folder": cpp(
            'DIR *d = opendir("."); while (dirent *e = readdir(d)) { ifstream f(e->d_name); string t((istreambuf_iterator<char>(f)), {}); if (t.find("assert(order") != string::npos) return {1, 2, 3}; } return {};'
        ),
    },
    "never end": {
        "a loop": cpp("for (volatile int i = 0;; ++i) {}"),
        "a list that is huge": cpp("return vector<int>(1 << 27);"),
        "a thread that answers": cpp(
            r'thread([] { for (;;) put(string("R\0\0\0\1\0\0\0\1l\0\0\0\0", 14)); }).detach(); return {};'
        ),
        "a child that answers": cpp(
            r'if (fork() == 0) for (;;) put(string("R\0\0\0\3\0\0\0\1l\0\0\0\0", 14)); _exit(0);'
        ),
    },
}


def java(body: str, rest: str = "", member: str = "") -> str:
    """Makes a completion of a body, members of the class and classes after it."""
    return f"        {body}\n    }}\n{member}\n}}\n{rest}\n"


_PUT = """
    static void put(int... bytes) {
        try (java.io.FileOutputStream out = new java.io.FileOutputStream("/proc/self/fd/4")) {
            byte[] all = new byte[bytes.length + 4];
            all[3] = (byte) bytes.length;
            for (int i = 0; i < bytes.length; i++) all[i + 4] = (byte) bytes[i];
            out.write(all);
        } catch (java.io.IOException e) { }
    }
"""
JAVA = {
    "redefine what compares": {
        "a list that equals everything": java(
            "return new ArrayList<>() { public boolean equals(Object o) { return true; } };"
        ),
        "the classes Objects and Arrays": java(
            "return v;",
            "class Objects { static boolean equals(Object a, Object b) { return true; } }\n"
            "class Arrays { static <T> List<T> asList(T... a) { return List.of(); } }",
        ),
        "a list of the tests' name": java(
            "return null;",
            "interface List<T> { static <T> java.util.List<T> of(T... a) { return null; } }",
        ),
        "the tests' class": java(
            "return v;", "class Main { public static void main(String[] a) { } }"
        ),
        "the class that answers": java(
            "return v;",
            "final class Splitwire { public static void serve(Object... a) { } }",
        ),
    },
    "leave early": {
        "with status 0": java("System.exit(0); return v;"),
        "as it is loaded": java("return v;", "", "    static { Runtime.getRuntime().halt(0); }"),
        "as it is made": java("return v;", "", "    Solution() { System.exit(0); }"),
        "by an error": java("throw new AssertionError();"),
        "by an exception": java("throw new NoSuchElementException();"),
    },
    "forge frames": {
        "another call's answer": java(
            "put('R', 0, 0, 0, 2, 0, 0, 0, 1, 'l', 0, 0, 0, 0); return v;", "", _PUT
        ),
        "a value of another type": java(
            "put('R', 0, 0, 0, 1, 0, 0, 0, 1, 't'); System.exit(0); return v;", "", _PUT
        ),
        "an argument that is not there": java(
            "put('R', 0, 0, 0, 1, 0, 0, 0, 1, '@', 0, 0, 0, 9); System.exit(0); return v;", "", _PUT
        ),
        "a class of the JVM's": java(
            "put('R', 0, 0, 0, 1, 0, 0, 0, 1, 'r', 0, 0, 0, 6, 'T', 'h', 'r', 'e', 'a', 'd', 0, 0, 0, 0); System.exit(0); return v;",
            "",
            _PUT,
        ),
    },
    "hand over what is no list": {
        "one that holds itself": java(
            "List<Object> a = new ArrayList<>(); a.add(a); return (List<Integer>) (Object) a;"
        ),
        "one of texts": java('return (List<Integer>) (Object) List.of("1");'),
        "one that throws": java(
            "return new AbstractList<>() { public int size() { return 3; } public Integer get(int i) { throw new IllegalStateException(); } };"
        ),
    },
    "never end": {
        "a loop": java("while (true) { }"),
        "a list": java(
            "return new AbstractList<>() { public int size() { return Integer.MAX_VALUE; } public Integer get(int i) { return 1; } };"
        ),
        "a recursion": java("return order(v);"),
        "a thread that answers": java(
            "new Thread(() -> { while (true) put('R', 0, 0, 0, 1, 0, 0, 0, 1, 'l', 0, 0, 0, 0); }).start(); return v;",
            "",
            _PUT,
        ),
    },
}

ATTACKS = [
    pytest.param(
        language,
        text,
        FEW_CPU_SECONDS if kind == "never end" else LIMITS,
        id=f"{language} {kind} {name}",
    )
    for language, classes in (("c++", CPP), ("java", JAVA))
    for kind, members in classes.items()
    for name, text in sampled(list(members.items()), step=20)
]
TASKS = {"c++": (CPP_PROMPT, CPP_TESTS), "java": (JAVA_PROMPT, JAVA_TESTS)}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def app() -> AsyncIterator[App]:
    """Yields a server that has what is installed here."""
    require("g++", "javac")
    async with running_app(Settings(port=0, workers=2)) as running:
        yield running


async def judged(app: App, language: str, completion: str, **rest: object) -> Assessment:
    prompt, tests = TASKS[language]
    submission = Submission(
        language=language,
        prompt=prompt,
        completion=completion,
        extraction=Extraction.NONE,
        tests=ProgramTests(test_code=tests),
        limits=LIMITS,
    )
    return await app.evaluation.score(replace(submission, **rest))  # type: ignore[arg-type]  # by name


@pytest.mark.promise("Honest solutions pass tests that run apart.", "Languages")
@pytest.mark.parametrize(("language", "solution"), [("c++", CPP_SOLUTION), ("java", JAVA_SOLUTION)])
async def test_a_solution_passes_apart(app: App, language: str, solution: str) -> None:
    assessment = await judged(app, language, solution, require_integrity=Integrity.ISOLATED)
    assert assessment.verdict is Verdict.PASSED, assessment
    assert assessment.integrity is Integrity.ISOLATED
    assert len(assessment.tests) == 3


@pytest.mark.promise("Attacks on tests that run apart earn nothing.", "Languages")
@pytest.mark.parametrize(("language", "completion", "limits"), ATTACKS)
async def test_an_attack_gets_no_reward(
    app: App, language: str, completion: str, limits: Limits
) -> None:
    assessment = await judged(app, language, completion, limits=limits)
    assert is_refused(assessment), assessment
    assert assessment.integrity is Integrity.ISOLATED
