"""JSON of strangers: what is read can be stored, sent and shown, and the rest is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stackrank.storable import read_json


@pytest.mark.parametrize(
    "document",
    ["NaN", "-Infinity", "1e999", "9" * 5000, str(1 << 64), "[" * 101 + "]" * 101, "[" * 200_000, b"\xff", "", "{",
     "'x'"],
    ids=lambda document: str(document)[:12],
)  # fmt: skip
def test_free_json_has_bounds_too(document: str | bytes) -> None:
    with pytest.raises(ValueError, match="not valid JSON"):
        read_json(document)


def test_free_json_that_is_sound() -> None:
    nested: Any = "x\u2400"
    for _ in range(98):
        nested = [nested]
    document = json.dumps({"a": nested, "n": (1 << 64) - 1}).replace("\\u2400", "\\u0000")
    assert read_json(document.encode()) == {"a": nested, "n": (1 << 64) - 1}
