"""What is packed comes out as it was, whatever it is, and what repeats is one blob."""

from __future__ import annotations

import json
import random
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from stackrank.db import texts
from stackrank.db.texts import LONG, Blobs, Folded, expanded, fold, named, needs, unfold

ODD = [
    "", "\0", "\0\0t", "\0t" + "0" * 32, '"\\u0000t' + "0" * 32 + '"', "\ud800", "a\udfffb\0", "é" * LONG, "x" * LONG,
    "x" * (LONG + 1), "🐞" * 300, "\0j" + "f" * 700, "\\u0000j" * 200, "line\r\nline\u2028" * 90,
]  # fmt: skip


def packed(value: Any) -> tuple[Folded, dict[bytes, bytes]]:
    """A value as it is stored, and the contents of its blobs."""
    blobs: Blobs = {}
    folded = fold(value, blobs)
    return folded, {digest: expanded(content) for digest, content in blobs.items()}


def there_and_back(value: Any) -> Any:
    folded, blobs = packed(value)
    digests, contents = needs([folded]) if not isinstance(value, str) or folded.blob else set(), dict[bytes, bytes]()
    while digests := (digests & blobs.keys()) - contents.keys():  # as a reader does, from blob to blob
        contents |= {digest: blobs[digest] for digest in digests}
        digests = set().union(*(named(blobs[digest]) for digest in digests))
    return unfold(folded, type(value), contents)


@pytest.mark.parametrize("text", ODD, ids=range(len(ODD)))
def test_texts_round_trip(text: str) -> None:
    assert there_and_back(text) == text
    assert there_and_back({"a": [text, {"b": text}], "long": "y" * 1000}) == {
        "a": [text, {"b": text}],
        "long": "y" * 1000,
    }


def anything(dice: random.Random, depth: int = 0) -> Any:
    kind = dice.randrange(8 if depth < 5 else 6)
    if kind == 6:
        return [anything(dice, depth + 1) for _ in range(dice.randrange(6))]
    if kind == 7:
        return {dice.choice([*ODD[:6], "k"]) + str(n): anything(dice, depth + 1) for n in range(dice.randrange(6))}
    numbers = (None, True, -(2**70), dice.random() * 10 ** dice.randrange(-300, 300), dice.choice(ODD))
    return numbers[kind] if kind < 5 else "word " * dice.randrange(400)


def test_json_round_trips() -> None:
    dice, blobs = random.Random(3), 0
    for _ in range(400):
        value = {"all": anything(dice), "more": anything(dice)}
        assert json.dumps(there_and_back(value)) == json.dumps(value), "in the same order, too"
        blobs += len(packed(value)[1])
    assert blobs > 100


def test_repeated_parts_are_one_blob() -> None:
    observation = "FAILED tests/test_core.py::test_total - assert 3 == 6\n" * 30
    tools = [{"name": f"tool{n}", "description": "Show a file, or some of its lines." * 3} for n in range(9)]
    blobs: Blobs = {}
    text = fold(observation, blobs)
    for n in range(50):
        message = {"role": "tool", "content": observation, "id": n}
        fold([{"request": {"model": "m", "tools": tools, "messages": [message]}, "answer": {"id": n}}], blobs)
    assert text.blob in blobs
    assert len(blobs) == 2, "the observation and the tools; what differs is short, and stands where it is"
    assert len(blobs[text.blob]) < len(observation) / 10


def test_a_value_of_a_later_version_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown codec"):
        unfold(Folded(b"\x09abc"), str, {})


def test_the_dictionary_stays_what_databases_depend_on() -> None:
    content = (Path(texts.__file__).parent / "dictionary_1.txt").read_bytes()
    assert sha256(content).hexdigest().startswith("be9afb96aacfac8d"), "another dictionary is another codec"
    stored = {"path": "survey/links.py", "limit": 60000}
    assert unfold(Folded(bytes.fromhex("0123f6fe2900")), dict, {}) == stored
