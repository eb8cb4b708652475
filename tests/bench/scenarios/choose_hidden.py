"""Fill in `hidden` of a recipe of `deep`: own tests of the library that run the code around each fault.

    python -m tests.bench.scenarios.choose_hidden LIBRARY.yaml tests/test_a.py tests/test_b.py

A wrong change that fixes what a report shows usually breaks something else, and these tests are the likeliest to
notice. All of a library's tests would take too long, for a verdict and for its proof. The files that are named have to
pass in a sandbox with nothing but the recipe's requirements; test files that they import belong into the recipe's
`tests_need`. Of a file that does not pass as a whole, some tests can be left out (`--deselect ID`).
"""

from __future__ import annotations

import hashlib
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from stackrank.env.benchmarks.python_project.pytest_command import TestCommand
from stackrank.env.environment import Environment
from stackrank.env.localisation.spectrum import AT_IMPORT
from stackrank.env.patches import find_faults, function_spans, make_diff
from stackrank.env.sandbox.registry import default_backend
from stackrank.env.task import Fault
from stackrank.extensions.authoring.benchmarks.deep_recipe import Recipe, plant, read_recipe
from stackrank.extensions.authoring.benchmarks.deep_suite import library_files, without
from stackrank.extensions.authoring.inject.injection import Injection, InjectionOptions
from stackrank.extensions.authoring.inject.reach import Reach
from stackrank.wording import print_err

MOST = 40
"""Test functions of a task."""
MOST_S, SLOW_S = 2.5, 0.5
"""Seconds that they may take while they are measured, together and each."""


def choose(files: Mapping[str, bytes], faults: Sequence[Fault], reach: Reach) -> list[str]:
    """Test functions that run the lines of a fix, then others that run its functions, as far as there is time.

    `files` and the lines of `faults`: with the fix. Which of equally near ones come first has no meaning, and is always
    the same.
    """
    seconds: dict[str, float] = defaultdict(float)
    for test, duration in zip(reach.tests, reach.seconds, strict=True):
        seconds[test.partition("[")[0]] += duration
    exact = _functions(reach, {(fault.file, line) for fault in faults for line in fault.lines})
    spans = [(fault, *span) for fault in faults for span in function_spans(files[fault.file])]
    around = {(fault.file, n) for fault, name, a, b in spans if name in fault.functions for n in range(a + 1, b + 1)}
    tests: list[str] = []
    spent = 0.0
    for test in [*_shuffled(exact), *_shuffled(_functions(reach, around) - exact)]:
        if len(tests) < MOST and seconds[test] < SLOW_S and spent + seconds[test] < MOST_S:
            tests.append(test)
            spent += seconds[test]
    return sorted(tests)


def _functions(reach: Reach, lines: set[tuple[str, int]]) -> set[str]:
    groups = {reach.lines.get(file, {}).get(line) for file, line in lines}
    # A function that also runs while its module is imported can still be tested.
    tests = {number for group in groups if group is not None for number in reach.groups[group]} - {AT_IMPORT}
    return {reach.tests[number].partition("[")[0] for number in tests}


def _shuffled(tests: set[str]) -> list[str]:
    return sorted(tests, key=lambda test: hashlib.sha256(test.encode()).digest())


def reach_of(recipe: Recipe, tests: Sequence[str]) -> tuple[Mapping[str, bytes], Reach]:
    """The library with its tests, and which of these run which lines."""
    folders = {path.partition("/")[0] for path in (f"{recipe.package}/", *tests)}
    library = library_files(recipe)
    visible = without(library, recipe.omit)
    files = {path: content for path, content in library.items() if path in visible or path.partition("/")[0] in folders}
    command = TestCommand.of(f"python -m pytest -q -p no:cacheprovider {recipe.options} {' '.join(tests)}", files)
    needs = Environment(requirements=tuple(recipe.requirements)) if recipe.requirements else Environment()
    with tempfile.TemporaryDirectory() as folder:
        injection = Injection(default_backend(), files, InjectionOptions(0, 0, command, needs), Path(folder))
        injection.prepare(print_err)
        return files, injection.reach()


def fill_in(text: str, tests_by_fault: Mapping[str, Sequence[str]]) -> str:
    """A recipe with more hidden tests; by task. Comments and layout stay."""
    parts = re.split(r"(?m)^(?=- id: )", text)
    for number, part in enumerate(parts):
        match = re.match(r"- id: (\S+)\n", part)
        new_tests = [test for test in tests_by_fault.get(match[1] if match else "", ()) if f"  - {test}\n" not in part]
        if new_tests:
            lines = "".join(f"  - {test}\n" for test in new_tests)
            head = "  hidden:\n"
            place = part.index(head) + len(head) if head in part else re.search(r"(?m)^  broken: .*\n", part).end()  # type: ignore[union-attr]
            parts[number] = part[:place] + ("" if head in part else head) + lines + part[place:]
    return "".join(parts)


def main(place: str, *tests: str) -> None:
    """Fill in one recipe."""
    recipe = read_recipe(Path(place))
    files, reach = reach_of(recipe, tests)
    tests_by_fault = {}
    for task in recipe.tasks:
        broken = plant(files, task.changes)
        good = {path: files[path] for path in broken}
        faults = find_faults(files, make_diff(good, broken))
        tests_by_fault[task.id] = choose(files, faults, reach)
        print_err(f"{task.id}: {len(tests_by_fault[task.id])} tests")
    text = Path(place).read_text(encoding="utf-8")
    Path(place).write_text(fill_in(text, tests_by_fault), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
