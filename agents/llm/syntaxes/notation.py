"""The notation of an action as text. A tool's schema decides how it is explained, written and read.

    rewrite src/cart.py start=5 end=6
        for item in items:
            total += item.price

The first line is the tool with its arguments, in order or as name=value. Below it stands the tool's text, unchanged:
nothing is escaped, and each of its lines ends with a newline. Several texts stand below their names:

    str_replace src/cart.py
    === old_str
    ...
    === new_str
    ...
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from stackrank.agents.llm.repairs.json_object import MAX_SHOWN
from stackrank.agents.llm.syntaxes.syntax import BadCall, parse_json
from stackrank.env.tools.base import Described, schema

_OPEN = " (no newline at end)"


class _Mark(NamedTuple):
    """The line above a text: `=== old_str`."""

    signs: str
    name: str
    is_open: bool
    """Whether the text's last line does not end with a newline."""


class Notation:
    """How one tool's actions are explained, written and read."""

    def __init__(self, tool: Described) -> None:
        described = schema(tool)
        self.name = tool.name
        self._properties: Mapping[str, Any] = described["properties"]
        self._required: Sequence[str] = described.get("required", ())
        arguments = tool.arguments
        self._texts = [name for name in (arguments.replaces, arguments.body) if name in self._properties]
        """The arguments that stand below the first line."""
        self._text = self._texts[0] if len(self._texts) == 1 else ""
        self._ordered = [name for name in self._properties if name not in self._texts]
        """The arguments that may be given without their names."""
        self._begins_on_first_line = bool(self._text) and next(iter(self._properties)) == self._text
        names = "|".join(map(re.escape, sorted(self._properties, key=len, reverse=True)))
        name = rf"(?:(?P<name>{names + '|' if names else ''}\w+)=)"
        quoted = r'"(?P<double>.*?)"|' + r"'(?P<single>.*?)'"
        empty = name.replace("<name>", "<named>")
        plain = r"(?P<plain>(?![\"'])\S+)"
        self._word = re.compile(rf"(?:{empty}|{name}?(?:{quoted}|{plain}))(?=\s|\Z)", re.DOTALL)

    # ---- explaining

    def usage(self) -> str:
        """Return the form of an action: optional arguments in [brackets], texts in <angle brackets>."""
        words = [self.name]
        for name in self._ordered:
            shown = f"{name}=..." if self._begins_on_first_line else name
            words.append(shown if name in self._required else f"[{shown}]")
        below = [self._placeholder(self._text)] if self._text else []
        for name in self._texts if not self._text else ():
            below += [f"=== {name}", self._placeholder(name)]
        return "\n".join([" ".join(words), *below])

    def _placeholder(self, name: str) -> str:
        return f"<{name}>" if name in self._required else f"[<{name}>]"

    def _explain(self) -> str:
        return f"Write it like this:\n{self.usage()}\nNothing was done."

    # ---- writing

    def write(self, arguments: Mapping[str, Any], unnamed: int | None = None) -> str:
        """Return an action whose lines all end with a newline. `read` returns the same arguments.

        `unnamed`: how many of the first arguments are written without their names; None: those that are required.
        """
        if unnamed is None:
            unnamed = next(
                (n for n, name in enumerate(self._ordered) if name not in self._required), len(self._ordered)
            )
        words, texts = [self.name], dict[str, str]()
        given = [name for name in self._ordered if name in arguments]
        in_order = True
        for position, name in enumerate(given):
            in_order = in_order and position < unnamed and self._ordered[position] == name
            in_order = in_order and not self._begins_on_first_line
            word = self._write_word(name, arguments[name], in_order)
            if word is None:
                texts[name] = arguments[name]
                in_order = False
            else:
                words.append(word)
        if self._begins_on_first_line and self._text in arguments:
            line = " ".join([*words, arguments[self._text]])
            if not texts and "\n" not in line and self._is_read_as([line], arguments):
                return f"{line}\n"
        for name in self._texts:
            if name in arguments:
                word = self._write_word(name, arguments[name], False)
                words += [word] if word is not None else []
                if word is None:
                    texts[name] = arguments[name]
        head = " ".join(words) + "\n"
        if texts.keys() == {self._text} and (body := texts[self._text]).endswith("\n"):
            lines = body.removesuffix("\n").split("\n")
            if any(map(str.strip, lines)) and not self._mark(lines[0]):
                return head + body
        return head + self._write_sections(texts)

    def _is_read_as(self, lines: Sequence[str], arguments: Mapping[str, Any]) -> bool:
        try:
            return self.read(lines) == arguments
        except BadCall:
            return False

    def _write_word(self, name: str, value: Any, in_order: bool) -> str | None:
        """Return one word of the first line; None if it cannot hold the value."""
        if not isinstance(value, str):
            text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
            spellings = [re.sub(r"\s", lambda blank: f"\\u{ord(blank[0]):04x}", text)]
        else:
            quoted = [f'"{value}"', f"'{value}'"]
            spellings = [value, *quoted] if value and _types(self._properties[name]) == {"string"} else quoted
        for spelling in spellings:
            word = spelling if in_order else f"{name}={spelling}"
            match = self._word.match(word)
            if "\n" in word or match is None or match.end() < len(word):
                continue
            if (match["name"] or match["named"] or "") != ("" if in_order else name):
                continue
            if _same(_value(match, self._properties[name]), value):
                return word
        return None

    def _write_sections(self, texts: Mapping[str, str]) -> str:
        taken = {len(mark.signs) for text in texts.values() for line in text.split("\n") if (mark := self._mark(line))}
        marks = next("=" * length for length in range(3, len(taken) + 4) if length not in taken)
        parts = []
        for name, text in texts.items():
            is_open = bool(text) and not text.endswith("\n")
            parts.append(f"{marks} {name}{_OPEN if is_open else ''}\n{text}" + ("\n" if is_open else ""))
        return "".join(parts)

    # ---- reading

    def read(self, lines: Sequence[str]) -> dict[str, Any]:
        """Return the arguments of an action that begins with this tool's name. Raises BadCall."""
        head = lines[0].strip(" \t\r")[len(self.name) :]
        below = list(lines[1:])
        filled = [number for number, line in enumerate(below) if line.strip()]
        if not self._text or not filled:
            below = below[filled[0] :] if filled else []
        arguments, rest = self._read_head(head)
        sections: dict[str, Any] = {}
        if below and not rest and (mark := self._mark(below[0])):
            sections = self._read_sections(below, mark.signs)
        elif self._text and (below or rest):
            sections = {self._text: "\n".join([*([rest] if rest else []), *below]) + ("\n" if below else "")}
        elif below:
            raise BadCall(f"{self.name} does not take the line {below[0][:MAX_SHOWN]!r}. {self._explain()}")
        if twice := arguments.keys() & sections.keys():
            raise BadCall(f"{min(twice)} is given twice, on the first line and below it. {self._explain()}")
        arguments |= sections
        if missing := [name for name in self._texts if name in self._required and name not in arguments]:
            empty = f' To leave it empty, write {missing[0]}="" on the first line.'
            raise BadCall(f"{self.name} needs {missing[0]}. {self._explain()}{empty}")
        return arguments

    def _read_head(self, head: str) -> tuple[dict[str, Any], str]:
        """Return the arguments on the first line, and the beginning of the text that may follow them there."""
        arguments: dict[str, Any] = {}
        at = 0
        while True:
            at = len(head) - len(head[at:].lstrip())
            if at >= len(head):
                return arguments, ""
            word = self._word.match(head, at)
            name = (word["name"] or word["named"]) if word else None
            if self._begins_on_first_line and name not in self._properties:
                return arguments, head[at:]
            if word is None:
                raise BadCall(f"The quote that opens {head[at:][:MAX_SHOWN]} is not closed. {self._explain()}")
            name = self._name_of(name, word[0], arguments)
            arguments[name] = _value(word, self._properties[name])
            at = word.end()

    def _name_of(self, name: str | None, word: str, arguments: Mapping[str, Any]) -> str:
        word = word[:MAX_SHOWN]
        if name is None:
            name = next((free for free in self._ordered if free not in arguments), None)
            if name is None:
                quotes = "; put a value with spaces in quotes" if self._ordered else ""
                raise BadCall(
                    f"{self.name} takes no further argument: {word!r} is one too many{quotes}. {self._explain()}"
                )
        elif name not in self._properties:
            raise BadCall(
                f"{self.name} has no argument {name!r}; put a value that contains = in quotes. {self._explain()}"
            )
        elif name in arguments:
            raise BadCall(f"{name} is given twice. {self._explain()}")
        return name

    def _mark(self, line: str) -> _Mark | None:
        """Return the mark that a line is, if it is one."""
        signs = line[: len(line) - len(line.lstrip("="))]
        name = line[len(signs) + 1 :].rstrip(" \t")
        is_open = name.endswith(_OPEN)
        name = name.removesuffix(_OPEN)
        is_mark = len(signs) >= 3 and line[len(signs) :].startswith(" ") and name in self._properties
        return _Mark(signs, name, is_open) if is_mark else None

    def _read_sections(self, lines: Sequence[str], signs: str) -> dict[str, Any]:
        parts: list[tuple[_Mark, list[str]]] = []
        for line in lines:
            mark = self._mark(line)
            if mark and mark.signs == signs:
                parts.append((mark, []))
            else:
                parts[-1][1].append(line)
        texts: dict[str, Any] = {}
        for mark, text in parts:
            name = mark.name
            if name in texts:
                raise BadCall(
                    f"{name} is given twice. If the text itself contains the line '{signs} {name}', use another "
                    f"number of equals signs. {self._explain()}"
                )
            value = "".join(f"{line}\n" for line in text)
            value = value.removesuffix("\n") if mark.is_open else value
            types = _types(self._properties[name])
            texts[name] = value if not types or "string" in types else _from_json(value, value)
        return texts


def _value(word: re.Match[str], described: Any) -> Any:
    """Return the value of a word: JSON if the schema allows more than texts.

    A quoted word is a text where the schema allows one. But an object or array stays one in quotes if the schema allows
    that, because only quotes can hold its spaces.
    """
    text = next((word[group] for group in ("double", "single") if word[group] is not None), None)
    types = _types(described)
    if text is not None and (not types or "string" in types):
        value = _from_json(text, text)
        kind = "object" if isinstance(value, dict) else "array" if isinstance(value, list) else ""
        return value if kind and (not types or kind in types) else text
    text = (word["plain"] or "") if text is None else text
    return text if types == {"string"} else _from_json(text, _from_json(text.lower(), text))


def _from_json(text: str, otherwise: Any) -> Any:
    try:
        return parse_json(text, "")
    except BadCall:
        return otherwise


def _same(left: Any, right: Any) -> bool:
    return type(left) is type(right) and left == right


def _types(described: Any) -> set[str]:
    """Return the types that a schema names; empty if it leaves them open."""
    if not isinstance(described, dict):
        return set()
    if "$ref" in described:
        return {"object"}
    types = described.get("type", ())
    inner = [subschema for key in ("anyOf", "oneOf") for subschema in described.get(key, ())]
    return {types} if isinstance(types, str) else {*types, *(kind for subschema in inner for kind in _types(subschema))}
