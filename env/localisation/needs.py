"""Tells what a test's surroundings lack apart from what the program does.

Two means, neither of which reads what a failure says. A failing test runs again in other surroundings (on another day,
in another time zone, in another folder, in a git repository, at a terminal, with colours): if it passes, these decide
and not the program. And what tests ask their surroundings for without getting it is recorded (`needs_plugin`): if only
failing tests ask for something, they fail for the lack of it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from stackrank.env.localisation.spectrum import RUN_PYTEST, Unmeasured, decode_answer, run_plugin
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.sandbox.guest.testing.ids import function_of
from stackrank.env.sandbox.replies.decoder import Many, Name
from stackrank.host.wall_clock import seconds_since, seconds_until

_DAY_S = 86400.0
_AT_TERMINAL = (
    'python -c "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))" '
    + RUN_PYTEST
    + " -s"
)


@dataclass(frozen=True)
class _Condition:
    """Other surroundings for a test run."""

    passing: str
    """What a test that passes there depends on, as the end of a sentence."""
    naming: str = ""
    """What a test's id depends on if it is another one there; empty: ids cannot depend on this."""
    shift_s: float = 0.0
    """Seconds by which the clock is moved."""
    before: str = ""
    """A shell command that makes them."""
    at_terminal: bool = False


@dataclass(frozen=True)
class Surroundings:
    """What is known about why tests fail."""

    lacking: dict[str, str] = field(default_factory=dict)
    """Failing test -> why its failure says nothing about the program."""
    unstable: dict[str, str] = field(default_factory=dict)
    """Test -> why its id is not always the same."""


def inspect_surroundings(
    sandbox: Sandbox,
    files: Mapping[str, bytes],
    command: str,
    failing: Collection[str],
    timeout_s: float,
    *,
    written_at: float | None = None,
    asks: bool = True,
) -> Surroundings:
    """Find out which failing tests fail because of their surroundings, and which tests have ids that change.

    `command`: runs the tests, by pytest. `written_at`: when the tests were last known to pass, in seconds since 1970.
    `asks`: whether it counts what tests ask for: not if they pass in a sandbox with another version of the program.
    Runs all tests once, and the failing ones four times and more. Raises Unmeasured, SandboxError.
    """

    def run(only: Sequence[str] | None, conditions: Sequence[_Condition], *, record: bool = False) -> _Result:
        request: dict[str, Any] = {"root": sandbox.root, "only": only, "record": record}
        request["shift_s"] = sum(condition.shift_s for condition in conditions)
        before = " && ".join(filter(None, ["true", *(condition.before for condition in conditions)]))
        head = _AT_TERMINAL if any(condition.at_terminal for condition in conditions) else RUN_PYTEST
        answer = run_plugin(sandbox, files, command, "needs_plugin", head, timeout_s, request, before)
        return decode_answer(_Result, answer)

    base = run(None, (), record=True)
    tests = sorted(test for test in failing if base.outcomes.get(test) == "failed")
    surroundings = Surroundings(_find_lacks(base, tests) if asks else {})
    moving = {*_moved(base, run([], ())), *filter(has_address, base.collected)}
    always = dict.fromkeys(moving, "its id is another one in each process")
    for conditions in _combinations(written_at):
        with suppress(Unmeasured):
            other = run(tests, conditions)
            passing = [test for test in tests if other.outcomes.get(test) == "passed"]
            moved = [test for test in _moved(base, other) if test not in always]
            for condition in conditions if passing or moved else ():
                with suppress(Unmeasured):  # for instance because there is no git
                    single = run(passing, [condition])
                    for test in passing:
                        if single.outcomes.get(test) == "passed":
                            surroundings.lacking[test] = f"it passes {condition.passing}"
                    for test in _moved(base, single) if condition.naming else ():
                        surroundings.unstable[test] = f"its id depends on {condition.naming}"
            for test in passing:
                names = ", or ".join(condition.passing.partition(":")[0] for condition in conditions)
                surroundings.lacking.setdefault(test, f"it passes {names}")
            for test in moved:
                surroundings.unstable.setdefault(test, "its id depends on the surroundings")
    return replace(surroundings, unstable={**surroundings.unstable, **always})


def has_address(test: str) -> bool:
    """Whether an id contains the address of an object, which stays only as long as processes are copies of one."""
    return re.search(r" at 0x[0-9a-fA-F]{6,}", test) is not None


def _moved(base: _Result, other: _Result) -> list[str]:
    """Return the tests that the other run did not find, if it found others of the same function."""
    names = {function_of(test) for test in other.collected}
    return [test for test in base.collected if test not in other.collected and function_of(test) in names]


def _combinations(written_at: float | None) -> list[list[_Condition]]:
    """Return conditions to try together: few runs tell whether any of them matters."""
    return [
        [_day(1.45), _zone("Europe/Berlin"), _TERMINAL, _GIT],
        [_day(-100), _zone("Asia/Tokyo"), _locale("de_DE.UTF-8"), _FOLDER],
        [_day(-3 * 365), _zone("America/New_York"), _locale("en_US.UTF-8"), _COLOURS],
        [_day(3) if written_at is None else _day(_days_from_now(written_at))],
    ]


def _days_from_now(written_at: float) -> float:
    moment = datetime.fromtimestamp(written_at, UTC)
    return (seconds_until(moment) - seconds_since(moment)) / _DAY_S


def _day(days: float) -> _Condition:
    when = "on another day" if abs(days) < 30 else f"{abs(days):.0f} days {'earlier' if days < 0 else 'later'}"
    return _Condition(f"{when}: it depends on the date", "the day", shift_s=days * _DAY_S)


def _zone(name: str) -> _Condition:
    return _Condition(f"in the time zone {name}: it depends on the time zone", before=f"export TZ={name}")


def _locale(name: str) -> _Condition:
    return _Condition(f"with the locale {name}: it depends on the locale", before=f"export LC_ALL={name} LANG={name}")


_TERMINAL = _Condition("at a terminal, which a sandbox lacks", before="export TERM=xterm", at_terminal=True)
_COLOURS = _Condition("without NO_COLOR, COLUMNS and TERM, which a sandbox sets", before="unset NO_COLOR COLUMNS TERM")
_GIT = _Condition(
    "in a git repository: a sandbox has the files of a commit, and no git metadata",
    before="export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@localhost "
    "GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@localhost && git init -q . && git add -A && git commit -q -m all",
)
_FOLDER = _Condition(
    "in another folder: it depends on where the project is",
    "the folder",
    before='there=$(mktemp -d)/other/place && mkdir -p "$there" && cp -a . "$there" && cd "$there"',
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Result:
    """What `needs_plugin` writes."""

    collected: Many[Name]
    outcomes: dict[Name, Name]
    needs: dict[Name, Many[Name]]


def _find_lacks(base: _Result, failing: Iterable[str]) -> dict[str, str]:
    """Return the failing tests that asked for something that no passing test asked for: test -> what."""
    usual = {what for test, whats in base.needs.items() if base.outcomes.get(test) == "passed" for what in whats}
    lacking = {}
    for test in failing:
        if whats := [what for what in base.needs.get(test, ()) if what not in usual]:
            lacking[test] = f"it needs {', '.join(whats[:3])}, which a sandbox lacks"
    return lacking
