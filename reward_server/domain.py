"""Values that the layers of the server exchange.

A trainer sends a submission. The server runs *executions* to judge it, and each of them returns an
`Execution`. From these the server computes `TestResult`s, a `Verdict` and a reward. A program's
failure is a value here; a failure of the server is an exception (see `errors`).
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

MEBIBYTE = 1 << 20


class Verdict(enum.Enum):
    """The conclusion of the judge."""

    PASSED = 1
    FAILED = 2
    COMPILE_ERROR = 3
    RUNTIME_ERROR = 4
    TIME_LIMIT_EXCEEDED = 5
    MEMORY_LIMIT_EXCEEDED = 6
    OUTPUT_LIMIT_EXCEEDED = 7
    SECURITY_VIOLATION = 8
    INVALID_TASK = 9


class TestOutcome(enum.Enum):
    """What happened to one test."""

    __test__ = False

    PASSED = 1
    FAILED = 2
    ERROR = 3
    LIMIT = 4
    NOT_RUN = 5
    SKIPPED = 6


class Integrity(enum.IntEnum):
    """How well the verdict is protected from the completion, weakest first.

    A request can require SHARED_TWINS, but no verdict has it.
    """

    UNSPECIFIED = 0
    SHARED = 1
    SHARED_TWINS = 2
    ISOLATED = 3


class LimitKind(enum.Enum):
    """The limits that an execution can hit."""

    CPU_TIME = 1
    WALL_TIME = 2
    MEMORY = 3
    PROCESSES = 4
    FILE_SIZE = 5
    DISK = 6
    OPEN_FILES = 7
    OUTPUT = 8
    RESULT = 9
    CALLS = 10


class Extraction(enum.Enum):
    """How the code is extracted from a completion."""

    AUTO = 0
    NONE = 1
    MARKDOWN = 2


class CheckerKind(enum.Enum):
    """Rules of comparison; see the messages of the same names in the protocol."""

    TRAILING_WHITESPACE = 0
    EXACT = 1
    TOKENS = 2
    FLOAT = 3
    CASE_INSENSITIVE = 4
    UNORDERED_LINES = 5
    PROGRAM = 6
    INTERACTOR = 7


class RewardPolicyKind(enum.Enum):
    """Rules that make a reward of test outcomes."""

    ALL_OR_NOTHING = 1
    FRACTION = 2
    WEIGHTED = 3
    FIRST_K = 4
    SUBTASKS = 5


class SubtaskRule(enum.Enum):
    """How the points of a subtask are earned."""

    MINIMUM = 1
    SUM = 2


class TerminationKind(enum.Enum):
    """How a process ended, independent of the verdict."""

    EXITED = 1
    SIGNALED = 2
    STOPPED = 3
    LIMIT = 4


class Network(enum.Enum):
    """The network that an execution has."""

    NONE = 0
    LOOPBACK = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of one execution; every field is positive.

    By default 64 threads run in any language, beside the threads of its runtime.
    """

    cpu_time_seconds: float = 10.0
    wall_time_seconds: float = 30.0
    memory_bytes: int = 1024 * MEBIBYTE
    processes: int = 128
    file_size_bytes: int = 64 * MEBIBYTE
    disk_bytes: int = 128 * MEBIBYTE
    open_files: int = 1024
    output_bytes: int = 16 * MEBIBYTE
    result_bytes: int = 16 * MEBIBYTE
    calls: int = 100_000


# Below these values a limit cannot be enforced, or no program can be transferred and started.
LEAST_LIMITS = Limits(
    cpu_time_seconds=0.01,
    wall_time_seconds=0.1,
    memory_bytes=16 * MEBIBYTE,
    processes=1,
    file_size_bytes=4096,
    disk_bytes=64 * 1024,
    open_files=16,
    output_bytes=1,
    result_bytes=256,
    calls=1,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checker:
    """Decides whether an observation is right."""

    kind: CheckerKind = CheckerKind.TRAILING_WHITESPACE
    absolute_tolerance: float = 0.0
    relative_tolerance: float = 0.0
    program: str = ""
    program_language: str = "python"

    @property
    def is_program(self) -> bool:
        """Returns True if a program of the task decides."""
        return self.kind in (CheckerKind.PROGRAM, CheckerKind.INTERACTOR)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subtask:
    """A group of cases with points of its own; cases refer to it by name."""

    name: str
    points: float
    rule: SubtaskRule = SubtaskRule.MINIMUM


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardPolicy:
    """A rule that makes a reward of test outcomes."""

    kind: RewardPolicyKind = RewardPolicyKind.ALL_OR_NOTHING
    first_k: int = 0
    compile_bonus: float = 0.0
    format_bonus: float = 0.0
    subtasks: tuple[Subtask, ...] = ()


class Placement(enum.Enum):
    """Where Python tests run."""

    BY_TEXT = 0
    ISOLATED = 1
    BESIDE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionTests:
    """HumanEval's `check(candidate)` or MBPP's list of asserts."""

    entry_point: str = ""
    test_code: str = ""
    asserts: tuple[str, ...] = ()
    setup_code: str = ""
    placement: Placement = Placement.BY_TEXT


@dataclass(frozen=True, slots=True, kw_only=True)
class CallCase:
    """One call with its expected result, both as JSON text."""

    args_json: str
    expected_json: str
    weight: float = 1.0
    subtask: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTests:
    """Calls of a function, or of `Solution().method` on a fresh object for each call."""

    entry_point: str
    cases: tuple[CallCase, ...]
    checker: Checker = Checker()


@dataclass(frozen=True, slots=True, kw_only=True)
class StdioCase:
    """One run of a whole program."""

    stdin: bytes
    expected_stdout: bytes
    weight: float = 1.0
    subtask: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StdioTests:
    """Runs of a whole program, each in its own sandbox.

    Args:
        cases: the runs.
        checker: decides about each.
        harness: a trusted Python program that runs in place of the solution, whose code only the
            interactor gets, as text; "" for none.
    """

    cases: tuple[StdioCase, ...]
    checker: Checker = Checker()
    harness: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramTests:
    """A test program that is compiled with the solution."""

    test_code: str


class Framework(enum.Enum):
    """Test frameworks."""

    PYTEST = 1
    UNITTEST = 2
    JUNIT = 3
    NODE_TEST = 4
    GO_TEST = 5
    CARGO_TEST = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryPlaces:
    """Where the test files of a repository are, if a repository is tested.

    Args:
        targets: the files whose tests run; none if no repository is tested.
        import_paths: folders from which the tests can import besides the top.
        modules: names that occur in the paths of the repository's modules.
    """

    targets: tuple[str, ...] = ()
    import_paths: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitTests:
    """Test files of a framework.

    Args:
        framework: the framework that runs the files.
        files: relative path and content of each file, by path.
        solution_path: path at which the tests find the solution; it is no path in `files`. If it
            is empty, a solution in Java determines its path itself, and a repository has no
            single file that is the solution.
        places: where the files are in a repository.
    """

    framework: Framework
    files: tuple[tuple[str, str], ...]
    solution_path: str = "solution.py"
    places: RepositoryPlaces = RepositoryPlaces()


class ReportFormat(enum.Enum):
    """Formats of reports about tests."""

    JUNIT_XML = 1
    TAP = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class TestCommand:
    """A command that runs tests and writes a report.

    Args:
        argv: the executable and its arguments, in which "{report}" stands for the report's path.
        format: the format of the report.
        environment: names and values of variables.
    """

    __test__ = False

    argv: tuple[str, ...]
    format: ReportFormat
    environment: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryTests:
    """Tests of a repository that a completion changes.

    Args:
        archive: the repository, a tar archive; empty if it is a folder of the server.
        folder: the name of that folder.
        image_folder: the path of the repository in the image, if it is there.
        image: digest of the image in which the tests run; empty for the first with the language.
        test_files: hidden files, by relative path.
        test_patch: makes further hidden files of those of the repository; empty if there is none.
        fail_to_pass: names of tests that only pass with a right solution.
        pass_to_pass: names of tests that pass before and after.
        must_fail: names of tests that a command has to report as failed.
        runner: how the tests run.
        protected_paths: patterns of further paths whose changes do not count.
        changeable_paths: patterns of further paths whose changes count.
        import_paths: see `RepositoryPlaces`.
    """

    archive: bytes = b""
    folder: str = ""
    image_folder: str = ""
    image: str = ""
    test_files: tuple[tuple[str, bytes], ...] = ()
    test_patch: str = ""
    fail_to_pass: tuple[str, ...]
    pass_to_pass: tuple[str, ...] = ()
    must_fail: tuple[str, ...] = ()
    runner: Framework | TestCommand
    protected_paths: tuple[str, ...] = ()
    changeable_paths: tuple[str, ...] = ()
    import_paths: tuple[str, ...] = ()


Tests = FunctionTests | CallTests | StdioTests | UnitTests | ProgramTests | RepositoryTests


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """One completion with the tests that decide its reward.

    Args:
        files: the completion's further files, by relative path.
        data_files: the task's files, by relative path.
        time_budget_seconds: wall time of all its executions together.
        refusal: why the completion cannot be a program, if it cannot. The completion then fails,
            because the model is its author.
        is_whole: whether `files` are all files of a repository that a completion changes.
        executable: paths among `files` of those that may be executed.
        task_fingerprint: `task_fingerprint` of its tests and data files, if it is known already.
    """

    id: str = ""
    language: str = "python"
    prompt: str = ""
    completion: str
    extraction: Extraction = Extraction.AUTO
    files: tuple[tuple[str, bytes], ...] = ()
    data_files: tuple[tuple[str, bytes], ...] = ()
    tests: Tests
    limits: Limits = Limits()
    reward_policy: RewardPolicy = RewardPolicy()
    require_integrity: Integrity = Integrity.UNSPECIFIED
    time_budget_seconds: float = 240.0
    network: Network = Network.NONE
    refusal: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)
    is_whole: bool = False
    executable: tuple[str, ...] = ()
    task_fingerprint: bytes = field(default=b"", compare=False)


# ---------------------------------------------------------------------------- executions


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A run of a whole program from source, whose output is captured; the data is read-only."""

    source: str
    stdin: bytes = b""
    args: tuple[str, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)
    data: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Commands:
    """Executables, run one after another until one fails.

    Args:
        commands: each executable with its arguments. The executables are the container's, or
            earlier ones made them. All share one standard input and the same output streams.
        environment: variables besides the container's own.
        files: files in the working folder, by relative path.
        data: read-only files in the working folder, by relative path.
        product: files that an earlier execution kept; unpacked before `files` are written.
        stdin: bytes on standard input.
        keep: shell patterns of the files to return as `Execution.product` if all commands
            succeed; empty to return none.
        product_bytes: greatest size of the returned files.
        keeps_failed: whether the files are returned also if a command fails.
    """

    commands: tuple[tuple[str, ...], ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)
    data: Mapping[str, bytes] = field(default_factory=dict)
    product: bytes = b""
    stdin: bytes = b""
    keep: tuple[str, ...] = ()
    product_bytes: int = 64 * MEBIBYTE
    keeps_failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitPrograms:
    """The tests' program and the solution's, each in its own namespaces, joined by two pipes.

    The limits hold for both together. The solution's program starts when the tests' program first
    calls it.

    Args:
        tests: trusted.
        solution: untrusted.
    """

    tests: Commands
    solution: Commands


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """An interactor and a solution, each in its own namespaces.

    The standard output of each is the standard input of the other. The limits hold for both
    together.

    Args:
        interactor: trusted.
        solution: untrusted.
    """

    interactor: Program | Commands
    solution: Program | Commands


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing:
    """What the judge binds before it hears the solution; see `grading.crossing`.

    Args:
        names: names that the tests take from the solution.
        classes: those of them that the tests construct.
        raised: those of them that the tests expect as exceptions.
        values: those of them that stand for data.
        modules: modules that the tests use.
        free: names that they use without an import: the module, or the name of `typing`, for each.
        helpers: the prompt's own definitions that the tests use, as a text.
        records: classes of the prompt whose objects cross as data.
        form: "check" or "script", if the test code is one of these.
        files: test files without the imports that nothing in them uses.
        is_allowed: whether the contract allows the tests; others leave no judge behind.
        ahead: the first calls that they make in any case: a name, and JSON values.
    """

    names: frozenset[str] = frozenset()
    classes: frozenset[str] = frozenset()
    raised: frozenset[str] = frozenset()
    values: frozenset[str] = frozenset()
    modules: frozenset[str] = frozenset()
    free: Mapping[str, str] = field(default_factory=dict)
    helpers: str = ""
    records: frozenset[str] = frozenset()
    form: str = ""
    files: tuple[tuple[str, str], ...] = ()
    is_allowed: bool = True
    ahead: tuple[tuple[str, Sequence[object]], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionJudgement:
    """Function tests that run in an isolated judge, which asks the solution.

    `crossing` is what the judge binds.
    """

    source: str
    tests: FunctionTests
    files: Mapping[str, bytes] = field(default_factory=dict)
    data: Mapping[str, bytes] = field(default_factory=dict)
    stop_at_first_failure: bool = False
    crossing: Crossing = Crossing()


PLAIN = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """The shapes of the values in a task's calls, as the task declares them.

    A shape is `PLAIN` for a value that JSON can represent. It is "ListNode" or "TreeNode" for a
    node of LeetCode or None, and this name in brackets for a list of nodes. It is "None" for None,
    and None if the task does not declare the type. Parameters that are not listed have no declared
    shape.

    Args:
        parameters: shapes of the arguments.
        result: shape of the result.
        has_choice: whether the solution chooses between nodes and arrays, or between a result and
            its first argument, if the task does not declare which.
    """

    parameters: tuple[str | None, ...] = ()
    result: str | None = None
    has_choice: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CallJudgement:
    """Calls that an isolated judge makes, and whose results it compares.

    The signature is the task's. If the task does not declare a type, the solution's annotations
    decide.
    """

    source: str
    tests: CallTests
    signature: Signature = Signature()
    files: Mapping[str, bytes] = field(default_factory=dict)
    data: Mapping[str, bytes] = field(default_factory=dict)
    stop_at_first_failure: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitJudgement:
    """Test files that run in an isolated judge, or in the process of the solution.

    In the process of the solution, the judge only observes their outcomes.

    Args:
        source: the solution.
        tests: the test files.
        files: the solution's further files.
        data: read-only files that the solution can read.
        shared: whether the tests run in the candidate's process.
        stop_at_first_failure: whether one failed test ends the run.
        executable: paths among `files` of those that may be executed.
        crossing: what the judge binds, if the tests run there.
    """

    source: str
    tests: UnitTests
    files: Mapping[str, bytes] = field(default_factory=dict)
    data: Mapping[str, bytes] = field(default_factory=dict)
    shared: bool = False
    stop_at_first_failure: bool = False
    executable: frozenset[str] = frozenset()
    crossing: Crossing | None = None


Pair = SplitPrograms | Conversation
Work = Program | Commands | Pair | FunctionJudgement | CallJudgement | UnitJudgement


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One execution to run: its content, language, limits and network.

    `image` is the digest of the image in which it runs, or empty for the first with the language.
    `is_copy` marks an execution of a perturbed copy of tests.
    """

    work: Work
    language: str = "python"
    image: str = ""
    limits: Limits = Limits()
    network: Network = Network.NONE
    is_copy: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Termination:
    """How the candidate's process ended; `value` is its exit code or signal number."""

    kind: TerminationKind
    value: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CapturedStream:
    """Output of a program: the bytes that were kept, and the number of bytes written."""

    data: bytes = b""
    size_bytes: int = 0

    @property
    def truncated(self) -> bool:
        """Returns True if fewer bytes were kept than written."""
        return len(self.data) < self.size_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class TestsProgram:
    """The end and the output of the trusted program of a `Pair`.

    Args:
        termination: how it ended; None if it did not end by itself.
        stdout: its standard output.
        stderr: its standard error.
    """

    __test__ = False

    termination: Termination | None
    stdout: CapturedStream
    stderr: CapturedStream


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Resources used; CPU time covers only the candidate's process tree."""

    cpu_time_seconds: float = 0.0
    wall_time_seconds: float = 0.0
    queue_time_seconds: float = 0.0
    peak_memory_bytes: int = 0
    executions: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class TestResult:
    """The result of one test.

    Attributes:
        counts: whether it counts towards the reward; a result that the program could have forged
            does not count.
    """

    __test__ = False

    name: str
    outcome: TestOutcome
    message: str = ""
    weight: float = 1.0
    wall_time_seconds: float = 0.0
    counts: bool = True
    subtask: str = ""


class Ending(enum.Enum):
    """How an execution ended, as `sandbox.classify` decides from the supervisor's facts.

    It describes only what happened to the candidate. The test results show whether its answers
    were right.
    """

    COMPLETED = enum.auto()  # the program or all its tests ran to their end
    COMPILE_ERROR = enum.auto()
    LOAD_ERROR = enum.auto()  # the module raised or exited while it was loaded
    CRASHED = enum.auto()  # exited early, died or broke the protocol with tests outstanding
    LIMIT = enum.auto()  # see `Execution.limits_hit`
    VIOLATION = enum.auto()  # killed for a forbidden system call, or forged a frame
    INVALID_TASK = enum.auto()  # the tests are broken, independent of the candidate


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """The result of one execution."""

    ending: Ending
    termination: Termination
    message: str = ""
    tests: tuple[TestResult, ...] = ()
    stdout: CapturedStream = CapturedStream()
    stderr: CapturedStream = CapturedStream()
    usage: Usage = Usage()
    limits_hit: tuple[LimitKind, ...] = ()
    signals: Mapping[str, int] = field(default_factory=dict)
    product: bytes = b""  # files of `Commands`; only later executions may unpack them
    tests_program: TestsProgram | None = None  # of a `Pair`


# ------------------------------------------------------------------------------- verdicts


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """The origin of a verdict: the versions of the software that made it, and its hash seed."""

    server_version: str = ""
    commit: str = ""
    commit_date: str = ""
    runner_version: str = ""
    language_version: str = ""
    backend: str = ""
    image_digest: str = ""
    hash_seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """A judged submission. `reward` is None exactly when the verdict is INVALID_TASK."""

    id: str = ""
    verdict: Verdict
    reward: float | None
    integrity: Integrity
    tests: tuple[TestResult, ...] = ()
    message: str = ""
    stdout: CapturedStream = CapturedStream()
    stderr: CapturedStream = CapturedStream()
    termination: Termination | None = None
    usage: Usage = Usage()
    limits_hit: tuple[LimitKind, ...] = ()
    signals: Mapping[str, int] = field(default_factory=dict)
    provenance: Provenance = Provenance()
    deduplicated: bool = False
    missing_modules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Wall:
    """A protection, and whether it is in effect."""

    name: str
    standing: bool
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageInfo:
    """An image from which sandboxes are made.

    Args:
        name: its name.
        aliases: other accepted names.
        digest: identifies its content.
        languages: canonical names of its languages.
        folder: path of the repository that it has; empty if it has none.
    """

    name: str
    aliases: tuple[str, ...] = ()
    digest: str
    languages: tuple[str, ...]
    folder: str = ""

    @property
    def names(self) -> frozenset[str]:
        """All accepted names."""
        return frozenset((self.name, *self.aliases))


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageInfo:
    """A language that the server offers.

    Args:
        name: canonical name.
        aliases: other accepted names.
        version: version of its implementation.
        test_kinds: kinds of tests that the server offers for it.
    """

    name: str
    aliases: tuple[str, ...] = ()
    version: str
    test_kinds: tuple[str, ...]
    frameworks: tuple[str, ...] = ()
