# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Decisions."""
from __future__ import annotations

from typing import Iterable, List, Optional

from doors.paths import Path
from doors.rules import Rule


def deciding_rule(rules: Iterable[Rule], path: Path) -> Optional[Rule]:
    """The rule with the deepest folder of those that concern the path; of equal ones one that denies."""
    fitting = [rule for rule in rules if rule.concerns(path)]
    return max(fitting, key=lambda rule: (len(rule.folder), not rule.allow), default=None)


def decide(rules: List[Rule], groups: List[str], path: Path) -> bool:
    """Whether somebody in the groups may read the path.

    All rules for any of the groups count alike, the deepest folder decides.
    Without a rule nobody may.
    """
    for group in groups:
        rule = deciding_rule((rule for rule in rules if rule.group == group), path)
        if rule is not None:
            return rule.allow
    return False
