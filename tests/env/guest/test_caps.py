"""What one action makes the debugger keep and report is bounded, so that the host accepts every report."""

from __future__ import annotations

import pytest

from stackrank.env.sandbox.replies.debugger import Debugged
from tests.fixtures.env import Play, make_task

PROGRAM = "".join(f"x = {number}\n" for number in range(520))
SAY = """\
import sys
frame = sys._getframe()
while not hasattr(frame.f_locals.get("self"), "say"): frame = frame.f_back

for number in range(300): frame.f_locals["self"].say("%d %s" % (number, "z" * 5000))
"""
"""Code of the program that makes the debugger say more than it ever does by itself."""


class Session:
    """A program of many lines that stands in its first one."""

    def __init__(self, play: Play) -> None:
        self._sandbox = play(make_task({"prog.py": PROGRAM, "tests/test_a.py": "def test(): pass\n"})).env.sandbox
        self("n")

    def __call__(self, *commands: str) -> Debugged:
        return self._sandbox.debug("\n".join(commands), "python prog.py", 30)


@pytest.fixture
def session(play: Play) -> Session:
    return Session(play)


def test_breakpoints_whatever_sets_them(session: Session) -> None:
    made = session("import bdb, json", "made = [bdb.Breakpoint('/usr/none.py', line) for line in range(1, 1001)]")
    assert len(made.breakpoints) == 1000 and len(made.points) == 500
    for command in ("b prog.py:9", "tbreak prog.py:9", "b json.loads"):
        refused = session(command)
        assert "there are 1000 breakpoints, the most that there may be" in refused.text, command
        assert len(refused.breakpoints) == 1000
    assert "Breakpoint 1001 at" in session("cl 7", "b json.loads").text


def test_commands_of_a_breakpoint(session: Session) -> None:
    reply = session("b prog.py:9", "commands", *(["p x"] * 1001), "end")
    assert "a breakpoint has at most 1000 commands" in reply.text and len(reply.breakpoints[0].commands) == 1000


def test_what_is_said_and_where_the_program_stood(session: Session) -> None:
    reply = session(*(["n"] * 510), *(["p 'y' * 900"] * 300))
    assert len(reply.stood) == 500 and reply.stood[-1].line == 511
    assert len(reply.text) < 300 << 10 and "give fewer commands" in reply.text
    notes = session(SAY).notes
    assert len(notes) == 200 and all(len(note) < 4200 for note in notes), session(SAY).text
