"""Reads JUnit's reports as XML, which most test programs can write, and the tree of JUnit's console launcher."""

from __future__ import annotations

import re

from stackrank.extensions.languages.results.outcomes import Outcomes, xml_results

_NODE = re.compile(r"((?:[| ] )*)[+'|`]-- (.+?) \[(OK|X|S)\](?: .*)?$")
_OUTCOMES = {"OK": "passed", "X": "failed", "S": "skipped"}


def read_junit(output: str) -> dict[str, str]:
    """Return the outcome of each test, as `Class::test`."""
    outcomes = Outcomes()
    for owner, name, outcome in xml_results(output):
        outcomes.add(f"{owner}::{name}", outcome)
    return outcomes or _read_tree(output)


def _read_tree(output: str) -> Outcomes:
    """Read `--details=tree --details-theme=ascii`. A node with none below it is a test; the topmost are engines."""
    nodes = [(len(match[1]) // 2, match[2], match[3]) for match in map(_NODE.match, output.splitlines()) if match]
    outcomes, path = Outcomes(), list[str]()
    for position, (depth, name, mark) in enumerate(nodes):
        path[depth:] = [name]
        is_leaf = position + 1 == len(nodes) or nodes[position + 1][0] <= depth
        if is_leaf and depth > 1:
            outcomes.add(f"{path[1]}::{' > '.join(path[2:])}", _OUTCOMES[mark])
    return outcomes
