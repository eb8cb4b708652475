"""Console blocks of a page: their commands, and whether an output is what the page shows.

`docs/guide/first-run.md` states the rule by which the two are compared ("How to read these pages").
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(r"^( *)```console\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
_GAP = re.compile(r" {3,}")
_VARYING = (
    (re.compile(r"\b\d+(?:\.\d+)? (?:ms|s|min|h)\b"), "TIME"),
    (re.compile(r"\b(?:TIME )+TIME\b"), "TIME"),
    (re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[+]00:00)?)?"), "DATE"),
    (re.compile(r"\b(?=[a-f]*\d)[0-9a-f]{8,}\b"), "DIGEST"),
    (re.compile(r"in (?:docker|bubblewrap) sandboxes"), "in SANDBOX sandboxes"),
)
"""What differs from run to run or from machine to machine."""
_PROGRESS = re.compile(r"\d+ of \d+ episodes \(")
"""How far a run is, which is said every few seconds: more often on a busy machine."""
_VARYING_COLUMNS = ("seconds", "started")


@dataclass(frozen=True)
class Command:
    """A command of a page, and the output that the page shows below it."""

    line: int
    """The line of the page."""
    command: str
    shown: str

    @property
    def serves(self) -> bool:
        """Whether it runs until somebody presses Ctrl-C."""
        return "Ctrl-C stops it" in self.shown


def commands(page: Path) -> list[Command]:
    """Return the commands of all console blocks of a page.

    A line that begins with `$ ` is a command, and goes on in the next line if it ends with a backslash. What follows
    is its output.
    """
    text = page.read_text(encoding="utf-8")
    found = []
    for block in _BLOCK.finditer(text):
        first = text.count("\n", 0, block.start()) + 2
        lines = [line.removeprefix(block[1]) for line in block[2].splitlines()]
        assert lines and lines[0].startswith("$ "), f"{page.name}:{first}: a console block begins with a command"
        number = 0
        while number < len(lines):
            line, command = first + number, lines[number][2:]
            number += 1
            while command.endswith("\\"):
                command = command[:-1] + lines[number].strip()
                number += 1
            start = number
            while number < len(lines) and not lines[number].startswith("$ "):
                number += 1
            found.append(Command(line, command, "\n".join(lines[start:number]).strip("\n")))
    return found


def matches(shown: str, printed: str) -> bool:
    """Whether a command printed what its page shows.

    `...` on the page stands for any text. Times, dates, digests and the columns of `_VARYING_COLUMNS` may differ, and
    columns may be wider; lines about progress are passed over. A page that shows no output makes no statement about it.
    """
    if not shown:
        return True
    parts = (re.escape(part.strip()) for part in normalise(shown).split("..."))
    return re.fullmatch(".*".join(parts), normalise(printed), re.DOTALL) is not None


def normalise(output: str) -> str:
    """Return an output without what may differ from run to run."""
    lines = []
    columns: list[tuple[int, int]] = []
    for line in output.splitlines():
        if _PROGRESS.match(line):
            continue
        if any(re.search(rf"(?:^|   ){name}(?:   |$)", line) for name in _VARYING_COLUMNS):
            columns = _columns(line)
        elif columns and "   " in line:
            for start, end in reversed(columns):
                if line[start:end].strip() and line[start:end].strip() != "...":
                    line = f"{line[:start]}   VARIES   {line[end:]}"
        for expression, word in _VARYING:
            line = expression.sub(word, line)
        line = re.sub("─+", "─", line)
        lines.append(re.sub(" +", " ", line).strip())
    return re.sub(r"\n{2,}", "\n", "\n".join(lines)).strip()


def _columns(heading: str) -> list[tuple[int, int]]:
    """Where the varying columns of a table begin and end, from its heading.

    A column reaches from the end of the title before it to its own end, or, if it is left-aligned as `started` is, from
    the beginning of its title to that of the next one.
    """
    ends = [match.start() for match in _GAP.finditer(heading.rstrip())] + [len(heading.rstrip())]
    starts = [0] + [match.end() for match in _GAP.finditer(heading.rstrip())]
    found = []
    for index, (start, end) in enumerate(zip(starts, ends, strict=True)):
        title = heading[start:end].strip()
        if title == "seconds":
            found.append((ends[index - 1] if index else 0, end))
        elif title in _VARYING_COLUMNS:
            found.append((start, starts[index + 1] if index + 1 < len(starts) else 10_000))
    return found
