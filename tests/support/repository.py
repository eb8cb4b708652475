"""A small git repository with a bug and its fix, also described in the formats of benchmarks."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BUGGY = "def total(prices):\n    result = 0\n    for price in prices:\n        result += price\n    return result - 1\n"
REMEDY = "kRf9remedy"
FIXED = BUGGY.replace("    return result - 1\n", f"    # {REMEDY}\n    return result\n")
OLD_TEST = "from shop.cart import total\n\n\ndef test_type():\n    assert isinstance(total([1]), int)\n"
SECRET = "kRf9hidden"
NEW_TEST = f"{OLD_TEST}\n\ndef test_total():\n    assert total([1, 2]) == 3  # {SECRET}\n"
PROJECT = """\
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "shop"
version = "1.5"

[tool.setuptools]
packages = ["shop"]
package-dir = {shop = "src/shop"}
"""
# SampleRepository by the set-up: a module that the tests need and that the repository does not have.
STAMP = "python -c \"open('src/shop/_stamp.py', 'w').write('STAMP = 7\\n')\""
INSTALL = "-e ."
STAMPED = (
    "import importlib.metadata\n\nfrom shop._stamp import STAMP\n\n\n"
    "def test_stamp():\n    assert (STAMP, importlib.metadata.version('shop')) == (7, '1.5')\n"
)


@dataclass(frozen=True)
class SampleRepository:
    """The repository and its two commits."""

    path: Path
    buggy_commit: str
    fixed_commit: str
    fix: str
    test_patch: str


def git(folder: Path, *arguments: str) -> str:
    """The output of a git command, run as nobody in particular."""
    identity = ["-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "init.defaultBranch=main"]
    completed = subprocess.run(["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return completed.stdout


def write(folder: Path, files: dict[str, str]) -> None:
    """Write files below a folder."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)


def make_repository(folder: Path, *, package: bool = False) -> SampleRepository:
    """The shop, whose totals are one too small. `package`: in `src`, to be installed."""
    source = "src/shop" if package else "shop"
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet")
    files = {f"{source}/cart.py": BUGGY, f"{source}/__init__.py": "", "tests/test_cart.py": OLD_TEST}
    if package:
        files |= {"pyproject.toml": PROJECT, "tests/test_stamp.py": STAMPED}
    write(folder, {**files, "conftest.py": "", "README": "A shop.\n"})
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "A shop")
    buggy_commit = git(folder, "rev-parse", "HEAD").strip()
    write(folder, {f"{source}/cart.py": FIXED, "tests/test_cart.py": NEW_TEST})
    git(folder, "commit", "--quiet", "-am", "Totals are right")
    fixed_commit = git(folder, "rev-parse", "HEAD").strip()
    fix, test_patch = (git(folder, "diff", buggy_commit, fixed_commit, "--", place) for place in (source, "tests"))
    return SampleRepository(folder, buggy_commit, fixed_commit, fix, test_patch)


def instance(sample: SampleRepository, **changes: Any) -> dict[str, Any]:
    """The bug as SWE-bench has it."""
    row = {
        "instance_id": "acme__shop-1", "repo": "acme/shop", "base_commit": sample.buggy_commit, "patch": sample.fix,
        "test_patch": sample.test_patch, "problem_statement": "Totals are wrong.\nBy one.", "hints_text": "subtraction",
        "created_at": "2026-01-01", "version": "1.5", "FAIL_TO_PASS": '["tests/test_cart.py::test_total"]',
        "PASS_TO_PASS": ["tests/test_cart.py::test_type"], "environment_setup_commit": sample.buggy_commit,
    }  # fmt: skip
    return {**row, **changes}


def write_lines(file: Path, rows: list[dict[str, Any]]) -> Path:
    """A JSONL file."""
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file
