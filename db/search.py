"""The query language for episodes: `entrant:qwen -breakpoint tool:pdb text:"AssertionError" steps>20`.

Words separated by spaces must all hold, values separated by commas are alternatives, and a minus negates a word.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from stackrank.errors import UsageError
from stackrank.storable import storable_text
from stackrank.terms import UNKNOWN, FailurePoint, Label, Milestone, StopReason, Verdict
from stackrank.wording import one_of

MILESTONES = tuple(map(str, Milestone))
NAMES = ("entrant", "model", "task", "run")
"""Fields that match a part of the value, ignoring case."""
EXACT = ("tool", "tools", "tag", "category", "difficulty")
NUMBERS = ("steps", "cost", "tokens", "seconds", "attempt")
CLOSED: dict[str, tuple[str, ...]] = {
    "verdict": tuple(map(str, Verdict)),
    "failure": (*map(str, FailurePoint), UNKNOWN),
    "stop": tuple(map(str, StopReason)),
    "label": tuple(map(str, Label)),
}
TEXT = "text"
STEP = "step"
"""A step that the episode must have, and that is opened."""
FIELDS = (*NAMES, *EXACT, *CLOSED, *NUMBERS, TEXT, STEP)
HELP = (
    f'Only episodes that match all of these terms: entrant:qwen -tool:pdb text:"AssertionError" steps>20. Fields: '
    f"{', '.join(FIELDS)}; milestones: {', '.join(MILESTONES)}. A minus negates a term, commas separate "
    "alternatives. A text is searched for in every step but the reset, and there too with step:0."
)
_VALUE = r'"[^"]*"|[^\s",]+'
_WORD = re.compile(
    rf"(?P<minus>-?)(?:(?P<field>[a-z_]+)(?P<op>:|>=|<=|=|>|<))?(?P<values>(?:{_VALUE})(?:,(?:{_VALUE}))*)?"
)


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a query. `field` is one of `FIELDS`, or a milestone, which has no values."""

    field: str
    op: str = ":"
    values: tuple[str, ...] = ()
    negated: bool = False


def parse(query: str) -> list[Word]:
    """Split a query into its words; an empty one has none. Raises `UsageError` for a word without a meaning."""
    words, at = [], 0
    query = storable_text(query).strip()
    while at < len(query):
        if query[at].isspace():
            at += 1
            continue
        end = next((place for place in range(at, len(query)) if query[place].isspace()), len(query))
        match = _WORD.match(query, at)
        if query[at:].count('"') % 2:
            raise UsageError(f"The quotation mark in {_quote(query[at:])} is not closed: add the closing one.")
        if not match or not match.end() > at or (match.end() < len(query) and not query[match.end()].isspace()):
            raise UsageError(
                f"{_quote(query[at:end])} is not a search term: write FIELD:VALUE, and put quotes around values with "
                "spaces or commas."
            )
        words.append(_word(match))
        at = match.end()
    return words


def _word(match: re.Match[str]) -> Word:
    field, op, negated = match["field"], match["op"], bool(match["minus"])
    values = tuple(value.strip('"') for value in re.findall(_VALUE, match["values"] or ""))
    if field is None:
        if (match["values"] or "").startswith('"') and values[0]:
            return Word(TEXT, values=values, negated=negated)
        if len(values) != 1 or values[0] not in MILESTONES:
            hint = f'text:"{values[0]}" searches for a text' if values and values[0] else f"write {one_of(MILESTONES)}"
            raise UsageError(f"{_quote(match[0])} is not a milestone ({', '.join(MILESTONES)}); {hint}.")
        return Word(values[0], negated=negated)
    if field not in FIELDS:
        raise UsageError(f"{_quote(match[0])}: there is no field {field!r}; choose {one_of(FIELDS)}.")
    if not all(values) or not values:
        raise UsageError(f"{_quote(match[0])}: {field} needs a value, as in {field}{op}{_example(field)}.")
    if field in NUMBERS:
        _check_numbers(match[0], field, values)
    elif op not in (":", "="):
        raise UsageError(f"{_quote(match[0])}: only {one_of(NUMBERS)} can be compared; write {field}:{values[0]}.")
    if field == STEP and (len(values) > 1 or not re.fullmatch(r"[0-9]{1,9}", values[0])):
        raise UsageError(f"{_quote(match[0])}: write the number of one step, as in {STEP}:{_example(STEP)}.")
    if field in CLOSED:
        _check_known(match[0], values, CLOSED[field])
    return Word(field, ":" if op == "=" else op, values, negated)


def _check_numbers(word: str, field: str, values: Collection[str]) -> None:
    for value in values:
        if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", value):
            raise UsageError(f"{_quote(word)}: {value!r} is not a number; write, for instance, {field}>20.")


def _check_known(word: str, values: Collection[str], terms: Collection[str]) -> None:
    if unknown := [value for value in values if value not in terms]:
        raise UsageError(f"{_quote(word)}: {unknown[0]!r} does not exist; choose {one_of(terms)}.")


def _example(field: str) -> str:
    if field == STEP:
        return "12"
    return "20" if field in NUMBERS else CLOSED.get(field, ("pdb" if field in ("tool", "text") else "name",))[0]


def _quote(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:57]}...")
