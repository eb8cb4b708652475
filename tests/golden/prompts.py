"""The golden files of what a model reads before its first action, and of what it reads when its answer is no action."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from stackrank.agents.episode.protocol import Briefing, MalformedAction
from stackrank.agents.llm.endpoints.endpoint import Reply
from stackrank.agents.llm.history import shrink
from stackrank.agents.llm.prompting import Prompts, describe_tools, with_budget_left
from stackrank.agents.llm.seeker import Ask, Brief, SeekerSettings, read_brief
from stackrank.agents.llm.syntaxes.function_calling import FunctionCalling
from stackrank.agents.llm.syntaxes.syntax import BadCall, Syntax
from stackrank.agents.llm.syntaxes.text import EXAMPLES, FencedText
from stackrank.agents.llm.syntaxes.tool_call import ToolCall
from stackrank.env.actions import Observation
from stackrank.env.instructions import ALONE, INSTRUCTIONS, MASKED, NO_REPOSITORY, RESTORED
from stackrank.env.tools import find_tool, tool_names, tool_set
from stackrank.env.tools.base import Described, schema

CORE_TOOLS = [name for name in tool_names() if type(find_tool(name)).__module__.startswith("stackrank.env.")]
MODEL_TOOLS = [name for name in CORE_TOOLS if name != "program"]
"""The core's tools that models call. `program` is the agent `command`'s own."""
PROMPTS = (
    *("system", "task", "seeker", "seeker_task", "coder", "coder_task", "investigator", "investigator_task"),
)  # fmt: skip


def section(title: str, text: str) -> str:
    """Return a part of a golden file."""
    return f"{'#' * 20} {title}\n\n{text.rstrip()}\n\n\n"


def write_tools() -> str:
    """Each tool's description and schema, as tool calling sends them."""
    tools: Sequence[Described] = [*map(find_tool, MODEL_TOOLS), Brief(4000, 4), Ask()]
    parts = []
    for tool in tools:
        described = schema(tool)
        lines = [tool.description]
        for name, entry in described["properties"].items():
            limits = {key: value for key, value in entry.items() if key not in ("description", "default")}
            kind = ", ".join(f"{key} {value}" for key, value in limits.items())
            need = "required" if name in described["required"] else "optional"
            need = f"default {entry['default']!r}" if "default" in entry else need
            lines += [f"\n{name} ({kind}; {need})", f"    {entry['description']}"]
        parts.append(section(tool.name, "\n".join(lines)))
    return "".join(parts)


def _briefing(tools: str, **options: Any) -> Briefing:
    fields: dict[str, Any] = {
        "task_id": "mini",
        "statement": "The total of a cart is wrong.",
        "test_command": "python -m pytest -q",
        "tools": tool_set(tools),
        "max_steps": 50,
        "files": ("shop/cart.py", "tests/test_cart.py  (read-only)"),
        "failing_file": "tests/test_cart.py:\n1  assert total([1]) == 1",
        **options,
    }
    return Briefing(**fields)


def _render(name: str, briefing: Briefing, tools: Sequence[Described] = (), **values: Any) -> str:
    values = {
        "syntax": FencedText(tools).write_help() if tools else "",
        "observation": "[the first observation]",
        **values,
    }
    return Prompts(PROMPTS, {}).render_task([name], briefing, tools=describe_tools(briefing.tools), **values)[0]


def write_prompts() -> str:
    """The prompts of each role and tool set."""
    parts = []
    for name in ("rewrite", "debug5", "snapshot", "investigate"):
        parts.append(section(f"system prompt, tool set {name}", _render("system", _briefing(name))))
    unseen = _briefing("bash-debug", failure_shown=False)
    parts.append(section("system prompt, if no visible test fails", _render("system", unseen)))
    goes_on = _briefing("rewrite", ends_when_solved=False)
    parts.append(section("system prompt, if the first green eval does not end the episode", _render("system", goes_on)))
    parts.append(section("first message", _render("task", goes_on)))
    parts.append(section("seeker: system prompt", _render("seeker", _briefing("debug"), limit=4000)))
    blind = _render("seeker", _briefing("rewrite", failure_shown=False), limit=4000)
    parts.append(section("seeker: system prompt without a debugger, if no visible test fails", blind))
    parts.append(section("seeker: first message", _render("seeker_task", _briefing("debug"), limit=4000)))
    parts.append(section("coder: system prompt", _render("coder", _briefing("debug"), limit=4000)))
    files = ["shop/cart.py, lines 1 to 2 of 2:\n1  def total(rows):\n2      return 0"]
    coder = _render("coder_task", _briefing("debug"), brief="[the brief]", files=files)
    parts.append(section("coder: first message", coder))
    parts.append(section("investigator: system prompt", _render("investigator", _briefing("debug"), question="?")))
    task = _render("investigator_task", _briefing("debug"), question="Why is total 7?")
    parts.append(section("investigator: first message", task))
    fields = {"statement": "[the statement]", "command": "python -m pytest -q", "shell": ""}
    parts.append(section("first observation: instructions", INSTRUCTIONS.format(**fields)))
    how = ", and run them with `eval` and that file as `test`"
    shell = INSTRUCTIONS.format(**{**fields, "shell": f" {NO_REPOSITORY} {RESTORED} {MASKED}"})
    parts.append(section("first observation: instructions with a shell", shell))
    alone = ALONE.format(**fields, own="test_reproduction.py", how=how)
    parts.append(section("first observation: instructions without a failing test", alone))
    return "".join(parts)


def write_text_mode() -> str:
    """What text mode adds to the system prompt, for two tool sets, and each of its examples."""
    parts = []
    for name in ("debug", "edit"):
        tools = [find_tool(tool) for tool in tool_set(name).tools]
        parts.append(section(f"text mode, tool set {name}", FencedText(tools).write_help()))
    syntax = FencedText([find_tool(name) for name in MODEL_TOOLS])
    parts.append(section("all examples", "\n\n".join(map(syntax.write, EXAMPLES))))
    for ok in (True, False):
        content = str(syntax.write_result(None, Observation("[the observation]", ok))["content"])
        parts.append(section("answer" if ok else "answer to an action that was not carried out", content))
    return "".join(parts)


def _refusal(act: Callable[[], object]) -> str:
    try:
        act()
    except (BadCall, MalformedAction, ValueError) as error:
        return str(error)
    raise AssertionError("it was not refused")


def _tried(syntax: Syntax, call: ToolCall) -> str:
    try:
        return f"accepted: {syntax.read_action(call)[1]}"
    except BadCall as error:
        return f"refused: {error}"


def _bad_blocks() -> Iterator[str]:
    yield from ("", "open a.py", "view a.py 1 2 900 4", "view file=a.py", "view a.py path=b.py", "view a.py\nview b.py")
    yield from ("grep 'def f", "rewrite a.py 1 2", "str_replace a.py\nx = 1", "pdb command=c\nn")
    yield "str_replace a.py\n=== old_str\nx\n=== old_str\ny"
    yield from (
        '{"tool": "view", "arguments": {"path": "a.py"}',
        '{"tool": "peek"}',
        '{"tool": "view", "arguments": ["a.py"]}',
    )


_BAD_CALLS = (
    ("peek", "{}"),
    ("functions.View", '{"path": "a.py"}'),
    ("view", '"{\\"path\\": \\"a.py\\"}"'),
    ("view", '{"arguments": {"path": "a.py"}}'),
    ("view", '{"path": "a.py", "reason": "to see"}'),
    ("view", '{"file": "a.py"}'),
    ("bash", '{"command": ["cd src", "ls"]}'),
    ("view", '{"path": "a.py"'),
    ("view", '{"path": "a.py", "path": "b.py"}'),
    ("view", "[1]"),
)


def write_refusals() -> str:
    """What a model reads if its answer is no action, and how a wrong call is understood."""
    tools = [find_tool(name) for name in tool_set("edit-debug").tools] + [find_tool("rewrite"), find_tool("bash")]
    text, calling = FencedText(tools), FunctionCalling(tools)
    parts = []
    for kind, syntax in (("tool calling", calling), ("text mode", text)):
        parts.append(section(f"{kind}: no action", syntax.correct_missing_call(Reply("I am done."))))
        cut = syntax.correct_missing_call(Reply("I am", cut_off=True))
        parts.append(section(f"{kind}: an answer that was cut off", cut))
    for block in _bad_blocks():
        (call,) = text.find_calls(Reply(f"```action\n{block}\n```"))
        parts.append(section("text mode", f"```action\n{block}\n```\n\n{_tried(text, call)}"))
    for name, arguments in _BAD_CALLS:
        answer = _tried(calling, ToolCall("1", name, arguments))
        parts.append(section("tool calling", f"{name} {arguments}\n\n{answer}"))
    settings = SeekerSettings(seeker_model="small")
    for brief in ({}, {"text": "x" * 5000, "files": "a.py"}, {"text": "x", "files": "a.py b.py c.py d.py e.py"}):
        parts.append(section("seeker: a brief", _refusal(lambda brief=brief: read_brief(brief, settings))))  # type: ignore[misc]
    return "".join(parts)


def write_nudges() -> str:
    """What else is put into a conversation: steps left, what was cut, the investigator's end."""
    parts = []
    for used in (24, 25, 49, 50):
        text = with_budget_left(Observation("[the observation]"), used, _briefing("bash")).text
        parts.append(section(f"{used} of 50 steps are used", text))
    limited = _briefing("bash", max_tokens=60_000, remaining_tokens=lambda: 29_500)
    text = with_budget_left(Observation("[the observation]"), 30, limited).text
    parts.append(section("half of the steps and of the tokens are used", text))
    turns = [
        *({"role": "assistant", "content": "x"}, {"role": "user", "content": "head\n" + "y" * 5000 + "\ntail"}),
    ] * 12  # fmt: skip
    shrunk = shrink([{"role": "user", "content": "task"}, *turns], 4000)
    parts.append(section("earlier turns that are left out", str(shrunk[1]["content"])))
    shortened = shrink([{"role": "user", "content": "task"}, *turns], 16000)
    parts.append(
        section("the middle of an earlier observation", str(shortened[2]["content"]).replace("y" * 200, "y..."))
    )
    return "".join(parts)
