"""Writes what answers calls in a C++ solution's program; comes after the solution.

It names the types of the signature. As a template it would cost the compiler more time, with each
solution.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from reward_server.grading.compiled_tests.split.text.cpp_types import Signature

_NUMBER = re.compile(
    r"(?:(?:signed|unsigned|short|long|int|char|bool|float|double|wchar_t|char16_t|char32_t)\b ?)+"
    r"|(?:std::)?(?:size_t|ptrdiff_t|u?int(?:8|16|32|64)_t)"
)
_MAKES = """\
static void splitwire_new(splitwire::In &in, splitwire::Out &out) {{
    in.close();
    splitwire::write_whole(out, splitwire::keep_object(new {class_name}()), true);
}}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """The functions that answer calls, and a main function.

    Args:
        name: the full name of the solution's function.
        class_name: the full name of the class of whose objects it is a method; "" if it needs none.
        signature: its signature.
    """

    name: str
    class_name: str
    signature: Signature

    @property
    def text(self) -> str:
        """The text."""
        makes = _MAKES.format(class_name=self.class_name) if self.class_name else ""
        entries = [f'{{"{self.name}", splitwire_call}}']
        if self.class_name:
            entries.append(f'{{"{self.class_name}", splitwire_new}}')
        return (
            f"{self._call}{makes}"
            f"static const splitwire::Entry splitwire_entries[] = {{{', '.join(entries)}}};\n"
            f"int main() {{ return splitwire::serve(splitwire_entries, {len(entries)}); }}\n"
        )

    @property
    def _call(self) -> str:
        """The function that reads a call, makes it, and writes its answer."""
        types = self.signature.parameters
        lines = [
            *(["void *object = splitwire::object_of(in);"] if self.class_name else []),
            *(_read(at, one) for at, one in enumerate(types)),
            "in.close();",
            self._answer,
            self._written,
        ]
        body = "".join(f"    {line}\n" for line in lines)
        return f"static void splitwire_call(splitwire::In &in, splitwire::Out &out) {{\n{body}}}\n"

    @property
    def _answer(self) -> str:
        """The statement that calls the solution."""
        result = self.signature.result
        passed = ", ".join(f"a{index}" for index in range(len(self.signature.parameters)))
        method = f"static_cast<{self.class_name} *>(object)->{self.signature.name}"
        answer = f"{method if self.class_name else self.name}({passed})"
        if _NUMBER.fullmatch(result):
            answer = f"splitwire::fitting<{result}>({answer})"
        return f"{answer};" if result == "void" else f"{result} value = {answer};"

    @property
    def _written(self) -> str:
        """The statement that writes the answer."""
        if self.signature.result == "void":
            return "out.tag('n');"
        return f"splitwire::codec<{_bare(self.signature.result)}>::write(out, value);"


def _read(at: int, declared: str) -> str:
    """Returns the statements that read an argument `a{at}`; a reference is one to `v{at}`."""
    read = f"splitwire::codec<{_bare(declared)}>::read(in)"
    if not declared.endswith("&"):
        return f"{declared} a{at} = {read};"
    reference = f"{declared} a{at} = splitwire::passed<{declared}>(v{at});"
    return f"{_bare(declared)} v{at} = {read}; {reference}"


def _bare(declared: str) -> str:
    return f"splitwire::bare<{declared}>::type"
