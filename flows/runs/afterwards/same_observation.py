"""Compares today's observations with those of earlier versions, so that a replay ignores changes of wording."""

from __future__ import annotations

import re
from typing import NamedTuple

from stackrank.env.tools.grep import LONGEST_LINE
from stackrank.env.tools.shown import clip, fold_repeats, strip_padding

_CREATED = re.compile(r"\A(Created .+): (?:0 lines replaced by )?(\d+)(?: lines?)?\.$", re.MULTILINE)
_OWN_TESTS = re.compile(r"(is read-only: mend the program, not what tests it); tests of your own go into \S+")
_PLACE = re.compile(r"^\[[^\n]+:\d+, [^\n]+, depth \d+.*\]$", re.MULTILINE)
_EXCERPT = re.compile(r"(?:^ *\d+ (?:->|B |  )(?: .*)?\n|^ *\d+\n)+\Z", re.MULTILINE)
_BELOW = re.compile(r"\n(Calls: .*)?\n?(Locals: .*)?")
_LEFT_OUT = re.compile(r"\n\[\.\.\. \d+ characters left out: .*? \.\.\.\]\n")

_FOUND_THEN = re.compile(r"(?P<path>.+?):(?P<number>\d+): (?P<text>.*)")
_FOUND = re.compile(r"(?P<number>\d+): (?P<text>.*)")
_MORE_FOUND = re.compile(r"\n\.\.\. and (\d+) more matches: .*\Z")


class _Told(NamedTuple):
    """The parts of a pdb observation: what the commands said, and where the program stands. None: it was left out."""

    said: str
    rest: str
    excerpt: str | None
    place: str | None
    calls: str | None
    values: str | None


def same_observation(before: str, now: str) -> bool:
    """Whether an observation equals the recorded one, apart from the wording of earlier versions.

    Earlier versions showed pytest's filler and a test's source once for each parameter set, counted the lines that a
    new file replaced, repeated the answers of pdb below them, left out more of these, and left out the place where a
    breakpoint stops again. When they cut the middle of a text, they showed more of its ends. Each line that a
    search found began with the path of its file.
    """
    before, now = _today(before), _today(now)
    if before == now or _kept_more(before, now) or _found_the_same(before, now):
        return True
    old, new = _parted(before), _parted(now)
    if new.place is None:
        return False
    told = zip(old[2:], new[2:], strict=True)
    same = all(None in (was, shown) or was == shown for was, shown in told)
    return same and old.rest == new.rest and _within(old.said, new.said)


def _today(text: str) -> str:
    text = _OWN_TESTS.sub(r"\1", fold_repeats(strip_padding(text)))
    return _CREATED.sub(r"\1: \2", text)


def _parted(text: str) -> _Told:
    places = [*_PLACE.finditer(text)]
    if not places:
        return _Told(_without_current_line(text), "", None, None, None, None)
    place = places[-1]
    head = text[: place.start()]
    excerpt = _EXCERPT.search(head)
    said = head[: excerpt.start()] if excerpt else head
    below = _BELOW.match(text, place.end())
    rest = text[below.end() if below else place.end() :]
    calls, values = below.groups() if below else (None, None)
    return _Told(_without_current_line(said), rest.strip(), excerpt and excerpt[0], place[0], calls, values)


def _without_current_line(said: str) -> str:
    """Return what pdb said without its last line of code, because an excerpt may be shown instead."""
    return re.sub(r"\n-> .*\Z", "", said.rstrip())


def _within(before: str, now: str) -> bool:
    """Whether a text equals the recorded one, or has more where the recorded one left something out."""
    if _kept_more(before, now):
        return True
    first, *others = _LEFT_OUT.split(before)
    if not others:
        return before == now
    if not now.startswith(first) or not now.endswith(others[-1]):
        return False
    at = len(first)
    for piece in others:
        at = now.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return True


def _kept_more(before: str, now: str) -> bool:
    """Whether both texts leave out their middle, and the recorded one leaves out less."""
    was, shown = (
        [(text[: cut.start()], text[cut.end() :]) for cut in _LEFT_OUT.finditer(text)] for text in (before, now)
    )
    return any(
        len(head) > len(new_head) and head.startswith(new_head) and tail.endswith(new_tail)
        for head, tail in was
        for new_head, new_tail in shown
    )


def _found_the_same(before: str, now: str) -> bool:
    """Whether a search found the same. The recorded one names the file in each line, and so shows fewer lines."""
    was, shown = _found(before, _FOUND_THEN), _found(now, _FOUND)
    if not was.lines or was.all != shown.all or len(was.lines) > len(shown.lines):
        return False
    return all(
        old == new
        or (old[:2] == new[:2] and len(old[2]) == LONGEST_LINE and new[2] == clip(old[2] + "...", LONGEST_LINE))
        for old, new in zip(was.lines, shown.lines, strict=False)
    )


class _Found(NamedTuple):
    lines: list[tuple[str, str, str]]
    """File, number and text."""
    all: int
    """The number of all matches, including those not shown. Negative: the text is not the result of a search."""


def _found(text: str, form: re.Pattern[str]) -> _Found:
    more = _MORE_FOUND.search(text)
    lines: list[tuple[str, str, str]] = []
    path = ""
    for line in (text[: more.start()] if more else text).split("\n"):
        match = form.fullmatch(line)
        if match is None and form is _FOUND:
            path = line
        elif match is None:
            return _Found([], -1)
        else:
            lines.append((match.groupdict().get("path", path), match["number"], match["text"]))
    return _Found(lines, len(lines) + (int(more[1]) if more else 0))
