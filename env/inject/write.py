"""Write a `repo` benchmark of verified bugs: a copy of the project, and a `tasks.yaml` that plants and fixes them."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from stackrank.env.benchmarks.repo_schema import (
    DefaultsEntry,
    LimitsEntry,
    PythonEntry,
    SourceEntry,
    TaskEntry,
    TasksFile,
    id_from,
    write_tasks,
)
from stackrank.env.environment import Environment
from stackrank.env.inject.candidates import Candidate
from stackrank.env.inject.verify import Verified
from stackrank.env.patches import make_diff

SOURCE, TASKS = "source", "tasks.yaml"


def write_source(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the project in the state in which its tests pass. Replaces an existing copy."""
    target = folder / SOURCE
    if target.exists():
        shutil.rmtree(target)
    for path, content in files.items():
        place = target / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)


def write_benchmark(
    folder: Path,
    name: str,
    files: Mapping[str, bytes],
    bugs: Sequence[tuple[Candidate, Verified]],
    environment: Environment,
    timeout_s: float,
) -> Path:
    """Write `tasks.yaml` into `folder` and return its path."""
    tasks = [
        _entry(f"{id_from(name)}-{number:03d}", name, files, candidate, verified, environment)
        for number, (candidate, verified) in enumerate(bugs, start=1)
    ]
    defaults = DefaultsEntry(timeout_s=timeout_s, limits=LimitsEntry())
    content = TasksFile(schema=1, name=f"bugs injected into {name}", defaults=defaults, tasks=tasks)
    write_tasks(folder / TASKS, content)
    return folder / TASKS


def _entry(
    task: str,
    project: str,
    files: Mapping[str, bytes],
    candidate: Candidate,
    verified: Verified,
    environment: Environment,
) -> TaskEntry:
    good = {candidate.file: files[candidate.file]}
    bad = {candidate.file: candidate.source()}
    failing = verified.fail_to_pass
    more = f" and {len(failing) - 1} more" if len(failing) > 1 else ""
    return TaskEntry(
        id=task,
        source=SourceEntry(path=SOURCE),
        test=verified.command,
        title=failing[0].rpartition("::")[2][:80],
        statement=f"Since the last change of {project}, {failing[0]}{more} fails.",
        setup=list(environment.setup),
        python=PythonEntry(version=environment.python or None, requirements=list(environment.requirements)),
        fail_to_pass=list(failing),
        pass_to_pass=list(verified.pass_to_pass),
        apply=make_diff(good, bad),
        fix=make_diff(bad, good),
        category=candidate.category,
        difficulty=verified.difficulty,
        tags=["injected", *candidate.operator.split("+")],
    )
