"""Tests in C++ and Java that do more with an answer than compare it are not taken apart."""

from __future__ import annotations

import pytest

from reward_server.grading.split.trusting import is_trusting_cpp, is_trusting_java

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
