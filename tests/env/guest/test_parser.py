"""The process that parses files in a sandbox."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from stackrank.env.sandbox.guest.core.parser import Parser
from stackrank.env.sandbox.guest.core.processes import KEPT


@pytest.fixture
def parser() -> Iterator[Parser]:
    """A parser whose process ends with the test."""
    kept = set(KEPT)
    yield Parser()
    for pid in KEPT - kept:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        KEPT.discard(pid)


def test_a_file_that_kills_the_parser_leaves_it_usable(parser: Parser, tmp_path: Path) -> None:
    """Signs without end are too much for Python's parser, whatever it does then."""
    deep, broken, fine = (tmp_path / name for name in ("deep.py", "broken.py", "fine.py"))
    deep.write_text("x = " + "-" * 1_000_000 + "1\n")
    broken.write_bytes(b"x = 'caf\xc3\xa9'\nif x\n")
    fine.write_bytes(b"x = 1\n")

    assert parser.syntax_error(str(fine)) is None
    assert parser.syntax_error(str(deep))
    assert parser.syntax_error(str(broken)) == "SyntaxError: expected ':' (line 2)"
    assert parser.syntax_error(str(fine)) is None


def test_ending_the_process_costs_no_answer(parser: Parser, tmp_path: Path) -> None:
    """A program of the sandbox may end it, and a later file would be called broken."""
    kept = set(KEPT)
    file = tmp_path / "fine.py"
    file.write_bytes(b"x = 1\n")
    assert parser.syntax_error(str(file)) is None
    (pid,) = KEPT - kept
    os.kill(pid, signal.SIGKILL)

    assert parser.syntax_error(str(file)) is None
    assert KEPT - kept - {pid}


def test_warnings_about_a_file_go_nowhere(tmp_path: Path) -> None:
    """Nobody reads standard error while a file is parsed, and writing more than it takes would never end."""
    odd = tmp_path / "odd.py"
    odd.write_text("1 is 1\n" * 2000)
    script = f"from {Parser.__module__} import Parser; print(Parser().syntax_error({str(odd)!r}))"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert (ended.stdout, ended.stderr) == (b"None\n", b"")
