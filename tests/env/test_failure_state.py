"""The state of failures below the tests' output: what is shown, what is not, and what a hostile program can do."""

from __future__ import annotations

import pytest

from stackrank.env.sandbox.replies.records import Frame
from stackrank.env.tools.debugging.failure_state import MOST
from stackrank.env.tools.debugging.following import frames_text
from tests.fixtures.env import Play, cart, make_task

HEAD = "Where the tests failed, with local variables:\n"
ROWS = """
    class Loud:
        def __init__(self):
            self.size = 5

        def __repr__(self):
            raise SystemExit("run by the display")


    def find(rows, key):
        loud, first, other = Loud(), rows[0], "x" * 500
        try:
            return {row["id"]: row for row in rows}[key]
        except KeyError as error:
            raise LookupError(f"no {key}") from error
"""
TEST_ROWS = """
    from rows import find

    def test_one():
        find([{"id": 1}], 2)

    def test_two():
        find([{"id": 1}], 3)

    def test_sum():
        assert 1 + 1 == 3
"""
TASK = make_task({"rows.py": ROWS, "tests/test_rows.py": TEST_ROWS})
SHOWN = (
    HEAD
    + """tests/test_rows.py::test_one: LookupError: no 2
tests/test_rows.py:4 in test_one: find([{"id": 1}], 2)
rows.py:14 in find: raise LookupError(f"no {key}") from error
    key = 2
    rows = [{'id': 1}]
    loud = <Loud size=5>
    first = {'id': 1}
    other = 'xxxxxxxxxxxxxxxxxxxxxxxxxxxx'...'xxxxxxxxxxxxxxxxxxxxxxxxxxxx' (500 characters)
caused by KeyError: 2
rows.py:12 in find: return {row["id"]: row for row in rows}[key]"""
)


def test_reset_and_eval_show_frames_locals_and_causes(play: Play) -> None:
    episode = play(TASK, shows_failure_state=True)
    first, _ = episode.env.reset()
    again = episode("eval")
    for observation in (first, again):
        assert "run by the display" not in observation.text, "no method of the program's objects was run"
        assert observation.text.count(HEAD) == 1
        shown = HEAD + observation.text.partition(HEAD)[2]
        assert shown == SHOWN, "test_two failed at the same place, and test_sum shows all that there is"
        assert observation.repeatable_text == observation.text.partition(HEAD)[0]
        stop = observation.state["debug_events"][-2]
        assert (stop["event"], stop["file"], stop["line"]) == ("failed", "rows.py", 14) and stop["locals"]["key"] == "2"
    fixed = ROWS.replace("[key]", ".get(key)")
    episode("rewrite", path="rows.py", new_code=make_task({"rows.py": fixed}).files["rows.py"].decode())
    assert HEAD not in episode("eval").text, "pytest shows all that there is to an assertion without variables"
    assert HEAD not in episode("eval", test="tests/test_rows.py::test_one").text


def test_nothing_is_shown_unless_it_is_asked_for_or_if_the_command_is_not_pytest(play: Play) -> None:
    assert HEAD not in play(TASK).env.reset()[0].text
    plain = make_task(dict(TASK.files), test_command="python -c 'import rows; rows.find([{}], 1)'")
    first, _ = play(plain, shows_failure_state=True).env.reset()
    assert "KeyError: 'id'" in first.text and HEAD not in first.text and "failure_state" not in first.state


EACH_FD = """
    import os, sys

    for fd in range(3, 64):
        try:
            DO
        except OSError:
            pass
"""


@pytest.mark.parametrize(
    "attack", ['os.write(fd, b\'{"kind": "failure"}\\n\')', "os.close(fd)", "sys.setrecursionlimit(60)"]
)
def test_a_program_that_disturbs_the_report_changes_no_verdict(attack: str, play: Play) -> None:
    episode = play(cart({"conftest.py": EACH_FD.replace("DO", attack)}), shows_failure_state=True)
    seen = episode("eval")
    assert len(seen.text) < 4000 + MOST + 200 and not seen.state["solved"]
    episode("submit")
    assert not episode.env.score().resolved


def test_large_and_many_values_are_capped(play: Play) -> None:
    body = "\n".join(f"    v{number} = ['y' * 300] * 50" for number in range(60))
    source = f"def run(n):\n{body}\n    return run(n - 1) if n else 1 / 0\n"
    tests = "import deep\n" + "".join(f"def test_{n}(): deep.run({n})\n\n" for n in (50, 1, 0))
    episode = play(make_task({"deep.py": source, "tests/test_deep.py": tests}), shows_failure_state=True)
    shown = episode("eval").text.partition(HEAD)[2]
    assert 200 < len(shown) <= MOST and "    n = 0\n" in shown and "[other locals omitted]" in shown


def test_frames_that_were_left_out_before_are_counted_with_those_that_have_no_room() -> None:
    frames = [
        Frame(file="a.py", line=number, function="f", source="x" * 60, locals={}, skipped=900 if number == 20 else 0)
        for number in range(40)
    ]
    text = frames_text(frames, 300)
    shown = text.count("x" * 60)
    assert shown < 20
    assert text.startswith(f"[{940 - shown} outer frames omitted]")
