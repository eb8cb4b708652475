"""Run the tests with extensions hidden, as if their folders had been deleted.

HIDE_EXTENSION=fix python -m pytest -p tests.support.hide -m "not slow and not exhaustive"

Several names are separated by commas; `all` hides every extension, which leaves the core.
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

ROOT = Path(__file__).parents[2]
EXTENSIONS = sorted(init.parent.name for init in (ROOT / "extensions").glob("*/__init__.py"))


def _chosen(names: str) -> list[str]:
    if names == "all":
        return EXTENSIONS
    chosen = names.split(",") if names else []
    if unknown := set(chosen) - set(EXTENSIONS):
        raise SystemExit(f"no extension is called {', '.join(sorted(unknown))}: there are {', '.join(EXTENSIONS)}")
    return chosen


HIDDEN = _chosen(os.environ.get("HIDE_EXTENSION", ""))


def _is_hidden(module: str) -> bool:
    parts = module.split(".")
    return parts[:2] == ["stackrank", "extensions"] and len(parts) > 2 and parts[2] in HIDDEN


class _Hidden(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if _is_hidden(fullname):
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        return None


_all_entry_points = importlib.metadata.entry_points


def _visible_entry_points(**selection: Any) -> Any:
    points = _all_entry_points(**selection)
    if not selection and not isinstance(points, importlib.metadata.EntryPoints):  # Python 3.11: a mapping of groups
        return {group: _visible_entry_points(group=group) for group in points}
    return importlib.metadata.EntryPoints(point for point in points if not _is_hidden(point.module))


if HIDDEN:
    sys.meta_path.insert(0, _Hidden())
    importlib.metadata.entry_points = _visible_entry_points


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out the tests of hidden extensions."""
    return True if collection_path in {ROOT / "tests/extensions" / name for name in HIDDEN} else None
