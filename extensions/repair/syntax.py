"""Repairs of files that do not parse: all small changes of tokens near the error that make the file parse."""

from __future__ import annotations

import itertools
import re
import warnings
from collections.abc import Iterator

from stackrank.env.mutation.edits import Edit, indentation
from stackrank.env.mutation.mutation import Mutation

_OPEN = {"(": ")", "[": "]", "{": "}"}
_COMPOUND = re.compile(r"\s*(if|elif|else|for|while|def|class|try|except|finally|with|match|case|async)\b")
_STRING = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"")
_AROUND = 3
"""How many lines around the reported one are searched: a parser often reports an error late."""


def problem(text: str) -> SyntaxError | None:
    """Return why a file does not compile; None if it does."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<file>", "exec", dont_inherit=True)
    except SyntaxError as error:
        return error
    except ValueError as error:  # a null byte
        return SyntaxError(str(error))
    return None


def repairs(path: str, text: str) -> list[Mutation]:
    """Return changes that make the file parse, the most natural first."""
    error = problem(text)
    if error is None:
        return []
    lines = text.splitlines(keepends=True)
    line = min(max(error.lineno or 1, 1), max(len(lines), 1))
    by_text: dict[str, Mutation] = {}
    for prior, changes in _proposals(lines, line, str(error.msg)):
        candidate = Mutation(path, changes, "syntax", prior, line, is_hot_swappable=False)
        new = candidate.apply(text)
        if new not in by_text and new != text and problem(new) is None:
            by_text[new] = candidate
    return sorted(by_text.values(), key=lambda mutation: -mutation.prior)


def _proposals(lines: list[str], line: int, message: str) -> Iterator[tuple[float, tuple[Edit, ...]]]:
    starts = [0]
    for line_text in lines:
        starts.append(starts[-1] + len(line_text))
    around = range(max(line - _AROUND, 1), min(line + _AROUND, len(lines)) + 1)
    yield from _brackets(lines, starts)
    for number in around:
        text, start = lines[number - 1], starts[number - 1]
        body = text.rstrip()
        nearness = 1.0 - 0.1 * abs(number - line)
        end = start + len(body)
        if not body:
            continue
        if _COMPOUND.match(text) and not body.endswith(":"):
            yield 3.0 * nearness, (Edit(end, end, ":"),)
        yield from _positional_last(text, start, nearness)
        for match in re.finditer(r"(?<![=!<>:])=(?!=)", body):
            yield 0.8 * nearness, (Edit(start + match.start(), start + match.end(), "=="),)
        if not body.endswith((",", ":")):
            yield 0.9 * nearness, (Edit(end, end, ","),)
        for quote in ("'", '"'):
            if body.count(quote) % 2:
                yield 1.0 * nearness, (Edit(end, end, quote),)
                for match in re.finditer(r"[)\]},:]", body):
                    yield 0.9 * nearness, (Edit(start + match.start(), start + match.start(), quote),)
        for match in re.finditer(r"[)\]}]", body):
            yield 0.7 * nearness, (Edit(start + match.start(), start + match.end(), ""),)
        for closer in ")]}":
            yield 0.8 * nearness, (Edit(end, end, closer),)
            for match in re.finditer(r"[,:)\]}]", body):
                yield 0.7 * nearness, (Edit(start + match.start(), start + match.start(), closer),)
        yield from _indents(lines, starts, number, nearness)
        if re.match(r"\s*(await|async)\b|.*\bawait\b", text) and "outside" in message:
            for above in range(number - 1, -1, -1):
                if re.match(r"\s*def ", lines[above]):
                    at = starts[above] + len(indentation(lines[above]))
                    yield 2.5, (Edit(at, at, "async "),)
                    break


def _brackets(lines: list[str], starts: list[int]) -> Iterator[tuple[float, tuple[Edit, ...]]]:
    """Propose a closing bracket where the indentation says that one is missing."""
    depth_so_far = 0
    for number, text in enumerate(lines):
        body = _STRING.sub("", text).split("#")[0].rstrip()
        nested = depth_so_far > 0
        depth_so_far += sum(body.count(bracket) for bracket in _OPEN) - sum(
            body.count(bracket) for bracket in _OPEN.values()
        )
        if not body or body[-1] not in _OPEN:
            continue
        depth, closer = len(indentation(text)), _OPEN[body[-1]]
        last = number
        for later in range(number + 1, len(lines) + 1):
            following = lines[later] if later < len(lines) else "end"
            if not following.strip():
                continue
            if len(indentation(following)) > depth:
                last = later
                continue
            if following.strip()[:1] != closer or len(indentation(following)) != depth:
                # An element of a collection or call needs a comma; a statement must not have one.
                for tail, prior in ((",", 3.0 if nested else 1.5), ("", 2.0 if nested else 3.0), (":", 1.0)):
                    at = starts[last + 1]
                    yield prior, (Edit(at, at, f"{indentation(text)}{closer}{tail}\n"),)
            break


def _positional_last(text: str, start: int, nearness: float) -> Iterator[tuple[float, tuple[Edit, ...]]]:
    """Propose to put positional arguments before the keyword arguments of their call."""
    for match in re.finditer(r"\(", text):
        parts, end = _split_arguments(text, match.end())
        if end < 0 or len(parts) < 2:
            continue
        keyword = [bool(re.match(r"\s*(\w+\s*=(?!=)|\*\*)", part)) for part in parts]
        if any(early and not late for early, late in itertools.pairwise(keyword)):
            ordered = [part.strip() for part, is_keyword in zip(parts, keyword, strict=True) if not is_keyword]
            ordered += [part.strip() for part, is_keyword in zip(parts, keyword, strict=True) if is_keyword]
            yield 3.0 * nearness, (Edit(start + match.end(), start + end, ", ".join(ordered)),)


def _split_arguments(text: str, begin: int) -> tuple[list[str], int]:
    """Return the arguments from `begin` on, and where they end; -1 if the bracket is not closed on the line."""
    parts: list[str] = []
    depth, last, quote = 0, begin, ""
    for position in range(begin, len(text)):
        char = text[position]
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char in _OPEN:
            depth += 1
        elif char in ")]}":
            if depth == 0:
                return [*parts, text[last:position]], position
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[last:position])
            last = position + 1
    return parts, -1


def _indents(
    lines: list[str], starts: list[int], number: int, nearness: float
) -> Iterator[tuple[float, tuple[Edit, ...]]]:
    text, start = lines[number - 1], starts[number - 1]
    width = len(indentation(text))
    levels = {width + 4, width - 4, width + 2, width - 2, width + 1, width - 1}
    previous = next((line for line in reversed(lines[: number - 1]) if line.strip()), "")
    levels |= {len(indentation(previous)), len(indentation(previous)) + 4}
    for level in sorted(levels - {width}):
        if level >= 0:
            natural = 1.2 if level == len(indentation(previous)) or previous.rstrip().endswith(":") else 0.9
            yield natural * nearness, (Edit(start, start + width, " " * level),)
    if previous.rstrip().endswith(":"):
        inner = " " * (len(indentation(previous)) + 4)
        yield 0.6 * nearness, (Edit(start, start, f"{inner}pass\n"),)
