"""A real browser for tests: Chromium, driven over WebDriver (W3C) with the standard library."""

from __future__ import annotations

import base64
import json
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.tools import find, require

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    # Nothing but loopback resolves, so that the browser can load nothing from elsewhere.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
PATIENCE_SECONDS = 300
# Texts whose contrast with what is behind them is below WCAG's 4.5.
FAINT = """
    const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
    const linear = (part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    const luminance = (colour) => {
      const [red, green, blue] = parts(colour).map((part) => linear(part / 255));
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const behind = (element) => {
      for (let one = element; one; one = one.parentElement) {
        const colour = getComputedStyle(one).backgroundColor;
        if (parts(colour)[3] !== 0) return colour;
      }
      return "rgb(255, 255, 255)";
    };
    const ratio = (element) => {
      const found = [getComputedStyle(element).color, behind(element)].map(luminance).sort();
      return (Math.max(...found) + 0.05) / (Math.min(...found) + 0.05);
    };
    return [...document.querySelectorAll("body *:not(script):not(option)")]
      .filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()))
      .filter((e) => !e.disabled && e.checkVisibility() && ratio(e) < 4.5)
      .map((e) => `${e.tagName} ${e.className} ${ratio(e).toFixed(2)}`);
"""
# The page looks itself, so that waiting costs next to nothing.
_AWAITED = """
    const done = arguments[arguments.length - 1];
    const given = [...arguments].slice(0, -1);
    const holds = function () { return %s; };
    const until = performance.now() + SECONDS * 1000;
    const look = () => {
      try {
        if (holds.apply(null, given)) return done("");
      } catch (error) {
        return done(String(error));
      }
      return performance.now() > until ? done("SECONDS s are over") : setTimeout(look, 20);
    };
    look();
""".replace("SECONDS", str(PATIENCE_SECONDS))
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
# Of a proxy that is set for the tests' own downloads, loopback is none of its business.
_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Browser:
    """One window.

    Args:
        session: address of a WebDriver session.
    """

    def __init__(self, session: str) -> None:
        self._session = session

    def open(self, page: Path) -> None:
        """Opens a file."""
        self.visit(page.resolve().as_uri())

    def visit(self, address: str) -> None:
        """Opens an address."""
        self._post("url", {"url": address})

    def resize(self, width: int, height: int) -> None:
        """Sets the size of the page's view, whatever the window's frame takes."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.devtools("Emulation.setDeviceMetricsOverride", metrics)

    def prefer(self, scheme: str) -> None:
        """Asks pages for "light" or "dark" colours."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.devtools("Emulation.setEmulatedMedia", {"features": features})

    def run(self, script: str, *arguments: Any) -> Any:
        """Runs the body of a function of JavaScript in the page; answers with what it returns."""
        return self._post("execute/sync", {"script": script, "args": list(arguments)})

    def run_async(self, script: str) -> Any:
        """Runs the body of a function of JavaScript; its last argument takes the answer."""
        return self._post("execute/async", {"script": script, "args": []})

    def until(self, condition: str, *arguments: Any) -> None:
        """Waits for an expression of JavaScript to be true, since the page acts in its own time."""
        found = self._post("execute/async", {"script": _AWAITED % condition, "args": arguments})
        assert found == "", f"never true: {condition}: {found}"

    def click(self, selector: str) -> None:
        """Clicks where an element is, as a mouse does."""
        self._post(f"element/{self._find(selector)}/click", {})

    def type(self, selector: str, text: str) -> None:
        """Types into an element."""
        self._post(f"element/{self._find(selector)}/value", {"text": text})

    def choose(self, selector: str, value: str) -> None:
        """Clicks an option of a list."""
        self.click(f"{selector} option[value='{value}']")

    def texts(self, selector: str) -> list[str]:
        """Returns the text of every element that a selector finds."""
        script = "return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)"
        found: list[str] = self.run(script, selector)
        return found

    def console(self) -> list[str]:
        """Returns what the console told since it was asked last, refusals by policy among it."""
        return [entry["message"] for entry in self._post("se/log", {"type": "browser"})]

    def picture(self) -> bytes:
        """Takes a PNG of the whole page."""
        found = self.devtools("Page.captureScreenshot", {"captureBeyondViewport": True})
        return base64.b64decode(found["data"])

    def devtools(self, command: str, parameters: dict[str, Any]) -> Any:
        """Sends a command of Chromium's own protocol."""
        return self._post("goog/cdp/execute", {"cmd": command, "params": parameters})

    def _find(self, selector: str) -> str:
        found = self._post("element", {"using": "css selector", "value": selector})
        return str(found[_ELEMENT])

    def _post(self, path: str, body: dict[str, Any]) -> Any:
        return _call("POST", f"{self._session}/{path}", body)


@contextmanager
def chromium(profile: Path) -> Iterator[Browser]:
    """Starts Chromium; skips, saying what to install, where it is absent."""
    require("chromedriver", "chromium")
    driver, browser = find("chromedriver"), find("chromium")
    options = {"binary": browser, "args": [*FLAGS, f"--user-data-dir={profile}"]}
    wanted = {
        "goog:chromeOptions": options,
        "goog:loggingPrefs": {"browser": "ALL"},
        "timeouts": {"script": 2000 * PATIENCE_SECONDS},
    }
    process = subprocess.Popen(
        [str(driver), "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        address = f"http://127.0.0.1:{_port(process)}"
        capabilities = {"capabilities": {"alwaysMatch": wanted}}
        session = _call("POST", f"{address}/session", capabilities)["sessionId"]
        try:
            yield Browser(f"{address}/session/{session}")
        finally:
            _call("DELETE", f"{address}/session/{session}", None)
    finally:
        process.terminate()
        process.communicate(timeout=20)


def _port(process: subprocess.Popen[str]) -> int:
    """Reads from the driver's greeting which port it took."""
    assert process.stdout is not None
    for line in process.stdout:
        if "started successfully on port " in line:
            return int(line.rpartition(" ")[2].strip().rstrip("."))
    raise RuntimeError("chromedriver ended without a word of its port")


def _call(method: str, address: str, body: dict[str, Any] | None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address, data=data, method=method)
    try:
        with _opener.open(request, timeout=2 * PATIENCE_SECONDS) as answer:
            return json.load(answer)["value"]
    except urllib.error.HTTPError as error:
        with error:
            raise RuntimeError(f"{address}: {error.read().decode()[:500]}") from None
