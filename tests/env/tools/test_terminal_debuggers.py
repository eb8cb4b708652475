"""Debuggers of other languages in the terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from stackrank.env.sandbox.base import Backend, SandboxError, SandboxSpec
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.task import Limits
from tests.env.tools.test_terminal import Say, opened
from tests.fixtures.env import source
from tests.support.waiting import missing

pytestmark = pytest.mark.slow

DEBUGGERS_IMAGE = "stackrank-debuggers:bookworm"
"""What `deploy/setup/setup.sh test` makes: an image of one's own, as a task would name it."""
C = """
    #include <stdio.h>

    static int total(int count) {
        int result = 0;
        for (int i = 0; i < count; i++)
            result += i;
        return result;
    }

    int main(void) {
        int count;
        printf("how many? ");
        if (scanf("%d", &count) != 1)
            return 2;
        printf("total %d\\n", total(count));
        return 0;
    }
"""
JAVASCRIPT = """
    function total(prices) {
      let result = 0;
      for (const price of prices) {
        result += price;
      }
      return result - 1;
    }
    console.log("total", total([1, 2, 3]));
"""


@pytest.fixture
def say(sandbox_backend: Backend) -> Iterator[Say]:
    """A terminal in a sandbox that has gcc, gdb and node."""
    image = DEBUGGERS_IMAGE if sandbox_backend.name == "docker" else None
    try:
        sandbox = Sandbox(sandbox_backend, SandboxSpec(image=image, limits=Limits(timeout_s=120)))
    except SandboxError as error:
        missing(f"{error} (`deploy/setup/setup.sh test` makes {image})")
    with sandbox:
        say = opened(sandbox)
        if "found" not in say("command -v gcc gdb node > /dev/null && echo found | tr a-z a-z").text.split("\n"):
            missing("gcc, gdb or nodejs is not installed: run deploy/setup/setup.sh test")
        sandbox.put({"total.c": source(C), "total.js": source(JAVASCRIPT)})
        yield say


def test_c_program_that_reads_input_is_debugged_with_gdb(say: Say) -> None:
    assert say("gcc -g -O0 -o total total.c", wait="prompt", timeout_s=100).text.endswith("total.c\n$")
    assert say("gdb -q total", timeout_s=100).text.endswith("(gdb)\n[gdb waits for input]")
    assert "Breakpoint 1 at" in say("break total").text
    assert say("run", pattern="how many", timeout_s=100).text.endswith("how many?\n[total waits for input]")
    assert "Breakpoint 1, total (count=4) at total.c:4" in say("4").text
    stepped = say("next\nnext\nnext\nprint result")
    assert stepped.text.endswith("(gdb) print result\n$1 = 0\n(gdb)\n[gdb waits for input]")
    assert "#1 " in say("backtrace").text and "Value returned is $2 = 6" in say("finish").text
    assert re.search(r"total 6\n\[Inferior 1 \(process \d+\) exited normally\]", say("continue").text)
    assert say("quit").text.endswith("$")


def test_script_is_debugged_with_node_inspect(say: Say) -> None:
    # Node may ask before the program has come to its first line, and then puts what it prints in the question's place.
    started = say("node inspect total.js", pattern="^Break on start", timeout_s=100)
    assert "Break on start in total.js:8" in started.text and started.text.endswith("debug>\n[node waits for input]")
    assert "> 6   return result - 1;" in say("setBreakpoint(6)", pattern="^> 6").text
    assert "break in total.js:6" in say("cont", pattern="^break in").text
    assert "6\n" in say("exec('result')", pattern="^6").text
    assert say(".exit", wait="prompt").text.endswith("$")
