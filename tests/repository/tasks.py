"""A small repository with a bug, the hidden tests of its fix, and solutions."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping

CART = '''"""Carts of a shop."""


def total(items):
    """Returns the price of (price, quantity) pairs."""
    return sum(price for price, quantity in items)


def discount(amount, percent):
    """Returns an amount after a discount."""
    return amount - amount * percent // 100
'''
FIXED_CART = CART.replace("sum(price for", "sum(price * quantity for")
BASE: Mapping[str, str] = {
    "shop/__init__.py": "",
    "shop/cart.py": CART,
    "tests/__init__.py": "",
    "tests/helpers.py": "def check(actual, expected):\n    assert actual == expected\n",
    "tests/test_cart.py": (
        "from shop.cart import discount\n\n\n"
        "def test_discount():\n    assert discount(200, 10) == 180\n"
    ),
    "pyproject.toml": '[project]\nname = "shop"\nversion = "1"\n',
    "README.md": "A shop.\n",
}
HIDDEN: Mapping[str, str] = {
    "tests/test_cart.py": """from shop.cart import discount, total
from tests.helpers import check


def test_discount():
    assert discount(200, 10) == 180
    assert discount(70, 50) == 35


def test_quantities_count():
    assert total([(3, 2), (5, 4)]) == 26
    assert total([(7, 3)]) == 21


def test_many_of_one():
    check(total([(11, 9)]), 99)
""",
}
FAIL_TO_PASS = (
    "tests/test_cart.py::test_quantities_count",
    "tests/test_cart.py::test_many_of_one",
)
PASS_TO_PASS = ("tests/test_cart.py::test_discount",)
GOLDEN_PATCH = """diff --git a/shop/cart.py b/shop/cart.py
--- a/shop/cart.py
+++ b/shop/cart.py
@@ -4,3 +4,3 @@
 def total(items):
     \"\"\"Returns the price of (price, quantity) pairs.\"\"\"
-    return sum(price for price, quantity in items)
+    return sum(price * quantity for price, quantity in items)
"""


def encoded(files: Mapping[str, str]) -> tuple[tuple[str, bytes], ...]:
    """Returns files as a submission has them."""
    return tuple(sorted((path, text.encode()) for path, text in files.items()))


def archive(files: Mapping[str, str | bytes], *, compression: str = "gz") -> bytes:
    """Returns a tar archive of files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=f"w:{compression}") as made:
        for path, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            member = tarfile.TarInfo(path)
            member.size = len(data)
            made.addfile(member, io.BytesIO(data))
    return buffer.getvalue()
