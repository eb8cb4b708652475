"""Guess from a project's files how it is installed for its tests."""

from __future__ import annotations

import functools
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from posixpath import dirname

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.benchmarks.git import CommitFiles, latest_version
from stackrank.env.benchmarks.python_project.pytest_settings import read_pyproject
from stackrank.env.benchmarks.python_project.requirements import (
    TestNeeds,
    distribution,
    extra_of_tests,
    find_added,
    find_needs,
    in_tree,
    needed_plugins,
    requirement_lines,
)
from stackrank.env.benchmarks.testfiles import is_test
from stackrank.env.sandbox.base import Backend, BuildError, SandboxSpec, Say

_PIP_INSTALL = ("python", "-m", "pip", "install", "-q")
_EDITABLE = " -e "
_UNISOLATED = "--no-build-isolation"
# Build requirements that ask git for the version: setuptools_scm, flit_scm, hatch-vcs.
_VERSION_FROM_GIT = re.compile(r"[-_](scm|vcs)\b")
_BUILT_AT_IMPORT = {"mesonpy": ("ninja",)}
"""A build backend that builds again when an editable installation is imported -> what it needs then.

So what builds the project must be installed beside it, and not in an environment that pip removes after the build.
"""
_BUILD_FOLDER = "--config-settings=build-dir=build/editable"
_NO_BUILD = "--config-settings=compile-args=-n"
"""With it, ninja only says what it would build. In a sandbox all files are new, and headers of Python are missing."""
_WITHOUT_EXTRAS = re.compile(r"[^[]*")
_MOST_DEPTH = 4
"""Packages below are parts of tests or examples."""
_NOT_ON_INDEX = re.compile(r"satisfies the requirement ([\w.-]*\w)|([\w./-]*\w) is not a valid editable requirement")
"""Part of what pip says about a package that it cannot find; the groups name it."""
_OTHER_PYTHON = re.compile(r"requires (?:a different )?Python\b.*?(?:>=?|~=|==)\s*(\d+\.\d+)", re.IGNORECASE)
"""What pip, or a build backend, says about a project that is not for this Python; the group is one it is for."""


def guess_setup(
    repository: Path, commit: str, below: str, targets: Iterable[str] = (), later: str | None = None
) -> list[str]:
    """Guess the set-up of a commit, as `setup_of` does. `below`: the folder, such as `python/`, or an empty text.

    `later`: a commit whose program and tests will run there, too. What it requires besides is installed as well.
    """
    subdir = below.rstrip("/") or "."
    files = CommitFiles(repository, commit, subdir=subdir)
    needs = find_needs(files) if later and not targets else None
    setup = setup_of(files, functools.partial(latest_version, repository, commit), targets, needs)
    added = find_added(files, CommitFiles(repository, later, subdir=subdir), needs) if later else []
    return [*setup, shlex.join([*_PIP_INSTALL, *added])] if added else setup


def setup_of(
    files: Mapping[str, bytes],
    version: Callable[[], str] = str,
    targets: Iterable[str] = (),
    needs: TestNeeds | None = None,
) -> list[str]:
    """Return commands for an editable installation with what the project's tests need, if there is anything to install.

    `find_needs` says where it looks for that.
    `version`: returns the version of a project that asks git for it, or an empty text. `targets`: the tests that will
    run, if not all of them: modules that only other tests import are left out. `needs`: what they need, if that is
    known.
    """
    project = read_pyproject(files)
    tool_settings = project.get("tool", {})
    described = "poetry" in tool_settings or "flit" in tool_settings or b"[metadata]" in files.get("setup.cfg", b"")
    if not ("setup.py" in files or "project" in project or ("build-system" in project and described)):
        plugins = needed_plugins(files)
        return [shlex.join([*_PIP_INSTALL, *plugins])] if plugins else []
    needs = needs or find_needs(files, targets)
    command = shlex.join(_PIP_INSTALL) + _EDITABLE + (f"'.[{needs.extra}]'" if needs.extra else ".")
    if needs.of_group:
        command = shlex.join([*shlex.split(command), *needs.of_group])
    elif needs.file:
        command += f" -r {needs.file}"
    dependencies = requirement_lines(project.get("project", {}).get("dependencies"))
    of_poetry = tool_settings.get("poetry", {}).get("dependencies", {})
    for folder in _members_needed(files, [*dependencies, *of_poetry, *shlex.split(command)]):
        command = command.replace(_EDITABLE, f"{_EDITABLE}{shlex.quote(f'./{folder}')}{_EDITABLE}", 1)
    if needs.additional:
        command += f" {shlex.join(needs.additional)}"
    build = project.get("build-system", {})
    tools = _BUILT_AT_IMPORT.get(build.get("build-backend"), ())
    if tools:
        command = command.replace(_EDITABLE, f" {_UNISOLATED} {_BUILD_FOLDER}{_EDITABLE}", 1)
    if b"scm" in files.get("setup.py", b"") or _VERSION_FROM_GIT.search(str(build)):
        # An environment has the files but not their history.
        # A source distribution says its version.
        version_line = re.search(rb"^Version: (\S+)", files.get("PKG-INFO", b""), re.M)
        stated = version_line[1].decode() if version_line else "0"
        command = f"SETUPTOOLS_SCM_PRETEND_VERSION={version() or stated} {command}"
    if tools:
        first = shlex.join([*_PIP_INSTALL, *tools, *requirement_lines(build.get("requires"))])
        command = f"{first} && {command} && {_alone(command, _NO_BUILD)}"
    return [command]


def declared_requirements(files: Mapping[str, bytes], chosen: Iterable[str] = ()) -> list[str]:
    """Return what `pyproject.toml` declares of what the set-up of `setup_of` installs, and `chosen` requirements first.

    Commits with the same requirements share an environment that has them, and each installs only itself. A declared
    requirement is left out if a chosen one is for the same distribution, or if it is a package in the project's folder.
    """
    project = read_pyproject(files).get("project", {})
    extras = project.get("optional-dependencies", {})
    own_name = distribution(str(project.get("name", "")))
    declared = {distribution(requirement): [requirement] for requirement in chosen}
    has_chosen = {*declared}
    waiting = [*requirement_lines(project.get("dependencies")), *requirement_lines(extras.get(extra_of_tests(extras)))]
    visited: set[str] = set()
    members = _members(files)
    while waiting:
        requirement = waiting.pop(0)
        name = distribution(requirement)
        if requirement in visited or name in has_chosen or name in members or in_tree(requirement):
            continue
        visited.add(requirement)
        if name != own_name:
            declared.setdefault(name, []).append(requirement)
            continue
        named = re.search(r"\[(.*?)\]", requirement)  # the extra consists of others of the same project
        waiting += [
            text
            for extra in (named[1] if named else "").split(",")
            for text in requirement_lines(extras.get(extra.strip()))
        ]
    return [requirement for several in declared.values() for requirement in several]


def _members(files: Mapping[str, bytes]) -> dict[str, str]:
    """Return the other packages that a project's folder contains, as workspaces do: distribution -> its folder."""
    members: dict[str, str] = {}
    for path in sorted(path for path in files if path.endswith("/pyproject.toml") and path.count("/") < _MOST_DEPTH):
        folder = dirname(path)
        described = read_pyproject({"pyproject.toml": files[path]})
        own_name = described.get("project", {}).get("name") or described.get("tool", {}).get("poetry", {}).get("name")
        if own_name and not is_test(path):
            members.setdefault(distribution(str(own_name)), folder)
    return members


def _members_needed(files: Mapping[str, bytes], requirements: Iterable[str]) -> list[str]:
    """Return the folders of the other packages that these requirements name, and of those that they need in turn."""
    members, needed, waiting = _members(files), list[str](), [*requirements]
    while waiting and members:
        folder = members.get(distribution(waiting.pop(0)))
        if folder is None or folder in needed:
            continue
        needed.append(folder)
        described = read_pyproject({"pyproject.toml": files[f"{folder}/pyproject.toml"]})
        waiting += requirement_lines(described.get("project", {}).get("dependencies"))
        waiting += described.get("tool", {}).get("poetry", {}).get("dependencies", {})
    return needed


def build_guessed(backend: Backend, spec: SandboxSpec, say: Say) -> None:
    """Build an environment whose setup was only guessed. Raises BenchmarkError, which says how to state the setup."""
    try:
        backend.prepare(spec, say)
    except BuildError as error:
        remedy = "state with --setup how the project is installed"
        if other := _OTHER_PYTHON.search(str(error)):
            remedy = f"name the Python that it is for with --python {other[1]}"
        elif lacking := _NOT_ON_INDEX.search(str(error)):
            name = lacking[1] or lacking[2]
            remedy += (
                f"; if {name} is another package of the repository, name the whole repository as the project, both "
                "packages with --setup, and the tests with --test"
            )
        raise BenchmarkError(f"{error}: {remedy}") from None


def project_alone(setup: str) -> str:
    """Return the command that installs the project as `setup` of `setup_of` does, but nothing else; empty if none."""
    if _EDITABLE not in setup:
        return ""
    return f"{_alone(setup)} && {_alone(setup, _NO_BUILD)}" if _NO_BUILD in setup else _alone(setup)


def _alone(setup: str, *options: str) -> str:
    """Return the command that installs the same packages as `setup` in place, and nothing else."""
    version = re.search(r"SETUPTOOLS_SCM_PRETEND_VERSION=\S+ ", setup)
    words = shlex.split(setup)
    places = [_WITHOUT_EXTRAS.findall(after)[0] for word, after in pairwise(words) if word == _EDITABLE.strip()]
    kept = (option for option in (_UNISOLATED, _BUILD_FOLDER) if option in setup)
    editable = (word for place in dict.fromkeys(places) for word in (_EDITABLE.strip(), place))
    return (version[0] if version else "") + shlex.join([*_PIP_INSTALL, "--no-deps", *kept, *options, *editable])
