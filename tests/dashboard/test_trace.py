"""The episode page's logic: what the list is given, what each tab says, how files are followed through edits."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from stackrank.dashboard.charts.style import HUES
from stackrank.dashboard.trace.colors import colored
from stackrank.dashboard.trace.conversation import questions
from stackrank.dashboard.trace.debugger import HERE
from stackrank.dashboard.trace.files import Files
from stackrank.dashboard.trace.repeats import repeats
from stackrank.dashboard.trace.steps import _TOOLS, _hue
from stackrank.dashboard.trace.travel import Changes
from stackrank.dashboard.trace.view import current, keep
from stackrank.db import queries
from stackrank.db.engine import connect
from stackrank.db.models import Step
from stackrank.db.queries.steps import _first_change
from stackrank.db.store import Store
from stackrank.env.actions import Action
from stackrank.env.debug_env import DebugEnv
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.sandbox.guest.diffs import file_diff
from stackrank.env.tools import tool_set
from stackrank.wording import visible
from tests.dashboard.seed import HOSTILE, SOURCE
from tests.dashboard.traces import add_many, finish, new_episode
from tests.env.conftest import make_task, usable


def given(app: Any, name: str) -> list[dict[str, Any]]:
    """What the components of this name are given."""
    found = [one.proto for one in app.get("bidi_component") if one.proto.component_name == f"stackrank_{name}"]
    return [json.loads(one.bytes) for one in found]


def outline(app: Any) -> dict[str, Any]:
    (found,) = given(app, "debugger")
    return found


def rows(app: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = outline(app)["rows"]
    return found


def fed(app: Any) -> dict[str, Any]:
    """The parts that the debugger is fed with, by their names."""
    return {each["name"]: each["value"] for each in given(app, "feed")}


def detail(app: Any, step: int) -> dict[str, Any]:
    """A step in all its parts."""
    chunks = [value for name, value in fed(app).items() if name.startswith("steps:")]
    (found,) = [each for steps in chunks for each in steps if each["step"] == step]
    return dict(found)


def texts(app: Any) -> str:
    kinds = ("subheader", "markdown", "caption", "text", "info", "code")
    return "\n".join(str(part.value) for kind in kinds for part in app.get(kind)).replace("\\", "")


def changed(old: str, new: str) -> str:
    return file_diff("core.py", old.encode(), new.encode())


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
    store.add_step(Step(episode_id=episode, index=0, state=tests("failed"), milestones=["reproduced"]))
    store.add_step(
        Step(episode_id=episode, index=1, tool="pdb", arguments={"command": "c"}, state=paused, distance="line")
    )
    one = SOURCE.replace("        for item in items[1:]:", "        for item in items:")
    edit = {"kind": "edit", "edited": "core.py", "lines": [14, 14], "diff": changed(SOURCE, one)}
    store.add_step(Step(episode_id=episode, index=2, tool="rewrite", arguments=first, state=edit))
    usage = {"tokens_in": 7, "tokens_out": 2}
    notes = ["[3 earlier turns of this conversation were left out]"]
    notes.append("a\n[... 512 characters of this observation were left out here to save room ...]\nb")
    request = {"messages": ["why?", *({"content": note} for note in notes)], "history_cut_to_tokens": 900}
    asked = [{"model": "m", "request": request, "answer": {"text": "so"}, "usage": usage}]
    store.add_step(Step(episode_id=episode, index=3, tool="eval", state=tests("passed"), exchanges=asked, ok=False))
    two = "".join(one.splitlines(keepends=True)[2:])
    edit = {"kind": "edit", "edited": "core.py", "lines": [1, 2], "diff": changed(one, two)}
    store.add_step(Step(episode_id=episode, index=4, tool="rewrite", arguments=second, state=edit))
    ran = {"kind": "command", "exit": 0, "timed_out": False, "diff": changed(two, f"{two}# seen\n")}
    store.add_step(
        Step(episode_id=episode, index=5, tool="bash", arguments={"command": "echo '# seen' >> core.py"}, state=ran)
    )
    finish(store, episode, steps=5, failure_step=2, diff="the final diff")
    return SimpleNamespace(url=url, store=store, episode=str(episode))


def test_what_the_list_and_the_timeline_show(visit: Any, played: SimpleNamespace) -> None:
    app = visit(played.url, "episode", id=played.episode)
    assert outline(app)["start"] == 2, "the failure point comes first"
    listed = rows(app)
    assert [row["tool"] for row in listed] == ["reset", "pdb", "rewrite", "eval", "rewrite", "bash"]
    assert [listed[2]["text"], listed[4]["text"]] == ["+ for item in items:", "- from decimal import Decimal"]
    assert [row["marks"] for row in listed[:3]] == [["reproduced"], [], ["localized"]]
    assert (listed[0]["tests"], listed[1]["where"], listed[3]["ok"]) == ("1 of 2 pass", "core.py:14 Book.total", False)
    assert [(row["depth"], row["passed"], row["distance"]) for row in listed[:2]] == [(None, 1, ""), (2, None, "line")]
    assert listed[1]["about"] == ["core.py:14 Book.total", "depth 2", "at the fault"]


def test_a_part_is_the_same_bytes_whichever_step_is_selected(visit: Any, played: SimpleNamespace) -> None:
    one, other = (visit(played.url, "episode", id=played.episode, step=step) for step in ("1", "4"))
    first, second = (
        {part.proto.id: part.proto.bytes for part in app.get("bidi_component") if not part.proto.id.endswith("-jump")}
        for app in (one, other)
    )
    assert first == second and all(first.values()) and len(first) > 3


@pytest.mark.parametrize(
    ("step", "part", "shown", "not_shown"),
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
    visit: Any, played: SimpleNamespace, step: int, part: str, shown: list[str], not_shown: list[str]
) -> None:
    found = json.dumps(detail(visit(played.url, "episode", id=played.episode), step)[part], ensure_ascii=False)
    assert [one for one in shown if one not in found] == []
    assert [one for one in not_shown if one in found] == []


@pytest.mark.parametrize(
    ("step", "tab", "shown", "not_shown"),
    [
        ("1", "Diff", ['"so_far": {"text": ""', "the final diff"], ["recorded nothing"]),
        ("5", "Diff", ["-from decimal", "+        for item in items:", "+# seen"], ["recorded nothing"]),
        ("2", "Tests", ["1 passed, 1 failed", '"at": 0'], []),
        ("5", "Tests", ['2 passed, 0 failed", "rows": [["passed", "t.py::a", "failed"], ["passed", "t.py::b"'], []),
        ("5", "Tests", ['"at": 3'], []),
        ("3", "Model", ["Question 1 · m · 7 tokens in, 2 out", r"\"why?\"", r"\"text\": \"so\""], []),
        ("3", "Model", ["cut to about 900 tokens", "3 earlier turns are left out, 1 observation is cut"], []),
        ("2", "Model", ["[]"], ["Question"]),
    ],
)
def test_tabs(visit: Any, played: SimpleNamespace, step: str, tab: str, shown: list[str], not_shown: list[str]) -> None:
    app = visit(played.url, "episode", id=played.episode, step=step, step_tab=tab)
    found = json.dumps(fed(app)[f"{tab}:{step}"], ensure_ascii=False)
    assert [one for one in shown if one not in found] == []
    assert [one for one in not_shown if one in found] == []
    assert not {name for name in fed(app) if name.partition(":")[0] in {"Diff", "Tests", "Model"} - {tab}}


def test_a_conversation_tells_what_is_new_from_what_was_said_before() -> None:
    said = [("system", "s"), ("user", "u"), ("assistant", "a"), ("tool", "t")]
    messages: list[Any] = [{"role": role, "content": text} for role, text in said]
    messages[2]["tool_calls"] = [{"function": {"name": "pdb"}}]
    messages += ["nonsense", {"role": "user", "content": [{"text": "one"}, "two", {"type": "image"}]}]
    (asked,) = questions([{"request": {"messages": messages}, "answer": {"text": "x"}, "reasoning": "r" * 30_000}])
    assert [(each["role"], each["text"]["text"]) for each in asked["new"]] == [("tool", "t"), ("user", "one\ntwo")]
    assert [each["role"] for each in asked["earlier"]] == ["system", "user", "assistant"]
    assert '"pdb"' in asked["earlier"][2]["calls"]["text"] and asked["earlier_total"] == 3
    assert (len(asked["reasoning"]["text"]), asked["reasoning"]["total"]) == (20_000, 30_000)
    assert questions([{"request": "text", "answer": None}])[0]["new"] == []


@pytest.mark.parametrize(
    ("rows", "found"),
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
def test_repeats(rows: str, found: list[tuple[int, int, int]]) -> None:
    assert repeats(rows) == found


def test_steps_that_did_the_same_and_came_to_something_else_are_no_repeat(visit: Any, tmp_path: Path) -> None:
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
    assert outline(visit(url, "episode", id=str(episode)))["repeats"] == [[2, 5, 1]]


def view(app: Any, step: int) -> dict[str, Any]:
    """The source that a step shows, with its lines."""
    shown = detail(app, step)["source"]
    return {**shown, **fed(app)[f"file:{shown['file']}"]}


def plain(shown: dict[str, Any]) -> list[str]:
    return ["".join(text for _, text in line) for line in shown["lines"]]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", 'def f():\n    """A\n    b"""\r\n\n\treturn "\x0c\x1b[1m"  # \u202e\n'),
        ("a.py", "if (\n'a"),
        ("a.unknown", "x = 1\n"),
        ("a.py", "x" * 5_000),
        ("a.py", ""),
    ],
)
def test_colors_change_no_text(path: str, text: str) -> None:
    lines = visible(text).split("\n")
    assert ["".join(part for _, part in line) for line in colored(path, text, lines)] == [one[:2_000] for one in lines]


def test_a_first_change_is_code() -> None:
    diff = changed("# stackrank-canary 1\nx = 1\n", "# stackrank-canary 2\n\n\tx = 2  # two\n")
    assert _first_change(diff) == "+ x = 2  # two"
    assert _first_change(changed("# a\n", "# b\n")) is None and _first_change(None) is None


def test_a_tool_has_one_color_in_every_episode() -> None:
    hues = [_hue(name) for name in _TOOLS]
    assert len(set(hues)) == len(_TOOLS) and 0 <= _hue("of a plug-in") < len(_TOOLS)
    for scheme in re.findall(r"(?:light|dark): (\[.*?\])", (HERE / "dom.js").read_text()):
        assert len(set(json.loads(scheme))) == len(_TOOLS)
        assert not {color.upper() for color in json.loads(scheme)} & {*HUES}, "the colour of an entrant"


def test_the_source_is_as_it_was_at_the_step(visit: Any, played: SimpleNamespace) -> None:
    lines = SOURCE.split("\n")
    app = visit(played.url, "episode", id=played.episode, step="1")
    before = view(app, 1)
    assert plain(before) == lines and before["lines"][0][0] == ["k", "from"]
    assert (before["current"], before["breakpoints"], before["touched"]) == ([14], [13], [])
    after = view(app, 2)
    assert plain(after)[13] == "        for item in items:" and after["touched"] == [14]
    assert plain(view(app, 4)) == [*lines[2:13], "        for item in items:", *lines[14:]]


def test_a_long_file_is_sent_around_the_line_that_matters(visit: Any, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'x.db'}"
    store = Store(connect(url))
    text = "".join(f"line_{number}\n" for number in range(1, 9_001))
    episode = new_episode(store, files={"core.py": text, "other.py": "x = 1\n"})
    for index, line in enumerate((1, 700, 4_321, 9_000)):
        state = {"file": "core.py", "line": line, "breakpoints": []}
        store.add_step(Step(episode_id=episode, index=index, tool="pdb", state=state))
    app = visit(url, "episode", id=str(episode), step="2", step_file="other.py")
    for index, line in enumerate((1, 700, 4_321, 9_000)):
        shown = view(app, index)
        assert len(shown["lines"]) <= 2_000 and plain(shown)[line - shown["first"]] == f"line_{line}"
    other = fed(app)["source:2:other.py"]
    assert plain(fed(app)[f"file:{other['file']}"]) == ["x = 1", ""] and other["current"] == []
    gone = visit(url, "episode", id=str(episode), step="2", step_file="gone.py")
    assert fed(gone)["source:2:gone.py"]["file"] is None


def test_a_local_over_the_steps(visit: Any, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'x.db'}"
    store = Store(connect(url))
    episode = new_episode(store)
    for index, value in enumerate(("0", "0", "3", None, "3", HOSTILE)):
        at = {"file": "core.py", "line": 12 + index % 2, "function": "Book.total", "breakpoints": []}
        state = {} if value is None else {**at, "locals": {"result": value, "odd": [1]}}
        store.add_step(Step(episode_id=episode, index=index, tool="pdb", state=state))
    edit = {"kind": "edit", "edited": "./core.py", "lines": [13, 14]}
    store.add_step(Step(episode_id=episode, index=6, tool="rewrite", state=edit))
    finish(store, episode, steps=6)
    app = visit(url, "episode", id=str(episode), step="2", step_local="result")
    told = fed(app)["local:result"]
    assert [(span["first"], span["last"], span["value"]) for span in told["spans"]] == [
        (0, 1, "0"), (2, 4, "3"), (5, 5, HOSTILE),
    ]  # fmt: skip
    assert {span["function"] for span in told["spans"]} == {"Book.total"} and told["total"] == 3
    assert outline(app)["stops"] == {"core.py": [[12, 0], [13, 1], [12, 2], [12, 4], [13, 5]]}
    assert outline(app)["edits"] == {"core.py": [[13, 14, 6]]}
    former = [[local.get("former", "same") for local in detail(app, step)["stack"]["locals"]] for step in range(6)]
    assert [each[0] for each in former] == ["same", "same", "0", "0", "same", "3"], "step 3 told nothing new"
    assert fed(visit(url, "episode", id=str(episode), step_local="nothing"))["local:nothing"]["total"] == 0


def test_changes_are_told_within_a_function() -> None:
    changes = Changes([{"function": "f", "locals": {"a": "1"}}, {"function": "g", "locals": {"a": "9"}}])
    assert changes.of("f", {"a": "1", "b": "2"}) == {"b": None}
    assert changes.of("h", {"a": "5"}) == {} and changes.of("g", {}) == {}
    assert changes.of("g", {"a": "8"}) == {"a": "9"} and changes.of("g", {"a": "8"}) == {}


def test_a_text_is_found_in_the_steps(visit: Any, played: SimpleNamespace) -> None:
    app = visit(played.url, "episode", id=played.episode, find="ITEM IN items")
    assert [hit["step"] for hit in fed(app)["find:ITEM IN items"]] == [2]
    assert fed(visit(played.url, "episode", id=played.episode, find="nowhere"))["find:nowhere"] == []


def test_what_the_browser_says_counts_until_the_address_changes(visit: Any, played: SimpleNamespace) -> None:
    app = visit(played.url, "episode", id=played.episode, step="1")
    before = ({"id": [played.episode], "step": ["1"]}, {"step": ["3"], "step_tab": ["Tests"], "find": []})
    app.session_state["learned_parameters"] = before
    assert "Tests:3" in fed(app.run())
    app.query_params["step"] = "4"
    assert not any(name.startswith("Tests") for name in fed(app.run()))


@pytest.mark.parametrize("said", [None, 7, {}, {"step": True}, {"step": -1, "tab": [], "find": 5}, {"tab": "Other"}])
def test_nonsense_from_the_browser_is_no_view(said: object, monkeypatch: pytest.MonkeyPatch) -> None:
    state: dict[str, Any] = {}
    monkeypatch.setattr("streamlit.session_state", state)
    monkeypatch.setattr("streamlit.query_params", {})
    keep(said)
    shown = current()
    assert shown.step is None and shown.tab == "Step"


def test_the_fix_marks_lines_only_after_it_was_asked_for(visit: Any, played: SimpleNamespace) -> None:
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
    shown = detail(app, 1)["source"]
    assert (shown["path"], shown["file"], shown["excerpt"]) == ("core.py", None, "   2 -> x")
    assert detail(app, 0)["source"]["path"] == "" and not any(name.startswith("file:") for name in fed(app))


def test_many_steps_come_in_parts(visit: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


COMMANDS = [
    "printf 'one\\ntwo' > crlf.txt && rm empty.txt",
    "sed -i 's/$/!/' plain.py && printf 'new\\n' > 'a b.txt'",
    "printf 'binary\\377' > open.txt",
    "mv plain.py moved.py; printf 'text\\n' > open.txt",
    "touch nothing; true > moved.py",
]


def test_files_read_as_in_a_sandbox() -> None:
    """The dashboard applies the diffs that the steps recorded: edits, and what commands changed."""
    given = {"crlf.txt": b"one\r\nzwei\r\n", "open.txt": b"a", "plain.py": b"1\n2\n3\n", "empty.txt": b""}
    files = Files({path: content.decode() for path, content in given.items()})
    with DebugEnv(
        make_task(given, test_command="true", readonly=()),
        tool_set("full"),
        lambda spec: Sandbox(usable("local"), spec),
    ) as env:
        env.reset()
        actions = [Action("rewrite", edit) for edit in EDITS] + [Action("bash", {"command": each}) for each in COMMANDS]
        for index, action in enumerate(actions):
            seen = env.step(action)[0]
            if not seen.ok:
                continue
            edited = seen.state["edited"] if seen.state["kind"] == "edit" else None
            files.follow([{"index": index, "tool": action.tool, "diff": seen.state["diff"], "edited": edited}])
            there = {name for name, size in env.sandbox.listing(depth=9)["entries"] if size is not None}
            assert set(files.texts) | files.lost == there, action
            for name, text in files.texts.items():
                assert env.sandbox.read(name).decode() == text, (action, name)
        assert files.lost == {"open.txt"}, "nobody can tell what is in it from diffs after it was binary"
        assert not files.unrecorded


def test_what_nothing_records_is_not_guessed() -> None:
    """Rows of older versions say which file was edited, and not how."""
    files = Files({"a.py": "1\n", "b.py": "1\n"})
    files.follow([{"index": 3, "tool": "rewrite", "diff": None, "edited": "a.py"}])
    files.follow([{"index": 4, "tool": "bash", "diff": None, "edited": None}])
    assert (files.texts, files.lost, files.unrecorded) == ({"b.py": "1\n"}, {"a.py"}, [3, 4])
    other = file_diff("b.py", b"what it never was\n", b"2\n")
    assert files.follow([{"index": 5, "tool": "rewrite", "diff": other, "edited": "b.py"}]).lost == {"a.py", "b.py"}


def test_an_episode_of_an_older_version(visit: Any, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'x.db'}"
    store = Store(connect(url))
    episode = new_episode(store)
    store.add_step(Step(episode_id=episode, index=0))
    arguments = {"path": "core.py", "new_code": "x = 1"}
    store.add_step(
        Step(
            episode_id=episode,
            index=1,
            tool="rewrite",
            arguments=arguments,
            state={"edited": "core.py", "lines": [1, 9]},
        )
    )
    store.add_step(
        Step(
            episode_id=episode, index=2, tool="bash", arguments={"command": "ls"}, state={"exit": 0, "timed_out": False}
        )
    )
    finish(store, episode, steps=2, diff="the final diff")
    app = visit(url, "episode", id=str(episode), step="2", step_tab="Diff")
    told = fed(app)["Diff:2"]
    assert "recorded nothing of it: 1, 2." in told["doubts"][1] and told["final"]["text"] == "the final diff"
    assert detail(app, 1)["action"][1]["text"]["text"] == "x = 1"


def test_the_head_says_what_speaks_against_a_verdict(visit: Any, seeded: SimpleNamespace) -> None:
    played = queries.episodes(seeded.store.engine, limit=500)
    tampered = next(row["id"] for row in played if row["tampered"] and row["id"] % 4 == 0)
    shown = texts(visit(seeded.url, "episode", id=str(tampered)))
    assert "tests/test_core.py::test_total passed with a wrong expectation" in shown
    assert "core.py:3 reads its callers' frames" in shown


def test_an_investigation_stands_below_the_step_that_asked(visit: Any, tmp_path: Path) -> None:
    """Its answer and all its steps; a second one that has no answer yet; a question that was refused is none."""
    url = f"sqlite:///{tmp_path / 'x.db'}"
    store = Store(connect(url))
    episode = new_episode(store)
    asked, told = {"question": "Why <b>?"}, {"text": "Because *x*."}
    steps = [
        ("", {}, "reset"),
        ("investigate", asked, "begins"),
        ("pdb", {"command": "c"}, "stopped"),
        ("", {}, "calls no tool"),
        ("answer", told, "Because *x*."),
        ("view", {"path": "core.py"}, "shown"),
        ("investigate", {}, "refused"),
        ("investigate", asked, "begins"),
        ("view", {"path": "core.py"}, "seen"),
    ]
    for index, (tool, arguments, seen) in enumerate(steps):
        ok = seen not in ("refused", "calls no tool")
        store.add_step(
            Step(episode_id=episode, index=index, tool=tool, arguments=arguments, observation=seen, ok=ok, tokens_in=7)
        )
    finish(store, episode, steps=8)
    app = visit(url, "episode", id=str(episode), step="1")
    assert [row["inside"] for row in rows(app)] == [False, False, True, True, True, False, False, False, True]
    found = detail(app, 1)["investigation"]
    assert (found["answer"]["text"], found["about"]) == ("Because *x*.", "3 steps, 21 tokens")
    assert found["steps"] == [[2, "pdb c"], [3, "malformed "], [4, "answer Because *x*."]]
    assert detail(app, 7)["investigation"]["answer"] is None
    assert detail(app, 6)["investigation"] is None
    first = queries.steps(store.engine, episode, first=3, limit=3)
    assert [row["investigation"] for row in first] == [1, 1, None]
