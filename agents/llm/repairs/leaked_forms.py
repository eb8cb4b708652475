"""The forms in which models are trained to write calls, as a server leaves them in the text if it does not parse them.

Each function reads the calls that begin at an index of a text. It returns them and the index after them, or None if the
text there has another form, and raises Unclear for one that cannot be read.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from typing import Any

from stackrank.agents.llm.repairs.json_object import (
    TOKEN,
    Unclear,
    parse_expression,
    read_leading,
    read_literal,
    read_object,
)
from stackrank.agents.llm.syntaxes.tool_call import WRAPPERS, ToolCall, arguments_text

Calls = tuple[list[ToolCall], int]
_NAME_FIELDS = ("name", "tool", "tool_name")
_FUNCTION = re.compile(r"<function(?:=|\s+name=)[\"']?([\w.:-]+)[\"']?>")
_INVOKE = re.compile(r"<invoke\s+name=[\"']?([\w.:-]+)[\"']?\s*>")
_PARAMETER = re.compile(r"\s*<parameter(?:=|\s+name=)[\"']?([\w.-]+)[\"']?(\s+string=\"false\")?[^>\n]*>")
_PARAMETER_END = re.compile(
    r"</parameter>(?:\s*</parameter>){0,3}(?=\s*(?:<parameter\b|</function>|</invoke>|</tool_call>|\Z))"
)
_CHILD = re.compile(r"\s*<([a-z_]\w*)>(.*?)</\1>(?=\s*<(?:[a-z_]\w*>|/invoke>))", re.DOTALL)
_MARKUP = re.compile(r"<(?:/?parameter|/?function|/?invoke|/?arg_key|/?arg_value)\b")
_JSON = re.compile(r"\{|\[\s*\{")
_NAMED = re.compile(
    r"(?:function<｜tool▁sep｜>(?P<deepseek>[\w.:-]+)\s*"
    r"|(?P<name>[\w.:-]+)\s*(?:\[CALL_ID\][\w-]*)?\s*(?:\[ARGS\]|<｜tool▁sep｜>|<\|tool_call_argument_begin\|>)"
    r"|(?:<\|start\|>)?(?:assistant|commentary|<\|channel\|>|\s)*to=(?P<harmony>[\w.:-]+)"
    r"(?:\s|commentary|json|code|<\|(?:channel|constrain)\|>)*<\|message\|>)\s*(?:```json\s*)?"
)
_SPACE = re.compile(r"\s*")
_NUMBER = re.compile(r":\d+\Z")
_FENCE_END = re.compile(r"(?:\s*```)?")
_GLM = re.compile(r"([\w.:-]+)\s*(?=<arg_key>|</tool_call>)")
_GLM_ARGUMENT = re.compile(r"\s*<arg_key>\s*([\w.-]+)\s*</arg_key>\s*<arg_value>(.*?)</arg_value>", re.DOTALL)
_GEMMA = re.compile(r"call:([\w.:-]+)\s*(?=\{)")
_END = re.compile(rf"{TOKEN}|\Z")


def read_json(text: str, start: int) -> Calls | None:
    """Read one JSON object with name and arguments, or a list of them: Hermes, Qwen, Llama, Mistral, Granite, xLAM."""
    if _JSON.match(text, start) is None:
        return None
    try:
        value, end = read_leading(text, start)
    except Unclear:
        end = _next_end(text, start, "</tool_call>")
        value, _ = read_object(text[start:end])
    calls = [_json_call(item) for item in (value if isinstance(value, list) else [value])]
    return (calls, end) if calls else None


def _json_call(value: Any) -> ToolCall:
    if isinstance(value, dict) and isinstance(value.get("function"), dict):
        value = value["function"]
    if not isinstance(value, dict):
        raise Unclear("it is no JSON object with the name and the arguments of a tool")
    names = [value[field] for field in _NAME_FIELDS if isinstance(value.get(field), str)]
    arguments = [value[field] for field in WRAPPERS if field in value]
    others = value.keys() - {*_NAME_FIELDS, *WRAPPERS, "type", "id", "function"}
    if isinstance(value.get("function"), str):
        names.append(value["function"])
    if len(names) != 1 or len(arguments) > 1 or others:
        raise Unclear("it is no JSON object with the name and the arguments of a tool")
    return ToolCall("", names[0], arguments_text(arguments[0]) if arguments else "")


def read_tagged(text: str, start: int) -> Calls | None:
    """Read a call whose name and parameters are tags: Qwen-Coder, Llama, DeepSeek's DSML, MiniMax."""
    for opening, closing in ((_FUNCTION, "</function>"), (_INVOKE, "</invoke>")):
        if (head := opening.match(text, start)) is None:
            continue
        at = _skip_space(text, head.end())
        if text.startswith("{", at):
            value, at = read_leading(text, at)
            return [ToolCall("", head[1], json.dumps(value))], _skip(text, at, closing)
        arguments: dict[str, Any] = {}
        while (parameter := _PARAMETER.match(text, at)) is not None:
            if (ending := _PARAMETER_END.search(text, parameter.end())) is None:
                raise Unclear(f"its parameter {parameter[1]!r} has no end")
            content = text[parameter.end() : ending.start()]
            _add(arguments, parameter[1], content, as_json=parameter[2] is not None)
            at = ending.end()
        while (child := _CHILD.match(text, at)) is not None:
            _add(arguments, child[1], child[2])
            at = child.end()
        return [ToolCall("", head[1], json.dumps(arguments))], _skip(text, at, closing)
    return None


def _add(arguments: dict[str, Any], name: str, content: str, *, as_json: bool = False) -> None:
    """Add a parameter. Raises Unclear if it occurs twice, or if its text may hold the end of the parameter."""
    if name in arguments:
        raise Unclear(f"it has two parameters {name!r}")
    if _MARKUP.search(content) or f"</{name}>" in content:
        raise Unclear(f"its parameter {name!r} contains tags of a call")
    if content.startswith("\n"):
        content = content[1:].removesuffix("\n")
    arguments[name] = read_leading(content.strip(), 0)[0] if as_json else content


def read_named(text: str, start: int) -> Calls | None:
    """Read a name, a special token and a JSON object: Mistral, Kimi, DeepSeek, gpt-oss."""
    if (head := _NAMED.match(text, start)) is None:
        return None
    name = _NUMBER.sub("", (head["deepseek"] or head["name"] or head["harmony"]).removeprefix("functions."))
    if text.startswith("{", head.end()):
        value, end = read_leading(text, head.end())
    else:
        end = _next_end(text, head.end())
        value, _ = read_object(text[head.end() : end])
    return [ToolCall("", name, json.dumps(value))], _FENCE_END.match(text, end).end()  # type: ignore[union-attr]


def read_glm(text: str, start: int) -> Calls | None:
    """Read a name and pairs of keys and values in tags: GLM."""
    if (head := _GLM.match(text, start)) is None:
        return None
    arguments: dict[str, Any] = {}
    end = head.end()
    while (argument := _GLM_ARGUMENT.match(text, end)) is not None:
        _add(arguments, argument[1], argument[2])
        end = argument.end()
    return [ToolCall("", head[1], json.dumps(arguments))], end


def read_gemma(text: str, start: int) -> Calls | None:
    """Read `call:name{key:value}`, where texts are between Gemma's own quotes."""
    if (head := _GEMMA.match(text, start)) is None:
        return None
    end = _next_end(text, head.end(), "<tool_call|>")
    value, _ = read_object(text[head.end() : end])
    return [ToolCall("", head[1], json.dumps(value))], end


def read_python(text: str, start: int) -> Calls | None:
    """Read calls in Python's notation, alone or as a list: Llama 4, LFM2."""
    end = _next_end(text, start)
    if re.match(r"\[?\s*[A-Za-z_][\w.]*\(", text[start:end]) is None:
        return None
    tree = parse_expression(text[start:end].strip())
    nodes = tree.elts if isinstance(tree, ast.List) else [tree]
    calls = []
    for node in nodes:
        if not isinstance(node, ast.Call) or node.args or any(keyword.arg is None for keyword in node.keywords):
            raise Unclear("it does not name all of its arguments")
        arguments = {str(keyword.arg): read_literal(keyword.value) for keyword in node.keywords}
        calls.append(ToolCall("", ast.unparse(node.func), json.dumps(arguments)))
    return calls, end


def _next_end(text: str, start: int, mark: str = "") -> int:
    """Return where the next mark, or the text, ends what begins at `start`."""
    end = re.compile(re.escape(mark)).search(text, start) if mark else _END.search(text, start)
    return end.start() if end else len(text)


def _skip_space(text: str, start: int) -> int:
    return _SPACE.match(text, start).end()  # type: ignore[union-attr]  # it matches an empty text


def _skip(text: str, start: int, closing: str) -> int:
    """Return the index after a closing tag; it may be missing at the end of the text, or before the tag around it."""
    at = _skip_space(text, start)
    if text.startswith(closing, at):
        return at + len(closing)
    if at == len(text) or text.startswith("</tool_call>", at):
        return at
    raise Unclear(f"other text stands before its {closing}")


FORMS: tuple[Callable[[str, int], Calls | None], ...] = (
    read_tagged,
    read_json,
    read_named,
    read_gemma,
    read_glm,
    read_python,
)
