from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.runner.harness import Zygote

numpy = pytest.importorskip("numpy")

SOURCE = """
import numpy as np
def f(n): return np.arange(n) / 2
def g(array): return array.sum()
def h(array): array += 1
def k(n): return {"mean": np.float64(n), "rows": [np.ones(n), np.bool_(True)]}
"""


@pytest.fixture(scope="module")
def with_numpy() -> Iterator[Zygote]:
    running = Zygote(packages=(str(Path(numpy.__file__).parents[1]),))
    yield running
    running.close()


def test_arrays_are_arrays_for_tests_that_import_numpy(with_numpy: Zygote) -> None:
    tests = """
import numpy as np
def check(f):
    assert isinstance(f(3), np.ndarray) and f(3).dtype == np.float64
    assert np.array_equal(f(3), np.array([0, 0.5, 1])) and f(4).shape == (4,)
    assert g(np.ones((2, 3))) == 6.0 and isinstance(g(np.ones(2)), np.floating)
    assert k(2)["mean"] == 2 and np.allclose(k(2)["rows"][0], 1) and k(2)["rows"][1]
    assert not np.allclose(f(3), [0, 0.5, 1.1])
"""
    result = with_numpy.function(SOURCE, test_code=tests)
    assert result.passed, result.explanation


def test_a_case_may_give_an_array(with_numpy: Zygote) -> None:
    result = with_numpy.call(SOURCE, [([3], [0, 0.5, 1]), ([1], [0.0]), ([1], [1])])
    assert result.outcomes == ["PASSED", "PASSED", "FAILED"]


def test_an_array_that_is_equal_to_everything_is_cast_down(with_numpy: Zygote) -> None:
    source = """
import numpy as np
class E(np.ndarray):
    def __eq__(self, other): return True
    def __array_equal__(self, other): return True
    def __array_function__(self, *args): return True
    def __array_ufunc__(self, *args): return True
    def tobytes(self): return b"x"
def f(n): return np.zeros(n).view(E)
"""
    tests = """
import numpy as np
def check(f):
    assert type(f(2)) is np.ndarray
    assert np.array_equal(f(2), [1, 2])
"""
    result = with_numpy.function(source, test_code=tests)
    assert result.outcomes == ["FAILED"], result.explanation
