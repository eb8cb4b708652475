"""Finds calls that a server left in the text of an answer. They are taken only if they can be nothing else.

The calls have to end the answer, and a special token or a tag has to announce them; without one, they have to be all of
the answer and name a tool. What stands in a thought or in a code block is never a call.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from stackrank.agents.llm.repairs.json_object import TOKEN, Unclear, read_leading
from stackrank.agents.llm.repairs.leaked_forms import FORMS, read_json, read_python
from stackrank.agents.llm.repairs.names import find_name
from stackrank.agents.llm.repairs.thoughts import blank_thoughts
from stackrank.agents.llm.syntaxes.tool_call import ToolCall, arguments_text

# DeepSeek and MiniMax put these around the names of tags.
_MINIMAX = re.compile(r"\]<\]minimax\[>\[(?=<tool_call>)")
_DECORATION = re.compile(r"(?<=[</])\s*[｜|‖]{1,2}\s*DSML\s*[｜|‖]{1,2}\s*|\]<\]minimax\[>\[")
_TAG = r"</?(?:tool_calls?|function_calls|calls|\w+:tool_call)>|\[/?TOOL_CALLS\]"
_MARK = rf"(?:{TOKEN}|{_TAG})"
_MARKS = re.compile(rf"(?:\s|{_MARK}|(?<=[>\]}}])[,}}\])])*")
_OPENING = re.compile(
    # A tag begins a line, as a sentence may name one; a special token is nothing that one writes in a sentence.
    r"^[ \t]*(?:<tool_calls?>|<function_calls>|<calls>|<\w+:tool_call>|\[TOOL_CALLS\]|<function(?=[= ])|<invoke\s)"
    r"|<\|(?:tool_call\|?|tool_calls_section_begin\||tool_call_begin\||tool_call_start\||python_tag\|)>"
    r"|<｜tool▁calls?▁begin｜>|(?:<\|start\|>assistant)?(?:<\|channel\|>commentary)? ?to=functions\.",
    re.MULTILINE,
)
_CODE = re.compile(r"^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1|\Z)|(?<!`)`[^`\n]+`", re.MULTILINE | re.DOTALL)
_FENCE = re.compile(r"\A\s*```\w*\n|```\s*\Z")
_MENTION = re.compile(
    r"<tool_call|<function=|<invoke\b|\[TOOL_CALLS\]|<\|tool_call|<\|python_tag|<｜tool▁|to=functions\."
)
_LLAMA_CPP = re.compile(r"\s*functions\.([\w-]+):\s*")


@dataclass(frozen=True, slots=True)
class Leaked:
    """The calls in the text of an answer."""

    calls: tuple[ToolCall, ...] = ()
    refusal: str = ""
    """Why what looks like a call was not taken; empty if nothing does."""


def find_leaked(text: str, reasoning: str, tools: Collection[str]) -> Leaked:
    """Find the calls in an answer that has no others. `tools`: the names of the tools."""
    spoken = _DECORATION.sub("", _MINIMAX.sub("\n", blank_thoughts(text)))
    if calls := _read_bare(spoken, tools):
        return Leaked(calls)
    opening = _OPENING.search(_blank_code(spoken))
    if opening is not None:
        try:
            return Leaked(_read_sequence(spoken, opening.start()))
        except Unclear as error:
            return Leaked(refusal=f"A call in its text was not carried out: {error}.")
    if _MENTION.search(spoken) or _read_bare(_FENCE.sub("", spoken), tools):
        return Leaked(refusal="It shows a call within a sentence or in a code block, which was not carried out.")
    if _MENTION.search(text) or _MENTION.search(reasoning):
        return Leaked(refusal="Your reasoning contains a call, which was not carried out: call the tool after it.")
    return Leaked()


def _blank_code(text: str) -> str:
    return _CODE.sub(lambda code: re.sub(r"[^\n]", " ", code[0]), text)


def _read_sequence(text: str, start: int) -> tuple[ToolCall, ...]:
    """Read calls, one after another, up to the end of the text. Raises Unclear."""
    calls: list[ToolCall] = []
    at = _skip_marks(text, start)
    while at < len(text):
        for read in FORMS:
            if (reading := read(text, at)) is not None:
                calls += reading[0]
                at = _skip_marks(text, reading[1])
                break
        else:
            raise Unclear(f"other text follows it ({text[at : at + 40]!r})" if calls else "its form is not known")
    if not calls:
        raise Unclear("it is cut off")
    return tuple(calls)


def _skip_marks(text: str, start: int) -> int:
    return _MARKS.match(text, start).end()  # type: ignore[union-attr]  # it matches an empty text


def _read_bare(text: str, tools: Collection[str]) -> tuple[ToolCall, ...]:
    """Return the calls that all of a text consists of, if they name tools, without a token that announces them."""
    text = text.strip()
    if text.startswith("functions."):
        return _read_llama_cpp(text)
    for read in (read_json, read_python):
        try:
            reading = read(text, 0)
        except Unclear:
            continue
        if reading and _skip_marks(text, reading[1]) == len(text):
            calls = tuple(reading[0])
            # An object with a name is an answer like any other, unless it names a tool and has arguments.
            if all(call.arguments and find_name(call.name, tools) for call in calls):
                return calls
    return ()


def _read_llama_cpp(text: str) -> tuple[ToolCall, ...]:
    """Return the calls that llama-cpp-python leaves in the text if a model first begins a message; none if there is
    anything else."""
    calls, end = [], 0
    while end < len(text):
        if (head := _LLAMA_CPP.match(text, end)) is None:
            return ()
        arguments, end = None, head.end()
        if text.startswith("{", end):
            try:
                arguments, end = read_leading(text, end)
            except Unclear:
                return ()
        calls.append(ToolCall("", head[1], arguments_text(arguments)))
    return tuple(calls)
