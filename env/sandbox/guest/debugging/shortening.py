"""Shortens long texts for agents."""

from __future__ import annotations

import re
from typing import Optional

_CUT_WORD = re.compile(r"\w{1,24}\Z")
_DROPPED = re.compile(r"\[\.\.\. (\d{1,18}) bytes dropped \.\.\.\]")
_REST_OF_WORD = re.compile(r"\A\w{1,24}")


def shortened(text: str, limit: int, remedy: str, dropped: Optional[int] = None) -> str:
    """Shorten a text of more than `most` characters to its head and tail, with a note on how to see the rest.

    The result has at most `most` characters, the note included. Words at the cuts go too, because half of an address
    would not be recognized as one. `dropped`: how many bytes were dropped before, if their notes in the text may be in
    pieces.
    """
    if len(text) <= limit:
        return text
    # The note is longest when it counts everything.
    room = limit - len(_omission_note(text, remedy, dropped))
    if room < 0:
        return _CUT_WORD.sub("", text[: max(limit - 3, 0)]) + "..."[:limit]
    head = _CUT_WORD.sub("", text[: room - room // 3])
    tail = _REST_OF_WORD.sub("", text[len(text) - room // 3 :])
    return head + _omission_note(text[len(head) : len(text) - len(tail)], remedy, dropped) + tail


def _omission_note(text: str, remedy: str, dropped: Optional[int]) -> str:
    """Return the note that stands in place of a text."""
    # The text may contain a note of `HeadTail`, whose bytes nothing can show any more.
    if dropped is None:
        dropped = sum(map(int, _DROPPED.findall(text)))
    dropped_note = "; {:,} bytes are lost, whatever the limit".format(dropped) if dropped else ""
    return "\n[... {:,} characters omitted: {}{} ...]\n".format(len(text), remedy, dropped_note)
