"""States of edits, as the tools give them."""

from __future__ import annotations

from typing import Any


def edit_state(path: str, first: int, last: int, *, is_broken: bool = False) -> dict[str, Any]:
    """The state after lines `first` to `last` were replaced; `is_broken`: the file does not parse any more."""
    count = last - first + 1
    header = f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -{first},{count} +{first},{count} @@\n"
    state = {"kind": "edit", "edited": path, "lines": [first, last], "diff": header + "-a\n" * count + "+b\n" * count}
    return state | ({"broken": {path: f"line {first}"}} if is_broken else {})
