"""Composes tasks with one fault each to one task that has all their faults."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import replace

from stackrank.env.patterns import globs
from stackrank.env.task import Limits, Part, Task
from stackrank.patches.reading import Patch
from stackrank.wording import count_of

_LETTER = """\
This repository contains {projects}, each in a folder of its own with its tests. Since the last release, users report:

{reports}

Each report has a cause of its own, in the project that it names. Fix as many of them as you can. Each one counts by
itself, whatever becomes of the others: tests that you do not see decide whether it is fixed. If your steps or
tokens are too few for all of them, leave some as they are."""
STEPS, STEPS_PER_FAULT = 10, 1.5
"""The standard budget: so many actions, and so many more for each fault."""
TOKENS_PER_FAULT = 3_000
"""Of requests and answers together, each of which repeats the conversation. What to read is part of the work."""
TIMEOUT_S = 60.0
"""Seconds for a run of all visible tests."""


def compose(name: str, faults: Sequence[Task]) -> Task:
    """Return a release that has these faults, each in a folder that is called like its task.

    The visible tests of all projects run in one process, for which a `pytest.ini` puts every folder on the path of
    imports. No two projects may have a module or a folder at their top that is called alike. Verdicts do not depend
    on that: each project is judged alone.
    """
    folders = [fault.id for fault in faults]
    parts = tuple(Part(fault.id, fault.id, fault) for fault in faults)
    files = {f"{part.folder}/{path}": content for part in parts for path, content in part.task.files.items()}
    settings = f"[pytest]\npythonpath = {' '.join(folders)}\naddopts = --import-mode=importlib\n"
    tests = " ".join(path for path in sorted(files) if path.rpartition("/")[2].startswith("test_"))
    return Task(
        id=name,
        benchmark="marathon",
        title=f"{count_of(len(parts), 'fault')} at once",
        statement=_LETTER.format(projects=count_of(len(parts), "small project"), reports=_listed(faults)),
        category="several faults",
        files={**files, "pytest.ini": settings.encode()},
        test_command=f"python -m pytest -q -p no:cacheprovider {tests}",
        fix="".join(map(_fix, parts)),
        faults=tuple(
            replace(fault, file=f"{part.folder}/{fault.file}") for part in parts for fault in part.task.faults
        ),
        readonly=globs(("**/tests/**", "conftest.py", "pytest.ini")),
        limits=Limits(timeout_s=TIMEOUT_S),
        parts=parts,
        steps=STEPS + round(STEPS_PER_FAULT * len(parts)),
        tokens=TOKENS_PER_FAULT * len(parts),
    )


def _listed(faults: Sequence[Task]) -> str:
    """Return what users report as a numbered list, with the project that each of them uses."""
    reports = (textwrap.indent(f"{fault.id}: {fault.statement.strip()}", "   ") for fault in faults)
    return "\n\n".join(f"{number}. {report.lstrip()}" for number, report in enumerate(reports, 1))


def _fix(part: Part) -> str:
    """Return the known fix of a part, with the paths of the whole workspace."""
    return Patch.read(part.task.fix).renamed(lambda path: f"{part.folder}/{path}").text
