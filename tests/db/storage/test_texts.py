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
    wanted, read = needs([folded]) if not isinstance(value, str) or folded.blob else set(), dict[bytes, bytes]()
    while wanted := (wanted & blobs.keys()) - read.keys():  # as a reader does, from blob to blob
        read |= {digest: blobs[digest] for digest in wanted}
        wanted = set().union(*(named(blobs[digest]) for digest in wanted))
    return unfold(folded, type(value), read)


@pytest.mark.parametrize("text", ODD, ids=range(len(ODD)))
def test_texts_as_they_were(text: str) -> None:
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


def test_any_json_as_it_was() -> None:
    dice, blobs = random.Random(3), 0
    for _ in range(400):
        value = {"all": anything(dice), "more": anything(dice)}
        assert json.dumps(there_and_back(value)) == json.dumps(value), "in the same order, too"
        blobs += len(packed(value)[1])
    assert blobs > 100


def test_what_repeats_is_one_blob() -> None:
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
    with pytest.raises(ValueError, match="no codec of this version"):
        unfold(Folded(b"\x09abc"), str, {})


@pytest.mark.parametrize(
    ("dictionary", "digest", "stored", "value"),
    [
        (
            "dictionary_1.txt",
            "96c658a3cb98f5c9",
            "01c3d540c3d2900237d300",
            {"kind": "shown", "path": "core.py", "lines": [1, 40]},
        ),
        ("dictionary_2.txt", "be9afb96aacfac8d", "0323f6fe2900", {"path": "survey/links.py", "limit": 60000}),
    ],
)
def test_the_dictionaries_stay_what_databases_depend_on(dictionary: str, digest: str, stored: str, value: Any) -> None:
    content = (Path(texts.__file__).parent / dictionary).read_bytes()
    assert sha256(content).hexdigest().startswith(digest), "another dictionary is another codec"
    assert unfold(Folded(bytes.fromhex(stored)), dict, {}) == value
