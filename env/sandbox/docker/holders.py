"""Keeps the files of images in memory, so that no sandbox can leave a trace in them (see the guest's `holder`).

For each image there is one more container, which locks every file of it and does nothing else. It ends with this
process. Decision 20 has the other ways that were considered.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from stackrank.env.sandbox.base import Channel, SandboxError
from stackrank.env.sandbox.bootstrap import guest_code

MOST_MB = 2048
"""The largest image whose files are kept in memory."""
PROGRAM_MB = 256
"""Memory of a holder beside the files."""
_PATIENCE_S = 120.0
_LONGEST = 4096


class HolderChannel(Channel, Protocol):
    """The channel to a holder."""

    def hung_up(self) -> bool:
        """Whether the holder is gone. Only while it sends nothing."""
        ...


@dataclass(frozen=True)
class Held:
    """An image that was tried to be kept in memory."""

    channel: HolderChannel | None
    """The channel to the holder; None if there is none."""
    problem: str
    """Why the image is not in memory; empty if it is."""


class Holders:
    """The holders of this process. Thread-safe."""

    def __init__(self, start: Callable[[str], HolderChannel]) -> None:
        """`start` starts a container of an image in which the loader waits for the program `holder`."""
        self._start = start
        self._held: dict[str, Held] = {}
        self._locks: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    def hold(self, image: str) -> str:
        """Keep an image in memory. Returns why that is impossible, or an empty text."""
        with self._lock:
            lock = self._locks.setdefault(image, threading.Lock())
        with lock:
            held = self._held.get(image)
            if held is None or (held.channel is not None and held.channel.hung_up()):
                try:
                    held = self._held[image] = self._make(image)
                except SandboxError as error:  # the next sandbox tries again
                    return f"the image cannot be kept in memory ({error})"
            return held.problem

    def _make(self, image: str) -> Held:
        channel = self._start(image)
        try:
            channel.send(guest_code())
            channel.send(b"%d\n" % (MOST_MB << 20))
            answer, deadline = b"", time.monotonic() + _PATIENCE_S
            while not answer.endswith(b"\n"):
                answer += channel.receive(_LONGEST, deadline)
                if len(answer) > _LONGEST:
                    raise SandboxError(f"the holder {channel.name} says too much")
            problem = str(json.loads(answer)["problem"])
        except (ValueError, KeyError, TypeError) as error:
            channel.close()
            raise SandboxError(f"the holder {channel.name} sent an invalid answer ({error})") from None
        except SandboxError:
            channel.close()
            raise
        if problem:
            channel.close()
            return Held(None, f"the image cannot be kept in memory: {problem}")
        return Held(channel, "")
