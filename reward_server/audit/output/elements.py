"""Builds HTML pages as trees; the pages load nothing and run no script.

All text is the text of a node, so that none of it can become markup. A content security policy
allows the page's own style by its hash, and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import xml.etree.ElementTree as ET  # only writes: nothing is parsed
from collections.abc import Iterable, Sequence
from importlib import resources

_UNWRITABLE = {number: "\ufffd" for number in range(32) if chr(number) not in "\t\n"} | {
    127: "\ufffd"
}


def new_page(title: str, *, style: str = "") -> tuple[ET.Element, ET.Element]:
    """Returns the root and the body of a page.

    Args:
        title: its title.
        style: rules of style beside those of all pages.
    """
    shared = resources.files("reward_server.audit.output").joinpath("page.css").read_text("utf-8")
    style = f"{shared}{style}"
    root = ET.Element("html", lang="en")
    head = ET.SubElement(root, "head")
    ET.SubElement(head, "meta", charset="utf-8")
    policy = f"default-src 'none'; style-src '{_hash(style)}'; base-uri 'none'; form-action 'none'"
    ET.SubElement(head, "meta", {"http-equiv": "Content-Security-Policy", "content": policy})
    ET.SubElement(head, "meta", name="viewport", content="width=device-width, initial-scale=1")
    ET.SubElement(head, "meta", name="referrer", content="no-referrer")
    ET.SubElement(head, "meta", {"name": "color-scheme", "content": "light dark"})
    add_text(head, "title", title)
    ET.SubElement(head, "style").text = style
    return root, ET.SubElement(root, "body")


def written(root: ET.Element) -> bytes:
    """Returns a page as UTF-8."""
    text: bytes = ET.tostring(root, encoding="utf-8", method="html")
    return b"<!DOCTYPE html>\n" + text


def add_text(parent: ET.Element, tag: str, text: str, **attributes: str) -> ET.Element:
    """Adds a node with a text."""
    node = ET.SubElement(parent, tag, attributes)
    node.text = text.translate(_UNWRITABLE).encode("utf-8", "replace").decode()
    return node


def add_numbers(parent: ET.Element, numbers: Iterable[tuple[str, object]]) -> None:
    """Adds large numbers with their names."""
    box = ET.SubElement(parent, "dl", {"class": "numbers"})
    for name, value in numbers:
        pair = ET.SubElement(box, "div")
        add_text(pair, "dt", name)
        add_text(pair, "dd", str(value))


def add_table(parent: ET.Element, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Adds a table; if it is too wide, it scrolls and the page does not."""
    box = ET.SubElement(parent, "div", {"class": "scroll"})
    table = ET.SubElement(box, "table")
    head = ET.SubElement(ET.SubElement(table, "thead"), "tr")
    for name in heads:
        add_text(head, "th", name)
    inner = ET.SubElement(table, "tbody")
    for row in rows:
        line = ET.SubElement(inner, "tr")
        for value in row:
            add_text(line, "td", value)


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
