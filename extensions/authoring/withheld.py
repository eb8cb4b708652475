"""Choose which of the tests that detect a bug agents do not see, and what they see instead."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.benchmarks.testfiles import defining_id, without_tests
from stackrank.env.scoring.contradictions import find_candidates
from stackrank.env.scoring.proof import Contradiction


def to_withhold(
    files: Mapping[str, bytes], failing: Sequence[str], named: Iterable[str] = (), staying: Iterable[str] = ()
) -> tuple[str, ...]:
    """Return half of the failing functions, which agents are not to see, and all others that stand where these do.

    `named`: all functions that the command names; several classes may inherit one. `staying`: the tests that pass.
    Functions that could seal a verdict are withheld first. Raises BenchmarkError if there is none, if fewer than two
    functions fail, or if the rest is not valid Python.
    """
    functions = dict.fromkeys(test.partition("[")[0] for test in (*failing, *named))
    defined = {each: defining_id(files[each.partition("::")[0]], each) for each in functions}
    stands = {each: place or each for each, place in defined.items()}
    found = list(dict.fromkeys(stands[test.partition("[")[0]] for test in failing))
    own = {test.partition("[")[0] for test in failing}
    by_text = could_seal(files, [*failing, *(test for test in staying if test.partition("[")[0] in own)])
    sealing = {stands[each] for each in by_text}
    found.sort(key=lambda each: each in sealing)
    cut = found[(len(found) + 1) // 2 :]
    if not cut:
        raise BenchmarkError("only one test detects it")
    names = {_name(each) for each in cut}
    if any(_name(each) in names for each, place in defined.items() if not place):
        # It may be inherited from another file, and be cut together with the others.
        raise BenchmarkError("its tests cannot be told apart")
    if not sealing:
        raise BenchmarkError("no expectation of its tests is written down that could be changed")
    withheld = tuple(each for each in functions if stands[each] in cut)
    without_withheld(files, withheld)
    return withheld


def without_withheld(files: Mapping[str, bytes], withheld: Iterable[str]) -> dict[str, bytes]:
    """Return the test files that define these functions, as agents see them. Raises BenchmarkError."""
    places = [defining_id(files[each.partition("::")[0]], each) or each for each in withheld]
    paths = sorted({each.partition("::")[0] for each in places})
    return {path: without_tests(files[path], places, path) for path in paths}


def could_seal(files: Mapping[str, bytes], tests: Iterable[str]) -> set[str]:
    """Return the functions of those of the tests that could seal a verdict, as far as their text tells."""
    by_file: dict[str, list[str]] = defaultdict(list)
    for test in tests:
        by_file[test.partition("::")[0]].append(test)
    return {
        test.partition("[")[0]
        for path, own in by_file.items()
        for each in find_candidates(path, files[path], own)
        if not each.telling and Contradiction(each.unit, {}, path, each.places[0][0], each.edit, each.old).both_ways
        for test in each.tests
    }


def words_of(test: str) -> str:
    """Return the name of a test in words, without `test`."""
    return _name(test).removeprefix("test_").replace("_", " ")


def _name(test: str) -> str:
    return test.partition("[")[0].rpartition("::")[2]
