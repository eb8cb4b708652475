"""Recognises debuggers in what a shell or a terminal shows, and reports what they saw as events.

These debuggers are programs that the agent runs by itself, and their wording is all that is known of them. It is read
here and nowhere else: pdb and its relatives, gdb, lldb, Node's debugger and delve.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Literal

from stackrank.debug_events import DebugEvent, relative_path

_PATH = r"(?P<file>[\w./~@+-]*\w\.\w+)"
_NAME = r"(?P<function>[\w:<>.~$*&()]+?)"
_SET = (
    rf"Breakpoint \d+ at {_PATH}:(?P<line>\d+)$",  # pdb
    rf"(?:Temporary b|Hardware assisted b|B)reakpoint \d+ at 0x[0-9a-f]+: file {_PATH}, line (?P<line>\d+)\.$",  # gdb
    rf"Breakpoint \d+: where = .+ at {_PATH}:(?P<line>\d+)",  # lldb
    rf"Breakpoint \d+ set at 0x[0-9a-f]+ for {_NAME}\(\) {_PATH}:(?P<line>\d+)$",  # delve
)
_FRAME = rf"(?:#\d+ +)?(?:0x[0-9a-f]+ in )?{_NAME} \(.*\) at {_PATH}:(?P<line>\d+)$"
_STOPPED = (
    rf"> {_PATH}\((?P<line>\d+)\){_NAME}\(\)",  # pdb
    rf"(?:.*\b[Bb]reakpoint \d+, )?{_FRAME}",  # gdb
    rf"(?:\* )?frame #\d+: 0x[0-9a-f]+ \S+?`{_NAME}(?:\(.*\))?(?: \+ \d+)? at {_PATH}:(?P<line>\d+)",  # of lldb
    rf"(?:Break on start|[Bb]reak|exception) in {_PATH}:(?P<line>\d+)$",  # Node
    rf"> (?:\[.+\] )?{_NAME}\(\) {_PATH}:(?P<line>\d+) \(hits ",  # delve
)
_SIGNAL = re.compile(
    r"(?:Program|Thread \d+ .*) received signal SIG(?:SEGV|ABRT|FPE|BUS|ILL|SYS)\b|.*stop reason = signal SIG"
)
_PROMPT = re.compile(r"(?:(?:\((?:gdb|[Pp]db|Pdb\+\+|lldb|dlv)\)|debug>|ipdb>)[ \t]*)+")
_PATTERNS: tuple[tuple[Literal["watched", "paused"], re.Pattern[str]], ...] = (
    *(("watched", re.compile(pattern)) for pattern in _SET),
    *(("paused", re.compile(pattern)) for pattern in _STOPPED),
)
_MOST, _LONGEST = 500, 1000
"""The most events, and characters of a line that is read."""


def read_debuggers(text: str, files: Collection[str], root: str) -> list[DebugEvent]:
    """Return what debuggers in this text saw of the program. `files`: those of the workspace, which is at `root`."""
    return [*_read(text, files, root)][-_MOST:]


def _read(text: str, files: Collection[str], root: str) -> Iterator[DebugEvent]:
    died = False
    for line in text.split("\n"):
        line = _PROMPT.sub("", line[:_LONGEST].strip())
        died = died or bool(_SIGNAL.match(line))
        for kind, pattern in _PATTERNS:
            if (match := pattern.match(line)) and (file := _resolve(match["file"], files, root)):
                event = DebugEvent(event=kind, file=file, line=int(match["line"][:9]))
                if function := match.groupdict().get("function"):
                    event["function"] = function
                if died and kind == "paused":
                    event["event"], died = "failed", False
                yield event
                break


def _resolve(path: str, files: Collection[str], root: str) -> str:
    """Return the file of the workspace that a debugger names, often without its folder; empty if there is none."""
    path = relative_path(path, root)
    if path in files:
        return path
    matching = [file for file in files if file.endswith("/" + path)]
    return matching[0] if len(matching) == 1 else ""
