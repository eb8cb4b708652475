"""The data that the components of the episode page receive."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

from stackrank.db.connection.engine import connect
from stackrank.db.models.runs import Step
from stackrank.db.writes.store import Store
from stackrank.patches.writing import file_diff
from tests.dashboard.seed import SOURCE
from tests.dashboard.traces import finish, new_episode


def given(app: Any, name: str) -> list[dict[str, Any]]:
    """The data that the components of this name receive."""
    protos = [
        element.proto for element in app.get("bidi_component") if element.proto.component_name == f"stackrank_{name}"
    ]
    return [json.loads(proto.bytes) for proto in protos]


def outline(app: Any) -> dict[str, Any]:
    (outline_data,) = given(app, "debugger")
    return outline_data


def rows(app: Any) -> list[dict[str, Any]]:
    outline_rows: list[dict[str, Any]] = outline(app)["rows"]
    return outline_rows


def fed(app: Any) -> dict[str, Any]:
    """The parts sent to the debugger component, by name."""
    return {part["name"]: part["value"] for part in given(app, "feed")}


def detail(app: Any, step: int) -> dict[str, Any]:
    """A step in all its parts."""
    chunks = [value for name, value in fed(app).items() if name.startswith("steps:")]
    (content,) = [row for steps in chunks for row in steps if row["step"] == step]
    return dict(content)


def texts(app: Any) -> str:
    kinds = ("subheader", "markdown", "caption", "text", "info", "code")
    return "\n".join(str(part.value) for kind in kinds for part in app.get(kind)).replace("\\", "")


def changed(old: str, new: str) -> str:
    return file_diff("core.py", old.encode(), new.encode())


def view(app: Any, step: int) -> dict[str, Any]:
    """The source that a step shows, with its lines."""
    source = detail(app, step)["source"]
    return {**source, **fed(app)[f"file:{source['file']}"]}


def plain(source: dict[str, Any]) -> list[str]:
    return ["".join(text for _, text in line) for line in source["lines"]]


def play(url: str) -> SimpleNamespace:
    """An edit in two steps with tests in between, followed by another pause."""
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
    store.add_step(Step(episode_id=episode, index=0, state=tests("failed"), milestones=["reproduced"]))
    store.add_step(
        Step(episode_id=episode, index=1, tool="pdb", arguments={"command": "c"}, state=paused, distance="line")
    )
    fixed_source = SOURCE.replace("        for item in items[1:]:", "        for item in items:")
    edit = {"kind": "edit", "edited": "core.py", "lines": [14, 14], "diff": changed(SOURCE, fixed_source)}
    store.add_step(Step(episode_id=episode, index=2, tool="rewrite", arguments=first, state=edit))
    usage = {"tokens_in": 7, "tokens_out": 2}
    notes = ["[3 earlier turns of this conversation omitted]"]
    notes.append("a\n[... 512 characters of this observation omitted ...]\nb")
    request = {"messages": ["why?", *({"content": note} for note in notes)], "history_cut_to_tokens": 900}
    calls_of_model = [{"model": "m", "request": request, "answer": {"text": "so"}, "usage": usage}]
    store.add_step(
        Step(episode_id=episode, index=3, tool="eval", state=tests("passed"), exchanges=calls_of_model, ok=False)
    )
    two = "".join(fixed_source.splitlines(keepends=True)[2:])
    edit = {"kind": "edit", "edited": "core.py", "lines": [1, 2], "diff": changed(fixed_source, two)}
    store.add_step(Step(episode_id=episode, index=4, tool="rewrite", arguments=second, state=edit))
    ran = {"kind": "command", "exit": 0, "timed_out": False, "diff": changed(two, f"{two}# seen\n")}
    store.add_step(
        Step(episode_id=episode, index=5, tool="bash", arguments={"command": "echo '# seen' >> core.py"}, state=ran)
    )
    finish(store, episode, steps=5, failure_step=2, diff="the final diff")
    return SimpleNamespace(url=url, store=store, episode=str(episode))
