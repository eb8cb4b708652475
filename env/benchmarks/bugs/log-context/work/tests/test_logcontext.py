# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from logcontext import Context, Log
from logcontext.crew import Crew


def test_main_thread():
    context = Context()
    log = Log(context)
    with context.tagged(user="ann"):
        log.write("info", "hello")
        with context.tagged(user="bob", page="3"):
            log.write("error", "oops")
    log.write("debug", "unseen")
    log.write("info", "bye")
    assert log.lines() == ["INFO user=ann hello", "ERROR page=3 user=bob oops", "INFO bye"]


def test_crew():
    context = Context()
    log = Log(context)
    assert Crew(context, log).run({"one": lambda: 1, "two": lambda: 2}) == {"one": 1, "two": 2}
    assert sorted(log.lines()) == ["INFO job=one begins", "INFO job=two begins"]
