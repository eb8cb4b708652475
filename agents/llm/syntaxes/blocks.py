"""Fenced blocks of a reply: where they begin and end, and which of them are a model's thoughts."""

from __future__ import annotations

import re
from dataclasses import dataclass

_FENCE = re.compile(r"^(?P<indent>[ \t]*)(?P<marks>`{3,}|~{3,})(?P<info>[^`\n]*)$")
_THINK, _END = "<think>", "</think>"


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block. Its lines are as the model wrote them, without the indentation of the fence."""

    info: str
    lines: tuple[str, ...]
    start: int
    """Index of the line that opens the block."""
    end: int
    """Index of the first line after the block."""
    closed: bool


def write_block(info: str, text: str) -> str:
    """Return a block around a text whose lines all end with a newline; its fence is longer than any in the text."""
    longest = max((len(line.strip()) for line in text.split("\n") if _is_fence(line, "`")), default=2)
    marks = "`" * max(longest + 1, 3)
    return f"{marks}{info}\n{text}{marks}"


def find_blocks(text: str) -> list[Block]:
    """Return the blocks of a reply, without those in the model's thoughts."""
    return _find(_without_thoughts(text))


def _find(text: str) -> list[Block]:
    lines = text.split("\n")
    blocks: list[Block] = []
    number = 0
    while number < len(lines):
        opening = _FENCE.match(lines[number].rstrip())
        start = number
        number += 1
        if opening is None:
            continue
        ending = "\r" if lines[start].endswith("\r") else ""
        info, _, head = opening["info"].strip().partition(" ")
        content = [head] if head else []
        closed = False
        while number < len(lines) and not closed:
            line = lines[number].removesuffix(ending)
            closed = _is_fence(line, opening["marks"][0]) and len(line.strip()) >= len(opening["marks"])
            if not closed:
                content.append(line.removeprefix(opening["indent"]))
            number += 1
        if not closed and content and not content[-1]:
            content.pop()  # what follows the reply's last newline
        blocks.append(Block(info.lower(), tuple(content), start, number, closed))
    return blocks


def _is_fence(line: str, mark: str) -> bool:
    return set(line.strip()) == {mark}


def _without_thoughts(text: str) -> str:
    """Replace thoughts by as many empty lines. Some servers leave out the opening tag, which is part of their prompt.

    A tag in a block is code, unless the reply begins with thoughts.
    """
    if text.lstrip().startswith(_THINK):
        text = _blank(text, 0, _after(text, _END, text.index(_THINK)))
    elif (end := _outside_blocks(text, _END)) >= 0:
        text = _blank(text, 0, end + len(_END))
    while (start := _outside_blocks(text, _THINK)) >= 0:
        text = _blank(text, start, _after(text, _END, start))
    return text


def _outside_blocks(text: str, tag: str) -> int:
    """Return where a tag occurs first outside of blocks, or -1."""
    at = text.find(tag)
    if at < 0:
        return at
    inside = {number for block in _find(text) for number in range(block.start, block.end)}
    while at >= 0 and text.count("\n", 0, at) in inside:
        at = text.find(tag, at + 1)
    return at


def _after(text: str, tag: str, start: int) -> int:
    at = text.find(tag, start)
    return len(text) if at < 0 else at + len(tag)


def _blank(text: str, start: int, stop: int) -> str:
    return text[:start] + "\n" * text.count("\n", start, stop) + text[stop:]
