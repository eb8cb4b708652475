"""What text mode explains, it takes: calls made from each tool's schema are written, shown and read back equal."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Any

import pytest

from stackrank.agents.llm.endpoints.endpoint import Reply
from stackrank.agents.llm.seeker import Ask, Brief
from stackrank.agents.llm.syntaxes.notation import Notation
from stackrank.agents.llm.syntaxes.syntax import BadCall
from stackrank.agents.llm.syntaxes.text import EXAMPLES, FencedText
from stackrank.env.actions import Action
from stackrank.env.tools import TOOL_SETS, find_tool, tool_names
from stackrank.env.tools.base import Arguments, Described, schema

PIECES = (
    *(
        "x",
        "def f(a):",
        "    return a",
        "\treturn",
        "total += 1",
        "rows[0]",
        "",
        "",
        " ",
        "  # end  ",
        "\r",
        "a\\nb",
        "\\",
    ),
    *("'", '"', "'''", '"""', "it's", 'say "hi" now', "\\\"'", "`", "``", "```", "```action", "````", "~~~", "~~~~~~"),
    *(
        "<think>",
        "</think>",
        "<tool_call>",
        "</think>```",
        "<function=view>",
        "{",
        '{"tool": "eval"}',
        "[1]",
        "null",
        "5",
    ),
    *("===", "=== path", "==== new_str", "=== code (no newline at end)", "=======", "<<<<<<< OLD", ">>>>>>> NEW"),
    *("path=a", "start=3", "limit", "command=c", "view a.py", "ok", "refused", "(Pdb) c", "$ ls", "é", "日本", "😀"),
    *("\u00a0", "\u2028", "\x0b", "\x1c", "\ufeff", "\u202e", "True", "1e3", "-1", "a, b", "{{ x }}", "{% if %}"),
)
ANY_TYPE = ({"type": "string"}, {"type": "number"}, {"type": "object"}, {"type": "array"})
ODD: dict[str, Any] = {
    "type": "object",
    "properties": {
        "file-path": {"type": "string"},
        "$ref": {"type": ["string", "integer"]},
        "any": {},
        "list": {"type": ["string", "array"]},
        "many": {"type": "array", "items": {"type": "string"}},
        "more": {"anyOf": [{"type": "object"}, {"type": "null"}]},
        "a b": {"type": "string"},
        "x=y": {"type": "boolean"},
    },
    "required": ["file-path", "many"],
}


class OddArguments(Arguments):
    given_schema = ODD


class Odd:
    """A tool of a server, with names and types that no tool of ours has."""

    name = "odd-server_tool"
    description = "Do it."
    arguments = OddArguments


TOOLS: dict[str, Described] = {
    **{name: find_tool(name) for name in tool_names()},
    **{tool.name: tool for tool in (Brief(4000, 4), Ask(), Odd())},
}
SYNTAX = FencedText(list(TOOLS.values()))


def make_text(source: random.Random) -> str:
    words = [source.choice(PIECES) for _ in range(source.choice((0, 1, 1, 2, 3, 8)))]
    text = source.choice((" ", "\n", "\n", "\n\n", "")).join(words)
    return text + source.choice(("", "", "\n"))


def make_value(described: dict[str, Any], source: random.Random) -> Any:
    kinds = described.get("type") or [option.get("type", "object") for option in described.get("anyOf", ANY_TYPE)]
    kind = kinds if isinstance(kinds, str) else source.choice(kinds)
    if "$ref" in described or kind == "object":
        return {make_text(source): make_text(source), "n": source.choice((1, None, [make_text(source)]))}
    if "enum" in described:
        return source.choice(described["enum"])
    return {
        "string": lambda: make_text(source),
        "integer": lambda: source.randrange(-9, 99),
        "number": lambda: source.choice((2.5, 30, -0.125)),
        "boolean": lambda: source.random() < 0.5,
        "array": lambda: [make_text(source) for _ in range(source.randrange(3))],
        "null": lambda: None,
    }[kind]()


def make_actions(name: str, rounds: int) -> Iterator[Action]:
    described = schema(TOOLS[name])
    source = random.Random(name)
    for _ in range(rounds):
        names = [key for key in described["properties"] if key in described["required"] or source.random() < 0.5]
        yield Action(name, {key: make_value(described["properties"][key], source) for key in names})


def read(text: str, syntax: FencedText = SYNTAX) -> Action:
    (call,) = syntax.find_calls(Reply(text))
    return syntax.read_action(call)[0]


def check_tool(name: str, rounds: int) -> None:
    source = random.Random(0)
    for action in make_actions(name, rounds):
        block = SYNTAX.write(action, source.choice((None, 0, 1, 9)))
        for reply in (
            block,
            f"Let me see.\n\n{block}\n",
            f"<think>or\n```action\nsubmit\n```\n</think>\nSo\n{block}\n\nok\n1",
        ):
            assert read(reply) == action, block
        assert SYNTAX.trim_text(Reply(f"{block}\nAnd then\n```action\nsubmit\n```")) == block


@pytest.mark.parametrize("name", TOOLS)
def test_what_is_written_is_read_back(name: str) -> None:
    check_tool(name, 60)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", TOOLS)
def test_whatever_is_written_is_read_back(name: str) -> None:
    check_tool(name, 5000)


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ('any=\'{"K": [1, "it\'s"]}\'', {"any": {"K": [1, "it's"]}}),
        ("any='[1, 2]'", {"any": [1, 2]}),
        ("any='5'", {"any": "5"}),
        ("any='{\"K\": 1'", {"any": '{"K": 1'}),
        ("list='[1, 2]'", {"list": [1, 2]}),
        ("list='{\"K\": 1}'", {"list": '{"K": 1}'}),
        ("more='{\"K\": 1}'", {"more": {"K": 1}}),
        ("file-path='{\"K\": 1}'", {"file-path": '{"K": 1}'}),
    ],
)
def test_the_schema_decides_what_quotes_hold(word: str, value: Any) -> None:
    assert read(f"```action\nodd-server_tool {word}\n```").arguments == value


@pytest.mark.parametrize("name", TOOL_SETS)
def test_the_prompt_shows_nothing_that_is_not_taken(name: str) -> None:
    """Fills in each form that the prompt shows, in order and by name, and reads each of its examples."""
    syntax = FencedText([find_tool(tool) for tool in TOOL_SETS[name].tools])
    help_text = syntax.write_help()
    shown = [
        f"```action{block}```" for block in re.findall(r"^```action(\n.*?)```$", help_text, re.DOTALL | re.MULTILINE)
    ]
    expected = [example for example in EXAMPLES if example.tool in TOOL_SETS[name].tools][:3]
    assert [read(block, syntax) for block in shown] == expected
    for example in expected:
        find_tool(example.tool).arguments.model_validate(example.arguments)
    for tool in TOOL_SETS[name].tools:
        usage = Notation(find_tool(tool)).usage()
        assert f"\n{usage}\n    {find_tool(tool).description}\n" in f"{help_text}\n"
        for form in (usage, usage.replace("[", "").replace("]", ""), re.sub(r"\[[^\]]*\]", "", usage)):
            filled = re.sub(r"<(\w+)>", r"  text of \1", form.replace("[", "").replace("]", "").replace("...", "1"))
            action = read(f"```action\n{filled}\n```", syntax)
            assert action.tool == tool
            names = {name.removesuffix("=...") for name in re.findall(r"[\w=.]+", form.split("\n")[0])[1:]}
            assert action.arguments.keys() == names | set(re.findall(r"<(\w+)>", form))
            for text in re.findall(r"<(\w+)>", form):
                assert action.arguments[text] == f"  text of {text}\n"


@pytest.mark.parametrize(
    ("block", "hint"),
    [
        ("view a.py 1 2 900 4", "takes no further argument: '4' is one too many"),
        ("view file=a.py", "view has no argument 'file'"),
        ("view a.py path=b.py", "path is given twice"),
        ("view a.py\nview b.py", "view does not take the line 'view b.py'"),
        ("grep 'def f", "The quote that opens 'def f is not closed"),
        ("rewrite a.py 1 2", 'rewrite needs new_code. Write it like this:\nrewrite path [start] [end]\n<new_code>\n'),
        ("rewrite a.py 1 2\n\n", 'To leave it empty, write new_code="" on the first line.'),
        ("str_replace a.py\nx = 1\n", "str_replace does not take the line 'x = 1'"),
        ("str_replace a.py\n=== old_str\nx\n=== old_str\ny\n", "contains the line '=== old_str', use another number"),
        ("str_replace a.py\n=== old_str\nx\n", "str_replace needs new_str"),
        ("pdb command=c\nn", "command is given twice, on the first line and below it"),
        ("eval tests\nhm", "eval does not take the line 'hm'"),
    ],
)  # fmt: skip
def test_a_refusal_says_what_to_write(block: str, hint: str) -> None:
    with pytest.raises(BadCall) as caught:
        read(f"```action\n{block}\n```")
    assert hint in str(caught.value) and "Nothing was done." in str(caught.value)
    tool = block.split()[0]
    assert f"Write it like this:\n{Notation(TOOLS[tool]).usage()}\n" in str(caught.value)
