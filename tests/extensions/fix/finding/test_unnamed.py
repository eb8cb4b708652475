"""Tests that the command does not name: which a change concerns, and which it breaks."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackrank.extensions.fix.finding.project import Project, TestOptions, open_project
from stackrank.extensions.fix.finding.unnamed import break_unnamed, list_unnamed
from tests.fixtures.env import usable
from tests.support.shop import repository

FILES = {
    "conftest.py": "",
    "shop/__init__.py": "from shop.cart import add\n",
    "shop/cart.py": "def add(a, b):\n    return a + b\n\n\ndef scale(a):\n    return 2 * a\n",
    "shop/paper.py": "def print_bill():\n    return ''\n",
    "tests/test_add.py": "from shop.cart import add\n\n\ndef test_add():\n    assert add(2, 2) == 4\n",
    "tests/test_all.py": "import shop\n\n\ndef test_all():\n    assert shop.add(1, 2) == 3\n",
    "tests/test_bill.py": "from bill import paper\n\n\ndef test_bill():\n    pass\n",
    "tests/test_scale.py": "from shop.cart import scale\n\n\ndef test_scale():\n    assert scale(4) == 8\n\n\n"
    "def test_broken():\n    assert scale(1) == 1\n",
}


def opened(folder: Path, test: str) -> Project:
    return open_project(repository(folder / "shop", FILES), TestOptions(test=test, setup=()))


@pytest.mark.parametrize(
    ("test", "changed", "unnamed"),
    [
        ("pytest tests/test_add.py", "shop/cart.py", ["tests/test_scale.py", "tests/test_all.py"]),
        ("pytest tests/test_scale.py::test_scale", "shop/cart.py",
         ["tests/test_add.py", "tests/test_scale.py", "tests/test_all.py"]),
        ("pytest tests/test_add.py", "shop/__init__.py", ["tests/test_all.py"]),
        ("pytest tests/test_add.py", "src/shop/cart.py", ["tests/test_scale.py", "tests/test_all.py"]),
        ("pytest tests", "shop/cart.py", []),
        ("pytest", "shop/cart.py", []),
        ("pytest tests/test_add.py", "README.md", []),
    ],
)  # fmt: skip
def test_unnamed_files_import_what_a_change_touches(
    tmp_path: Path, test: str, changed: str, unnamed: list[str]
) -> None:
    assert list_unnamed(opened(tmp_path, test), [changed]) == unnamed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "broken"),
    [
        ("def add(a, b):\n    return 4\n\n\ndef scale(a):\n    return 2 * a\n", ["tests/test_all.py::test_all"]),
        ("def add(a, b):\n    return a * b\n\n\ndef scale(a):\n    return a * 3\n",
         ["tests/test_all.py::test_all", "tests/test_scale.py::test_scale"]),
        ("def add(a, b):\n    return b + a\n", ["tests/test_scale.py"]),
        ("def add(a, b):\n    return b + a\n\n\ndef scale(a):\n    return a + a\n", []),
    ],
)  # fmt: skip
def test_a_change_breaks_what_passes_without_it(tmp_path: Path, content: str, broken: list[str]) -> None:
    project = opened(tmp_path, "python -m pytest -p no:cacheprovider tests/test_add.py")
    changed = {"shop/cart.py": content.encode()}
    files = ["tests/test_scale.py", "tests/test_all.py"]
    assert break_unnamed(project, usable("bubblewrap"), changed, times=2) == (files, broken, "")


@pytest.mark.slow
def test_what_does_not_end_in_time_is_said(tmp_path: Path) -> None:
    files = {**FILES, "tests/test_all.py": "import time\n\nimport shop\n\ntime.sleep(600)\n"}
    command = "python -m pytest -p no:cacheprovider tests/test_add.py"
    options = TestOptions(test=command, setup=(), timeout_s=2)
    project = open_project(repository(tmp_path / "shop", files), options)
    run = break_unnamed(project, usable("bubblewrap"), {"shop/cart.py": FILES["shop/cart.py"].encode()}, times=2)
    assert run.files == ["tests/test_scale.py", "tests/test_all.py"] and not run.broken
    assert "do not end within 2 s" in run.unchecked
