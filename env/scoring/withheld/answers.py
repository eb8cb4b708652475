"""Compares what a program answers, when tests do not say what they expect, with what the known fix answers.

Two right programs may show the same answer in different ways: only what surely differs counts.
"""

from __future__ import annotations

import ast
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from stackrank.source import literal, parse_python

Answers = Mapping[str, Mapping[str, tuple[str, ...]]]
"""Test id -> question (line and kind) -> the answers, as often as it was asked.

The kind says what an answer is: `=` a value, `~R,A` a number with its relative and absolute tolerance, `!` the classes
of an exception, in a block that expected one or (line 0) out of the test.
"""
NO_ANSWERS: Mapping[str, tuple[str, ...]] = {}
_ANYTHING = {"object", "BaseException", "Exception"}


def sorted_by_question(answers: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Read the answers of one test as its process reported them: question -> answers."""
    questions: dict[str, list[str]] = defaultdict(list)
    for answer in answers:
        line, kind, text = answer.split(" ", 2)
        questions[f"{line} {kind}"].append(text)
    return {question: tuple(texts) for question, texts in questions.items()}


def repeated(first: Answers, second: Answers) -> Answers:
    """Return the answers that were the same twice; others say nothing about a program."""
    return {
        test: {
            question: texts for question, texts in questions.items()
            if second.get(test, NO_ANSWERS).get(question) == texts
        }
        for test, questions in first.items()
    }  # fmt: skip


def differing(fix_answers: Answers, answers: Answers) -> dict[str, list[str]]:
    """Return the questions that are certainly answered in another way than by the fix, by test."""
    result = {}
    for test, questions in fix_answers.items():
        given = answers.get(test, NO_ANSWERS)
        differs = [question for question, texts in questions.items() if _differ(question, texts, given.get(question))]
        if any(line_of(question) == 0 for question in given.keys() - questions.keys()):
            differs.append("0 !")  # it raised an exception where the fix raised none
        if differs:
            result[test] = differs
    return result


def line_of(question: str) -> int:
    """Return the line of the assertion that a question is about; 0: it is about the test as a whole."""
    return int(question.partition(" ")[0])


def _differ(question: str, fix_texts: Sequence[str], texts: Sequence[str] | None) -> bool:
    if texts is None or len(fix_texts) != len(texts):
        return True
    kind = question.partition(" ")[2]
    pairs = [(fix_text, text) for fix_text, text in zip(fix_texts, texts, strict=True) if fix_text != text]
    if kind == "!":
        return any(_other_exception(*pair) for pair in pairs)
    tolerance = tuple(map(float, kind[1:].split(","))) if kind.startswith("~") else (1e-6, 1e-9)
    return any(_surely_differ(*pair, (tolerance[0], tolerance[1])) for pair in pairs)


def _other_exception(fix_text: str, text: str) -> bool:
    if "nothing" in (fix_text, text):
        return True
    fix_classes, classes = set(fix_text.split()) - _ANYTHING, set(text.split()) - _ANYTHING
    return bool(fix_classes) and fix_classes.isdisjoint(classes)  # else both have a class that may be the expected one


def _surely_differ(fix_text: str, text: str, tolerance: tuple[float, float]) -> bool:
    value = _plain(fix_text)
    if value is _NO_VALUE:
        return False  # an object of the program's own, whose text may have more than one form
    return not _same(value, _plain(text), tolerance)


_NO_VALUE = object()


class _Made(tuple[Any, ...]):
    """An object that shows how it is made: its class and its arguments, as in `Money(5, currency='EUR')`."""

    __slots__ = ()


def _plain(text: str) -> Any:
    """Return the value that a text shows: plain values, and objects that are made of them."""
    try:
        (statement,) = parse_python(text.strip()).body
        return _value(statement.value) if isinstance(statement, ast.Expr) else _NO_VALUE
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return _NO_VALUE


def _value(node: ast.expr) -> Any:
    """Return the value of an expression. Raises ValueError if it is no value, TypeError for a key of no dictionary."""
    if isinstance(node, ast.Name) and node.id in ("inf", "nan"):
        return node.id
    if isinstance(node, (ast.List, ast.Tuple)):
        return [_value(element) for element in node.elts]
    if isinstance(node, ast.Dict):
        return {literal(key): _value(value) for key, value in zip(node.keys, node.values, strict=True) if key}
    if isinstance(node, ast.Call):
        name = ast.unparse(node.func)
        arguments = [_value(argument) for argument in node.args]
        keywords = {keyword.arg or "": _value(keyword.value) for keyword in node.keywords}
        if name == "set" and not arguments:
            return set()
        return _Made((name.rpartition(".")[2], arguments, keywords))
    return literal(node)


def _same(first: Any, second: Any, tolerance: tuple[float, float]) -> bool:
    """Whether two values are the same, except for the last digits of numbers."""
    if isinstance(first, (int, float)) and isinstance(second, (int, float)):
        try:
            return first == second or math.isclose(first, second, rel_tol=tolerance[0], abs_tol=tolerance[1])
        except OverflowError:  # an integer that is too large for a float
            return False
    if isinstance(first, _Made) or isinstance(second, _Made):
        return _same_made(first, second, tolerance)
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(
            _same(one, other, tolerance) for one, other in zip(first, second, strict=True)
        )
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(
            _same(value, second[key], tolerance) for key, value in first.items()
        )
    return bool(first == second)


def _same_made(first: Any, second: Any, tolerance: tuple[float, float]) -> bool:
    """Whether two values may be the same if at least one shows how it is made.

    Another class may equal the same values: `Money(5)` and `5`, or `array([1, 2])` and `[1, 2]`.
    """
    if isinstance(first, _Made) and isinstance(second, _Made):
        (name, *parts), (other_name, *other_parts) = first, second
        if name != other_name or len(parts[0]) != len(other_parts[0]) or parts[1].keys() != other_parts[1].keys():
            return True
        return _same(parts[0], other_parts[0], tolerance) and _same(parts[1], other_parts[1], tolerance)
    made, other = (first, second) if isinstance(first, _Made) else (second, first)
    arguments = [*made[1], *made[2].values()]
    return other is not _NO_VALUE and len(arguments) == 1 and _same(arguments[0], other, tolerance)
