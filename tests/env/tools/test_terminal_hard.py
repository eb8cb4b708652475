"""The terminal among programs that behave badly: it stays usable, or is started anew with a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from stackrank.env.actions import Observation
from stackrank.env.sandbox.base import Backend, SandboxSpec
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.task import Limits
from stackrank.env.tools.shown import MOST_SHOWN
from tests.env.tools.test_terminal import Say, opened

pytestmark = pytest.mark.slow

TIGHT = SandboxSpec(limits=Limits(timeout_s=60, memory_mb=200, pids=64, disk_mb=48, cpus=0.5))
WELL = "$ echo well\nwell\n$"


@pytest.fixture
def sandbox(sandbox_backend: Backend) -> Iterator[Sandbox]:
    with Sandbox(sandbox_backend, TIGHT) as opened:
        yield opened


@pytest.fixture
def say(sandbox: Sandbox) -> Say:
    return opened(sandbox)


def is_short(observation: Observation) -> bool:
    return len(observation.text) <= MOST_SHOWN


def test_flood_is_capped_and_ends_by_a_key(say: Say) -> None:
    flood = say("yes", timeout_s=1)
    assert (
        is_short(flood)
        and "are lost, whatever the limit ...]" in flood.text
        and "still running after 1 s" in flood.text
    )
    assert flood.text.startswith("$ yes\ny\n")
    stopped = say(key="ctrl-c", timeout_s=50)
    assert is_short(stopped) and stopped.text.endswith("$")
    searched = say("yes", pattern="^no", timeout_s=50)
    assert is_short(searched) and searched.state.get("event") == "flood"
    say(key="ctrl-c", timeout_s=50)
    # Behind the prompt too.
    assert say("yes &", timeout_s=50).state.get("event") == "prompt"
    assert say("kill %1; wait", timeout_s=50).text.endswith("$")
    assert say("clear; echo well").text.endswith("well\n$")


def test_binary_output_leaves_the_terminal_usable(say: Say) -> None:
    for code in (
        "random.Random(1).randbytes(60000)",
        "bytes(range(256)) * 9",
        "b'\\x1b]0;never' + b'\\x1bP' + b'\\x9d\\x0e\\x1b[3;4r'",
    ):
        assert is_short(say(f'python -c "import os, random; os.write(1, {code})"', timeout_s=50))
        # Whatever it looks like to the left of the prompt.
        assert say("echo well").text.endswith("$ echo well\nwell\n$")
    text = say("printf 'a\\000b\\001c\\177d\\302\\233e\\n'").text
    assert "\nabcde\n$" in text


@pytest.mark.exhaustive
def test_huge_line_and_many_lines(say: Say) -> None:
    line = say("""python -c 'print("x" * 3_000_000)'""", timeout_s=50)
    assert is_short(line) and re.search(r"2,9\d\d,\d{3} bytes are lost, whatever the limit ...\]", line.text)
    lines = say("""python -c 'print("\\n" * 300_000)'; echo last""", timeout_s=50)
    assert is_short(lines) and lines.text.endswith("last\n$")
    longer = say("seq 3000", limit=9000)
    assert 7000 < len(longer.text) <= 9000 and "a limit above 9000 shows more" in longer.text
    assert say("clear; echo well").text.endswith("well\n$")


def test_a_flood_that_has_ended_does_not_go_on(say: Say) -> None:
    stopped = say("python -c \"print('a' * (1 << 21)); print('needle')\"", pattern="^needle", timeout_s=50)
    assert stopped.text.endswith("needle\n$\n[the pattern was not in the first megabyte of the output]")
    asks = say("python -c \"print('a' * (1 << 21)); input('needle')\"", pattern="^needle", timeout_s=50)
    assert asks.text.endswith("[the pattern was not in the first megabyte of the output]\n[python waits for input]")


def test_fork_bomb_in_the_terminal(say: Say, sandbox: Sandbox) -> None:
    assert is_short(say("bomb() { bomb | bomb & }; bomb", timeout_s=2))
    # Another tool gets its process.
    assert sandbox.run("echo well", 60).output == "well\n"
    assert "well\n" in say("echo well", timeout_s=50).text


def test_processes_that_leave_none_to_others_end_the_terminal(say: Say, sandbox: Sandbox) -> None:
    hog = 'import os, time\\ntry:\\n  while os.fork(): pass\\nexcept OSError: print("full")\\ntime.sleep(500)'
    assert "\nfull" in say(f"python -uc $'{hog}'", pattern="^full", timeout_s=50).text
    assert sandbox.run("echo well", 60).output == "well\n"
    reason = "its programs had used up all processes of the sandbox"
    assert say("echo well", timeout_s=50).text == f"[a new terminal was opened, because {reason}]\n{WELL}"


@pytest.mark.exhaustive
def test_fork_bomb_is_ended_by_a_restart(say: Say, sandbox: Sandbox) -> None:
    code = "import os, signal\\n[signal.signal(n, signal.SIG_IGN) for n in (1, 2, 3, 15, 20)]\\n"
    code += "while True:\\n  try:\\n    os.fork() or os.setsid()\\n  except OSError: pass\\n"
    say(f"python -c $'{code}'", timeout_s=2)
    assert say("echo well", restart=True, timeout_s=50).text == WELL
    # A busy kernel reaps late.
    gone = say("while grep -qs 'os[.]fork' /proc/[0-9]*/cmdline; do sleep 0.1; done; echo gone", timeout_s=50)
    assert gone.text.endswith("\ngone\n$")


@pytest.mark.exhaustive
def test_memory_bomb_in_the_terminal(say: Say) -> None:
    stopped = say(
        """python -c 'data = [bytearray(b"x" * (16 << 20)) for _ in range(1000)]'""", wait="prompt", timeout_s=50
    )
    assert "Killed" in stopped.text or "MemoryError" in stopped.text or "the shell ended (killed" in stopped.text
    assert say("echo well", timeout_s=50).text.endswith(WELL)


def test_program_that_ignores_everything_ends_by_a_restart(say: Say) -> None:
    say("trap '' INT QUIT TSTP HUP TERM; echo deaf; while true; do :; done", pattern="^deaf$", timeout_s=50)
    assert "still running" in say(key="ctrl-c", timeout_s=0.2).text
    assert say("echo well", restart=True, timeout_s=50).text == WELL


def test_terminal_that_is_stopped_or_closed_by_its_programs(say: Say) -> None:
    assert say("stty raw -echo; echo well").text.split()[-2:] == ["well", "$"]
    assert "\nhere\n" in say("stty sane\necho here").text
    assert "still running" in say("sleep 100", key="enter ctrl-s", timeout_s=0.2).text
    assert say(key="ctrl-q ctrl-c", timeout_s=50).text.endswith("$")
    assert say("exec 0<&- 1>&- 2>&-", timeout_s=50).state.get("event") in ("ended", "time")
    assert say("echo well", restart=True).text.endswith(WELL)


def test_ptrace_is_for_programs_in_the_terminal_only(say: Say, sandbox: Sandbox) -> None:
    attach = "import ctypes, os; print(ctypes.CDLL(None, use_errno=True).ptrace({}), ctypes.get_errno())"
    assert say(f'python -c "{attach.format("0, 0, 0, 0")}"', timeout_s=50).text.endswith("\n0 0\n$")
    # PTRACE_ATTACH to the guest, which is process 1.
    assert "\n-1 1\n" in say(f'python -c "{attach.format("16, 1, 0, 0")}"', timeout_s=50).text
    assert sandbox.run(f'python -c "{attach.format("0, 0, 0, 0")}"', 30).output == "-1 1\n"
