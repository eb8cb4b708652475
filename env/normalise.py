"""What differs from run to run although nothing happened differently: taken out of observations."""

from __future__ import annotations

import re

_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\b0x[0-9a-fA-F]{6,16}\b"), "0x..."),
    (re.compile(r"\bin \d+\.\d+s( \(\d+:\d\d:\d\d\))?"), "in 0.00s"),
    (re.compile(r"\b\d+\.\d+s (call|setup|teardown)\b"), r"0.00s \1"),
    (re.compile(r"/tmp/pytest-of-\w+/pytest-\d+"), "/tmp/pytest"),
    (re.compile(r"/tmp/tmp[a-z0-9_]{8}\b"), "/tmp/tmp..."),
)


def normalise(text: str, root: str) -> str:
    """The text with durations, addresses, temporary names and the workspace's real path replaced."""
    if root != "/workspace":
        text = text.replace(root, "/workspace")
    for pattern, replacement in _PATTERNS:
        text = pattern.sub(replacement, text)
    return text
