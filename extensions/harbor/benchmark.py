"""`harbor`: Harbor's task directories (https://harborframework.com/docs/tasks), stackrank's own and those of others.

A directory that stackrank wrote is read back as the original task. A directory of others can be played if its
Dockerfile begins with a Python image, copies files and installs packages with pip, or if its task.toml names a
`docker_image`. Its verdict is the reward that tests/test.sh writes, with the workspace in place of the Dockerfile's
WORKDIR.
"""

from __future__ import annotations

import functools
import shlex
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from stackrank.env.benchmarks.base import BenchmarkError, Source, TaskByTask, own_name
from stackrank.env.benchmarks.files import read_text, read_tree
from stackrank.env.environment import Environment
from stackrank.env.patches import PatchError, find_faults
from stackrank.env.patterns import Pattern, globs
from stackrank.env.task import Limits, Task
from stackrank.extensions.harbor.dockerfile import Dockerfile

WORKSPACE = "/workspace"
"""Where the program is in the containers of our own tasks."""
HIDDEN = ".harbor"
"""Where the tests of others are put into the workspace for the verdict. No file of an agent is carried there."""
_VERDICT = Path(__file__).with_name("harbor_verdict.py")


def check_instructions(command: str) -> str:
    """Return what the instruction of one of our own tasks says after its statement."""
    if not command:
        return f"\n\nThe program is in {WORKSPACE}. The tests that decide are hidden.\n"
    return f"\n\nThe program is in {WORKSPACE}. This command fails because of the bug:\n\n    {command}\n"


class Harbor(TaskByTask):
    """A folder of task directories, or one of them."""

    license = ""

    def __init__(self, source: Source) -> None:
        """`source.path`: the folder. Raises BenchmarkError."""
        if source.path is None or not source.path.is_dir():
            raise BenchmarkError("harbor needs --path: a folder of Harbor's task directories (each with a task.toml)")
        self._path = source.path
        self.source = source.path.absolute().name
        self.name = own_name("harbor", self.source)
        self.empty = f"{source.path} contains no playable task (a folder with task.toml and instruction.md)"

    def _entries(self) -> Iterator[tuple[str, Callable[[], Task]]]:
        alone = (self._path / "task.toml").is_file()
        for folder in [self._path] if alone else sorted(self._path.iterdir()):
            if (folder / "task.toml").is_file():
                yield folder.absolute().name, functools.partial(read_task, folder)


def read_task(folder: Path) -> Task:
    """Read one task from its folder. Raises BenchmarkError, which names the file."""
    file = folder / "task.toml"
    try:
        document = tomllib.loads(read_text(file, inside=folder))
    except tomllib.TOMLDecodeError as error:
        raise BenchmarkError(f"{file} is not TOML: {error}") from None
    metadata = document.get("metadata") or {}
    try:
        make = _read_own if "stackrank" in metadata else _read_foreign
        return make(folder, document, metadata, read_text(folder / "instruction.md", inside=folder, exact=True))
    except PatchError as error:
        raise BenchmarkError(f"{folder}/solution/fix.patch: {error}") from None
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BenchmarkError(f"{file}: {error} is missing or wrong") from None


def _read_own(folder: Path, document: Mapping[str, Any], metadata: Mapping[str, Any], instruction: str) -> Task:
    fields = metadata["stackrank"]
    files = read_tree(folder / "environment" / "workspace", caches=True)
    patch, proof = folder / "solution" / "fix.patch", folder / "tests" / "proof.json"
    measured = folder / "tests" / "difficulty.json"
    fix = read_text(patch, inside=folder, exact=True) if patch.is_file() else ""
    needs = fields.get("environment")
    environment = None
    if needs is not None:
        environment = Environment(
            needs["python"],
            tuple(needs["requirements"]),
            tuple(needs["setup"]),
            tuple(sorted(needs.get("variables", {}).items())),
            needs["prebuilt"],
            needs["repository"],
        ).with_source(files)
    lists = {name: tuple(fields[name]) for name in ("fail_to_pass", "pass_to_pass")}
    return Task(
        id=folder.absolute().name,
        benchmark="harbor",
        title=fields["title"],
        statement=instruction.removesuffix(check_instructions(fields["test_command"])),
        category=metadata["category"],
        difficulty=metadata["difficulty"],
        tags=tuple(metadata["tags"]),
        files=files,
        hidden_files=read_tree(folder / "tests" / "hidden", caches=True),
        test_command=fields["test_command"],
        score_command=fields.get("score_command"),
        log_format=fields["log_format"],
        fix=fix,
        faults=find_faults(files, fix) if fix else (),
        image=fields.get("image"),
        environment=environment,
        shows_bug=fields["shows_bug"],
        lists_from_elsewhere=fields["lists_from_elsewhere"],
        status_decides=fields.get("status_decides", False),
        limits=Limits(**fields["limits"]),
        proof=read_text(proof, inside=folder, exact=True) if proof.is_file() else "",
        measured=read_text(measured, inside=folder, exact=True) if measured.is_file() else "",
        fail_to_pass=lists["fail_to_pass"],
        pass_to_pass=lists["pass_to_pass"],
        readonly=globs(fields["readonly"]),
        editable=globs(fields["editable"]),
    )


def _read_foreign(folder: Path, document: Mapping[str, Any], metadata: Mapping[str, Any], instruction: str) -> Task:
    settings = document.get("environment") or {}
    files, environment, workdir = _read_environment(folder / "environment", settings.get("docker_image") or "")
    if any(path.partition("/")[0] == HIDDEN for path in files):
        raise BenchmarkError(f"{folder}: its program has a folder {HIDDEN}, which is reserved for the tests")
    tests = read_tree(folder / "tests")
    if "test.sh" not in tests:
        raise BenchmarkError(f"{folder}/tests/test.sh is missing")
    hidden = {f"{HIDDEN}/tests/{path}": content for path, content in tests.items()}
    hidden[f"{HIDDEN}/verdict.py"] = _VERDICT.read_bytes()
    timeout = float((document.get("verifier") or {}).get("timeout_sec", 120))
    resources = {"memory_mb": settings.get("memory_mb"), "cpus": settings.get("cpus")}
    difficulty = str(metadata.get("difficulty", ""))
    return Task(
        id=folder.absolute().name,
        benchmark="harbor",
        title=str((document.get("task") or {}).get("description") or instruction.strip().partition("\n")[0])[:80],
        statement=instruction,
        category=str(metadata.get("category", "")),
        difficulty=difficulty if difficulty in ("easy", "medium", "hard") else "",
        tags=tuple(map(str, metadata.get("tags", ()))),
        files=files,
        hidden_files=hidden,
        test_command="true",
        # Isolated, so that no module of the workspace takes the place of one that it imports.
        score_command=f"python -I {HIDDEN}/verdict.py {shlex.quote(workdir)}",
        status_decides=True,
        readonly=(Pattern.literal(HIDDEN),),
        environment=environment,
        shows_bug=False,
        limits=Limits(timeout_s=timeout, **{name: value for name, value in resources.items() if value is not None}),
    )


def _read_environment(folder: Path, image: str) -> tuple[dict[str, bytes], Environment | None, str]:
    """Return the files, environment and working directory that a Dockerfile describes. Raises BenchmarkError."""
    sources = read_tree(folder)
    dockerfile = Dockerfile(sources)
    try:
        if "Dockerfile" in sources or not image:
            dockerfile.read(read_text(folder / "Dockerfile", inside=folder), image=bool(image))
        files = dockerfile.workspace(image=bool(image))
    except BenchmarkError as error:
        raise BenchmarkError(f"{folder}/Dockerfile: {error}") from None
    workdir, requirements = str(dockerfile.workdir), tuple(dockerfile.requirements)
    if image:
        needs = Environment("", requirements, prebuilt=image, repository=workdir).with_source(files)
    else:
        needs = Environment(
            dockerfile.python or "", requirements, variables=tuple(sorted(dockerfile.variables.items()))
        )
    return files, needs if needs != Environment() else None, workdir
