"""Say what a user would notice of an injected bug, from the tests that notice it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from stackrank.env.sandbox.guest.testing.ids import path_of
from stackrank.env.task import Fault
from stackrank.extensions.authoring.withheld import words_in_test_name

_MOST = 160
"""Most characters of what a test shows: longer values say little."""
_VARIES = re.compile(r"\b0x[0-9a-f]+|/tmp\b|\.\.\.")
"""Addresses, temporary files, and values that pytest has cut."""
_EQUAL = re.compile(
    r"^(?:AssertionError: )?assert (?P<one>.+) == (?P<two>.+)$|^AssertionError: (.+) != (.+?)(?: : .*)?$", re.M
)
_NO_ERROR = re.compile(r"DID NOT RAISE (?:<class '(?:[\w.]+\.)?)?(\w+)|^AssertionError: (\w+) not raised")
_ERROR = re.compile(r"(?!AssertionError|Failed)(\w+): (\S.*)")


def statement(opening: str, tests: Mapping[str, str], file: str, faults: Sequence[Fault]) -> tuple[str, str]:
    """Return title and statement of a bug. The title is empty if nothing can be told.

    `opening`: what the statement begins with, without a full stop. `tests`: the failing tests that agents see -> the
    message of each failure. What names the file, a class or a function of the fault is left out.
    """
    words, symptom_text = _most_telling(tests, file, faults)
    symptom = f": {words}" if words else ""
    evidence = f" {symptom_text}" if symptom_text else "" if words else " Some of its tests show it."
    return (words or symptom_text.removeprefix("For instance, ").rstrip("."))[
        :80
    ], f"{opening}{symptom}.{evidence} Nothing else has changed."


def _most_telling(tests: Mapping[str, str], file: str, faults: Sequence[Fault]) -> tuple[str, str]:
    """Return a test's name in words and what its failure shows: of the first test of which both can be told."""
    functions = [part for fault in faults for name in fault.functions for part in name.split(".")]
    telling = {_plain(name) for name in (*functions, PurePosixPath(file).stem)} - {""}
    best = ("", "")
    for test, message in tests.items():
        if path_of(test) == file:
            continue
        words, sentence = words_in_test_name(test), _describe_failure(message)
        words = "" if any(name in _plain(words) for name in telling) else words
        sentence = "" if not telling.isdisjoint(map(_plain, re.findall(r"\w+", sentence))) else sentence
        best = max(best, (words, sentence), key=lambda pair: (bool(pair[0]) + bool(pair[1]), bool(pair[0])))
    return best


def _describe_failure(message: str) -> str:
    """Return a sentence about a failure; empty if its message says too little, too much, or not always the same."""
    if (equal := _EQUAL.search(message)) is not None:
        first, second = (value for value in equal.groups() if value is not None)
        several = any(word in first + second for word in (" == ", " and "))
        sentence = "" if several else f"For instance, {first} and {second} should be equal."
    elif (missing := _NO_ERROR.search(message)) is not None:
        sentence = f"For instance, {missing[1] or missing[2]} should be raised, and is not."
    elif (error := _ERROR.match(message)) is not None:
        sentence = f"For instance, {error[1]} is raised: {error[2]}"
        sentence += "" if sentence.endswith((".", "!", "?")) else "."
    else:
        sentence = ""
    return "" if len(sentence) > _MOST or _VARIES.search(sentence) else sentence


def _plain(words: str) -> str:
    return re.sub(r"[\W_]+", "", words.lower())
