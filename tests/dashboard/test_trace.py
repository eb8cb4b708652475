"""The episode page's logic: what the list is given, what each tab says, how files are followed through edits."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dashboard.trace.workspace import Workspace, rewritten
from db.engine import connect
from db.store import Store
from env.sandbox.base import Refused, SandboxSpec
from env.sandbox.client import Sandbox
from env.task import Limits
from tests.dashboard.seed import SOURCE
from tests.dashboard.traces import add_many, finish, new_episode
from tests.env.conftest import usable


def rows(app: Any, name: str = "list") -> list[dict[str, Any]]:
    """What the component is given."""
    (found,) = [one.proto for one in app.get("bidi_component") if one.proto.component_name == f"stackrank_{name}"]
    shown: list[dict[str, Any]] = json.loads(found.bytes)["rows"]
    return shown


def texts(app: Any) -> str:
    kinds = ("subheader", "markdown", "caption", "text", "info", "code")
    return "\n".join(str(part.value) for kind in kinds for part in app.get(kind)).replace("\\", "")


@pytest.fixture
def played(tmp_path: Path) -> SimpleNamespace:
    """An edit in two steps with tests in between, followed by another pause."""
    url = f"sqlite:///{tmp_path / 'x.db'}"
    store = Store(connect(url))
    episode = new_episode(store)

    def tests(outcome: str) -> dict[str, Any]:
        passed = outcome == "passed"
        ids = {"t.py::a": outcome, "t.py::b": "passed"}
        return {"tests": {"passed": 1 + passed, "failed": 1 - passed, "ids": ids}, "solved": passed}

    at_14 = {"file": "core.py", "line": 14, "function": "Book.total", "depth": 2}
    calls = [{"file": "t.py", "line": 3, "function": "test"}, {**at_14, "current": True}]
    paused = {**at_14, "breakpoints": [{"file": "core.py", "line": 13}], "locals": {"result": "0"}, "stack": calls}
    first = {"path": "core.py", "start": 14, "end": 14, "new_code": "        for item in items:"}
    second = {"path": "core.py", "start": 1, "end": 2, "new_code": ""}
    store.add_step(episode, index=0, state=tests("failed"), milestones=["reproduced"])
    store.add_step(episode, index=1, tool="pdb", arguments={"command": "c"}, state=paused, distance="line")
    store.add_step(episode, index=2, tool="rewrite", arguments=first, state={"edited": "core.py", "lines": [14, 14]})
    usage = {"tokens_in": 7, "tokens_out": 2}
    asked = [{"model": "m", "request": {"messages": ["why?"]}, "answer": {"text": "so"}, "usage": usage}]
    store.add_step(episode, index=3, tool="eval", state=tests("passed"), exchanges=asked, ok=False)
    store.add_step(episode, index=4, tool="rewrite", arguments=second, state={"edited": "core.py", "lines": [1, 1]})
    store.add_step(episode, index=5, tool="bash", arguments={"command": "sed -i s/a/b/ core.py"})
    finish(store, episode, steps=5, failure_step=2, diff="the final diff")
    return SimpleNamespace(url=url, store=store, episode=str(episode))


def test_what_the_list_and_the_timeline_show(visit: Any, played: SimpleNamespace) -> None:
    app = visit(played.url, "episode", id=played.episode)
    assert "Step 2: rewrite" in texts(app), "the failure point comes first"
    listed = rows(app)
    assert [row["tool"] for row in listed] == ["reset", "pdb", "rewrite", "eval", "rewrite", "bash"]
    assert [row["marks"] for row in listed[:3]] == [["reproduced"], [], ["localized"]]
    assert (listed[0]["tests"], listed[1]["where"], listed[3]["ok"]) == ("1 of 2 pass", "core.py:14 Book.total", False)
    lanes = rows(app, "lanes")
    assert [(row["depth"], row["passed"], row["distance"]) for row in lanes[:2]] == [(None, 1, ""), (2, None, "line")]
    assert lanes[1]["about"] == ["core.py:14 Book.total", "depth 2", "at the fault"]


def test_the_list_is_the_same_bytes_whichever_step_is_selected(visit: Any, played: SimpleNamespace) -> None:
    one, other = (visit(played.url, "episode", id=played.episode, step=step) for step in ("1", "4"))
    first, second = ([part.proto.bytes for part in app.get("bidi_component")] for app in (one, other))
    assert first == second and all(first)


@pytest.mark.parametrize(
    ("step", "tab", "shown", "not_shown"),
    [
        ("1", "Step", ["**Action:** command", "at the fault"], ["**Action:** core.py"]),
        (
            "2",
            "Step",
            ["core.py, line 14", "-        for item in items[1:]:\n+        for item in items:\n"],
            ["@@ -1,"],
        ),
        ("4", "Step", ["core.py, lines 1 to 2", "-from decimal import Decimal"], ["for item in items:\n+"]),
        ("1", "Stack", ["core.py:14 Book.total · depth 2", "Breakpoints: core.py:13"], ["As the debugger last"]),
        ("4", "Stack", ["As the debugger last told at step 1."], []),
        ("0", "Stack", ["The debugger was not used yet."], []),
        ("1", "Diff", ["Nothing is changed yet.", "the final diff"], ["The shell was used"]),
        ("5", "Diff", ["-from decimal", "+        for item in items:", "The shell was used up to step 5"], []),
        ("2", "Tests", ["1 passed, 1 failed**, at step 0"], []),
        ("5", "Tests", ["2 passed, 0 failed**, at step 3"], []),
        ("3", "Model", ["Question 1 · m · 7 tokens in, 2 out", '"why?"', '"text": "so"'], []),
        ("2", "Model", ["No model was asked"], []),
        ("9", "Step", ["This episode has no step 9; its last one is 5."], []),
    ],
)
def test_tabs(visit: Any, played: SimpleNamespace, step: str, tab: str, shown: list[str], not_shown: list[str]) -> None:
    found = texts(visit(played.url, "episode", id=played.episode, step=step, step_tab=tab))
    assert [one for one in shown if one not in found] == []
    assert [one for one in not_shown if one in found] == []


def test_tests_of_a_step_say_what_they_were_before(visit: Any, played: SimpleNamespace) -> None:
    table = visit(played.url, "episode", id=played.episode, step="5", step_tab="Tests").dataframe[0].value
    assert table.to_dict("list") == {
        "Outcome": ["passed", "passed"],
        "Test": ["t.py::a", "t.py::b"],
        "Before": ["failed", "passed"],
    }


def view(app: Any) -> dict[str, Any]:
    (found,) = [one.proto for one in app.get("bidi_component") if one.proto.component_name == "stackrank_source"]
    shown: dict[str, Any] = json.loads(found.bytes)
    return shown


def test_the_source_is_as_it_was_at_the_step(visit: Any, played: SimpleNamespace) -> None:
    lines = SOURCE.split("\n")
    before = view(visit(played.url, "episode", id=played.episode, step="1", step_tab="Source"))
    assert before["lines"] == lines
    assert (before["current"], before["breakpoints"], before["touched"], before["faults"]) == ([14], [13], [], [])
    after = view(visit(played.url, "episode", id=played.episode, step="2", step_tab="Source"))
    assert after["lines"][13] == "        for item in items:" and after["touched"] == [14]
    cut = view(visit(played.url, "episode", id=played.episode, step="4", step_tab="Source"))
    assert cut["lines"] == [*lines[2:13], "        for item in items:", *lines[14:]]


def test_the_fix_marks_lines_only_after_it_was_asked_for(visit: Any, played: SimpleNamespace) -> None:
    app = visit(played.url, "episode", id=played.episode, step="1", step_tab="Source")
    assert view(app)["faults"] == []
    app.session_state["trace_step_spoiler"] = True
    assert view(app.run())["faults"] == [14]


def test_a_file_that_is_not_stored(visit: Any, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'x.db'}"
    store = Store(connect(url))
    episode = new_episode(store, files={})
    state = {"file": "core.py", "line": 2, "source": ["   2 -> x"], "breakpoints": []}
    store.add_step(episode, index=0)
    store.add_step(episode, index=1, tool="pdb", state=state)
    app = visit(url, "episode", id=str(episode), step="1", step_tab="Source")
    assert "   2 -> x" in texts(app) and "is not stored" in texts(app)
    bare = visit(url, "episode", id=str(episode), step="0", step_tab="Source")
    assert "No text of this task's files is stored." in texts(bare)


def test_many_steps_come_in_parts(visit: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dashboard.trace.steps.WINDOW", 100)
    url = f"sqlite:///{tmp_path / 'x.db'}"
    store = Store(connect(url))
    episode = new_episode(store)
    assert "No step has been committed" in texts(visit(url, "episode", id=str(episode)))
    add_many(store, episode, 250)
    app = visit(url, "episode", id=str(episode), step="120")
    assert [rows(app)[at]["step"] for at in (0, -1)] == [100, 199] and "Step 120" in texts(app)
    next(button for button in app.button if button.label == "Earlier steps").click().run()
    assert [rows(app)[at]["step"] for at in (0, -1)] == [0, 99] and "Step 99" in texts(app)
    live = visit(url, "episode", id=str(episode))
    assert "Step 249" in texts(live), "who watches an episode sees its newest step"


EDITS = [
    {"path": "crlf.txt", "new_code": "two\nthree\n", "start": 2},
    {"path": "open.txt", "new_code": "b", "start": 2},
    {"path": "open.txt", "new_code": "c", "start": 3},
    {"path": "open.txt", "new_code": "", "start": 1},
    {"path": "new/file.py", "new_code": "x = 1"},
    {"path": "./new/file.py", "new_code": "y = 2", "start": 2, "end": 1},
    {"path": "plain.py", "new_code": "0", "start": 1, "end": 0},
    {"path": "plain.py", "new_code": "é\n\n", "start": 2, "end": 3},
    {"path": "plain.py", "new_code": "beyond", "start": 99},
    {"path": "empty.txt", "new_code": "refused", "start": 1},
    {"path": "empty.txt", "new_code": "first", "start": 1, "end": 0},
    {"path": "open.txt", "new_code": "whole"},
]


def test_files_read_as_in_a_sandbox() -> None:
    """The sandbox edits bytes, the dashboard does the same edits again on texts."""
    files = {"crlf.txt": "one\r\nzwei\r\n", "open.txt": "a", "plain.py": "1\n2\n3\n", "empty.txt": ""}
    workspace = Workspace(files)
    with Sandbox(usable("local"), SandboxSpec(limits=Limits(timeout_s=10))) as sandbox:
        sandbox.put({path: text.encode() for path, text in files.items()})
        for index, arguments in enumerate(EDITS):
            path, code, start, end = (arguments.get(name) for name in ("path", "new_code", "start", "end"))
            try:
                sandbox.edit(str(path), str(code), start, end)  # type: ignore[arg-type]
            except Refused:
                continue
            edited = sandbox.resolve(str(path))
            workspace.replay([{"index": index, "tool": "rewrite", "arguments": arguments, "edited": edited}])
            for name, text in workspace.files.items():
                assert sandbox.read(name).decode() == text, (arguments, name)
    assert workspace.changed() == ["crlf.txt", "empty.txt", "new/file.py", "open.txt", "plain.py"]


def test_what_nothing_records_is_not_guessed() -> None:
    workspace = Workspace({"a.py": "1\n"})
    workspace.replay([{"index": 3, "tool": "other_editor", "arguments": {"path": "a.py"}, "edited": "a.py"}])
    assert "a.py" not in workspace.files and workspace.lost == {"a.py": 3}
    whole = {"index": 4, "tool": "rewrite", "arguments": {"new_code": "2\n"}, "edited": "a.py"}
    workspace.replay([whole])
    assert workspace.files["a.py"] == "2\n" and not workspace.lost
    odd = {"index": 5, "tool": "rewrite", "arguments": {"new_code": 7, "start": "x"}, "edited": "a.py"}
    assert workspace.replay([odd]).lost == {"a.py": 5}
    assert rewritten("1\n", "x", 5, None) is None
