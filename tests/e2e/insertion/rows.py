"""Rows in the published shape of DS-1000, each with a right and a wrong solution."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A row and solutions of it.

    Args:
        row: the row.
        wrong: a solution that ends with a wrong result.
    """

    row: dict[str, Any]
    wrong: str

    @property
    def right(self) -> str:
        """The row's reference solution."""
        return str(self.row["reference_code"])


def text(code: str) -> str:
    return textwrap.dedent(code).lstrip("\n")


_EXECUTION = """
    def test_execution(solution: str):
        code = exec_context.replace("[insert]", solution)
        for i in range(2):
            test_input, expected_result = generate_test_case(i + 1)
            test_env = {"test_input": test_input}
            exec(code, test_env)
            assert exec_test(test_env["result"], expected_result)
"""
_NO_LOOPS = """
    import io, tokenize

    def test_string(solution: str):
        tokens = []
        for token in tokenize.tokenize(io.BytesIO(solution.encode("utf-8")).readline):
            tokens.append(token.string)
        assert "for" not in tokens and "while" not in tokens
"""


def row(library: str, number: int, context: str, reference: str, rest: str = "") -> dict[str, Any]:
    return {
        "prompt": "Problem:\n...\nA:\n<code>\nBEGIN SOLUTION\n<code>\n",
        "reference_code": reference,
        "code_context": text(context) + text(_EXECUTION) + text(rest),
        "metadata": {
            "problem_id": number,
            "library_problem_id": number,
            "library": library,
            "test_case_cnt": 2,
            "perturbation_type": "Origin",
            "perturbation_origin_id": number,
        },
    }


NUMPY = Problem(
    row=row(
        "Numpy",
        291,
        '''
        import numpy as np
        import copy

        def generate_test_case(test_case_id):
            def define_test_input(test_case_id):
                if test_case_id == 1:
                    a = np.array([[1.0, 5.0, np.nan], [7.0, 2.0, 9.0]])
                else:
                    a = np.random.RandomState(42).rand(20, 5)
                return a

            def generate_ans(data):
                return np.nanmax(data, axis=1)

            test_input = define_test_input(test_case_id)
            expected_result = generate_ans(copy.deepcopy(test_input))
            return test_input, expected_result

        def exec_test(result, ans):
            try:
                np.testing.assert_allclose(result, ans)
                return 1
            except:
                return 0

        exec_context = r"""
        import numpy as np
        a = test_input
        [insert]
        """
        '''.replace("\n        ", "\n"),
        "result = np.nanmax(a, axis=1)",
        _NO_LOOPS,
    ),
    wrong="result = a.max(axis=1)",
)
INDENTED = Problem(
    row=row(
        "Numpy",
        292,
        '''
        import numpy as np

        def generate_test_case(test_case_id):
            a = np.arange(test_case_id + 3)
            return a, (a.mean(), [int(a.sum())])

        def exec_test(result, ans):
            assert type(result) == tuple and result[1] == ans[1]
            return abs(result[0] - ans[0]) < 1e-9

        exec_context = r"""
        import numpy as np
        def f(a):
        [insert]

        result = f(test_input)
        """
        '''.replace("\n        ", "\n"),
        "    print('a word that no test reads')\n    return a.mean(), [int(a.sum())]\n",
    ),
    wrong="    return a.mean(), [0]",
)
PANDAS = Problem(
    row=row(
        "Pandas",
        0,
        '''
        import pandas as pd
        import numpy as np
        import copy

        def generate_test_case(test_case_id):
            def generate_ans(data):
                df, order = data
                return df.iloc[order]

            def define_test_input(test_case_id):
                df = pd.DataFrame(
                    {
                        "Col1": [1, 4, 7],
                        "name": ["a", None, "c"],
                        "kind": pd.Categorical(["x", "y", "x"]),
                        "when": pd.date_range("2020-01-01", periods=3, tz="UTC"),
                    },
                    index=pd.MultiIndex.from_tuples([("p", 1), ("q", 2), ("r", 3)]),
                )
                return df, np.array([1, 2, 0])

            test_input = define_test_input(test_case_id)
            expected_result = generate_ans(copy.deepcopy(test_input))
            return test_input, expected_result

        def exec_test(result, ans):
            try:
                pd.testing.assert_frame_equal(result, ans)
                return 1
            except:
                return 0

        exec_context = r"""
        import pandas as pd
        import numpy as np
        df, List = test_input
        [insert]
        result = df
        """
        '''.replace("\n        ", "\n"),
        "df = df.iloc[List]",
    ),
    wrong="df = df.sort_values('Col1', ascending=False)",
)
SCIPY = Problem(
    row=row(
        "Scipy",
        711,
        '''
        import numpy as np
        from scipy import sparse

        def generate_test_case(test_case_id):
            sa = sparse.random(10, 10, density=0.1, format="csr", random_state=test_case_id)
            sb = sparse.random(10, 10, density=0.1, format="lil", random_state=9)
            return (sa, sb), sa.multiply(sb) + sa

        def exec_test(result, ans):
            assert type(result) == sparse.csr_matrix
            assert len(sparse.find(result != ans)[0]) == 0
            return 1

        exec_context = r"""
        from scipy import sparse
        sA, sB = test_input
        [insert]
        """
        '''.replace("\n        ", "\n"),
        "result = sparse.csr_matrix(sA.multiply(sB) + sA)",
    ),
    wrong="result = sparse.csr_matrix(sA)",
)
SKLEARN = Problem(
    row=row(
        "Sklearn",
        817,
        '''
        import numpy as np
        import pandas as pd
        from sklearn.preprocessing import MultiLabelBinarizer

        def generate_test_case(test_case_id):
            df = pd.DataFrame({"Col1": ["C", "A"], "Col3": [["Apple", "Pear"], ["Apple"]]})
            mlb = MultiLabelBinarizer()
            out = pd.DataFrame(mlb.fit_transform(df.pop("Col3")), df.index, mlb.classes_)
            df = df.join(out)
            given = pd.DataFrame({"Col1": ["C", "A"], "Col3": [["Apple", "Pear"], ["Apple"]]})
            return given, df

        def exec_test(result, ans):
            try:
                pd.testing.assert_frame_equal(result, ans, check_dtype=False)
                return 1
            except:
                return 0

        exec_context = r"""
        import pandas as pd
        import numpy as np
        import sklearn
        df = test_input
        [insert]
        result = df_out
        """
        '''.replace("\n        ", "\n"),
        "from sklearn.preprocessing import MultiLabelBinarizer\nmlb = MultiLabelBinarizer()\n"
        "out = mlb.fit_transform(df.pop('Col3'))\n"
        "df_out = df.join(pd.DataFrame(out, df.index, mlb.classes_))\n",
    ),
    wrong="df_out = df",
)
