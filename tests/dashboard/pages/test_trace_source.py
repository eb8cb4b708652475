"""The source beside a trace: colors, files after each edit, and the history of locals."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from stackrank.dashboard.browser.modules import HERE
from stackrank.dashboard.charts.style import HUES
from stackrank.dashboard.trace.colors import colored
from stackrank.dashboard.trace.files import Files
from stackrank.dashboard.trace.steps import _TOOLS, _hue
from stackrank.dashboard.trace.travel import Changes
from stackrank.db.connection.engine import connect
from stackrank.db.models.runs import Step
from stackrank.db.queries.episodes.steps import _first_change
from stackrank.db.writes.store import Store
from stackrank.env.actions import Action
from stackrank.env.debug_env import DebugEnv
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.tools import tool_set
from stackrank.patches.contents import decode_text
from stackrank.patches.writing import file_diff
from stackrank.wording import visible
from tests.dashboard.seed import HOSTILE, SOURCE
from tests.dashboard.trace_parts import changed, detail, fed, outline, plain, view
from tests.dashboard.traces import finish, new_episode
from tests.fixtures.env import make_task, usable


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
def test_highlighting_keeps_the_text(path: str, text: str) -> None:
    lines = visible(text).split("\n")
    assert ["".join(part for _, part in line) for line in colored(path, text, lines)] == [
        line[:2_000] for line in lines
    ]


def test_first_change_skips_comments_and_blank_lines() -> None:
    diff = changed("# stackrank-canary 1\nx = 1\n", "# stackrank-canary 2\n\n\tx = 2  # two\n")
    assert _first_change(diff) == "+ x = 2  # two"
    assert _first_change(changed("# a\n", "# b\n")) is None and _first_change(None) is None


def test_a_tool_has_one_color_in_every_episode() -> None:
    hues = [_hue(name) for name in _TOOLS]
    assert len(set(hues)) == len(_TOOLS) and 0 <= _hue("of a plug-in") < len(_TOOLS)
    for scheme in re.findall(r"(?:light|dark): (\[.*?\])", (HERE / "lib/theme.js").read_text()):
        assert len(set(json.loads(scheme))) == len(_TOOLS)
        assert not {color.upper() for color in json.loads(scheme)} & {*HUES}, "the colour of an entrant"


def test_source_is_shown_as_of_the_step(visit: Any, played: SimpleNamespace) -> None:
    lines = SOURCE.split("\n")
    app = visit(played.url, "episode", id=played.episode, step="1")
    old_view = view(app, 1)
    assert plain(old_view) == lines and old_view["lines"][0][0] == ["k", "from"]
    assert (old_view["current"], old_view["breakpoints"], old_view["touched"]) == ([14], [13], [])
    new_view = view(app, 2)
    assert plain(new_view)[13] == "        for item in items:" and new_view["touched"] == [14]
    assert plain(view(app, 4)) == [*lines[2:13], "        for item in items:", *lines[14:]]


def test_long_file_is_cut_around_the_current_line(visit: Any, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'x.db'}"
    store = Store(connect(url))
    text = "".join(f"line_{number}\n" for number in range(1, 9_001))
    episode = new_episode(store, files={"core.py": text, "other.py": "x = 1\n"})
    for index, line in enumerate((1, 700, 4_321, 9_000)):
        state = {"file": "core.py", "line": line, "breakpoints": []}
        store.add_step(Step(episode_id=episode, index=index, tool="pdb", state=state))
    app = visit(url, "episode", id=str(episode), step="2", step_file="other.py")
    for index, line in enumerate((1, 700, 4_321, 9_000)):
        source = view(app, index)
        assert len(source["lines"]) <= 2_000 and plain(source)[line - source["first"]] == f"line_{line}"
    other_source = fed(app)["source:2:other.py"]
    assert plain(fed(app)[f"file:{other_source['file']}"]) == ["x = 1", ""] and other_source["current"] == []
    page = visit(url, "episode", id=str(episode), step="2", step_file="gone.py")
    assert fed(page)["source:2:gone.py"]["file"] is None


def test_history_of_a_local(visit: Any, tmp_path: Path) -> None:
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
    history = fed(app)["local:result"]
    assert [(span["first"], span["last"], span["value"]) for span in history["spans"]] == [
        (0, 1, "0"), (2, 4, "3"), (5, 5, HOSTILE),
    ]  # fmt: skip
    assert {span["function"] for span in history["spans"]} == {"Book.total"} and history["total"] == 3
    assert outline(app)["stops"] == {"core.py": [[12, 0], [13, 1], [12, 2], [12, 4], [13, 5]]}
    assert outline(app)["edits"] == {"core.py": [[13, 14, 6]]}
    former = [[local.get("former", "same") for local in detail(app, step)["stack"]["locals"]] for step in range(6)]
    assert [value[0] for value in former] == ["same", "same", "0", "0", "same", "3"], "step 3 told nothing new"
    assert fed(visit(url, "episode", id=str(episode), step_local="nothing"))["local:nothing"]["total"] == 0


def test_changed_locals_are_compared_within_a_function() -> None:
    changes = Changes([{"function": "f", "locals": {"a": "1"}}, {"function": "g", "locals": {"a": "9"}}])
    assert changes.of("f", {"a": "1", "b": "2"}) == {"b": None}
    assert changes.of("h", {"a": "5"}) == {} and changes.of("g", {}) == {}
    assert changes.of("g", {"a": "8"}) == {"a": "9"} and changes.of("g", {"a": "8"}) == {}


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
    "printf 'Latin-1 \\377\\n' > open.txt && printf '\\351\\n' >> plain.py",
    "printf 'more\\n' >> open.txt",
    "printf 'binary\\0' > open.txt",
    "mv plain.py moved.py; printf 'text\\n' > open.txt",
    "touch nothing; true > moved.py",
]


def test_file_reconstruction_matches_a_sandbox() -> None:
    """The dashboard applies the diffs that the steps recorded: edits, and what commands changed."""
    contents_of_files = {"crlf.txt": b"one\r\nzwei\r\n", "open.txt": b"a", "plain.py": b"1\n2\n3\n", "empty.txt": b""}
    files = Files({path: content.decode() for path, content in contents_of_files.items()})
    with DebugEnv(
        make_task(contents_of_files, test_command="true", readonly=()),
        tool_set("bash-debug"),
        lambda spec: Sandbox(usable("local"), spec),
    ) as env:
        env.reset()
        actions = [Action("rewrite", edit) for edit in EDITS] + [
            Action("bash", {"command": command}) for command in COMMANDS
        ]
        for index, action in enumerate(actions):
            observation = env.step(action)[0]
            if not observation.ok:
                continue
            files.follow([{"index": index, "tool": action.tool, "diff": observation.state["diff"]}])
            paths = {name for name, size, _ in env.sandbox.listing(depth=9).entries if size is not None}
            assert set(files.texts) | files.lost == paths, action
            for name, text in files.texts.items():
                assert decode_text(env.sandbox.read(name), name) == text, (action, name)
        assert files.lost == {"open.txt"}, "nobody can tell what is in it from diffs after it was binary"


def test_unrecorded_content_is_not_guessed() -> None:
    files = Files({"b.py": "1\n"})
    foreign_diff = file_diff("b.py", b"what it never was\n", b"2\n")
    assert files.follow([{"index": 5, "tool": "rewrite", "diff": foreign_diff}]).lost == {"b.py"}
