"""The story of an episode, and where its trace opens."""

from __future__ import annotations

from typing import Any

import pytest

from stackrank.dashboard.trace.work import deciding_edit
from stackrank.db import queries
from stackrank.db.models.runs import Step
from stackrank.db.queries import Scope, story, story_summary, story_text
from stackrank.db.writes.store import Store
from stackrank.patches.writing import file_diff
from stackrank.terms import FailurePoint, Milestone, StopReason, Verdict
from stackrank.wording import points
from tests.dashboard.seed import seed
from tests.dashboard.traces import new_episode

NOTHING: dict[str, Any] = {f"at_{name}": None for name in Milestone} | {
    "verdict": "unresolved", "stop_reason": "agent_gave_up", "failure_point": "", "failure_step": None, "steps": 21,
}  # fmt: skip


def test_a_story_tells_what_was_reached_and_what_never() -> None:
    row = NOTHING | {"at_localized": 4}
    assert story_text(row) == (
        "Never saw the failure, saw the fault at step 4. Never edited the fault. "
        "Gave up at 21, the task is not resolved."
    )
    steps = [clause.step for sentence in story(row) for clause in sentence]
    assert steps == [None, 4, None, 21, None]
    resolved = NOTHING | {"verdict": "resolved", "stop_reason": "solved", "steps": 9}
    resolved |= {f"at_{name}": place for place, name in enumerate(Milestone, 2)}
    assert story_text(resolved) == (
        "Saw the failure at step 2, saw the fault at 3, set a breakpoint at the fault at 4, "
        "stopped at the fault with the debugger at 5. "
        "Edited the fault at 6, made more tests pass at 7, made the visible tests pass at 8. "
        "Ended with the visible tests passing at 9, the task is resolved."
    )
    wrong = NOTHING | {"at_reproduced": 1, "at_edited": 7, "failure_point": "wrong_fix", "failure_step": 7}
    assert " Changed the fault in a wrong way at 7. " in story_text(wrong), "one clause for one step"


def test_a_list_tells_the_end_of_a_story() -> None:
    row = NOTHING | {"at_reproduced": 1, "at_localized": 4, "at_edited": 13, "steps": 14, "stop_reason": "step_limit"}
    broke = row | {"failure_point": "regression", "failure_step": 14}
    assert story_summary(broke) == "Edited the fault at step 13, broke what had worked at 14, ran out of steps at 14"
    assert story_summary(row) == "Saw the fault at step 4, edited the fault at 13, ran out of steps at 14"
    solved = row | {"verdict": "resolved", "stop_reason": "solved", "at_improved": 14, "at_solved": 14}
    assert story_summary(solved).endswith("edited the fault at 13, ended with the visible tests passing at 14")
    playing = NOTHING | {"verdict": "", "stop_reason": ""}
    assert (story_summary(playing), story_summary(playing | {"at_edited": 3})) == ("", "Edited the fault at step 3")


def test_clauses_follow_the_steps_and_leave_out_what_follows() -> None:
    row = NOTHING | {"at_reproduced": 1, "at_localized": 9, "at_edited": 4, "at_improved": 15, "at_solved": None}
    row |= {"failure_point": "regression", "failure_step": 14}
    assert story_text(row) == (
        "Saw the failure at step 1. Edited the fault at 4, saw the fault at 9, broke what had worked at 14, "
        "made more tests pass at 15. Gave up at 21, the task is not resolved."
    )
    assert story_text(NOTHING) == "Never saw the failure. Gave up at step 21, the task is not resolved."
    reproduced = story_text(NOTHING | {"at_reproduced": 1})
    assert reproduced.startswith("Saw the failure at step 1, never saw the fault. Gave up at 21")
    touched = NOTHING | {"at_reproduced": 1, "failure_point": "tampered", "failure_step": 3}
    assert " Tampered with the tests at 3. " in story_text(touched), "also without an edit of the fault"


def test_an_episode_that_goes_on_has_no_end() -> None:
    playing = NOTHING | {"verdict": "", "stop_reason": ""}
    assert story(playing) == [] and story_text(playing | {"at_localized": 3}) == "Saw the fault at step 3."


@pytest.mark.parametrize("verdict", list(Verdict))
def test_every_end_has_words(verdict: Verdict) -> None:
    for stop in StopReason:
        for point in ("", *FailurePoint):
            row = NOTHING | {"verdict": verdict, "stop_reason": stop, "failure_point": point, "failure_step": 3}
            text = story_text(row)
            assert (
                "_" not in text and text.endswith(".") and " ended at 21" not in text.lower().replace("was ended", "")
            )


def test_a_resolved_episode_opens_at_the_edit_that_decided(store: Store) -> None:
    seed(store.engine, runs=1, live=False, tasks=2)
    for row in queries.episodes(store.engine, limit=1000):
        edits = [step["index"] for step in queries.steps(store.engine, row["id"]) if step["tool"] == "rewrite"]
        expected = edits[-1] if row["verdict"] == "resolved" else None
        assert deciding_edit(store.engine, row["id"]) == expected


FIXED, OTHER, BROKEN = "    return a + b\n", "    return b + a + 0\n", "    return a * b\n"
GIVEN = "    return a - b\n"
Edit = tuple[str, str, str | None, str | None]
"""Tool, path, content before and after."""
TESTS: Edit = ("eval", "", None, None)
FIX: Edit = ("str_replace", "sum.py", GIVEN, FIXED)


@pytest.mark.parametrize(
    ("edits", "solved", "expected"),
    [
        pytest.param([FIX, TESTS], 2, 1, id="a tool of a plug-in"),
        pytest.param([("bash", "sum.py", GIVEN, FIXED), TESTS], 2, 1, id="a command"),
        pytest.param([("files.apply", "sum.py", GIVEN, FIXED), TESTS], 2, 1, id="an MCP server"),
        pytest.param(
            [FIX, ("bash", "sum.py", FIXED, BROKEN), ("undo", "sum.py", BROKEN, FIXED), TESTS], 4, 1, id="taken back"
        ),
        pytest.param([("bash", "sum.py", GIVEN, OTHER), TESTS, ("patch", "sum.py", OTHER, FIXED)], 0, 3, id="twice"),
        pytest.param([FIX, ("bash", "repro.py", None, "import sum\n"), TESTS], 3, 1, id="a script beside it"),
        pytest.param([FIX, ("eval", "sum.py", FIXED, BROKEN), ("bash", "sum.py", BROKEN, FIXED)], 0, 1, id="by tests"),
        pytest.param([FIX, TESTS, ("bash", "sum.py", FIXED, OTHER)], 2, 1, id="tidied up after the tests passed"),
        pytest.param([("bash", "new.py", None, FIXED), TESTS], 2, 1, id="a new file"),
        pytest.param([("bash", "large.py", GIVEN, OTHER), ("bash", "large.py", OTHER, FIXED)], 0, 2, id="unknown text"),
    ],
)
def test_a_step_is_an_edit_by_what_it_changed(store: Store, edits: list[Edit], solved: int, expected: int) -> None:
    episode = new_episode(store, files={"sum.py": GIVEN})
    store.add_step(Step(episode_id=episode, index=0, state={"kind": "tests"}))
    net: dict[str, tuple[str | None, str | None]] = {}
    for index, (tool, path, old, new) in enumerate(edits, 1):
        kind = "tests" if tool == "eval" else "none"
        diff = file_diff(path, *(None if side is None else side.encode() for side in (old, new))) if path else ""
        # The shell's last command may fail, and its change of a file still counts.
        store.add_step(
            Step(episode_id=episode, index=index, tool=tool, ok=tool != "bash", state={"kind": kind, "diff": diff})
        )
        if path:
            net[path] = (net.get(path, (old,))[0], new)
    final = "".join(
        file_diff(path, *(None if side is None else side.encode() for side in sides)) for path, sides in net.items()
    )
    milestones = {"edited": 1} | ({"solved": solved} if solved else {})
    ending = {"stop_reason": "submitted", "milestones": milestones, "steps": len(edits), "diff": final}
    store.finish_episode(episode, verdict="resolved", **ending)
    assert deciding_edit(store.engine, episode) == expected
    outline = queries.step_outline(store.engine, episode)
    shown = [row["index"] for row in outline if row["changed"]]
    assert shown == [index for index, edit in enumerate(edits, 1) if edit[0] != "eval"]


def test_the_front_page_names_traces_that_show_what_it_says(store: Store) -> None:
    contents = seed(store.engine)
    scope = Scope(benchmark="bugs")
    front = queries.front_page(store.engine, scope)
    assert [row["entrant"] for row in front["board"]] == [
        row["entrant"] for row in queries.leaderboard(store.engine, scope)
    ]
    (debugger,) = front["debugger"]
    (pair,) = queries.tool_sets(store.engine, scope)
    assert queries.headline(pair) in front["lead"] and front["evidence"] == queries.evidence(pair)
    gap = f"{points(pair['difference'])} points"
    assert debugger.startswith("The two that lead differ only in pdb: ") and gap in debugger
    tips = {tip["why"]: tip for tip in front["traces"]}
    assert len({tip["episode"]["id"] for tip in front["traces"]}) == len(front["traces"])
    decided = tips["Resolved only with a debugger"]["episode"]
    assert decided["verdict"] == "resolved" and "debug" in decided["entrant"]
    assert decided["task"] in queries.decisive_tasks(store.engine, scope)
    failed = next(tip for why, tip in tips.items() if why.startswith("The best-ranked entrant failed"))
    assert failed["episode"]["entrant"] == front["board"][0]["entrant"]
    assert (failed["episode"]["verdict"], failed["step"]) == ("unresolved", failed["episode"]["failure_step"])
    assert tips["The newest"]["episode"]["run_id"] == contents.live_run


def test_an_empty_database_has_an_empty_front_page(store: Store) -> None:
    front = queries.front_page(store.engine)
    assert (front["lead"], front["debugger"], front["traces"], front["board"]) == ("", [], [], [])
