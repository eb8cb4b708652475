# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""`name: value` lines; a line of dashes ends a record."""
from __future__ import annotations

from typing import Dict, List

from records.common import content_lines

FORMAT = "keyvalue"


def read(text: str) -> List[Dict[str, str]]:
    """Read the records of a key-value text."""
    records: List[Dict[str, str]] = [{}]
    for line in content_lines(text):
        if set(line.strip()) == {"-"}:
            records.append({})
            continue
        name, _, value = line.partition(":")
        records[-1][name.strip()] = value.strip()
    return [r for r in records if r]
