"""Run all other tests with one extension hidden, as if its folder had been deleted.

HIDE_EXTENSION=fix python -m pytest -p tests.support.hide -m "not slow and not exhaustive"
"""

from __future__ import annotations

import importlib.metadata
import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

EXTENSION = os.environ.get("HIDE_EXTENSION", "")
PACKAGE = f"stackrank.extensions.{EXTENSION}"


class _Hidden(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname == PACKAGE or fullname.startswith(f"{PACKAGE}."):
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        return None


def _without_extension(**selection: Any) -> importlib.metadata.EntryPoints:
    points = [point for distribution in importlib.metadata.distributions() for point in distribution.entry_points]
    visible = [point for point in points if point.module != PACKAGE and not point.module.startswith(f"{PACKAGE}.")]
    return importlib.metadata.EntryPoints(visible).select(**selection)


if EXTENSION:
    if not Path("extensions", EXTENSION).is_dir():
        raise SystemExit(f"there is no extension {EXTENSION!r}")
    sys.meta_path.insert(0, _Hidden())
    importlib.metadata.entry_points = _without_extension


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out the tests of the hidden extension."""
    return True if collection_path == Path("tests/extensions", EXTENSION).resolve() else None
