"""Whatever a guest answers, the host raises one kind of error, and gives it no memory first."""

from __future__ import annotations

import contextlib
import io
import json
import random
import struct
import tarfile
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from stackrank.env.sandbox.base import BadReply
from stackrank.env.sandbox.guest.core import framing
from stackrank.env.sandbox.replies import programs, workspace
from stackrank.env.sandbox.replies.archive import read_archive
from stackrank.env.sandbox.replies.debugger import Debugged
from stackrank.env.sandbox.replies.decoder import decode, plain_path
from stackrank.env.sandbox.replies.frames import BODY_LIMIT, Reply, read_frame
from stackrank.env.scoring.report import parse

ROUNDS = 25_000
SHAPES = (workspace.Hello, workspace.Edited, workspace.Listing, programs.Evaluated, programs.Exchanged, programs.Typed)
PAUSED = {
    "event": "line", "file": "a.py", "line": 3, "function": "f", "depth": 1, "thread": None, "exception": None,
    "locals": {"x": "1"}, "source": ["   3 -> x"], "stack": [],
}  # fmt: skip
DEBUGGED = {
    "id": 1, "ok": True, "text": "", "program": "", "dropped": 0, "notes": [], "alive": True, "timed_out": False,
    "restarted": False, "moved": True, "breakpoints_changed": False, "changed_files": [], "breakpoints": [],
    "points": [], "stood": [{"file": "a.py", "line": 3, "function": "f"}], "standing": PAUSED,
}  # fmt: skip
KEY = b"k" * 32


def junk(chance: random.Random, depth: int = 0) -> Any:
    """A value of any kind, nested or not."""
    kinds: list[Callable[[], Any]] = [
        lambda: None,
        lambda: chance.random() < 0.5,
        lambda: chance.choice([0, -1, 10**30, 2**63]),
        lambda: chance.choice([1.5, float("nan"), float("inf")]),
        lambda: chance.choice(["", "a/../b", "\0", "\ud800", "x" * 50, "../../etc/passwd"]),
    ]
    if depth < 3:
        kinds += [
            lambda: [junk(chance, depth + 1) for _ in range(chance.randrange(4))],
            lambda: {chance.choice(["id", "ok", "path", "state", "exit"]): junk(chance, depth + 1)},
        ]
    return chance.choice(kinds)()


def mutated(value: Any, chance: random.Random) -> Any:
    """`value` with something in it replaced or gone."""
    if isinstance(value, dict) and value and chance.random() < 0.9:
        key = chance.choice(sorted(value))
        changed = {name: value for name, value in value.items() if name != key or chance.random() < 0.8}
        return {**changed, **({key: mutated(value[key], chance)} if key in changed else {})}
    return junk(chance)


def reader(data: bytes) -> Callable[[int], bytes]:
    stream = io.BytesIO(data)

    def read_exactly(size: int) -> bytes:
        assert size <= BODY_LIMIT
        chunk = stream.read(size)
        if len(chunk) < size:
            raise BadReply("the channel closed")
        return chunk

    return read_exactly


def test_answers_of_any_shape() -> None:
    sound = decode(Debugged, json.dumps(DEBUGGED).encode())
    assert sound.standing.event == "line" and sound.standing.locals == {"x": "1"}
    chance = random.Random(1)
    refused = 0
    for _ in range(ROUNDS):
        data = json.dumps(mutated(DEBUGGED, chance)).encode()
        for shape in (chance.choice(SHAPES), Debugged):
            try:
                decode(shape, data)
            except BadReply:
                refused += 1
    assert refused > ROUNDS / 2


@pytest.mark.parametrize("field", sorted(DEBUGGED))
def test_every_field_is_required(field: str) -> None:
    with pytest.raises(BadReply, match=field):
        decode(Debugged, json.dumps({name: value for name, value in DEBUGGED.items() if name != field}).encode())


@pytest.mark.parametrize("field", sorted(set(PAUSED)))
def test_every_field_of_a_stop_is_required(field: str) -> None:
    stop = {name: value for name, value in PAUSED.items() if name != field}
    with pytest.raises(BadReply, match="standing"):
        decode(Debugged, json.dumps({**DEBUGGED, "standing": stop}).encode())


@pytest.mark.parametrize(
    "stop",
    [{"event": "flying"}, {"line": -1}, {"line": 1 << 40}, {"line": 3.0}, {"line": True}, {"line": "3"},
     {"depth": None}, {"locals": {"x": 1}}, {"locals": {str(n): "" for n in range(3000)}}, {"locals": []},
     {"source": ["x"] * 3000},
     {"stack": [{"file": "a.py"}]}, {"function": ["f"]}, {"file": "a" * 200_000}],
    ids=str,
)  # fmt: skip
def test_stops_out_of_bounds(stop: dict[str, Any]) -> None:
    with pytest.raises(BadReply, match="standing"):
        decode(Debugged, json.dumps({**DEBUGGED, "standing": {**PAUSED, **stop}}).encode())


def test_texts_can_be_stored_and_emoji_stay() -> None:
    stop = {**PAUSED, "exception": "a\0b \ud83d \ud83d\ude00", "locals": {"\ude00": "\0"}}
    standing = decode(Debugged, json.dumps({**DEBUGGED, "standing": stop}).encode()).standing
    assert standing.exception == "a\u2400b \ufffd \U0001f600" and standing.locals == {"\ufffd": "\u2400"}


def test_frames_of_any_bytes() -> None:
    chance = random.Random(2)
    sound = framing.pack({"id": 1, "ok": True}, b"body")
    for _ in range(ROUNDS):
        data = bytearray(sound)
        for _ in range(chance.randrange(1, 6)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        with contextlib.suppress(BadReply):
            read_frame(Reply, 1, reader(bytes(data)))


def test_an_answer_to_another_request() -> None:
    with pytest.raises(BadReply, match="another request"):
        read_frame(Reply, 2, reader(framing.pack({"id": 1, "ok": True})))


@pytest.mark.parametrize("lengths", [(0xFFFFFFFF, 0), (2, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF)])
def test_a_frame_that_claims_gigabytes_costs_nothing(lengths: tuple[int, int]) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(BadReply, match="too large"):
            read_frame(Reply, 1, reader(struct.pack("!II", *lengths) + b"{}"))
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_json_as_deep_as_it_likes() -> None:
    header = b'{"id":1,"ok":' + b"[" * 200_000 + b"]" * 200_000 + b"}"
    with pytest.raises(BadReply):
        read_frame(Reply, 1, reader(struct.pack("!II", len(header), 0) + header))


def packed(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for info, content in members:
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def entry(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info, b"" if kind != tarfile.REGTYPE else b"x"


@pytest.mark.parametrize(
    "member",
    [
        entry("zz/../tests/test_x.py"),
        entry("/etc/passwd"),
        entry("../out"),
        entry("a//b"),
        entry("./a"),
        entry("."),
        entry("link", tarfile.SYMTYPE, "link"),
        entry("link", tarfile.LNKTYPE, "link"),
        entry("pipe", tarfile.FIFOTYPE),
        entry("device", tarfile.CHRTYPE),
        entry("folder", tarfile.DIRTYPE),
    ],
    ids=lambda member: f"{member[0].name}-{member[0].type!r}",
)
def test_an_archive_holds_plain_files_below_the_workspace(member: tuple[tarfile.TarInfo, bytes]) -> None:
    with pytest.raises(BadReply):
        read_archive(packed(member))


def test_an_archive_that_claims_more_than_it_holds() -> None:
    info = tarfile.TarInfo("sparse")
    info.size = 4 << 30
    header = info.tobuf(tarfile.GNU_FORMAT)
    tracemalloc.start()
    try:
        with pytest.raises(BadReply):
            read_archive(header + b"\0" * 10_240)
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()


def test_a_member_of_negative_size_is_not_read_for_ever() -> None:
    info = tarfile.TarInfo("a")
    info.size = -1024
    with pytest.raises(BadReply):
        read_archive(info.tobuf(tarfile.GNU_FORMAT) + b"\0" * 10_240)


def test_archives_of_any_bytes() -> None:
    chance = random.Random(3)
    sound = packed(entry("a.py"), entry("b/c.py"))
    for _ in range(ROUNDS):
        data = bytearray(sound[: chance.choice([512, 1024, 2048, len(sound)])])
        for _ in range(chance.randrange(1, 12)):
            data[chance.randrange(min(len(data), 1600))] = chance.randrange(256)
        with contextlib.suppress(BadReply):
            assert all(plain_path(path) == path for path in read_archive(bytes(data))[0])


def test_reports_of_any_text() -> None:
    """A report is text that the code under test can write to: whatever is in it, reading it is no error."""
    chance = random.Random(4)
    for _ in range(ROUNDS):
        line = json.dumps(mutated({"seq": 0, "collected": ["t"], "test": "t", "outcome": "passed"}, chance))
        mark = chance.choice(["", "é", "0" * 64, "\ufffd"])
        parse(f"{mark} {line}\n" + chance.choice(["", "\n", "[" * 50]), KEY)


def test_signed_reports_of_any_shape() -> None:
    """Who has taken the key signs what he likes."""
    import hashlib
    import hmac

    chance = random.Random(5)
    record = {"seq": 0, "test": "t", "outcome": "passed", "reported": "passed", "when": "call", "canary": False,
              "xfail": False, "message": "", "assertion": True, "lines": [3], "answers": ["3 = 7"]}  # fmt: skip
    for number in range(ROUNDS):
        record["outcome"] = ("passed", "failed")[number % 2]
        text = json.dumps(mutated(record, chance))
        mark = hmac.new(KEY, text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()
        with contextlib.suppress(UnicodeEncodeError):
            parse(f"{mark} {text}\n", KEY)
