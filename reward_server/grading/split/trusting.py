"""Finds tests in C++ and Java that could hand an answer to what runs it, or writes where it says.

Their program stays the tests' own only while an answer is no more than a value. What does more with
texts or numbers than compare them is known by name; where a place in memory is computed, the names
that an answer was given to are followed. To refuse too much costs a label, and never a verdict.
"""

from __future__ import annotations

import re

_TEXT = re.compile(r'//[^\n]*|/\*[\s\S]*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'')
_CPP_RUNS = re.compile(
    r"\b(?:system|popen|w?exec\w{1,3}|posix_spawnp?|v?fork|dlopen|dlsym|syscall|kill|asm|__asm__"
    r"|setenv|putenv|mmap|mprotect|longjmp|freopen|dup2|rdbuf)\s*\(|\bstd(?:out|in)\s*="
    r"|\b(?:[io]?fstream|filesystem|fopen|open|creat|remove|rename|unlink)\b\s*[ ({<:]"
)
_CPP_WRITES = re.compile(
    r"\b(?:v?w?scanf|v?[fs]w?scanf|gets|v?sprintf|str(?:n?cpy|n?cat)|mem(?:cpy|move|set|ccpy)|bcopy"
    r"|alloca|malloc|calloc|realloc|free|copy_n|fill_n|generate_n|advance|vformat)\s*\("
    r"|\breinterpret_cast\b|\bconst_cast\b|\b(?:next|prev)\s*\([^;]*,"
    r"|\b(?:begin|end|data|c_str)\s*\(\s*\)\s*[-+]\s*(?![\d\s]*\d\s*[,);])"
    r"|\b(?:copy|copy_if|copy_backward|move_backward|transform|merge|partial_sum|set_union"
    r"|set_difference|set_intersection|adjacent_difference)\s*\((?![^;]*inserter)"
)
_FORMATS = re.compile(
    r'\b(?:w?printf\s*\(|(?:f|d|fw)printf\s*\([^",;]*,|v?snprintf\s*\([^",;]*,[^",;]*,)\s*(?!L?")'
)
_RAW = re.compile(
    r"[\w>*&]\s+[*&(]*\w+\)?\s*\[[^\]\n]*\]\s*(?:\[[^\]\n]*\]\s*)?(?:=[^=]|;|\{|,)"
    r"|\bnew\s+[\w:<> ]+\[|\w\s*\*\s*\w+\s*=|\.\s*(?:data|c_str)\s*\("
)
_JAVA_RUNS = re.compile(
    r"\b(?:Class|ClassLoader|URLClassLoader|ServiceLoader|ResourceBundle|Constructor|Method|Field"
    r"|MethodHandles?|VarHandle|Proxy|Unsafe|Instrumentation|Runtime|ProcessBuilder|ProcessHandle"
    r"|ScriptEngine\w*|JavaCompiler|ToolProvider|ObjectInputStream|XMLDecoder|XMLEncoder"
    r"|InitialContext|Beans|Introspector|Expression|MBeanServer|Files|FileSystems?|File|\w*Channel"
    r"|File(?:In|Out)putStream|File(?:Writer|Reader)|RandomAccessFile|PrintWriter|PrintStream"
    r"|FileHandler|Formatter|Serializable|Externalizable)\b"
    r"|\b(?:java\s*\.\s*lang\s*\.\s*(?:reflect|invoke)|javax|sun|jdk)\s*\."
    r"|\bSystem\s*\.\s*(?:set\w+|load\w*|getSecurityManager|console)\b"
    r"|\b(?:getDeclared\w+|getMethods?|getFields?|getConstructors?|getClassLoader|forName"
    r"|newInstance|loadClass)\b"
)


def is_trusting_cpp(tests: str, function: str) -> bool:
    """Returns True if tests in C++ do more with what a function returns than compare it."""
    code = _TEXT.sub(lambda found: '""' if found[0][0] in "\"'" else " ", tests)
    if _CPP_RUNS.search(code) or _CPP_WRITES.search(code) or _FORMATS.search(code):
        return True
    return _RAW.search(code) is not None and _indexes(code, function)


def is_trusting_java(tests: str) -> bool:
    """Returns True if tests in Java do more with texts or numbers than compare them."""
    return _JAVA_RUNS.search(_TEXT.sub(" ", tests)) is not None


def _indexes(code: str, function: str) -> bool:
    """Returns True if an answer is, or is added to, a place in memory."""
    answers = rf"\b(?:{'|'.join(map(re.escape, sorted(_answers(code, function))))})\b"
    return re.search(rf"\[[^\]]*{answers}|\*\s*\([^;)]*{answers}", code) is not None


def _answers(code: str, function: str) -> set[str]:
    """Returns a function's names, those of what it returned, and of who is given that."""
    found = {function}
    while True:
        known = rf"\b(?:{'|'.join(map(re.escape, sorted(found)))})\b"
        given = set(
            re.findall(rf"(\w+)(?:\[[^\]]*\])?\s*[-+*/]?(?=[=:{{(](?!=)[^;]*?{known})", code)
        )
        for parameters in re.findall(rf"{known}\s*\(([^()]*)\)\s*(?:const\s*)?\{{", code):
            given.update(re.findall(r"(\w+)\s*(?:,|$)", parameters))
        if given <= found:
            return found
        found |= given
