"""Choose which of the tests that detect a bug agents do not see, and what they see instead."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.benchmarks.testfiles import defining_id, without_tests
from stackrank.env.sandbox.guest.testing.ids import function_of, parse_id, path_of
from stackrank.env.scoring.contradictions import find_candidates
from stackrank.env.scoring.proof import Contradiction


def choose_withheld(
    files: Mapping[str, bytes], failing: Sequence[str], command_tests: Iterable[str] = (), passing: Iterable[str] = ()
) -> tuple[str, ...]:
    """Return half of the failing functions, which agents are not to see, and all others that stand where these do.

    `command_tests`: all functions that the command names; several classes may inherit one. `passing`: the tests that
    pass.
    Functions that could seal a verdict are withheld first. Raises BenchmarkError if there is none, if fewer than two
    functions fail, or if the rest is not valid Python.
    """
    functions = dict.fromkeys(function_of(test) for test in (*failing, *command_tests))
    defined = {function: defining_id(files[path_of(function)], function) for function in functions}
    definitions = {function: place or function for function, place in defined.items()}
    detecting = list(dict.fromkeys(definitions[function_of(test)] for test in failing))
    failing_functions = {function_of(test) for test in failing}
    by_text = find_sealing_tests(
        files, [*failing, *(test for test in passing if function_of(test) in failing_functions)]
    )
    sealing = {definitions[function] for function in by_text}
    detecting.sort(key=lambda function: function in sealing)
    cut = detecting[(len(detecting) + 1) // 2 :]
    if not cut:
        raise BenchmarkError("only one test detects it")
    names = {_name(function) for function in cut}
    if any(_name(function) in names for function, place in defined.items() if not place):
        # It may be inherited from another file, and be cut together with the others.
        raise BenchmarkError("its tests cannot be told apart")
    if not sealing:
        raise BenchmarkError("no expectation of its tests is written down that could be changed")
    withheld = tuple(function for function in functions if definitions[function] in cut)
    without_withheld(files, withheld)
    return withheld


def without_withheld(files: Mapping[str, bytes], withheld: Iterable[str]) -> dict[str, bytes]:
    """Return the test files that define these functions, as agents see them. Raises BenchmarkError."""
    places = [defining_id(files[path_of(function)], function) or function for function in withheld]
    paths = sorted({path_of(function) for function in places})
    return {path: without_tests(files[path], places, path) for path in paths}


def find_sealing_tests(files: Mapping[str, bytes], tests: Iterable[str]) -> set[str]:
    """Return the functions of those of the tests that could seal a verdict, as far as their text tells."""
    by_file: dict[str, list[str]] = defaultdict(list)
    for test in tests:
        by_file[path_of(test)].append(test)
    return {
        function_of(test)
        for path, file_tests in by_file.items()
        for candidate in find_candidates(path, files[path], file_tests)
        if not candidate.telling
        and Contradiction(candidate.unit, {}, path, candidate.places[0][0], candidate.edit, candidate.old).both_ways
        for test in candidate.tests
    }


def words_in_test_name(test: str) -> str:
    """Return the name of a test in words, without `test`."""
    return _name(test).removeprefix("test_").replace("_", " ")


def _name(test: str) -> str:
    return parse_id(test).name
