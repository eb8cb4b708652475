"""A small project with two planted bugs, as a git repository, and a proposal for it."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

GIVEN = """\
def total(prices, discount=0):
    result = 0
    for index in range(0, len(prices)):
        result += prices[index]
    return result - discount


def names(goods):
    return sorted(goods)


def largest(prices):
    best = prices[0]
    for price in prices:
        if price > best:
            best = price
    return best
"""
BROKEN = GIVEN.replace("range(0, len", "range(1, len").replace("price > best", "price < best")
TESTS = """\
from shop.cart import largest, names, total


def test_total():
    assert total([1, 2, 3]) == 6


def test_discount():
    assert total([5, 5], 1) == 9


def test_largest():
    assert largest([1, 7, 3]) == 7


def test_names():
    assert names({"b": 1, "a": 2}) == ["a", "b"]


def test_empty():
    assert total([]) == 0
"""
BASE = "5f0c2e9b7a4d13868c0fb1e2d94a7735c6e81f2a"
"""The commit of a repository that only a proposal names."""
SHOP = {"shop/__init__.py": "", "shop/cart.py": BROKEN, "tests/test_cart.py": TESTS}
FIX = """\
--- a/shop/cart.py
+++ b/shop/cart.py
@@ -1,5 +1,5 @@
 def total(prices, discount=0):
     result = 0
-    for index in range(1, len(prices)):
+    for index in range(0, len(prices)):
         result += prices[index]
     return result - discount
"""
OTHER_FIX = FIX.replace("+    for index in range(0, len(prices)):", "+    for index in range(len(prices)):")
SECOND_FIX = """\
--- a/shop/cart.py
+++ b/shop/cart.py
@@ -12,6 +12,6 @@
 def largest(prices):
     best = prices[0]
     for price in prices:
-        if price < best:
+        if price > best:
             best = price
     return best
"""


def git(folder: Path, *arguments: str) -> str:
    """What git prints."""
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    process = subprocess.run(
        ["git", "-C", str(folder), *identity, *arguments], capture_output=True, text=True, check=True
    )
    return process.stdout.strip()


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Write texts below a folder."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


def repository(folder: Path, files: Mapping[str, str] = SHOP) -> Path:
    """A git repository of these files, in one commit."""
    write(folder, files)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "As it is")
    return folder


def tree(folder: Path) -> dict[str, str]:
    """Every file below a folder, those of git too."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def evidence(**fields: Any) -> dict[str, Any]:
    """Evidence as a proposal has it."""
    return {
        "suite_before": {"passed": 2, "failed": 3, "flaky": 0, "unread": 0},
        "suite_after": {"passed": 4, "failed": 1, "flaky": 0, "unread": 0},
        "target": {"tests/test_cart.py::test_total": ["failed", "passed"]},
        "fixed": ["tests/test_cart.py::test_total"],
        "covers": [],
        "regressions": [],
        "still_failing": [],
        "touches": ["shop/cart.py: total"],
        "size": {"files": 1, "added": 1, "removed": 1},
        "lines": {"changed": 1, "run": 1},
        "unmeasured": "",
        "suspicious": [],
        "debugger": [{"step": 1, "place": "shop/cart.py:3", "shown": "index = 1"}],
        "agreement": {"same": 1, "played": 2},
        "episodes": [1],
        "sealed": 0,
        "record": {"rate": 0.5, "ci_low": 0.1, "ci_high": 0.9, "tasks": 2, "episodes": 2},
        **fields,
    }


def proposal_row(run: int, entrant: int, episode: int, **fields: Any) -> dict[str, Any]:
    """A row of the table of proposals."""
    return {
        "run_id": run,
        "entrant_id": entrant,
        "episode_id": episode,
        "repository": "/srv/shop",
        "base": BASE,
        "folder": "/srv/proposals",
        "problem": "tests.test_cart.test_total",
        "title": "tests/test_cart.py::test_total fails",
        "tests": ["tests/test_cart.py::test_total"],
        "diff": FIX,
        "test_diff": "",
        "evidence": evidence(),
        "doubts": [],
        **fields,
    }
