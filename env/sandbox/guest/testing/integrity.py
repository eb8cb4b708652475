"""Looks for signs that the code under test interferes with what judges it; `env.scoring.verdict` explains each."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import sys
import types
from typing import Any, Dict, Iterable, Set, Tuple

from ..core.disk import real_file
from ..core.messages import message

EVENT = "stackrank.report"
_LOOKS_INTO_MEMORY = {"gc.get_objects", "gc.get_referrers", "gc.get_referents", "sys._current_frames"}


def is_code_of(files: Set[str], frame: types.FrameType) -> bool:
    """Whether a frame runs code of one of these files, given by their paths without links."""
    name = frame.f_code.co_filename
    return name in files or real_file(name) in files


def install(fd: int, key: bytes, suspects: Iterable[str], bottom: types.FrameType) -> None:
    """Write each record that is audited as EVENT to `fd`, with a keyed hash and a running number.

    The key is held by an audit hook, which Python code can neither list nor remove. If there are `suspects`, a
    record counts as forged when a frame of one of these files is on its stack, or when the stack does not begin at
    `bottom`.
    """
    write, mac, dumps, sha256 = os.write, hmac.new, json.dumps, hashlib.sha256
    getframe, doubtful = sys._getframe, {os.path.realpath(path) for path in suspects}
    state = {"sequence": 0, "busy": False}

    def emit(record: Dict[str, Any]) -> None:
        record = dict(record, seq=state["sequence"])
        state["sequence"] += 1
        text = dumps(record)
        data = memoryview(("%s %s\n" % (mac(key, text.encode(), sha256).hexdigest(), text)).encode())
        while data:
            data = data[write(fd, data) :]

    def suspicious(frame: Any) -> bool:
        while doubtful and frame is not None:
            if is_code_of(doubtful, frame):
                return True
            if frame is bottom:
                return False
            frame = frame.f_back
        return bool(doubtful)  # another thread, or a stack that began elsewhere

    def doubt(event: str, arguments: Tuple[Any, ...]) -> str:
        """Return what it means if suspects do this; empty if anyone may do it."""
        if event in _LOOKS_INTO_MEMORY:
            return message("the code under test searched the memory of the test process (%s)" % event)
        if event == "open" and isinstance(arguments[0], str) and arguments[0].endswith("/mem"):
            return message("the code under test opened the memory of a process")
        return ""

    def hook(event: str, arguments: Tuple[Any, ...]) -> None:
        if state["busy"]:
            return
        state["busy"] = True
        try:
            if event == EVENT:
                frame = getframe(1)
                (record,) = arguments
                if suspicious(frame) or (doubtful and "finished" in record and frame is not bottom):
                    emit({"suspicion": message("the code under test called the reporter")})
                else:
                    emit(record)
            else:
                suspicion = doubt(event, arguments)
                if suspicion and suspicious(getframe(1)):
                    emit({"suspicion": suspicion})
        finally:
            state["busy"] = False

    sys.addaudithook(hook)
