"""Actions as fenced text: what models write, and how it is read."""

from __future__ import annotations

from typing import Any

import pytest

from stackrank.agents.llm import LlmAgent
from stackrank.agents.llm.endpoints.endpoint import Reply
from stackrank.agents.llm.syntaxes.function_calling import FunctionCalling
from stackrank.agents.llm.syntaxes.syntax import BadCall, write_first_observation
from stackrank.agents.llm.syntaxes.text import FencedText
from stackrank.env.actions import Action, Observation
from stackrank.env.debug_env import DebugEnv
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.task import Limits
from stackrank.env.tools import find_tool, tool_names, tool_set
from stackrank.terms import StopReason
from tests.fixtures.agents import CART, play_real
from tests.fixtures.env import cart, usable
from tests.support.openai_server import says
from tests.support.waiting import run_out

SYNTAX = FencedText([find_tool(name) for name in tool_names()])


def read(text: str) -> Action:
    (call,) = SYNTAX.find_calls(Reply(text))
    return SYNTAX.read_action(call)[0]


def action(tool: str, /, **arguments: Any) -> Action:
    return Action(tool, arguments)


def rewritten(new_code: str) -> Action:
    return action("rewrite", path="a.py", start=1, new_code=new_code)


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("submit", action("submit")),
        ("eval\n", action("eval")),
        ("view src/a.py", action("view", path="src/a.py")),
        ("view src/a.py 3 9", action("view", path="src/a.py", start=3, end=9)),
        ("view path=src/a.py end=9", action("view", path="src/a.py", end=9)),
        ('view "my file.py"', action("view", path="my file.py")),
        (r'grep "def \w+\(" src', action("grep", pattern=r"def \w+\(", path="src")),
        ("grep 'x = \"1\"' ignore_case=True", action("grep", pattern='x = "1"', ignore_case=True)),
        ("grep don't", action("grep", pattern="don't")),
        (
            "str_replace a.py\n=== old_str\n    a = '1'\n    b = \"2\"\n=== new_str\n    c = 3",
            action("str_replace", path="a.py", old_str="    a = '1'\n    b = \"2\"\n", new_str="    c = 3\n"),
        ),
        (
            "str_replace a.py\n\n=== old_str\nx\n=== new_str\n",
            action("str_replace", path="a.py", old_str="x\n", new_str="\n"),
        ),
        (
            "str_replace a.py\n=== old_str (no newline at end)\nx\n=== new_str",
            action("str_replace", path="a.py", old_str="x", new_str=""),
        ),
        (
            "str_replace a.py old_str='f(x)' new_str=g(x)",
            action("str_replace", path="a.py", old_str="f(x)", new_str="g(x)"),
        ),
        ("pdb b cart.py:5\nc\np x = 3", action("pdb", command="b cart.py:5\nc\np x = 3\n")),
        ("pdb\nb cart.py:5\nc", action("pdb", command="b cart.py:5\nc\n")),
        ("pdb p a == b", action("pdb", command="p a == b")),
        (
            'pdb test="python -m pytest t.py" c\nw',
            action("pdb", command="c\nw\n", test="python -m pytest t.py"),
        ),
        ('pdb command="b cart.py:5"', action("pdb", command="b cart.py:5")),
        ("bash ls -l | grep x=1", action("bash", command="ls -l | grep x=1")),
        ("terminal gdb -q ./a.out", action("terminal", text="gdb -q ./a.out")),
        ("terminal\nbreak main\nrun", action("terminal", text="break main\nrun\n")),
        ("terminal X=1 make", action("terminal", text="X=1 make")),
        ('terminal key="ctrl-c enter"', action("terminal", key="ctrl-c enter")),
        (
            r'terminal pattern="^\(gdb\) $" timeout_s=2.5 restart=true run',
            action("terminal", text="run", pattern=r"^\(gdb\) $", timeout_s=2.5, restart=True),
        ),
        (
            "rewrite cart.py 5 6\n    if x:\n\n        return 'a\\n\"b\"'",
            action("rewrite", path="cart.py", start=5, end=6, new_code="    if x:\n\n        return 'a\\n\"b\"'\n"),
        ),
        ("rewrite cart.py start=5\n  x", action("rewrite", path="cart.py", start=5, new_code="  x\n")),
        ("rewrite new.py\nx = 1\ny = 2", action("rewrite", path="new.py", new_code="x = 1\ny = 2\n")),
        ('rewrite cart.py 5 6 new_code=""', action("rewrite", path="cart.py", start=5, end=6, new_code="")),
        ('{"tool": "view", "arguments": {"path": "a.py"}}', action("view", path="a.py")),
        ('{"tool": "view", "path": "a.py", "end": 9}', action("view", path="a.py", end=9)),
        ('{"tool": "submit"}', action("submit")),
        ("trace cart.py:5", action("trace", place="cart.py:5")),
        ("trace cart.py:5 condition='price > 2'\n\n", action("trace", place="cart.py:5", condition="price > 2")),
    ],
)
def test_blocks(block: str, expected: Action) -> None:
    assert read(f"So:\n```action\n{block}\n```") == expected
    find_tool(expected.tool).arguments.model_validate(expected.arguments)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```\nview a.py\n```", action("view", path="a.py")),  # not marked
        ("```json\n{\"tool\": \"eval\"}\n```", action("eval")),
        ("```python\nx = 1\n```\nso:\n```\neval\n```", action("eval")),  # another block that is no action
        ("```action\nview a.py\n", action("view", path="a.py")),  # never closed
        ("```action view a.py\n```", action("view", path="a.py")),
        ("```ACTION\r\nview a.py\r\n```\r\n", action("view", path="a.py")),
        ("1. so\n   ```action\n   rewrite a.py 1\n       x = 1\n   ```", rewritten("    x = 1\n")),
        ("```action\neval\n```\n```action\nsubmit\n```", action("eval")),  # the first of several
        ("~~~action\neval\n~~~", action("eval")),
        ('````action\nrewrite a.py 1\n"""\n```\n"""\n````', rewritten('"""\n```\n"""\n')),
        ("<think>```action\nsubmit\n```</think>\n```action\neval\n```", action("eval")),
        ('```action\nrewrite a.py 1\nx = "</think><think>"\n```', rewritten('x = "</think><think>"\n')),
        ("I think\n```\nsubmit\n```\n</think>\n```action\neval\n```", action("eval")),  # without its opening tag
        ("<think>\n```python\nx</think>\n```action\nrewrite a.py 1\n</think>\n```", rewritten("</think>\n")),
        ("```action\r\nrewrite a.py 1\r\nx\r\n\r\n```\r\n", rewritten("x\n\n")),
        ("```action\nrewrite a.py 1\nx\r\n```\n", rewritten("x\r\n")),
    ],
)  # fmt: skip
def test_fences(text: str, expected: Action) -> None:
    assert read(text) == expected


@pytest.mark.parametrize(
    ("block", "hint"),
    [
        ("", "is empty"),
        ("open a.py", "no tool 'open'"),
        ('{"tool": "view", "arguments": {"path": "a.py"}', "not valid JSON"),
        ('{"tool": "peek"}', "no tool 'peek'"),
        ('{"tool": "view", "arguments": ["a.py"]}', "JSON object"),
    ],
)
def test_corrections(block: str, hint: str) -> None:
    with pytest.raises(BadCall) as caught:
        read(f"```action\n{block}\n```")
    assert hint in str(caught.value) and len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("reply", "hint"),
    [
        (Reply("The bug is in cart.py."), "contains no action"),
        (Reply(""), "contains no action"),
        (Reply("```\neval\n```\n```\nsubmit\n```"), "contains no action"),  # which of the two?
        (Reply("```action\nrewrite a.py 1\n    x", cut_off=True), "cut off"),
        (Reply("<think>```action\nsubmit\n```"), "contains no action"),
    ],
)
def test_no_action(reply: Reply, hint: str) -> None:
    assert not SYNTAX.find_calls(reply)
    assert hint in SYNTAX.correct_missing_call(reply)


def test_invented_observations_are_dropped() -> None:
    text = 'So:\n```action\neval\n```\nThe answer: {"ok": true}\n```action\nsubmit\n```'
    assert SYNTAX.trim_text(Reply(text)) == "So:\n```action\neval\n```"


def test_help_names_every_tool_and_argument() -> None:
    help_text = SYNTAX.write_help()
    for name in tool_names():
        tool = find_tool(name)
        assert f"\n{name}" in help_text and tool.description in help_text
        for argument, field in tool.arguments.model_fields.items():
            assert f"    {argument}: {field.description}" in help_text
    assert "\nrewrite path [start] [end]\n<new_code>\n" in help_text


def test_debugs_with_pdb_and_resolves(serve: Any) -> None:
    """A whole episode in text: nothing of tool calling in it, observations as plain text."""
    server = serve(
        [
            says("Let me look.\n```action\nview cart.py\n```", tokens_in=1201, tokens_out=17),
            says("```action\npdb\nb cart.py:5\nc\np result\n```", tokens_in=1502, tokens_out=23),
            says("I know it.", tokens_in=1600, tokens_out=3),
            says("```action\nrewrite cart.py 5\n    return result\n```", tokens_in=1807, tokens_out=61),
            says("```action\nsubmit\n```", tokens_in=2111, tokens_out=5),
        ]
    )
    agent = LlmAgent(model="scripted", config={"syntax": "text", "price": {"input": 2.0, "output": 8.0}})
    outcome, steps = play_real(CART, agent)
    assert outcome.score is not None and outcome.score.resolved
    assert outcome.stop_reason is StopReason.SUBMITTED
    assert [step.action.tool if step.action else "" for step in steps[1:]] == ["view", "pdb", "", "rewrite", "submit"]
    assert outcome.usage.tokens_in == 1201 + 1502 + 1600 + 1807 + 2111
    assert outcome.usage.cost_usd == (8221 * 2 + 109 * 8) / 1e6
    assert all("tools" not in request for request in server.requests)
    messages = server.requests[-1]["messages"]
    assert {message["role"] for message in messages} == {"system", "user", "assistant"}
    first, *answers = [message["content"] for message in messages if message["role"] == "user"]
    assert "\nTest command: python -m pytest" in first and "\n\nFiles in the workspace:\ncart.py\n" in first
    assert [answer.split("\n")[0] for answer in answers] == ["ok", "ok", "refused", "ok"]
    assert (
        answers[0].split("\n")[1].startswith("cart.py, lines 1 to ") and "[cart.py:5 in total, depth 2]" in answers[1]
    )
    assert answers[2].startswith("refused\nYour answer contains no action.")


@pytest.mark.exhaustive
def test_the_first_message_names_the_test_that_hangs() -> None:
    tests = "import time\nfrom cart import total\n\n\ndef test_one():\n    assert total([]) == -1\n\n\n"
    tests += "def test_two():\n    time.sleep(999)\n\n\ndef test_three():\n    assert 0\n"
    task = cart({"tests/test_cart.py": tests}, limits=Limits(timeout_s=run_out(2)))
    with DebugEnv(task, tool_set("debug"), lambda spec: Sandbox(usable("local"), spec)) as env:
        first, _ = env.reset()
    assert "test_two" not in first.text, "pytest does not name it"
    for syntax in (SYNTAX, FunctionCalling([])):
        text = write_first_observation(syntax, first)
        assert text == f"{syntax.write_opening(first)}\n\nThe tests hung in tests/test_cart.py::test_two."
    assert write_first_observation(SYNTAX, Observation("fine")) == SYNTAX.write_opening(Observation("fine"))
