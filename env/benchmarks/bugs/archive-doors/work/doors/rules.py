# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Rules."""
from __future__ import annotations

from dataclasses import dataclass
from typing import List

from doors.paths import Path, is_below, parse_path


@dataclass(frozen=True)
class Rule:
    """Lets a group into a folder with all below it, or keeps it out."""

    group: str
    allow: bool
    folder: Path

    def concerns(self, path: Path) -> bool:
        return is_below(path, self.folder)


def parse_rules(text: str) -> List[Rule]:
    """Lines of `allow GROUP FOLDER` or `deny GROUP FOLDER`; `#` begins a comment."""
    rules = []
    for line in text.splitlines():
        line = line.partition("#")[0].strip()
        if not line:
            continue
        verb, group, folder = line.split()
        if verb not in ("allow", "deny"):
            raise ValueError("neither allow nor deny: " + line)
        rules.append(Rule(group, verb == "allow", parse_path(folder)))
    return rules
