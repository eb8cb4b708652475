"""Changes a reply of a guest, as somebody might who has taken the guest over: its fields, and its bytes."""

from __future__ import annotations

import copy
import json
import random
import struct
from collections.abc import Callable, Iterator
from typing import Any

from stackrank.env.sandbox.guest.core import framing
from tests.support.guests.recorded_guest import Answer, Change

Edit = Callable[[Any, str | int], None]
"""Changes one item of a list or an object."""
_NESTED = '{"a":' * 3000 + "1" + "}" * 3000
_MARK = "the-mark"
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**53 + 1, 2**63, 2**64, -(2**70), 10**400, 0.5, -0.0, 1e308, float("nan"),
    float("inf"), float("-inf"), "", "0", "\0", "a\0b", "\ud800", "\udfff x", "\x1b[31m", "\u202e", "x" * 5000,
    "x" * 200_000, "../../etc/passwd", "/etc/passwd", "a/../b", ".", "a//b", "passed", "failed", "finished", "died",
    "start", "line", "refused", [], {}, [[]], [None], {"": None}, {"kind": "end"}, [1] * 3000, ["x"] * 3000,
    {"x": {"x": []}}, {str(number): number for number in range(3000)},
)  # fmt: skip

PIECES = ("\0", "\ud83d", "/../", "\n", "\x1b]0;x\7", "\u2028", "'", "{}")


def lie(answer: Answer, chance: random.Random) -> tuple[str, Change]:
    """Return a random change of an answer, and its description."""
    kinds: list[Callable[[Answer, random.Random], tuple[str, Change]]] = [_fields] * 12
    kinds += [_bytes, _frames, _frames]
    if _lines(answer):
        kinds += [_inner] * 12
    return chance.choice(kinds)(answer, chance)


# ---- field by field


def _places(value: Any) -> Iterator[tuple[Any, str | int]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield value, key
        yield from _places(item)


def _edit(tree: Any, chance: random.Random) -> str:
    """Change something in a tree of JSON, in place."""
    places = list(_places(tree))
    if not places:
        return "nothing"
    holder, key = chance.choice(places)
    old = holder[key]
    kind = chance.randrange(9)
    if kind == 0:
        del holder[key]
        return f"without {key}"
    if kind == 1 and isinstance(holder, dict):
        holder[chance.choice(["x", "\0", "\ud800", "kind", "event", f"{key} "])] = holder.pop(key)
        return f"{key} renamed"
    if kind == 2 and isinstance(old, list):
        chance.shuffle(old)
        old *= chance.choice([1, 2, 300])
        return f"{key} shuffled"
    if kind == 3 and isinstance(old, int | float):
        holder[key] = chance.choice([-old - 1, old + 1, old * 2**40, str(old), float(old), [old], old + 0.5])
        return f"{key} = {holder[key]!r:.60}"
    if kind == 4 and isinstance(old, str):
        at = chance.randrange(len(old) + 1)
        holder[key] = (
            old[:at] + chance.choice(["\0", "\ud83d", "/../", "\n", "\x1b]0;x\7", "\u2028", "'", "{}"]) + old[at:]
        )
        return f"{key} = {holder[key]!r:.60}"
    if kind == 5 and len(places) > 1:
        other, other_key = chance.choice(places)
        holder[key] = copy.deepcopy(other[other_key])
        return f"{key} from {other_key}"
    if kind == 6:
        holder[key] = _MARK
        return f"{key} nested"
    holder[key] = chance.choice(VALUES)
    return f"{key} = {holder[key]!r:.60}"


def _dumped(tree: Any) -> bytes:
    return json.dumps(tree).replace(f'"{_MARK}"', _NESTED).encode()


def _framed(header: bytes, body: bytes) -> bytes:
    return struct.pack("!II", len(header), len(body)) + header + body


def _fields(answer: Answer, chance: random.Random) -> tuple[str, Change]:
    seed = chance.random()
    described = _edit(copy.deepcopy(answer.header), random.Random(seed))

    def change(answer: Answer) -> bytes:
        _edit(answer.header, random.Random(seed))
        return _framed(_dumped(answer.header), answer.body)

    return f"field {described}", change


# ---- what is inside: lines of JSON that programs write


def _lines(answer: Answer) -> list[bytes]:
    """The lines of JSON in an answer's body, or in its report."""
    if answer.op == "test":
        return [line.partition(" ")[2].encode() for line in str(answer.header.get("report") or "").splitlines()]
    if answer.op == "follow":
        return answer.body[: answer.header["records"]].splitlines()
    return answer.body.splitlines() if answer.op == "exchange" else []


def _inner(answer: Answer, chance: random.Random) -> tuple[str, Change]:
    number, seed = chance.randrange(len(_lines(answer))), chance.random()
    whole_line = chance.randrange(6)

    def edited(lines: list[bytes]) -> tuple[list[bytes], str]:
        dice = random.Random(seed)
        at = min(number, len(lines) - 1)
        if whole_line == 0:
            lines.insert(dice.randrange(len(lines) + 1), lines[at])
            return lines, "line doubled"
        if whole_line == 1:
            line = lines.pop(at)
            lines.insert(dice.randrange(len(lines) + 1), line if dice.random() < 0.5 else line[: len(line) // 2])
            return lines, "line moved"
        try:
            tree = [json.loads(lines[at])]
        except ValueError:
            return lines, "line is not JSON"
        described = _edit(tree, dice)
        lines[at] = _dumped(tree[0]) if tree else b""
        return lines, described

    described = edited(_lines(answer))[1]

    def change(answer: Answer) -> bytes:
        lines, _ = edited(_lines(answer))
        if answer.op == "test":
            answer.header["report"] = answer.resign([line.decode("utf-8", "replace") for line in lines])
            return answer.packed()
        content = b"".join(line + b"\n" for line in lines)
        if answer.op == "follow":
            answer.header["records"], rest = len(content), answer.body[answer.header["records"] :]
            content += rest
        return framing.pack(answer.header, content)

    return f"inside: {described}", change


# ---- bytes, and frames


def _bytes(answer: Answer, chance: random.Random) -> tuple[str, Change]:
    seed = chance.random()

    def change(answer: Answer) -> bytes:
        dice = random.Random(seed)
        data = bytearray(answer.packed())
        for _ in range(dice.randrange(1, 8)):
            data[dice.randrange(min(len(data), dice.choice([12, 200, len(data)])))] = dice.randrange(256)
        return bytes(data)

    return "bytes", change


def _frames(answer: Answer, chance: random.Random) -> tuple[str, Change]:
    huge = 0xFFFFFFFF
    ways: dict[str, Callable[[bytes], bytes]] = {
        "nothing": lambda data: b"",
        "cut off": lambda data: data[: len(data) * 2 // 3],
        "only lengths": lambda data: data[:8],
        "twice": lambda data: data + data,
        "a frame to nobody before it": lambda data: framing.pack({"ok": True, "id": 10**9}) + data,
        "a flood of frames": lambda data: data + framing.pack({"ok": True, "id": 0}, b"x" * 1000) * 1000,
        "a header of gigabytes": lambda data: struct.pack("!II", huge, 0) + data[8:],
        "a body of gigabytes": lambda data: data[:4] + struct.pack("!I", huge) + data[8:],
        "a negative length": lambda data: struct.pack("!ii", -1, -1) + data[8:],
        "lengths swapped": lambda data: data[4:8] + data[:4] + data[8:],
        "a shorter header": lambda data: struct.pack("!I", 1) + data[4:],
        "no frame": lambda data: b"Traceback (most recent call last):\n" * 30,
        "a refusal": lambda data: framing.pack({"ok": False, "id": 1, "problem": "refused", "text": "\0\ud800"}),
        "a bug": lambda data: framing.pack({"ok": False, "id": 1, "problem": "bug", "text": "KeyError"}),
        "a failure": lambda data: framing.pack({"ok": False, "id": 1, "problem": "failed", "text": "no"}),
        "an unknown problem": lambda data: framing.pack({"ok": False, "id": 1, "problem": "tired", "text": ""}),
        "a body that is not asked for": lambda data: data[:4] + struct.pack("!I", 100) + data[8:] + b"\0" * 100,
    }
    name = chance.choice(sorted(ways))

    def change(answer: Answer) -> bytes:
        data = ways[name](answer.packed())
        if b'"id":1,' in data:  # to this request
            size = struct.unpack("!I", data[:4])[0]
            return framing.pack({**json.loads(data[8 : 8 + size]), "id": answer.header["id"]})
        return data

    return name, change
