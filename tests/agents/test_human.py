"""A person at the keyboard: the meaning of typed lines, and completions."""

from __future__ import annotations

import io
from typing import Any

import pytest

from stackrank.agents.episode.protocol import Briefing, Decision, GaveUp, SetupError
from stackrank.agents.episode.step import Step
from stackrank.agents.human import Human
from stackrank.agents.human.commands import UnclearInput, files_in, help_text, read_action, suggestions
from stackrank.env.actions import Action, Observation
from stackrank.env.tools import find_tool, tool_names, tool_set

ALL = tool_set(",".join(tool_names()))


@pytest.mark.parametrize(
    ("line", "arguments"),
    [
        ("view a.py", {"path": "a.py"}),
        ("view 'a b.py' 3", {"path": "a b.py", "start": 3}),
        ("view a.py 3 9", {"path": "a.py", "start": 3, "end": 9}),
        ("  eval  ", {}),
        ("eval verbose 'tests/test_a.py::test_b[x y]'", {"verbose": True, "test": "tests/test_a.py::test_b[x y]"}),
        ("pdb test='python -c 1' b a.py:3 ;; c", {"test": "python -c 1", "command": "b a.py:3 ;; c"}),
        ("pdb total=3", {"command": "total=3"}),
        ("bash timeout_s=5 make -k x=1", {"timeout_s": "5", "command": "make -k x=1"}),
        ("submit", {}),
        ("branch 3", {"at": 3}),
        ("listdir", {}),
        ("listdir src 3", {"path": "src", "depth": 3}),
        ("grep def", {"pattern": "def"}),
        ('grep -i "def a" src *.py', {"ignore_case": True, "pattern": "def a", "path": "src", "glob": "*.py"}),
        ("pdb b cart.py:3, total > 'x'", {"command": "b cart.py:3, total > 'x'"}),
        ("bash ls | wc -l", {"command": "ls | wc -l"}),
        ("terminal gdb -q a.out x=1", {"text": "gdb -q a.out x=1"}),
        ("terminal key=ctrl-c", {"key": "ctrl-c"}),
        ("terminal pattern='^done' wait=prompt make  all", {"pattern": "^done", "wait": "prompt", "text": "make  all"}),
        ("rewrite a.py", {"path": "a.py", "new_code": "code"}),
        ("rewrite a.py 4 3", {"path": "a.py", "start": 4, "end": 3, "new_code": "code"}),
    ],
)
def test_valid_lines(line: str, arguments: dict[str, Any]) -> None:
    action = read_action(line, ALL, lambda: "code")
    assert action == Action(line.split()[0], arguments)
    find_tool(action.tool).arguments.model_validate(arguments)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("view", "usage: view PATH"),
        ("view a.py three", "usage: view PATH"),
        ("view a.py 1 2 3", "usage: view PATH"),
        ("view 'a.py", "usage: view PATH"),
        ("eval now then", "usage: eval"),
        ("branch", "usage: branch STEP"),
        ("branch 1 2", "usage: branch STEP"),
        ("grep", "usage: grep"),
        ("grep a b c d", "usage: grep"),
        ("pdb", "usage: pdb .test=WHAT. COMMAND"),
        ("bash  ", "usage: bash"),
        ("rewrite", "usage: rewrite"),
        ("hammer", "there is no tool 'hammer' here: eval, view"),
    ],
)
def test_invalid_lines(line: str, words: str) -> None:
    with pytest.raises(UnclearInput, match=words):
        read_action(line, ALL, lambda: pytest.fail("nobody asked for code"))


def test_tools_of_plug_ins_take_arguments_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(__import__("stackrank.agents.human.commands", fromlist=["_PARSERS"])._PARSERS, "view")
    assert read_action("view path=a.py start=3", ALL, str).arguments == {"path": "a.py", "start": 3}
    for wrong in ("view a.py", "view file=a.py"):
        with pytest.raises(UnclearInput):
            read_action(wrong, ALL, str)


def test_help_lists_the_tools_of_the_set() -> None:
    rewrite_tools = tool_set("rewrite")
    assert "pdb" not in help_text(rewrite_tools)
    assert "rewrite PATH" in help_text(rewrite_tools) and "quit" in help_text(rewrite_tools)
    assert "new_code: The new text" in help_text(rewrite_tools, "rewrite")
    with pytest.raises(UnclearInput, match="no tool 'pdb'"):
        help_text(rewrite_tools, "pdb")


def test_completions() -> None:
    files = files_in("ledger/a.py  (read-only)\n/workspace/b/c.toml:3: error in 2.5 s, see x.y_z() and d.py")
    assert files[:2] == ["ledger/a.py", "b/c.toml"] and "d.py" in files
    assert {"view", "pdb", "help", "quit"} <= set(suggestions([], ALL, files))
    assert "b/c.toml" in suggestions(["view"], ALL, files)
    assert "next" in suggestions(["pdb"], ALL, files)
    assert "d.py" in suggestions(["pdb", "b"], ALL, files)
    assert suggestions(["help"], ALL, files) == list(ALL.tools)
    assert suggestions(["grep"], ALL, files) == suggestions(["help", "pdb"], ALL, files) == []


def begun(monkeypatch: pytest.MonkeyPatch, typed: str) -> Human:
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    agent = Human()
    agent.begin(Briefing("t", "", "", ALL, 50), Observation("It fails."))
    return agent


def test_thoughts_and_mistakes_cost_no_step(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    agent = begun(
        monkeypatch, "\n# Hm.\nvjew a.py\nhelp eval\n# The cart?\nrewrite a.py 2\n  x = 1\n..\n.\nquit\nsubmit\n"
    )
    action = Action("rewrite", {"path": "a.py", "start": 2, "new_code": "  x = 1\n.\n"})
    assert agent.act(Observation("first")) == Decision(action, "Hm.\nThe cart?")
    with pytest.raises(GaveUp):
        agent.act(Observation("nothing there", ok=False))
    printed = capsys.readouterr().out
    for words in ("first", "[step 1] >", "no tool 'vjew'", "Run the task's tests", "[step 2] >"):
        assert words in printed
    assert "That failed: nothing there" in printed


@pytest.mark.parametrize("typed", ["", "rewrite a.py\nx = 1\n"])
def test_the_end_of_input_is_giving_up(monkeypatch: pytest.MonkeyPatch, typed: str) -> None:
    with pytest.raises(GaveUp):
        begun(monkeypatch, typed).act(Observation(""))


def test_recorded_steps_are_not_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("submit\n"))
    agent = Human()
    agent.recall([Step(0, None, Observation("It fails.")), Step(1, Action("eval"), Observation("1 failed"))])
    agent.begin(Briefing("t", "", "", ALL, 50), Observation("It fails."))
    assert [agent.act(Observation("")).action.tool for _ in range(2)] == ["eval", "submit"]


def test_only_the_player_can_be_configured() -> None:
    Human(config={"player": "ada"})
    with pytest.raises(SetupError, match="only setting is `player`"):
        Human(config={"speed": 3})
