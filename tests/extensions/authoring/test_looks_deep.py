"""Which faults look deep before any test has run, and that these are tried first."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Set
from types import SimpleNamespace
from typing import Any

import pytest

from stackrank.env.localisation.formulas import ochiai, rank
from stackrank.env.localisation.spectrum import AT_IMPORT, Spectrum
from stackrank.extensions.authoring.benchmarks import fresh_night
from stackrank.extensions.authoring.inject import injection, verify
from stackrank.extensions.authoring.inject.reach import Reach

TESTS = tuple(f"t.py::test_{number}" for number in range(6))
SOURCE = b"".join(b"def test_%d():\n    assert f(%d) == %d\n\n\n" % (number, number, number) for number in range(4))
SOURCE += b"def test_4():\n    f()\n\n\ndef test_5():\n    f()\n"


def reach_of(lines: Mapping[int, Set[int]]) -> Reach:
    """What tests reach if `lines` says which of them run each line of `a.py`."""
    groups = tuple(dict.fromkeys(frozenset(tests) for tests in lines.values()))
    numbers = {line: groups.index(frozenset(tests)) for line, tests in lines.items()}
    return Reach(TESTS, (0.1,) * len(TESTS), groups, {"a.py": numbers})


def candidate(*lines: int, tests: set[int], file: str = "a.py") -> Any:
    return SimpleNamespace(file=file, lines=set(lines), tests=frozenset(tests), key=f"{file} {lines}")


def test_the_guess_is_the_rank_of_a_spectrum() -> None:
    dice = random.Random(0)
    for _ in range(50):
        numbers = [AT_IMPORT, *range(len(TESTS))]
        reach = reach_of({line: set(dice.sample(numbers, dice.randint(1, 4))) for line in range(1, 60)})
        failing = frozenset(dice.sample(range(len(TESTS)), dice.randint(1, 5)))
        outcomes = tuple("failed" if number in failing else "passed" for number in range(len(TESTS)))
        suite = Spectrum(reach.tests, reach.seconds, outcomes, {}, reach.groups, reach.lines)
        changed = candidate(3, 4, tests=set(failing))
        expected = rank(ochiai, suite.counts, suite.of([("a.py", 3), ("a.py", 4)]))
        assert verify._rank(reach, changed, failing) == expected


def test_what_many_lines_share_with_a_fault_makes_it_deep() -> None:
    reach = reach_of({**dict.fromkeys(range(1, 100), frozenset({0, 1})), 200: {2}, 300: {0, 1, 2}})
    assert verify.guessed_rank(reach, candidate(5, tests={0, 1})) == 50
    assert verify.guessed_rank(reach, candidate(200, tests={2})) == 1, "its test runs nothing else alone"
    assert verify.guessed_rank(reach, candidate(5, tests={0, 1}, file="b.py")) == 0, "nothing is known of its lines"


def test_faults_that_look_deep_come_first_and_are_looked_for_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    guessed: list[int] = []

    def guessed_rank(_: Reach, mutant: Any) -> float:
        guessed.append(mutant)
        return 21 if mutant % 2 else 20

    monkeypatch.setattr(injection, "guessed_rank", guessed_rank)
    numbers: Any = [4, 1, 2, 3, 6]
    order = injection._deep_first(numbers, reach_of({}))
    assert next(order) == 1 and guessed == [4, 1]
    assert list(order) == [3, 4, 2, 6]


def test_a_night_takes_faults_that_a_test_can_seal(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = {"a.py (1,)": 1, "a.py (2,)": 1, "a.py (3,)": 1}
    monkeypatch.setattr(fresh_night, "part_of", lambda key: parts.get(key, 2))
    reach = reach_of({1: {0, 1}, 2: {3}, 3: {4, 5}})
    good, single, silent = candidate(1, tests={0, 1}), candidate(2, tests={3}), candidate(3, tests={4, 5})
    of_another_night = candidate(1, 2, tests={0, 1})

    def chosen(keys: set[str]) -> list[Any]:
        search: Any = SimpleNamespace(_seed="1", _keys=keys, _files={"t.py": SOURCE})
        return fresh_night._Search._choose(search, [single, silent, of_another_night, good], reach)

    assert chosen(set()) == [good]
    assert not chosen({good.key}), "another night has made it"


def test_a_night_tries_what_looks_deep_before_the_rest() -> None:
    tried: list[list[str]] = []

    class Injection:
        def find_bugs(self, reach: object, candidates: list[str], *_: object) -> Iterator[object]:
            tried.append(candidates)
            yield from ()

    search: Any = SimpleNamespace(
        _candidates_of_library=(Injection(), None, [("a", 20.0), ("b", 10.0), ("c", 0.0), ("d", 21.0)]), _tried=None
    )
    for highest, lowest in itertools.pairwise(fresh_night._BANDS):
        list(fresh_night._Search._search_band(search, lowest, highest))
    assert tried == [["d"], ["a"], ["b", "c"]]
