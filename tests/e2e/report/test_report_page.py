"""The report in a real browser: its filters are clicked, and what models wrote stays text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.support.browser import FAINT, Browser, chromium
from tests.support.training_runs import REWARD, Plan, write_run, write_table
from trainer_client.report import write_report
from trainer_client.run_folder import Event

CHIPS = "#list .chip"
SCRIPT = "window.hacked = (window.hacked ?? 0) + 1"
HOSTILE = (
    f"</script><script>{SCRIPT}</script><!--<script>",
    f'<img src=x onerror="{SCRIPT}"><svg onload="{SCRIPT}"></svg>',
    f'"><iframe srcdoc="<script>parent.{SCRIPT}</script>"></iframe>',
    f"</pre></details></textarea></title>\u2028\u2029<b onmouseover='{SCRIPT}'>b</b>]]>{{{{7*7}}}}",
)
# What a pattern that goes back over what it took would take minutes for.
SLOW = ("'\"" * 5000, '"""\\' * 3000, "\\" * 12000, "`" * 12000, "1_" * 6000, "#/" * 6000)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Yields a browser that loads nothing from elsewhere."""
    with chromium(tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture
def quiet(browser: Browser) -> Iterator[Browser]:
    """Yields the browser; no page may have an error or try what is refused."""
    browser.console()
    yield browser
    assert browser.console() == []


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the report of two seeds."""
    folder = tmp_path_factory.mktemp("seeds")
    runs = [folder / "0", folder / "1"]
    for seed, run in enumerate(runs):
        write_run(run, Plan(steps=10, seed=seed, outage=range(4, 6)))
    return write_report(runs, folder / "report.html", pngs=False).page


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the report of a run in which every text that a model or a task wrote is an attack."""
    folder = tmp_path_factory.mktemp("hostile")
    texts = (*HOSTILE, *SLOW)
    written = write_run(folder, Plan(steps=1, size=len(texts), text=lambda *row: texts[row[2]]))
    for text in HOSTILE:
        written.add_event(Event(step=1, seconds=1.0, kind=text, message=text))
    file = folder / "run.json"
    escaped = HOSTILE[0].replace("\\", "\\\\").replace('"', '\\"')
    file.write_text(file.read_text().replace("HuggingFaceTB/SmolLM2-135M-Instruct", escaped))
    _attack_columns(folder)
    return write_report([folder], folder / "report.html", pngs=False).page


def _attack_columns(folder: Path) -> None:
    (file,) = (folder / "completions").iterdir()
    rows = pq.read_table(file).to_pylist()
    for index, row in enumerate(rows):
        for column in ("verdict", "message", "task_id", "failing_test", "integrity"):
            row[f"{REWARD}_{column}"] = HOSTILE[index % len(HOSTILE)]
        row["prompt"][0]["role"] = HOSTILE[1]
        row["prompt"][0]["content"] = HOSTILE[index % len(HOSTILE)]
    write_table(folder, 1, rows)


def open_completion(browser: Browser, place: int) -> str:
    """Clicks on a completion of the list, counted from 1; gives the selector of what it shows."""
    inside = f"#list details:nth-child({place}) .inside"
    browser.click(f"#list details:nth-child({place}) summary")
    browser.until("document.querySelector(arguments[0]) !== null", inside)
    return inside


def shown(browser: Browser) -> int:
    """Reads how many completions the filters match."""
    (text,) = browser.texts("#count")
    return int(text.partition(" matching")[0].rpartition(" ")[2])


def count_of(browser: Browser, column: str, value: object) -> int:
    """Counts rows of the page's data, past the page's own filters."""
    script = """
        const data = JSON.parse(document.getElementById("data").textContent);
        const column = data.names.indexOf(arguments[0]);
        return data.rows.filter((row) => row[column] === arguments[1]).length;
    """
    found: int = browser.run(script, column, value)
    return found


def test_clicks_on_the_filters_choose_completions(quiet, seeds):
    quiet.open(seeds)
    assert shown(quiet) == 160
    quiet.choose("#verdict", "PASSED")
    assert shown(quiet) == count_of(quiet, "verdict", "PASSED") > 0
    assert set(quiet.texts(CHIPS)) == {"PASSED"}
    quiet.click("#clear")
    quiet.choose("#step", "4")
    assert shown(quiet) == count_of(quiet, "step", 4) == 16
    assert set(quiet.texts(CHIPS)) == {"UNJUDGED"}
    assert "reward none" in quiet.texts("#list summary")[0]
    quiet.choose("#run", "seed 1")
    assert shown(quiet) == 8
    quiet.click("#clear")
    quiet.choose("#task", "mbpp/3")
    assert shown(quiet) == count_of(quiet, "task", "mbpp/3") > 0
    assert set(quiet.texts("#list .task")) == {"mbpp/3"}


def test_text_is_searched_for_in_prompts_completions_and_messages(quiet, seeds):
    quiet.open(seeds)
    quiet.type("#text", "ATTEMPT 2")
    assert shown(quiet) == 160 // 4
    quiet.click("#clear")
    quiet.type("#text", "no server")
    assert shown(quiet) == count_of(quiet, "verdict", "UNJUDGED") == 32
    quiet.type("#text", " that is there")
    assert shown(quiet) == 0
    assert quiet.texts("#list details") == []
    quiet.click("#clear")
    assert shown(quiet) == 160


def test_pages_and_orders_show_every_completion_once(quiet, seeds):
    quiet.open(seeds)
    quiet.choose("#order", "oldest")
    seen = quiet.texts("#list .step")
    while not quiet.run("return document.getElementById('next').disabled"):
        quiet.click("#next")
        seen += quiet.texts("#list .step")
    assert Counter(seen) == {f"step {step}": 16 for step in range(1, 11)}
    assert seen[0] == "step 1"
    quiet.click("#previous")
    assert quiet.texts("#count")[0].startswith("126 to 150 of 160")
    quiet.choose("#order", "best")
    assert set(quiet.texts(CHIPS)) == {"PASSED"}
    quiet.choose("#order", "worst")
    assert not {"PASSED", "UNJUDGED"} & set(quiet.texts(CHIPS))


def test_a_click_opens_a_completion_with_its_code_and_failing_test(quiet, seeds):
    quiet.open(seeds)
    quiet.choose("#verdict", "FAILED")
    assert len(quiet.texts("#list pre")) == 4
    inside = open_completion(quiet, 2)
    assert quiet.texts(f"{inside} .facts")[0] == "failing test: test_of_seven: 6 != 12"
    assert quiet.texts(f"{inside} .compared h4") == ["left", "right"]
    left, right, prompt, completion = quiet.texts(f"{inside} pre")
    assert (left, right) == ("6", "12")
    assert prompt.startswith("Write a function solve_")
    assert completion.startswith("Here is a function that does it:\n\n```python\ndef solve_")
    assert {"def", "int", "for", "in", "if", "return"} == set(quiet.texts(f"{inside} pre .k"))
    assert quiet.texts(f"{inside} pre .s") == ['"""Adds what is even."""']
    assert quiet.texts(f"{inside} pre .c")[0].startswith("# attempt")


def test_nothing_is_loaded_from_anywhere_and_every_figure_is_drawn(quiet, seeds):
    quiet.open(seeds)
    script = "return [...document.images].filter((i) => i.complete && i.naturalWidth > 300).length"
    assert quiet.run(script) == quiet.run("return document.images.length") == 9
    loaded = quiet.run("return performance.getEntriesByType('resource').map((e) => e.name)")
    assert [name for name in loaded if not name.startswith("data:")] == []
    assert all(quiet.run("return [...document.images].map((i) => i.alt)"))


@pytest.mark.parametrize("width", [360, 390, 400, 800, 1400])
def test_no_window_is_too_narrow_for_the_page(quiet, seeds, width):
    quiet.resize(width, 800)
    quiet.open(seeds)
    images = "[...document.images].map((i) => i.getBoundingClientRect())"
    assert quiet.run(f"return {images}.every((i) => i.left >= 0 && i.right <= {width})")
    proportions = "i.naturalWidth / i.naturalHeight / (i.width / i.height)"
    assert quiet.run(
        f"return [...document.images].every((i) => Math.abs({proportions} - 1) < 0.02)"
    )
    assert quiet.run("return document.documentElement.scrollWidth") == width
    widths = "return [...document.querySelectorAll('main > section')].map((s) => s.scrollWidth)"
    assert max(quiet.run(widths)) <= width
    quiet.resize(1400, 900)


def test_a_figure_is_enlarged_on_a_narrow_window_and_scrolls_within_its_frame(quiet, seeds):
    quiet.resize(390, 800)
    quiet.open(seeds)
    quiet.click("#figure-reward .enlarge")
    assert quiet.run("return document.querySelector('#figure-reward img').width") == 860
    frame = "document.querySelector('#figure-reward .scroll')"
    assert quiet.run(f"return {frame}.scrollWidth > {frame}.clientWidth")
    assert quiet.run("return document.documentElement.scrollWidth") == 390
    quiet.click("#figure-reward .enlarge")
    assert quiet.run("return document.querySelector('#figure-reward img').width") < 390
    quiet.resize(1400, 900)


def test_a_dark_page_has_dark_figures_and_text_that_can_be_read(quiet, seeds):
    pixel = """
        const image = document.images[0], canvas = document.createElement("canvas");
        canvas.width = canvas.height = 4;
        const context = canvas.getContext("2d");
        context.drawImage(image, 0, 0, 4, 4);
        return [...context.getImageData(0, 0, 1, 1).data.slice(0, 3)].reduce((a, b) => a + b) / 3;
    """
    for scheme, low, high in (("light", 200, 255), ("dark", 0, 60)):
        quiet.prefer(scheme)
        quiet.open(seeds)
        assert low <= quiet.run(pixel) <= high
        faint = quiet.run(FAINT)
        assert faint == []
    quiet.prefer("light")


@pytest.mark.promise("Text of completions never runs in a report.", "Client")
def test_what_models_wrote_is_shown_letter_by_letter_and_never_runs(quiet, hostile):
    quiet.open(hostile)
    for place in range(2, 21):
        open_completion(quiet, place)
    completions = "#list .inside > div:nth-of-type(2) pre"
    texts = [
        text.replace("\\u2028", "\u2028").replace("\\u2029", "\u2029")
        for text in quiet.texts(completions)
    ]
    assert Counter(texts) == dict.fromkeys((*HOSTILE, *SLOW), 2)
    assert quiet.texts(".path") == [HOSTILE[0]]
    assert quiet.texts("h1") == ["script><!--<script> on mbpp, seed 0"]
    assert quiet.texts("td:last-child bdi") == list(HOSTILE)
    for text in HOSTILE:
        quiet.run("document.getElementById('verdict').value = arguments[0]", text)
        quiet.click("#verdict")
    assert quiet.run("return window.hacked ?? 0") == 0
    tags = (
        "return [...document.querySelectorAll('script, iframe, svg, b[onmouseover], img')].length"
    )
    assert quiet.run(tags) == 2 + quiet.run("return document.images.length")
    assert quiet.run("return [...document.images].every((i) => i.src.startsWith('data:'))")


def test_the_policy_stops_what_would_get_into_the_page_all_the_same(browser, hostile):
    browser.open(hostile)
    inserted = """
        const refused = [];
        const attempt = (name, act) => { try { act(); } catch { refused.push(name); } };
        const script = document.createElement("script");
        const element = document.createElement("div");
        document.body.append(script, element);
        attempt("text", () => { script.text = arguments[0]; });
        attempt("attribute", () => { element.setAttribute("onclick", arguments[0]); });
        attempt("markup", () => { element.innerHTML = "<b>b</b>"; });
        script.append(arguments[0]);
        element.click();
        return refused;
    """
    assert browser.run(inserted, SCRIPT) == ["text", "attribute", "markup"]
    assert browser.run("return window.hacked ?? 0") == 0
    browser.run("fetch('http://127.0.0.1:1/').catch(() => {})")
    refusals = [message for message in browser.console() if "Content Security Policy" in message]
    assert any("connect-src" in message or "default-src" in message for message in refusals)


@pytest.mark.parametrize("text", HOSTILE[:3])
def test_the_same_text_runs_in_a_page_that_takes_it_for_markup(browser, tmp_path, text):
    """Shows that the attacks above are ones."""
    page = tmp_path / "careless.html"
    page.write_text(f"<!DOCTYPE html><title>x</title><div>{text}", "utf-8")
    browser.open(page)
    browser.until("window.hacked > 0")
