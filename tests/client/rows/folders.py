"""Exercise folders of our own in the form of Exercism, as Aider's polyglot benchmark has them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

CONFIG = ".meta/config.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """The files of an exercise by path, and what `config.json` says of them."""

    solution: tuple[str, ...]
    test: tuple[str, ...]
    example: tuple[str, ...]
    files: Mapping[str, str]
    editor: tuple[str, ...] = ()

    def write(self, place: Path) -> Path:
        named = {name: getattr(self, name) for name in ("solution", "test", "example", "editor")}
        texts = {CONFIG: json.dumps({"authors": [], "files": named}), **self.files}
        for path, text in texts.items():
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            (place / path).write_text(text)
        return place


PYTHON = Folder(
    solution=("leap_year.py",),
    test=("leap_year_test.py",),
    example=(".meta/example.py",),
    files={
        ".docs/instructions.md": "# Instructions\n\nIs it a leap year?\n",
        "leap_year.py": "def is_leap(year):\n    pass\n",
        "years.py": "COMMON, LEAP = 1900, 2000\n",
        "leap_year_test.py": (
            "import unittest\n\nfrom leap_year import (\n    is_leap,\n)\n"
            "from years import COMMON, LEAP\n\n\nclass LeapTest(unittest.TestCase):\n"
            "    def test_centuries(self):\n        self.assertIs(is_leap(COMMON), False)\n"
            "        self.assertIs(is_leap(LEAP), True)\n"
        ),
        ".meta/example.py": "def is_leap(year):\n    return year % 4 == 0 and "
        "(year % 100 != 0 or year % 400 == 0)\n",
    },
)
GO = Folder(
    solution=("leap.go",),
    test=("leap_test.go",),
    example=(".meta/example.go",),
    editor=("cases_test.go",),
    files={
        "go.mod": "module leap\n\ngo 1.18\n",
        "leap.go": "package leap\n\nfunc IsLeap(year Year) bool {\n\treturn false\n}\n",
        "years.go": "package leap\n\ntype Year int\n",
        "leap_test.go": (
            'package leap\n\nimport (\n\t"testing"\n)\n\nfunc TestLeap(t *testing.T) {\n'
            "\tfor _, one := range cases {\n\t\tif IsLeap(one.year) != one.leap {\n"
            '\t\t\tt.Errorf("IsLeap(%d)", one.year)\n\t\t}\n\t}\n}\n'
        ),
        "cases_test.go": "package leap\n\nvar cases = []struct {\n\tyear Year\n\tleap bool\n}{"
        "{1900, false}, {2000, true}}\n",
        ".meta/example.go": "package leap\n\nfunc IsLeap(year Year) bool {\n"
        "\treturn year%4 == 0 && (year%100 != 0 || year%400 == 0)\n}\n",
    },
)
RUST = Folder(
    solution=("src/lib.rs", "Cargo.toml"),
    test=("tests/leap-year.rs",),
    example=(".meta/example.rs",),
    files={
        "Cargo.toml": '[package]\nedition = "2021"\nname = "leap-year"\nversion = "1.6.0"\n',
        "src/lib.rs": "pub fn is_leap(year: u64) -> bool {\n    year == 0\n}\n",
        "tests/leap-year.rs": (
            "//! Centuries.\n\nuse leap_year::*;\n\n#[test]\nfn a_common_century() {\n"
            "    assert!(!is_leap(1900));\n}\n\n#[test]\n#[ignore]\nfn a_leap_century() {\n"
            "    assert!(is_leap(2000));\n}\n\nmod inner {\n    #[test]\n    fn a_year() {\n"
            "        use leap_year as leap;\n        assert!(leap::is_leap(4));\n    }\n}\n"
        ),
        ".meta/example.rs": "pub fn is_leap(year: u64) -> bool {\n"
        "    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)\n}\n",
    },
)
JAVA = Folder(
    solution=("src/main/java/Leap.java",),
    test=("src/test/java/LeapTest.java",),
    example=(".meta/src/reference/java/Leap.java",),
    editor=("src/main/java/Year.java",),
    files={
        "src/main/java/Leap.java": "class Leap {\n}\n",
        "src/main/java/Year.java": "class Year {\n    static final int LEAP = 2000;\n}\n",
        "src/test/java/LeapTest.java": (
            "import static org.junit.jupiter.api.Assertions.assertTrue;\n\n"
            "import org.junit.jupiter.api.Disabled;\nimport org.junit.jupiter.api.Test;\n\n"
            'class LeapTest {\n    @Disabled("Remove to run test")\n    @Test\n'
            "    void century() {\n        assertTrue(new Leap().isLeap(Year.LEAP));\n    }\n}\n"
        ),
        ".meta/src/reference/java/Leap.java": "class Leap {\n    boolean isLeap(int year) {\n"
        "        return year % 400 == 0;\n    }\n}\n",
    },
)
JAVASCRIPT = Folder(
    solution=("leap.js",),
    test=("leap.spec.js",),
    example=(".meta/proof.ci.js",),
    files={
        "leap.js": "export const isLeap = () => false;\n",
        "leap.spec.js": "import { isLeap } from './leap';\n\ntest('century', () => {\n"
        "  expect(isLeap(2000)).toBe(true);\n});\n",
        ".meta/proof.ci.js": "export const isLeap = (year) => year % 400 === 0;\n",
    },
)
CPP = Folder(
    solution=("leap.cpp", "leap.h"),
    test=("leap_test.cpp",),
    example=(".meta/example.cpp", ".meta/example.h"),
    files={
        "leap.cpp": '#include "leap.h"\n',
        "leap.h": "#pragma once\n",
        "leap_test.cpp": '#include "leap.h"\n#include "test/catch.hpp"\n',
    },
)
