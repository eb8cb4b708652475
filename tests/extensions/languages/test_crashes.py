"""Core dumps and reports of sanitizers: the tool `debug` shows them as paused programs."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stackrank.extensions.languages.debugging.tool import Debug, DebugArguments
from tests.extensions.languages.test_debug import Played, opened

PROGRAM = """\
#include <csignal>
#include <cstdio>

int read(int *list, int at) {
    int far = at + 2147483640;
    return far * 2 + (list[at] & 1);
}

int main(int argc, char **) {
    int *list = new int[3]{1, 2, 3};
    int sum = read(list, argc + 9);
    printf("sum %d\\n", sum);
    raise(SIGSEGV);
}
"""


@pytest.fixture
def overflowing() -> Iterator[Played]:
    """A program in C++ that reads past the end of a list."""
    for played in opened("cpp"):
        played.bench.sandbox.put(files())
        yield played


def files() -> dict[str, bytes]:
    makefile = "all:\n\tmkdir -p /tmp/build\n"
    makefile += "".join(
        f"\ttest -e /tmp/build/{name} || g++ -g {flags} -o /tmp/build/{name} main.cpp\n"
        for name, flags in {"asan": "-fsanitize=address", "ubsan": "-fsanitize=undefined"}.items()
    )
    return {"main.cpp": PROGRAM.encode(), "Makefile": makefile.encode()}


@pytest.mark.exhaustive
def test_a_core_dump_opens_as_a_paused_program(overflowing: Played, tmp_path: Path) -> None:
    def debug(*commands: str, test: str | None = None) -> tuple[str, dict[str, Any]]:
        observation = Debug()(overflowing.bench, DebugArguments(command="\n".join(commands), test=test))
        return observation.text, dict(observation.state)

    # Programs in a sandbox dump no core of their own: it comes with the task.
    (tmp_path / "main.cpp").write_text(PROGRAM)
    for command in (
        ["g++", "-g", f"-ffile-prefix-map={tmp_path}=/workspace", "-o", "plain", "main.cpp"],
        ["gdb", "-q", "-batch", "-ex", "run", "-ex", "generate-core-file core", "./plain"],
    ):
        subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    overflowing.bench.sandbox.put(files() | {name: (tmp_path / name).read_bytes() for name in ("plain", "core")})
    # A file that is no dump is an argument, as always.
    text, state = debug("b main.cpp:5", "c", test="/tmp/build/asan main.cpp")
    assert state["event"] == "line" and state["locals"]["at"] == "11", text
    text, state = debug("c", "p sum", test="./plain core")
    assert state["event"] == "exception" and "SIGSEGV" in state["exception"], text
    assert state["file"] == "main.cpp" and state["function"] == "main" and state["locals"]["argc"] == "1"
    for command in ("c", "n", "inspect main.cpp:5"):
        text, state = debug(command)
        assert "a core dump cannot go on" in text and state["alive"]
    assert debug("p list[2]")[0].startswith("3") and "main" in debug("w")[0]
    assert not debug("q")[1]["alive"]
    overflowing.wait_until_ended()


@pytest.mark.exhaustive
def test_a_sanitizers_report_stops_where_it_was_reported(overflowing: Played) -> None:
    for name, line, report in (("asan", 6, "Heap buffer overflow"), ("ubsan", 5, "Signed integer overflow")):
        observation = Debug()(overflowing.bench, DebugArguments(command="c", test=f"/tmp/build/{name}"))
        state = dict(observation.state)
        assert (state["event"], state["file"], state["line"]) == ("exception", "main.cpp", line), observation.text
        assert report in state["exception"] and state["locals"]["at"] == "10"
        assert state["debug_events"][-1]["event"] == "raised"
    assert "AddressSanitizer" not in observation.text
    observation = Debug()(overflowing.bench, DebugArguments(command="c"))
    assert "runtime error: signed integer overflow" in observation.text
    assert observation.state["line"] == 6  # where the next report is
