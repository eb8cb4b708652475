"""Removes from observations what differs from run to run although nothing happened differently."""

from __future__ import annotations

import re

_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = (
    # pytest pads its last line to the width of the terminal.
    (re.compile(r"^=+ (.+ in) \d+\.\d+s(?: \([\d:]+\))? =+$", re.MULTILINE), r"=== \1 0.00s ==="),
    (re.compile(r"\bin \d+\.\d+( ?s| seconds)\b( \(\d+:\d\d:\d\d\))?"), r"in 0.00\1"),
    (re.compile(r"\b\d+\.\d+s (call|setup|teardown)\b"), r"0.00s \1"),
    # The shell's `time`.
    (re.compile(r"^(real|user|sys)(\s+)\d+(m\d+)?[.,]\d+(s?)$", re.MULTILINE), r"\1\g<2>0.00\4"),
    # The date in a long listing of files.
    (
        re.compile(
            r"^([-dlbcps][-rwxsStT]{9}[.+@]? +\d+ +\S+ +\S+ +\d+) \w{3} [ \d]\d (?:\d\d:\d\d| \d{4}) ", re.MULTILINE
        ),
        r"\1 Jan  1 00:00 ",
    ),
    (re.compile(r"/tmp/pytest-of-\w+/pytest-\d+"), "/tmp/pytest"),
    (re.compile(r"/tmp/tmp[a-z0-9_]{8}\b"), "/tmp/tmp..."),
    (re.compile(r"/tmp/tmp\.[A-Za-z0-9]{10}\b"), "/tmp/tmp..."),
    # Where Node's debugger listens, and the process that gdb debugs.
    (re.compile(r"\bws://([\w.:]+)/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), r"ws://\1/..."),
    (re.compile(r"(\[Inferior \d+ \(process) \d+\)"), r"\1 ...)"),
)
# The addresses at which Linux maps a process's memory on x86-64 and ARM: other numbers are the program's own. `id(...)`
# is decimal, and the hash of an object is a sixteenth of its id. A number that a repr calls an address always counts,
# also where `reprlib` has cut off what is before it.
_ADDRESS = re.compile(
    r"(?<= at )0[xX][0-9a-fA-F]{5,16}\b"
    r"|(?<=\.\.\.)x[0-9a-f]{12}(?=>)"
    r"|\b0[xX](?:0000)?(?:(?:7[efEF]|5[56])[0-9a-fA-F]{10}|(?:ffff|aaaa|FFFF|AAAA)[0-9a-fA-F]{8})\b"
    r"|\b(?:(?:138|139|140)\d{12}|9[345]\d{12}|(?:86[5-9]|87\d|58[4-9]|59[0-7])\d{10})\b"
)


def normalise(text: str, root: str) -> str:
    """Replace durations, addresses, temporary names and the workspace's real path in a text.

    Addresses are numbered in the order of their first appearance: equal ones stay equal, different ones different.
    """
    if root != "/workspace":
        text = text.replace(root, "/workspace")
    for pattern, replacement in _PATTERNS:
        text = pattern.sub(replacement, text)
    numbers: dict[int, int] = {}

    def numbered(match: re.Match[str]) -> str:
        address = f"0{match[0]}" if match[0][0] == "x" else match[0]
        number = numbers.setdefault(int(address, 0), len(numbers) + 1)
        return f"0x...{number}" if address[:2] in ("0x", "0X") else f"140...{number}"

    return _ADDRESS.sub(numbered, text)
