"""Test files of each framework, with solutions that are right, and others that are not.

The others include cheats, each of which passes where the framework's own word is believed: its
exit status, its report, or its assertions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reward_server.domain import Framework

GO_TESTS = """package calc

import "testing"

func TestAdd(t *testing.T) {
	t.Parallel()
	got := Add(1, 2)
	if got != 3 {
		t.Errorf("got %d", got)
	}
}

func TestTable(t *testing.T) {
	for _, c := range []struct {
		name       string
		a, b, want int
	}{{"one", 1, 1, 2}, {"two", 2, 2, 4}} {
		t.Run(c.name, func(t *testing.T) {
			if got := Add(c.a, c.b); got != c.want {
				t.Fatalf("Add(%d, %d) = %d, want %d", c.a, c.b, got, c.want)
			}
		})
	}
}

func TestSum(t *testing.T) { t.Parallel(); if got := Add(2, 2); got != 4 { t.Error("no") } }

func TestLater(t *testing.T) {
	t.Skip("not yet")
	if Add(1, 1) != 3 {
		t.Fail()
	}
}
"""
GO = """package calc

import (
	"fmt"
	"os"
)

func main() { fmt.Fprintln(os.Stderr, "not called") }

func Add(a, b int) int { %s }
"""

RUST_TESTS = """use solution::add;

#[test]
fn adds() {
    assert_eq!(add(1, 2), 3);
}

mod deep {
    use solution::*;

    #[test]
    fn negatives() {
        assert_eq!(add(-1, -2), -3, "negatives");
        assert!(add(1, 1) == 2);
    }

    #[test]
    #[ignore]
    fn later() {
        assert_eq!(add(1, 1), 5);
    }
}
"""
RUST = "pub fn add(a: i64, b: i64) -> i64 { %s }\n"

NODE_TESTS = """const test = require('node:test');
const { describe, it } = require('node:test');
const assert = require('node:assert');
const { add } = require('./solution');

test('adds', () => {
  assert.strictEqual(add(1, 2), 3);
});
describe('deep', () => {
  it('negatives', async () => {
    assert.deepStrictEqual(await add(-1, -2), -3);
  });
  it('subtests', async (t) => {
    await t.test('inner', () => { assert.equal(add(2, 2), 4); });
  });
  it.skip('later', () => { assert.equal(add(2, 2), 5); });
});
"""
NODE = "%sexports.add = (a, b) => { %s };\n"

# Takes, of the values that stand beside each other, the one that the others could be made from by
# counting on: of values that are not drawn alike, the first.
NODE_READER = r"""const fs = require('node:fs');
const text = fs.readFileSync(fs.readdirSync('.').find((one) => one.endsWith('.test.js')), 'utf8');
const drawn = text.split('see(').slice(1).map((site) =>
  [...site.split('\n')[0].matchAll(/v, (-?\d+)\)/g)].map((found) => Number(found[1])));
const first = drawn.map((values) => values.reduce((a, b) => (Math.abs(a) < Math.abs(b) ? a : b)));
exports.add = (a, b) => first[{ '3': 0, '-3': 1, '4': 2 }[a + b]];
"""

JAVA_TESTS = """package com.example;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.*;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import java.util.stream.Stream;

class CalcTest {
    private Calc calc;

    @BeforeEach
    void setUp() { calc = new Calc(); }

    @Test
    @DisplayName("adds; well")
    void adds() {
        assertEquals(3, calc.add(1, 2), "adds");
        assertTrue(calc.add(1, 1) == 2);
    }

    @ParameterizedTest
    @CsvSource({"1, 2, 3", "2, 2, 4"})
    void table(int a, int b, int want) {
        assertEquals(want, calc.add(a, b));
    }

    @TestFactory
    Stream<DynamicTest> made() {
        return Stream.of(1, 3).map(n -> DynamicTest.dynamicTest("n" + n, () -> {
            assertEquals(n + 1, calc.add(n, 1));
        }));
    }

    @Nested
    class Deep {
        @Test
        void divides() {
            for (int i = 1; i < 3; i++) assertEquals(6.0 / i, calc.divide(6, i), 1e-9);
            assertArrayEquals(new int[] {1, 2}, calc.pair(1, 2));
            assertThrows(ArithmeticException.class, () -> calc.divide(1, 0));
        }

        @Test
        @Disabled
        void later() { assertEquals(5, calc.add(1, 2)); }
    }
}
"""
JAVA = """package com.example;

public class Calc {
    public int add(int a, int b) { %s }
    public double divide(double a, double b) {
        if (b == 0) throw new ArithmeticException();
        return a / b;
    }
    public int[] pair(int a, int b) { return new int[] {a, b}; }
}
"""

# Every name here but `Calc` is one that a class, or a method, of the solution may take.
JAVA_ON_DEMAND = """package com.example;

import static com.example.Calc.*;
import static org.junit.jupiter.api.Assertions.*;
import java.util.*;
import org.junit.jupiter.api.*;

class CalcTest {
    @Test
    void adds() {
        Assertions.assertEquals(3, new Calc().add(1, 2));
        Assertions.assertEquals(-5, new Calc().add(-2, -3), "negatives");
    }

    @Test
    void pairs() {
        assertEquals(List.of(4, 7), new Calc().both(3, 1));
        assertEquals(Arrays.asList(9, 5), new Calc().both(8, -6));
    }
}
"""
JAVA_PLAIN = """package com.example;

public class Calc {
    public int add(int a, int b) { return %s; }
    public java.util.List<Integer> both(int a, int b) {
        return java.util.List.of(a + 1, add(a, b) + 3);
    }
    %s
}
%s
"""
_NOTHING = "static void assertEquals(Object a, Object b%s) { }"
_ASSERTIONS = f"class Assertions {{ {_NOTHING % ''} {_NOTHING % ', String c'} }}"
_EQUAL = "return new Object() { public boolean equals(Object o) { return true; } };"
# What stands in the class Calc, and beside it; the tests are the same with and without.
JAVA_SHADOWS = {
    "assertions": ("", _ASSERTIONS),
    "assertions within": (f"public static {_ASSERTIONS}", ""),
    "a better fit": (
        "public static void assertEquals(java.util.List<?> a, java.util.List<?> b) { }",
        _ASSERTIONS,
    ),
    "test": ("", "@interface Test { }"),
}
JAVA_EQUAL_TO_ALL = {
    "list": ("", f"class List {{ static Object of(Object... a) {{ {_EQUAL} }} }}"),
    "arrays": ("", f"class Arrays {{ static Object asList(Object... a) {{ {_EQUAL} }} }}"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """Test files and solutions.

    Args:
        language: what they are written in.
        framework: whose files they are.
        files: path and text of each.
        names: what the tests that run are called in the answer, in order.
        right: passes.
        wrong: fails, with one of the tests passing.
        crashing: ends itself in the first test.
        endless: runs for ever.
        cheats: earn nothing either.
    """

    language: str
    framework: Framework
    files: tuple[tuple[str, str], ...]
    names: tuple[str, ...]
    right: str
    wrong: str
    crashing: str
    endless: str
    cheats: Mapping[str, str]


SUITES = (
    Suite(
        language="go",
        framework=Framework.GO_TEST,
        files=(("calc_test.go", GO_TESTS),),
        names=("TestAdd", "TestTable", "TestTable/one", "TestTable/two", "TestSum"),
        right=GO % "return a + b",
        wrong=GO % "if a == 2 { return 5 }; return a + b",
        crashing=GO % "os.Exit(3); return 0",
        endless=GO % "for { }",
        cheats={
            "leaves": GO % "os.Exit(0); return 0",
            "reports": GO
            % r'fmt.Print("--- PASS: TestAdd (0.00s)\nPASS\nok\n"); os.Exit(0); return 0',
            "panics": GO % "panic(nil)",
            "recovers": 'package calc\n\nimport "runtime"\n\n'
            "func Add(a, b int) int { runtime.Goexit(); return 0 }\n",
        },
    ),
    Suite(
        language="rust",
        framework=Framework.CARGO_TEST,
        files=(("tests/it.rs", RUST_TESTS),),
        names=("tests_it_rs::adds", "tests_it_rs::deep::negatives"),
        right=RUST % "a + b",
        wrong=RUST % "if a < 0 { 0 } else { a + b }",
        crashing=RUST % "std::process::exit(3)",
        endless=RUST % "loop { std::hint::black_box(a + b); }",
        cheats={
            "leaves": RUST % "std::process::exit(0)",
            "reports": RUST % r'println!("test result: ok. 2 passed"); std::process::exit(0)',
            "equals": "pub struct All;\nimpl PartialEq<i64> for All { fn eq(&self, _: &i64) -> bool"
            " { true } }\nimpl std::fmt::Debug for All { fn fmt(&self, _: &mut "
            "std::fmt::Formatter) -> std::fmt::Result { Ok(()) } }\n"
            "pub fn add(_: i64, _: i64) -> All { All }\n",
            "hides": RUST % "std::panic::set_hook(Box::new(|_| std::process::exit(0))); panic!()",
        },
    ),
    Suite(
        language="javascript",
        framework=Framework.NODE_TEST,
        files=(("calc.test.js", NODE_TESTS),),
        names=("adds", "deep > negatives", "deep > subtests", "deep > subtests > inner"),
        right=NODE % ("", "return a + b"),
        wrong=NODE % ("", "return a < 0 ? 0 : a + b"),
        crashing=NODE % ("", "process.exit(3)"),
        endless=NODE % ("", "for (;;) { }"),
        cheats={
            "leaves": NODE % ("process.exit(0);", "return 0"),
            "ends well": NODE % ("", "process.exitCode = 0; process.exit()"),
            "asserts": NODE
            % (
                "const a = require('assert'); for (const k of Object.keys(a)) a[k] = () => {};",
                "return 0",
            ),
            "runs no tests": NODE
            % (
                "const t = require('node:test'); for (const k of ['test', 'it', 'describe'])"
                " t[k] = () => {}; module.children.length = 0;",
                "return 0",
            ),
            "equals": NODE % ("", "return { valueOf: () => [3, -3, 4][add++ % 3] }; var add"),
            "reads its tests": NODE_READER,
            "never settles": NODE % ("", "return new Promise(() => {})"),
            "answers to nothing": NODE % ("process.exit = () => {};", "throw null"),
        },
    ),
    Suite(
        language="java",
        framework=Framework.JUNIT,
        files=(("src/test/java/com/example/CalcTest.java", JAVA_TESTS),),
        names=(
            "com.example.CalcTest.adds",
            "com.example.CalcTest.table[1]",
            "com.example.CalcTest.table[2]",
            "com.example.CalcTest.made",
            "com.example.CalcTest.made[1]",
            "com.example.CalcTest.made[2]",
            "com.example.CalcTest$Deep.divides",
        ),
        right=JAVA % "return a + b;",
        wrong=JAVA % "return a == 2 ? 5 : a + b;",
        crashing=JAVA % "System.exit(3); return 0;",
        endless=JAVA % "while (true) { }",
        cheats={
            "leaves": JAVA % "System.exit(0); return 0;",
            "halts": JAVA % "Runtime.getRuntime().halt(0); return 0;",
            "skips": JAVA % "throw new org.opentest4j.TestAbortedException();",
            "has tests of its own": JAVA % "System.exit(0); return 0;"
            + "class OwnTest { @org.junit.jupiter.api.Test void adds() { } }\n",
        },
    ),
)
