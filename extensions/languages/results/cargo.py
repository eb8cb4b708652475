"""Reads `cargo test`, whose form for programs needs an unstable compiler."""

from __future__ import annotations

import re

from stackrank.extensions.languages.results.outcomes import Outcomes

_TARGET = re.compile(r" +(?:Running (?:unittests )?(\S+) \(|Doc-tests (\S+)$)")
_COUNT = re.compile(r"running (\d+) tests?$")
_TEST = re.compile(r"test (.+?) \.\.\. (ok|FAILED|ignored)(?:, .*| <[\d.]+s>)?$")
_RESULT = re.compile(r"test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored;")
_OUTCOMES = {"ok": "passed", "FAILED": "failed", "ignored": "skipped"}


def read_cargo(output: str) -> dict[str, str]:
    """Return the outcome of each test, as `tests/file.rs::module::test`.

    Each part of the output announces how many tests it has. If one has fewer results, nothing is returned: a program
    may end the process, with status 0, before its tests are over.
    """
    outcomes, target, announced, count = Outcomes(), "", 0, 0
    for line in output.splitlines():
        if match := _TARGET.match(line):
            target = match[1] or match[2]
        elif match := _COUNT.match(line):
            announced += int(match[1])
        elif match := _TEST.match(line):
            outcomes.add(f"{target}::{match[1]}", _OUTCOMES[match[2]])
        elif match := _RESULT.match(line):
            count += sum(map(int, match.groups()))
    return outcomes if count == announced else {}
