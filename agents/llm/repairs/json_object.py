"""Reads a JSON object as servers and models write it: the one place that decides what the arguments of a call are.

Besides JSON, these forms have one meaning: an object encoded twice, between special tokens or in a fence, followed by
brackets or prose, said again in pieces or as a whole, or in the notation of Python or Gemma.
"""

from __future__ import annotations

import ast
import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection
from typing import Any

from stackrank import source
from stackrank.errors import StackrankError
from stackrank.wording import count_of

MAX_CALL = 1_000_000
"""Most characters of a call that are read."""
MAX_SHOWN = 200
"""Most characters of a wrong call that its correction repeats."""
_MOST_REPEATED = 16 * MAX_CALL
"""Most characters of arguments that a server sends again with each piece."""
_MOST_PIECES = 20_000
"""Most pieces of such arguments."""
_MOST_TRIES = 500
"""Most places at which the last object of a text may begin."""
TOKEN = r"(?:<\|[^<>|\s]{1,40}\|>|<\|\w{1,40}>|<\w{1,40}\|>|<｜[^<>\s]{1,40}｜>|</(?:tool_call|function|s|eos)>)"
"""A special token of a model, or a tag around a call."""
_BEFORE = re.compile(rf"(?:\s|{TOKEN}|<tool_call>|```\w*\n|json\s*(?=\{{))*")
_LAST_MARK = re.compile(rf"(?:{TOKEN}|```)\Z")
_OPENS = r"<[|｜](?:python_tag|tool_call\b|[^<>]*(?:begin|start|channel))"
_AFTER = re.compile(rf"(?:\s|(?!{_OPENS}){TOKEN}|```|[}}\])])*")
_UNCLEAR_TAIL = re.compile(r"\A[,:]|[{\"]|<\||<｜|<tool_call|<function|<invoke|\[TOOL_CALLS|\bfunctions[.:]")
_STRING = re.compile(r'<\|"\|>(.*?)(?:<\|"\|>|\Z)|"(?:\\.|[^"\\])*(?:"|\\?\Z)', re.DOTALL)  # also one without an end
_BARE_KEY = re.compile(r"([{,]\s*)([A-Za-z_]\w*)(?=\s*:)")
_OTHER_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*\\[^\\'\"bfnrtu\n]")
_OBJECT = re.compile(r'\{(?=\s*["}])')
_SPACE = re.compile(r"\s*")
_DEEPEST, _WIDEST = 100, 64
"""The most levels of an expression, and the most bits of a whole number in it."""
_NAMES = {"true": True, "false": False, "null": None}

Reading = tuple[dict[str, Any], str]
"""An object, and a note on what was repaired in its text; empty if nothing."""


class Unclear(StackrankError):
    """A text that does not mean exactly one JSON object; the message says what it is, such as `nested too deep`."""


class _Contradictory(Unclear):
    """An object that gives one name two values: no other reading can settle which."""


def decode(text: str) -> Any:
    """Decode JSON from a model; texts may hold raw newlines. Raises Unclear."""
    if len(text) > MAX_CALL:
        raise Unclear(f"too long: {count_of(len(text), 'character')}, and at most {MAX_CALL:,} are read")
    try:
        return json.loads(text, strict=False, object_pairs_hook=_join_pairs)
    except ValueError as error:
        raise Unclear(f"not valid JSON ({error})") from None
    except RecursionError:
        raise Unclear("nested too deep") from None


def read_object(text: str, objects: Collection[str] | None = None) -> Reading:
    """Return the object that a text means, empty for an empty text or null.

    `objects`: names whose values may be objects; None: all. Raises Unclear.
    """
    text = text.strip()
    if not text:
        return {}, ""
    try:
        value = decode(text)
    except _Contradictory:
        raise
    except Unclear as reason:
        readers = (_read_framed, _read_repeated, _read_with_tail, _read_python, _read_bare_keys)
        for read in readers if len(text) <= MAX_CALL else (_read_repeated,):
            if (reading := read(text, objects)) is not None:
                return reading
        raise reason from None
    if isinstance(value, str):
        inner, note = read_object(value, objects)
        return inner, _join_notes("decoded its arguments twice", note)
    if value is None:
        return {}, ""
    if not isinstance(value, dict):
        raise Unclear("not a JSON object")
    return value, ""


def read_leading(text: str, start: int) -> tuple[Any, int]:
    """Return the JSON value that begins at an index of the text, and the index after it. Raises Unclear."""
    decoder = json.JSONDecoder(strict=False, object_pairs_hook=_join_pairs)
    try:
        return decoder.raw_decode(text, start)
    except ValueError as error:
        raise Unclear(f"not valid JSON ({error})") from None
    except RecursionError:
        raise Unclear("nested too deep") from None


def read_literal(node: ast.AST) -> Any:
    """Return the value of a Python literal that JSON can express; JSON's own names are understood. Raises Unclear."""
    if isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, str | int | float)):
        return node.value
    if isinstance(node, ast.Name) and node.id in _NAMES:
        return _NAMES[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        value = node.operand.value
        if isinstance(value, int | float) and not isinstance(value, bool):
            return -value
    if isinstance(node, ast.List):
        return [read_literal(item) for item in node.elts]
    if isinstance(node, ast.Dict):
        pairs = [
            (key.value, read_literal(value))
            for key, value in zip(node.keys, node.values, strict=True)
            if isinstance(key, ast.Constant) and isinstance(key.value, str)
        ]
        if len(pairs) == len(node.keys):
            return _join_pairs(pairs)
    raise Unclear("not valid JSON")


def parse_expression(text: str) -> ast.expr | None:
    """Return the syntax tree of a Python expression; None if it is none, has escapes that JSON and Python read
    differently, or is too deep or has numbers that are too large for those who go through it."""
    if _OTHER_ESCAPE.search(text):
        return None
    try:
        statements = source.parse_python(text).body
    except (SyntaxError, ValueError):
        return None
    if len(statements) != 1 or not isinstance(statements[0], ast.Expr):
        return None
    return statements[0].value if _is_bounded(statements[0].value) else None


def _is_bounded(expression: ast.expr) -> bool:
    layer: list[ast.AST] = [expression]
    for _ in range(_DEEPEST):
        numbers = (node.value for node in layer if isinstance(node, ast.Constant) and isinstance(node.value, int))
        if any(number.bit_length() > _WIDEST for number in numbers):
            return False
        layer = [child for node in layer for child in ast.iter_child_nodes(node)]
    return not layer


def _join_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    decoded = dict(pairs)
    if len(decoded) < len(pairs) and (twice := [name for name, value in pairs if decoded[name] != value]):
        raise _Contradictory(f"not valid JSON ({twice[0]!r} occurs twice, with different values)")
    return decoded


def _join_notes(*notes: str) -> str:
    return "; ".join(filter(None, notes))


def _read_framed(text: str, objects: Collection[str] | None) -> Reading | None:
    """Read an object between special tokens, or in a fence."""
    start, end = _BEFORE.match(text).end(), len(text)  # type: ignore[union-attr]  # it matches an empty text
    while (mark := _LAST_MARK.search(text, max(start, end - 50), end)) is not None:
        end = mark.start()
        while end > start and text[end - 1].isspace():
            end -= 1
    if (start, end) == (0, len(text)) or start >= end:
        return None
    inner, note = read_object(text[start:end], objects)
    return inner, _join_notes("ignored the marks around its JSON object", note)


def _read_repeated(text: str, objects: Collection[str] | None) -> Reading | None:
    """Read an object that the text says again: as a whole, or from its beginning with each further piece.

    Gateways also put an empty object before or after the one that the model wrote. Raises Unclear.
    """
    if not text.startswith("{") or len(text) > _MOST_REPEATED:
        return None
    note = "used the object that its arguments repeat"
    values, end = _leading_objects(text)
    if len(values) > 1 and not _tail(text, end):
        meant = [value for value in values if value != {}] or values
        if any(value != meant[0] for value in meant):
            raise Unclear("several JSON objects, which differ")
        return meant[0], note
    if values or (last := _last_object(text)) is None:
        return None
    value, start = last
    if not _consists_of_beginnings(text[:start], text[start:]):
        return None
    # The first of two pieces may end where a value begins. The second is that value only if it may be an object.
    may_nest = objects is None or next(iter(value), "") in objects
    if may_nest and any(_is_json(text + "}" * count) for count in (1, 2, 3)):
        raise Unclear("either an object that is cut off or one that is said again")
    return value, note


def _tail(text: str, end: int) -> str:
    """Return what follows an object except brackets and special tokens."""
    return text[_AFTER.match(text, end).end() :]  # type: ignore[union-attr]  # it matches an empty text


def _leading_objects(text: str) -> tuple[list[dict[str, Any]], int]:
    """Return the complete objects with which a text begins, and the index after them."""
    values: list[dict[str, Any]] = []
    end = 0
    while text.startswith("{", end):
        try:
            value, end = read_leading(text, end)
        except _Contradictory:
            raise
        except Unclear:
            break
        values.append(value)
        end = _SPACE.match(text, end).end()  # type: ignore[union-attr]  # it matches an empty text
    return values, end


def _last_object(text: str) -> tuple[dict[str, Any], int] | None:
    """Return the object with which a text ends, and where that begins."""
    decoder = json.JSONDecoder(strict=False, object_pairs_hook=_join_pairs)
    starts = [match.start() for match in _OBJECT.finditer(text)]
    # Each failure counts the lines before it, so their number is limited.
    for start in starts[: -_MOST_TRIES - 1 : -1]:
        try:
            value, end = decoder.raw_decode(text, start)
        except ValueError:
            continue
        except (Unclear, RecursionError):
            return None
        if end == len(text):
            return value, start
    return None


def _consists_of_beginnings(text: str, whole: str) -> bool:
    """Return whether a text is one beginning of `whole` after another."""
    borders = [match.start() for match in re.finditer(r"\{", text)] + [len(text)]
    reached = {0}
    pieces = 0
    for number, border in enumerate(borders):
        if border in reached and pieces < _MOST_PIECES:
            is_long = text.startswith(whole[:2], border)  # else it is a brace within a piece, or a piece of one brace
            pieces += is_long
            common = _common_length(text[border : border + len(whole)], whole) if is_long else 1
            end = border + common + len(_SPACE.match(text, border + common)[0])  # type: ignore[index]
            reached.update(borders[number + 1 : bisect_right(borders, end)])
    return len(text) in reached


def _common_length(first: str, second: str) -> int:
    """Return how many characters two texts have in common at their beginnings."""
    return bisect_left(range(1, len(first) + 1), True, key=lambda length: not second.startswith(first[:length]))


def _is_json(text: str) -> bool:
    try:
        decode(text)
    except Unclear:
        return False
    return True


def _read_with_tail(text: str, _: Collection[str] | None) -> Reading | None:
    """Read an object that brackets, special tokens or prose follow. Raises Unclear if these may belong to it."""
    if not text.startswith("{"):
        return None
    try:
        value, end = read_leading(text, 0)
    except Unclear:
        return None
    tail = _tail(text, end)
    if _UNCLEAR_TAIL.search(tail):
        raise Unclear(f"a JSON object, followed by what may belong to it or to another call ({tail[:40]!r})")
    return value, f"ignored {_shorten(text[end:])} after its JSON object"


def _shorten(text: str) -> str:
    text = text.strip()
    return repr(text if len(text) <= 40 else f"{text[:37]}...")


def _read_python(text: str, _: Collection[str] | None) -> Reading | None:
    """Read an object in Python's notation: single quotes, True and None, a comma before the closing brace."""
    tree = parse_expression(text) if text.startswith("{") and text.endswith("}") else None
    if not isinstance(tree, ast.Dict):
        return None
    try:
        value = read_literal(tree)
    except _Contradictory:
        raise
    except (Unclear, RecursionError):
        return None
    return value, "read its arguments in Python's notation"


def _read_bare_keys(text: str, _: Collection[str] | None) -> Reading | None:
    """Read an object whose names have no quotes, as Gemma writes them, with or without Gemma's own quotes."""
    if not text.startswith("{"):
        return None
    parts, end = [], 0
    for string in _STRING.finditer(text):
        parts.append(_BARE_KEY.sub(r'\1"\2"', text[end : string.start()]))
        parts.append(string[0] if string[1] is None else json.dumps(string[1]))
        end = string.end()
    quoted = "".join([*parts, _BARE_KEY.sub(r'\1"\2"', text[end:])])
    try:
        value = decode(quoted)
    except _Contradictory:
        raise
    except Unclear:
        return None
    return (value, "read its arguments with names that have no quotes") if isinstance(value, dict) else None
