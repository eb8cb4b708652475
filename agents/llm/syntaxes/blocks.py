"""Fenced blocks of a reply: where they begin and end, and which of them are a model's thoughts."""

from __future__ import annotations

import re
from dataclasses import dataclass

from stackrank.agents.llm.repairs.thoughts import blank_thoughts

_FENCE = re.compile(r"^(?P<indent>[ \t]*)(?P<marks>`{3,}|~{3,})(?P<info>[^`\n]*)$")


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
    return _find(blank_thoughts(text, _code_lines))


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


def _code_lines(text: str) -> set[int]:
    return {number for block in _find(text) for number in range(block.start, block.end)}
