"""What TensorBoard shows of completions: texts as they were written, and histograms."""

from __future__ import annotations

import math
import re

import pytest

from trainer_client.trl.monitoring.tensorboard import as_code, write_samples

pytestmark = pytest.mark.training

HOSTILE = (
    "<script>window.hacked = 1</script>",
    "a\n\n<img src=x onerror=alert(1)>\n\n# heading\n[link](javascript:alert(1))",
    "a\r\r<b>b</b>\x0b\x0c<i>i</i>\x85\x85<u>u</u>\u2028\u2028![x](http://127.0.0.1:1/x.png)",
    "```\n</code></pre><h1>x</h1>\n```\n",
)


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.filterwarnings("ignore:html5lib's sanitizer:DeprecationWarning")
def test_no_text_of_a_completion_becomes_markup(text):
    from tensorboard.plugin_util import markdown_to_safe_html

    shown = markdown_to_safe_html(as_code(text))
    assert set(re.findall(r"<(/?\w+)", shown)) == {"pre", "code", "/code", "/pre"}


def test_the_first_group_is_text_and_all_rewards_are_histograms(tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.util.tensor_util import make_ndarray
    from torch.utils.tensorboard import SummaryWriter

    table = {
        "prompt": [[{"role": "user", "content": f"task {index // 2}"}] for index in range(4)],
        "completion": [[{"role": "assistant", "content": f"def f{i}(): ..."}] for i in range(4)],
        "rewards": {"tests": [1.0, 0.0, math.nan, None], "length": [None] * 4},
        "advantages": [0.5, -0.5, 0.0, 0.0],
        "extra": {"tests_verdict": ["PASSED", "FAILED", "UNJUDGED", "UNJUDGED"]},
    }
    with SummaryWriter(str(tmp_path)) as writer:
        write_samples(writer, 7, table, 2)
    events = EventAccumulator(str(tmp_path))
    events.Reload()
    tags = events.Tags()
    assert set(tags["histograms"]) == {"histograms/tests", "histograms/advantage"}
    (rewards,) = events.Histograms("histograms/tests")
    assert (rewards.step, rewards.histogram_value.num, rewards.histogram_value.sum) == (7, 2, 1.0)
    assert set(tags["tensors"]) == {f"completions/{place}/text_summary" for place in (1, 2)}
    (text,) = events.Tensors("completions/2/text_summary")
    (shown,) = make_ndarray(text.tensor_proto).tolist()
    assert shown.decode() == as_code(
        "user:\ntask 0\n\ntests: 0.0\n\nlength: None\n\nadvantage: -0.5\n\n"
        "tests_verdict: FAILED\n\nassistant:\ndef f1(): ..."
    )
