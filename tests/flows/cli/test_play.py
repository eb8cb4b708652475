"""`stackrank play`: lines from a pipe, and keys on a real terminal."""

from __future__ import annotations

import io
import os
import re
import sys
import time
from pathlib import Path

import pexpect
import pytest

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.writes.store import Store
from tests.fixtures.calls import CommandLine
from tests.fixtures.env import usable
from tests.support.waiting import wait_for

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
PLAY = ("play", "bugs/vat-table", "--sandbox", "bubblewrap")


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usable("bubblewrap")
    monkeypatch.setenv("STACKRANK_OWNER", "ada")


def test_from_a_pipe(stackrank: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    typed = "# Where?\nlistdir\npdb p 6 * 7\nrewrite new.py\nx = 1\n.\nview new.py\neval\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    result = stackrank(*PLAY, "--tools", "debug")
    assert result.status == 0
    assert "unresolved after 5 steps (agent_gave_up)" in result.out
    assert "does not pass: tests/" in result.out and "stackrank trace 1" in result.out
    (run,) = stackrank("runs", "--json").json()
    assert (run["name"], run["status"], run["tags"]) == ("play-vat-table", "finished", ["play"])
    episode = stackrank("trace", "1", "--json").json()
    assert (episode["entrant"], episode["stop_reason"]) == ("human/ada (debug)", "agent_gave_up")
    assert [step["tool"] for step in episode["steps"]] == ["", "listdir", "pdb", "rewrite", "view", "eval"]
    assert episode["steps"][1]["thought"] == "Where?"
    assert "42" in episode["steps"][2]["observation"]
    assert "+x = 1" in episode["diff"]
    assert stackrank("replay", "1").status == 0


def test_a_person_goes_back_and_tries_something_else(stackrank: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    typed = "rewrite new.py\nx = 1\n.\nlistdir\nbranch 0\nview new.py\nbranch 2\nview new.py\nsubmit\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    result = stackrank(*PLAY)
    assert result.status == 0 and "unresolved after 7 steps (submitted)" in result.out
    episode = stackrank("trace", "1", "--json").json()
    assert episode["entrant"] == "human/ada (bash-debug-branch)"
    assert [step["ok"] for step in episode["steps"]] == [True] * 4 + [False] + [True] * 3
    assert [step["parent"] for step in episode["steps"]] == [None, 0, 1, 0, 3, 2, 5, 6]
    assert "+x = 1" in episode["diff"]
    assert len(stackrank("episodes", "--json").json()) == 1, "a branch is no attempt"
    assert stackrank("replay", "1").status == 0


def test_a_task_of_ones_own_is_tried_before_it_is_played(
    stackrank: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Nobody debugs for an hour what passes in the form in which it is judged."""
    folder = tmp_path / "bugs"
    (folder / "code").mkdir(parents=True)
    (folder / "code" / "test_a.py").write_text("def test_a():\n    assert 1 + 1 == 2\n")
    task = "{id: nothing, source: {path: code}, test: python -m pytest -q test_a.py, statement: Odd.}"
    (folder / "tasks.yaml").write_text(f"schema: 1\nname: own\ntasks:\n  - {task}\n")
    own = ("play", "nothing", "--benchmark", "repo", "--path", str(folder), "--sandbox", "bubblewrap")
    for _ in range(2):  # the second time it is known
        result = stackrank(*own)
        assert result.status == 2 and "its tests pass as given, so there is nothing to fix" in result.sentence()
    assert stackrank("runs", "--json").json() == []
    monkeypatch.setattr("sys.stdin", io.StringIO("submit\n"))
    assert stackrank(*own, "--include-invalid").status == 0


def test_on_the_statement_alone(stackrank: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("listdir\nsubmit\n"))
    result = stackrank(*PLAY, "--statement-alone")
    assert result.status == 0 and "unresolved after 2 steps (submitted)" in result.out
    first, listed, _ = stackrank("trace", "1", "--json").json()["steps"]
    assert "There is no failing test that shows it" in first["observation"]
    assert "test_" not in listed["observation"]


def test_interrupted(stackrank: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", interrupt)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    result = stackrank(*PLAY)
    assert result.status == 130 and "interrupted" in result.err
    assert [run["status"] for run in stackrank("runs", "--json").json()] == ["cancelled"]
    (row,) = stackrank("episodes", "--json").json()
    assert (row["verdict"], row["stop_reason"]) == ("error", "cancelled")
    result = stackrank("resume")  # it would ask in a thread, in between the lines of a run
    assert result.status == 2 and "`stackrank play vat-table`" in result.sentence()


def test_cancelled_from_elsewhere(stackrank: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STACKRANK_SILENT_S", "0.5")

    def think(*_: object) -> str:
        if (run := queries.run(connect(), "latest"))["status"] == "running":
            began = run["started_at"]
            wait_for(lambda: queries.run(connect(), "latest")["heartbeat_at"] > began, "a sign of life that others see")
            Store(connect()).cancel_run(run["id"], "cancelled by eve")
        time.sleep(0.5)
        return "listdir"

    monkeypatch.setattr("builtins.input", think)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    result = stackrank(*PLAY, "--tools", "debug")
    assert result.status == 130 and "cancelled: episode 1 is not counted" in result.err
    (row,) = stackrank("episodes", "--json").json()
    assert (row["verdict"], row["stop_reason"]) == ("error", "cancelled")


def test_on_a_terminal(database: str, tmp_path: Path) -> None:
    """Completion, history, Ctrl-C and Ctrl-D, in a home of its own."""
    # What a sandbox runs stays where this machine has it: only the history moves.
    command = [sys.executable, "-m", "stackrank.flows.cli.main", *PLAY]
    environment = {**os.environ, "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"}
    terminal = pexpect.spawn(command[0], command[1:], cwd=str(ROOT), env=environment, encoding="utf-8", timeout=600)
    terminal.setwinsize(50, 160)
    log = io.StringIO()
    terminal.logfile_read = log
    terminal.expect(r"\[step 1\] >")
    terminal.send("listd\t")
    terminal.expect("ir")  # what completion adds
    terminal.send("\r")
    terminal.expect(r"\[step 2\] >")
    terminal.send("view vat/inv\t")
    terminal.expect(r"oice\.py")
    terminal.send(" 1 3\r")
    terminal.expect("lines 1 to 3 of")
    terminal.expect(r"\[step 3\] >")
    terminal.send("no such thing\x03")
    terminal.expect("to give up")
    terminal.send("\x1b[A\r")  # the line before, once more
    terminal.expect("lines 1 to 3 of")
    terminal.expect(r"\[step 4\] >")
    terminal.send("rewrite new.py\r")
    terminal.expect(r" \|")
    terminal.send("x = 1\r.\r")
    terminal.expect("Created new.py")
    terminal.expect(r"\[step 5\] >")
    terminal.send("\x04")
    terminal.expect("unresolved after 4 steps")
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 0
    assert "Traceback" not in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", log.getvalue())
