# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Lines of text: path = value in JSON."""
from __future__ import annotations

import json
from typing import Any, Dict

from .nest import nest
from .walk import flatten


def dump(settings: Dict[str, Any]) -> str:
    """The settings as text, a line for each entry."""
    return "".join(f"{path} = {json.dumps(value)}\n" for path, value in flatten(settings).items())


def load(text: str) -> Dict[str, Any]:
    """The settings of a text. Empty lines and those that begin with # are left out."""
    entries: Dict[str, Any] = {}
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            path, _, value = line.partition(" = ")
            entries[path] = json.loads(value)
    return nest(entries)
