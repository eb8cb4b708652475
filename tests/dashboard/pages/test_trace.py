"""The episode page without a browser: its step list and tabs."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from stackrank.dashboard.trace.chunks import CHUNK
from stackrank.dashboard.trace.conversation import questions
from stackrank.dashboard.trace.repeats import repeats
from stackrank.dashboard.trace.view import current, keep
from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.models.runs import Step
from stackrank.db.writes.store import Store
from tests.dashboard.trace_parts import detail, fed, outline, rows, texts
from tests.dashboard.traces import add_many, finish, new_episode


def test_step_list_and_timeline(visit: Any, played: SimpleNamespace) -> None:
    app = visit(played.url, "episode", id=played.episode)
    assert outline(app)["start"] == 2, "the failure point comes first"
    listed = rows(app)
    assert [row["tool"] for row in listed] == ["reset", "pdb", "rewrite", "eval", "rewrite", "bash"]
    assert [listed[2]["text"], listed[4]["text"]] == ["+ for item in items:", "- from decimal import Decimal"]
    assert [row["marks"] for row in listed[:3]] == [["reproduced"], [], ["localized"]]
    assert (listed[0]["tests"], listed[1]["where"], listed[3]["ok"]) == (
        "visible tests: 1 of 2 pass",
        "core.py:14 Book.total",
        False,
    )
    assert [(row["depth"], row["passed"], row["distance"]) for row in listed[:2]] == [(None, 1, ""), (2, None, "line")]
    assert listed[1]["about"] == ["core.py:14 Book.total", "depth 2", "at the fault"]


def test_parts_do_not_depend_on_the_selected_step(visit: Any, played: SimpleNamespace) -> None:
    first_app, second_app = (visit(played.url, "episode", id=played.episode, step=step) for step in ("1", "4"))
    first, second = (
        {part.proto.id: part.proto.bytes for part in app.get("bidi_component") if not part.proto.id.endswith("-jump")}
        for app in (first_app, second_app)
    )
    assert first == second and all(first.values()) and len(first) > 3


@pytest.mark.parametrize(
    ("step", "part", "included", "not_shown"),
    [
        (1, "action", ["command"], ["core.py"]),
        (1, "badges", ["at the fault"], ["failure point"]),
        (2, "badges", ["failure point", "localized"], ["tool error"]),
        (
            2,
            "action",
            ["core.py, line 14", r"-        for item in items[1:]:\n+        for item in items:\n"],
            ["@@ -1,"],
        ),
        (3, "badges", ["tool error"], []),
        (4, "action", ["core.py, lines 1 to 2", "-from decimal import Decimal"], [r"for item in items:\n+"]),
        (5, "action", ["command"], []),
        (5, "changed", ["+# seen"], ["-from decimal"]),
        (1, "stack", ["core.py:14 Book.total · depth 2", '"at": 1', '["core.py", 13]', '"current": true'], []),
        (4, "stack", ['"at": 1'], []),
        (0, "stack", ['"at": null'], []),
    ],
)
def test_a_step(
    visit: Any, played: SimpleNamespace, step: int, part: str, included: list[str], not_shown: list[str]
) -> None:
    content = json.dumps(detail(visit(played.url, "episode", id=played.episode), step)[part], ensure_ascii=False)
    assert [text for text in included if text not in content] == []
    assert [text for text in not_shown if text in content] == []


@pytest.mark.parametrize(
    ("step", "tab", "included", "not_shown"),
    [
        ("1", "Diff", ['"so_far": {"text": ""', "the final diff"], ["without recording"]),
        ("5", "Diff", ["-from decimal", "+        for item in items:", "+# seen"], ["without recording"]),
        ("2", "Tests", ["1 passed, 1 failed", '"at": 0'], []),
        ("5", "Tests", ['2 passed, 0 failed", "rows": [["passed", "t.py::a", "failed"], ["passed", "t.py::b"'], []),
        ("5", "Tests", ['"at": 3'], []),
        ("3", "Model", ["Question 1 · m · 7 tokens in, 2 out", r"\"why?\"", r"\"text\": \"so\""], []),
        ("3", "Model", ["cut to about 900 tokens", "3 earlier turns are left out, 1 observation is cut"], []),
        ("2", "Model", ["[]"], ["Question"]),
    ],
)
def test_tabs(
    visit: Any, played: SimpleNamespace, step: str, tab: str, included: list[str], not_shown: list[str]
) -> None:
    app = visit(played.url, "episode", id=played.episode, step=step, step_tab=tab)
    content = json.dumps(fed(app)[f"{tab}:{step}"], ensure_ascii=False)
    assert [text for text in included if text not in content] == []
    assert [text for text in not_shown if text in content] == []
    assert not {name for name in fed(app) if name.partition(":")[0] in {"Diff", "Tests", "Model"} - {tab}}


def test_conversation_separates_new_from_earlier_messages() -> None:
    turns = [("system", "s"), ("user", "u"), ("assistant", "a"), ("tool", "t")]
    messages: list[Any] = [{"role": role, "content": text} for role, text in turns]
    messages[2]["tool_calls"] = [{"function": {"name": "pdb"}}]
    messages += ["nonsense", {"role": "user", "content": [{"text": "one"}, "two", {"type": "image"}]}]
    (question,) = questions([{"request": {"messages": messages}, "answer": {"text": "x"}, "reasoning": "r" * 30_000}])
    assert [(turn["role"], turn["text"]["text"]) for turn in question["new"]] == [("tool", "t"), ("user", "one\ntwo")]
    assert [turn["role"] for turn in question["earlier"]] == ["system", "user", "assistant"]
    assert '"pdb"' in question["earlier"][2]["calls"]["text"] and question["earlier_total"] == 3
    assert (len(question["reasoning"]["text"]), question["reasoning"]["total"]) == (20_000, 30_000)
    assert questions([{"request": "text", "answer": None}])[0]["new"] == []


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("", []),
        ("abcabc", []),
        ("aab", []),
        ("xaaay", [(1, 3, 1)]),
        ("abababx", [(0, 5, 2)]),
        ("abcababab", [(3, 8, 2)]),
        ("aaaabbbb", [(0, 3, 1), (4, 7, 1)]),
        ("xabcdabcdabcdab", [(1, 12, 4)]),
        ("abcdeabcdeabcde", []),
    ],
)
def test_repeats(rows: str, expected: list[tuple[int, int, int]]) -> None:
    assert repeats(rows) == expected


def test_steps_with_different_outcomes_are_not_repeats(visit: Any, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'x.db'}"
    store = Store(connect(url))
    episode = new_episode(store)
    lines = [1, 2, 3, 3, 3, 3]
    for index, line in enumerate(lines):
        at = {"file": "core.py", "line": line, "function": "f", "breakpoints": []}
        store.add_step(Step(episode_id=episode, index=index, tool="pdb", arguments={"command": "n"}, state=at))
    long = {"path": "core.py", "new_code": "x" * 500}
    for index in range(len(lines), len(lines) + 4):
        store.add_step(Step(episode_id=episode, index=index, tool="rewrite", arguments=long, ok=False))
    for index in range(len(lines) + 4, len(lines) + 8):
        refusal = f"Invalid arguments {index}"
        store.add_step(Step(episode_id=episode, index=index, observation=refusal, ok=False))
    assert outline(visit(url, "episode", id=str(episode)))["repeats"] == [[2, 5, 1]]


def test_branches_are_shown_as_a_tree(visit: Any, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'x.db'}"
    store = Store(connect(url))
    episode = new_episode(store)
    parents = {3: 1, 5: 2, 6: 4}
    for index in range(8):
        state = {"kind": "branch", "at": parents.get(index)}
        action = {"tool": "branch", "state": state} if index in parents else {"tool": "listdir"}
        store.add_step(Step(episode_id=episode, index=index, **(action if index else {})))
    app = visit(url, "episode", id=str(episode), step="6")
    shown = rows(app)
    assert [row["parent"] for row in shown] == [None, 0, 1, 1, 3, 2, 4, 6]
    tree = [row["tree"] for row in shown]
    assert [place["column"] for place in tree] == [0, 0, 0, 1, 1, 2, 3, 3]
    assert [place["origin"] for place in tree] == [None, None, None, 0, None, 0, 1, None]
    assert [place["passing"] for place in tree] == [[], [], [], [0], [0], [1], [], []]
    assert [place["kept"] for place in tree] == [True, True, False, True, True, False, True, True]
    assert ["from step 4", "gray"] in detail(app, 6)["badges"]


def test_a_branch_takes_up_the_stop_and_the_tests_of_its_line(visit: Any, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'x.db'}"
    store = Store(connect(url))
    episode = new_episode(store)

    def pause(line: int, value: str) -> dict[str, Any]:
        return {"file": "core.py", "line": line, "function": "f", "locals": {"x": value}, "breakpoints": []}

    tests = {"passed": 1, "failed": 1, "ids": {"t.py::a": "failed"}}
    states: dict[int, dict[str, Any]] = {
        1: {"tests": tests, "solved": False},
        2: pause(4, "1"),
        3: pause(9, "2"),
        4: {"tests": {**tests, "ids": {"t.py::a": "passed"}}, "solved": True},
        5: {"kind": "branch", "at": 2},
        CHUNK + 1: pause(5, "3"),
        CHUNK + 2: {"kind": "branch", "at": 4},
    }
    for index in range(CHUNK + 4):
        state = states.get(index, {})
        tool = "branch" if state.get("kind") == "branch" else "pdb" if "line" in state else "eval"
        store.add_step(Step(episode_id=episode, index=index, tool=tool if index else "", state=state))
    app = visit(url, "episode", id=str(episode), step="5", step_tab="Tests")
    parts = fed(app)
    steps = {row["step"]: row for name in ("steps:0", f"steps:{CHUNK}") for row in parts[name]}
    stops = {1: None, 3: 3, 4: 3, 5: 2, CHUNK - 1: 2, CHUNK: 2, CHUNK + 1: CHUNK + 1, CHUNK + 2: 3, CHUNK + 3: 3}
    assert {index: steps[index]["stack"]["at"] for index in stops} == stops
    assert [steps[index]["source"]["current"] for index in (4, 5, CHUNK, CHUNK + 2)] == [[9], [4], [4], [9]]
    assert steps[CHUNK + 1]["stack"]["locals"][0]["former"] == "1", "the value 2 is not of this line"
    assert parts["Tests:5"]["at"] == 1


def test_a_step_that_could_not_go_back_branches_nothing(visit: Any, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'x.db'}"
    store = Store(connect(url))
    episode = new_episode(store)
    for index, at in enumerate((None, "far", 9)):
        arguments = {"at": at} if at else {}
        store.add_step(
            Step(episode_id=episode, index=index, tool="branch" if at else "", arguments=arguments, ok=not at)
        )
    assert [(row["parent"], row["tree"]) for row in rows(visit(url, "episode", id=str(episode)))] == [
        *((None, None), (0, None), (1, None)),
    ]


def test_search_in_steps(visit: Any, played: SimpleNamespace) -> None:
    app = visit(played.url, "episode", id=played.episode, find="ITEM IN items")
    assert [hit["step"] for hit in fed(app)["find:ITEM IN items"]] == [2]
    assert fed(visit(played.url, "episode", id=played.episode, find="nowhere"))["find:nowhere"] == []


def test_browser_view_lasts_until_the_address_changes(visit: Any, played: SimpleNamespace) -> None:
    app = visit(played.url, "episode", id=played.episode, step="1")
    learned = ({"id": [played.episode], "step": ["1"]}, {"step": ["3"], "step_tab": ["Tests"], "find": []})
    app.session_state["learned_parameters"] = learned
    assert "Tests:3" in fed(app.run())
    app.query_params["step"] = "4"
    assert not any(name.startswith("Tests") for name in fed(app.run()))


@pytest.mark.parametrize("message", [None, 7, {}, {"step": True}, {"step": -1, "tab": [], "find": 5}, {"tab": "Other"}])
def test_invalid_browser_messages_are_ignored(message: object, monkeypatch: pytest.MonkeyPatch) -> None:
    state: dict[str, Any] = {}
    monkeypatch.setattr("streamlit.session_state", state)
    monkeypatch.setattr("streamlit.query_params", {})
    keep(message)
    view = current()
    assert view.step is None and view.tab == "Step"


def test_fault_lines_are_marked_on_request(visit: Any, played: SimpleNamespace) -> None:
    app = visit(played.url, "episode", id=played.episode, step="1")
    assert outline(app)["faults"] == {}
    app.session_state["trace_spoiler"] = True
    assert outline(app.run())["faults"] == {"core.py": [14]}


def test_a_file_that_is_not_stored(visit: Any, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'x.db'}"
    store = Store(connect(url))
    episode = new_episode(store, files={})
    state = {"file": "core.py", "line": 2, "source": ["   2 -> x"], "breakpoints": []}
    store.add_step(Step(episode_id=episode, index=0))
    store.add_step(Step(episode_id=episode, index=1, tool="pdb", state=state))
    app = visit(url, "episode", id=str(episode), step="1")
    source = detail(app, 1)["source"]
    assert (source["path"], source["file"], source["excerpt"]) == ("core.py", None, "   2 -> x")
    assert detail(app, 0)["source"]["path"] == "" and not any(name.startswith("file:") for name in fed(app))


def test_steps_are_sent_in_chunks(visit: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stackrank.dashboard.trace.steps.WINDOW", 100)
    url = f"sqlite:///{tmp_path / 'x.db'}"
    store = Store(connect(url))
    episode = new_episode(store)
    assert "No step has been committed" in texts(visit(url, "episode", id=str(episode)))
    add_many(store, episode, 250)
    app = visit(url, "episode", id=str(episode), step="120")
    assert [rows(app)[at]["step"] for at in (0, -1)] == [100, 199] and detail(app, 120)["tool"] == "pdb"
    assert sorted(name for name in fed(app) if name.startswith("steps:")) == ["steps:120", "steps:150", "steps:90"]
    app = visit(url, "episode", id=str(episode), step="99")
    assert [rows(app)[at]["step"] for at in (0, -1)] == [0, 99] and detail(app, 99)
    live = outline(visit(url, "episode", id=str(episode)))
    assert (live["start"], live["last"]) == (249, 249), "who watches an episode sees its newest step"


def test_header_shows_evidence_of_tampering(visit: Any, seeded: SimpleNamespace) -> None:
    played = queries.episodes(seeded.store.engine, limit=500)
    tampered = next(row["id"] for row in played if row["tampered"] and row["id"] % 4 == 0)
    page_text = texts(visit(seeded.url, "episode", id=str(tampered)))
    assert "tests/test_core.py::test_total passed with a wrong expectation" in page_text
    assert "core.py:3 reads its callers' frames" in page_text


def test_investigation_is_nested_below_its_step(visit: Any, tmp_path: Path) -> None:
    """Its answer and all its steps; a second one that has no answer yet; a question that was refused is none."""
    url = f"sqlite:///{tmp_path / 'x.db'}"
    store = Store(connect(url))
    episode = new_episode(store)
    question, answer = {"question": "Why <b>?"}, {"text": "Because *x*."}
    steps = [
        ("", {}, "reset"),
        ("investigate", question, "begins"),
        ("pdb", {"command": "c"}, "stopped"),
        ("", {}, "calls no tool"),
        ("answer", answer, "Because *x*."),
        ("view", {"path": "core.py"}, "shown"),
        ("investigate", {}, "refused"),
        ("investigate", question, "begins"),
        ("view", {"path": "core.py"}, "seen"),
    ]
    for index, (tool, arguments, observation) in enumerate(steps):
        ok = observation not in ("refused", "calls no tool")
        store.add_step(
            Step(
                episode_id=episode,
                index=index,
                tool=tool,
                arguments=arguments,
                observation=observation,
                ok=ok,
                tokens_in=7,
            )
        )
    finish(store, episode, steps=8)
    app = visit(url, "episode", id=str(episode), step="1")
    assert [row["inside"] for row in rows(app)] == [False, False, True, True, True, False, False, False, True]
    investigation = detail(app, 1)["investigation"]
    assert (investigation["answer"]["text"], investigation["about"]) == ("Because *x*.", "3 steps, 21 tokens")
    assert investigation["steps"] == [[2, "pdb c"], [3, "malformed "], [4, "answer Because *x*."]]
    assert detail(app, 7)["investigation"]["answer"] is None
    assert detail(app, 6)["investigation"] is None
    first = queries.steps(store.engine, episode, first=3, limit=3)
    assert [row["investigation"] for row in first] == [1, 1, None]
