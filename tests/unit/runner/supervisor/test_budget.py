"""What a candidate may still use is asked for in time, and not too often."""

from __future__ import annotations

from collections.abc import Callable

from reward_server.runner.supervisor.budget import Budget
from reward_server.runner.wire import Kind, Start, Stop

SECOND = 1_000_000_000
LIMITS = Start(
    kind=Kind.EXECUTE,
    wall_time_ns=4 * SECOND,
    cpu_time_ns=2 * SECOND,
    memory_bytes=100,
    output_bytes=50,
)


class Meter:
    """A figure that goes up when told."""

    def __init__(self, value: int = 0) -> None:
        self.value = value

    def __call__(self) -> int:
        return self.value


def budget(
    cpu: Meter | None = None,
    memory: Callable[[], int] | None = None,
    output: Callable[[], int] | None = None,
) -> Budget:
    return Budget(LIMITS, 0, cpu or Meter(), memory, output)


def test_wall_time_runs_out_at_its_end() -> None:
    of_nothing_else = budget()
    assert of_nothing_else.exceeded(4 * SECOND - 1) is Stop.NONE
    assert of_nothing_else.exceeded(4 * SECOND) is Stop.WALL_TIME


def test_only_cpu_time_from_the_start_on_counts() -> None:
    cpu = Meter(value=7 * SECOND)
    spending = budget(cpu)
    cpu.value += 2 * SECOND - 1
    assert spending.exceeded(3 * SECOND) is Stop.NONE
    cpu.value += 1
    assert spending.exceeded(spending.next_look) is Stop.CPU_TIME
    assert spending.cpu_time_ns == 2 * SECOND


def test_cpu_time_is_looked_at_before_all_cores_can_have_spent_it() -> None:
    cpu = Meter()
    spending = budget(cpu)
    first = spending.next_look
    assert first <= 2 * SECOND
    cpu.value = SECOND
    assert spending.exceeded(first) is Stop.NONE
    assert first < spending.next_look <= first + SECOND


def test_memory_is_looked_at_often_where_the_kernel_does_not_keep_it() -> None:
    memory = Meter(value=1000)
    taking = budget(memory=memory)
    assert taking.next_look <= SECOND // 100
    memory.value = 1100
    assert taking.exceeded(taking.next_look) is Stop.NONE
    memory.value = 1101
    assert taking.exceeded(taking.next_look) is Stop.MEMORY
    assert taking.peak_memory_bytes == 101


def test_memory_is_not_looked_at_where_the_kernel_keeps_it() -> None:
    assert budget().next_look > SECOND // 100


def test_patience_ends_when_the_judge_says() -> None:
    living_on = budget()
    living_on.end_patience(SECOND)
    assert living_on.exceeded(SECOND - 1) is Stop.NONE
    assert living_on.next_look <= SECOND
    assert living_on.exceeded(SECOND) is Stop.JUDGE_DONE


def test_memory_that_others_give_back_late_is_none_to_spend() -> None:
    memory = Meter(value=1000)
    taking = budget(memory=memory)
    memory.value = 900
    assert taking.exceeded(taking.next_look) is Stop.NONE
    memory.value = 1001
    assert taking.exceeded(taking.next_look) is Stop.MEMORY
    assert taking.peak_memory_bytes == 101


def test_output_in_memory_files_is_looked_at_again_and_again_and_at_the_end() -> None:
    output = Meter(value=50)
    writing = budget(output=output)
    assert writing.exceeded(writing.next_look) is Stop.NONE
    assert writing.exceeded_by_output() is Stop.NONE
    output.value = 51
    assert writing.exceeded_by_output() is Stop.OUTPUT
    assert writing.next_look < SECOND // 10
    assert writing.exceeded(writing.next_look) is Stop.OUTPUT


def test_output_in_pipes_is_the_judges_to_limit() -> None:
    assert budget().exceeded_by_output() is Stop.NONE
