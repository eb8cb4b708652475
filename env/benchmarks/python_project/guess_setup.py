"""Guess from a project's files how it is installed for its tests."""

from __future__ import annotations

import ast
import functools
import re
import shlex
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from posixpath import dirname
from typing import Any

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.benchmarks.git import CommitFiles, latest_version
from stackrank.env.benchmarks.python_project.loaded_tests import loaded_tests
from stackrank.env.benchmarks.python_project.pytest_settings import (
    django_variables,
    pytest_settings,
    read_pyproject,
    read_section,
    required_plugins,
)
from stackrank.env.benchmarks.testfiles import is_test
from stackrank.env.sandbox.base import Backend, BuildError, SandboxSpec, Say
from stackrank.source import literal, parse_python

_PIP_INSTALL = ("python", "-m", "pip", "install", "-q")
_EDITABLE = " -e "
_UNISOLATED = "--no-build-isolation"
# Extras, dependency groups and files in which projects put their test requirements.
_EXTRAS = ("test", "tests", "testing", "dev")
_FILES = (
    *(f"requirements{mark}{name}.txt" for mark in "/-_" for name in ("test", "tests", "testing")),
    *("test-requirements.txt", "test_requirements.txt", "tests/requirements.txt", "test/requirements.txt"),
)
_DEV_FILES = (
    *(f"requirements{mark}{name}.txt" for mark in "/-_" for name in ("dev", "develop", "development", "ci")),
    *("dev-requirements.txt", "dev_requirements.txt", "requirements.txt"),
)
"""Files whose requirements are taken only as far as tests need them."""
# Build requirements that ask git for the version: setuptools_scm, flit_scm, hatch-vcs.
_VERSION_FROM_GIT = re.compile(r"[-_](scm|vcs)\b")
_LINTER = re.compile(r"pytest-(black|checkdocs|enabler|flake8|isort|mypy|pycodestyle|pydocstyle|pylint|ruff)$")
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
_IN_TREE = re.compile(r"[{]|\bfile:|@ *\.")
"""Matches a requirement whose place depends on where the project is."""
_MODULES = {
    "attrs": "attr",
    "beautifulsoup4": "bs4",
    "djangorestframework": "rest_framework",
    "gitpython": "git",
    "msgpack-python": "msgpack",
    "pillow": "PIL",
    "psycopg2-binary": "psycopg2",
    "protobuf": "google",
    "pycryptodome": "Crypto",
    "pyjwt": "jwt",
    "pyopenssl": "OpenSSL",
    "pyserial": "serial",
    "python-dateutil": "dateutil",
    "python-dotenv": "dotenv",
    "pyyaml": "yaml",
    "ruamel-yaml": "ruamel",
    "scikit-learn": "sklearn",
    "setuptools": "pkg_resources",
}
"""A distribution -> the module that it brings, if that has another name."""
_NOT_ON_INDEX = re.compile(r"satisfies the requirement ([\w.-]*\w)|([\w./-]*\w) is not a valid editable requirement")
"""Part of what pip says about a package that it cannot find; the groups name it."""
_IMPORT = re.compile(rb"^[ \t]*(?:from|import)[ \t]+([A-Za-z_]\w*)", re.M)


def guess_setup(repository: Path, commit: str, below: str, targets: Iterable[str] = ()) -> list[str]:
    """Guess the set-up of a commit, as `setup_of` does. `below`: the folder, such as `python/`, or an empty text."""
    files = CommitFiles(repository, commit, subdir=below.rstrip("/") or ".")
    return setup_of(files, functools.partial(latest_version, repository, commit), targets)


def setup_of(files: Mapping[str, bytes], version: Callable[[], str] = str, targets: Iterable[str] = ()) -> list[str]:
    """Return commands for an editable installation with what the project's tests need, if there is anything to install.

    What the tests need is in an extra, in a dependency group (PEP 735, Poetry, PDM), in an environment of Hatch or in a
    file of requirements. Of other extras, groups and files, and of what tox and nox install, the modules that tests
    import are taken, and plug-ins of pytest. Of the extras with which tox or Hatch test the project, these are also the
    modules that the program imports. pytest's own settings show the plug-ins without which it cannot start.
    `version`: returns the version of a project that asks git for it, or an empty text. `targets`: the tests that will
    run, if not all of them: modules that only other tests import are left out.
    """
    project = read_pyproject(files)
    plugins = required_plugins(pytest_settings(files))
    if django_variables(files):
        plugins.append("pytest-django")
    tool_settings = project.get("tool", {})
    described = "poetry" in tool_settings or "flit" in tool_settings or b"[metadata]" in files.get("setup.cfg", b"")
    if not ("setup.py" in files or "project" in project or ("build-system" in project and described)):
        return [shlex.join([*_PIP_INSTALL, *plugins])] if plugins else []
    groups = project.get("dependency-groups", {})
    extras = {
        **_extras_of_setup_py(files.get("setup.py", b"")),
        **read_section(files.get("setup.cfg", b""), "options.extras_require"),
        **project.get("project", {}).get("optional-dependencies", {}),
    }
    of_tool = _tool_requirements(tool_settings)
    extra = _first(_EXTRAS, extras)
    group = _first(_EXTRAS, groups)
    file = _first(_FILES, files)
    command = shlex.join(_PIP_INSTALL) + _EDITABLE + (f"'.[{extra}]'" if extra else ".")
    if group:
        command = shlex.join([*shlex.split(command), *_group_requirements(groups, group, set())])
    elif of_tool:
        command = shlex.join([*shlex.split(command), *of_tool])
    elif file and not extra:
        command += f" -r {file}"
    optional = [
        requirement
        for name, requirements in {**extras, **groups}.items()
        if name not in (extra, group)
        for requirement in _texts(requirements)
    ]
    optional += [*_tox_requirements(files, tool_settings), *_nox_requirements(files.get("noxfile.py", b""))]
    optional += [
        requirement
        for name in (*_FILES, *_DEV_FILES)
        if name != file
        for requirement in _texts(files.get(name, b"").decode("utf-8", "replace"))
    ]
    # An extra may consist of others of the same project, which no index needs to have.
    own_name = _distribution(str(project.get("project", {}).get("name", "")))
    optional = [requirement for requirement in optional if _distribution(requirement) != own_name]
    dependencies = _texts(project.get("project", {}).get("dependencies"))
    in_tree = {**tool_settings.get("poetry", {}).get("dependencies", {})}
    for folder in _members_needed(files, [*dependencies, *in_tree, *shlex.split(command)]):
        command = command.replace(_EDITABLE, f"{_EDITABLE}{shlex.quote(f'./{folder}')}{_EDITABLE}", 1)
    imported = _imported_requirements(files, optional, loaded_tests(files, targets))
    if of_runner := [text for name in _extras_of_runner(files, tool_settings) for text in _texts(extras.get(name))]:
        program = [path for path in files if path.endswith(".py") and not is_test(path)]
        imported += _imported_requirements(files, of_runner, program)
    if additional := list(dict.fromkeys([*plugins, *imported])):
        command += f" {shlex.join(additional)}"
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
        first = shlex.join([*_PIP_INSTALL, *tools, *_texts(build.get("requires"))])
        command = f"{first} && {command} && {_alone(command, _NO_BUILD)}"
    return [command]


def declared_requirements(files: Mapping[str, bytes], chosen: Iterable[str] = ()) -> list[str]:
    """Return what `pyproject.toml` declares of what the set-up of `setup_of` installs, and `chosen` requirements first.

    Commits with the same requirements share an environment that has them, and each installs only itself. A declared
    requirement is left out if a chosen one is for the same distribution, or if it is a package in the project's folder.
    """
    project = read_pyproject(files).get("project", {})
    extras = project.get("optional-dependencies", {})
    own_name = _distribution(str(project.get("name", "")))
    declared = {_distribution(requirement): [requirement] for requirement in chosen}
    has_chosen = {*declared}
    waiting = [*_texts(project.get("dependencies")), *_texts(extras.get(_first(_EXTRAS, extras)))]
    visited: set[str] = set()
    members = _members(files)
    while waiting:
        requirement = waiting.pop(0)
        name = _distribution(requirement)
        if requirement in visited or name in has_chosen or name in members or _IN_TREE.search(requirement):
            continue
        visited.add(requirement)
        if name != own_name:
            declared.setdefault(name, []).append(requirement)
            continue
        named = re.search(r"\[(.*?)\]", requirement)  # the extra consists of others of the same project
        waiting += [
            text for extra in (named[1] if named else "").split(",") for text in _texts(extras.get(extra.strip()))
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
            members.setdefault(_distribution(str(own_name)), folder)
    return members


def _members_needed(files: Mapping[str, bytes], requirements: Iterable[str]) -> list[str]:
    """Return the folders of the other packages that these requirements name, and of those that they need in turn."""
    members, needed, waiting = _members(files), list[str](), [*requirements]
    while waiting and members:
        folder = members.get(_distribution(waiting.pop(0)))
        if folder is None or folder in needed:
            continue
        needed.append(folder)
        described = read_pyproject({"pyproject.toml": files[f"{folder}/pyproject.toml"]})
        waiting += _texts(described.get("project", {}).get("dependencies"))
        waiting += described.get("tool", {}).get("poetry", {}).get("dependencies", {})
    return needed


def build_guessed(backend: Backend, spec: SandboxSpec, say: Say) -> None:
    """Build an environment whose setup was only guessed. Raises BenchmarkError, which says how to state the setup."""
    try:
        backend.prepare(spec, say)
    except BuildError as error:
        remedy = "state with --setup how the project is installed"
        if lacking := _NOT_ON_INDEX.search(str(error)):
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


def _tox_requirements(files: Mapping[str, bytes], tool: Mapping[str, Any]) -> list[str]:
    """Return what tox installs for every environment. `py311: name` is for an environment of that name alone."""
    described = tool.get("tox", {})
    ini = str(described.get("legacy_tox_ini", "")).encode() or files.get("tox.ini", b"")
    listed = [*_texts(read_section(ini, "testenv").get("deps")), *_texts(described.get("env_run_base", {}).get("deps"))]
    return [re.sub(r"^[\w{},.!-]+: +", "", requirement) for requirement in listed]


def _extras_of_runner(files: Mapping[str, bytes], tool: Mapping[str, Any]) -> list[str]:
    """Return the project's extras with which tox, or an environment of Hatch for tests, installs it."""
    described = tool.get("tox", {})
    ini = str(described.get("legacy_tox_ini", "")).encode() or files.get("tox.ini", b"")
    listed = [read_section(ini, "testenv").get("extras"), described.get("env_run_base", {}).get("extras")]
    environments = tool.get("hatch", {}).get("envs", {})
    listed += [environments.get(name, {}).get("features") for name in (*_EXTRAS, "hatch-test", "default")]
    return [name for text in map(_texts, listed) for line in text for name in re.findall(r"[\w.-]+(?![\w.-]*:)", line)]


def _nox_requirements(content: bytes) -> list[str]:
    """Return what the sessions of a `noxfile.py` install by name."""
    try:
        calls = [node for node in ast.walk(parse_python(content)) if isinstance(node, ast.Call)]
    except (SyntaxError, ValueError):
        return []
    installs = (call for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr == "install")
    words = (argument.value for call in installs for argument in call.args if isinstance(argument, ast.Constant))
    return [word for word in words if isinstance(word, str) and re.match(r"[A-Za-z]", word) and "/" not in word]


def _extras_of_setup_py(content: bytes) -> dict[str, Any]:
    """Return the extras that `setup.py` writes down, and its `tests_require` as one more of them."""
    try:
        tree = parse_python(content)
    except (SyntaxError, ValueError):
        return {}
    values: dict[str, ast.expr] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            values[node.targets[0].id] = node.value
        elif isinstance(node, ast.keyword) and node.arg in ("tests_require", "extras_require"):
            values[node.arg] = values.get(node.value.id, node.value) if isinstance(node.value, ast.Name) else node.value
    extras: dict[str, Any] = {}
    for name in ("tests_require", "extras_require"):
        with suppress(ValueError, TypeError, KeyError):
            value = literal(values[name])
            extras |= value if isinstance(value, dict) else {"of tests": value}
    return extras


def _first(names: Iterable[str], existing: Collection[str]) -> str:
    """Return the first of the names that exists, or an empty text."""
    return next((name for name in names if name in existing), "")


def _texts(requirements: object) -> list[str]:
    """Return the requirements of an extra or a group: `setup.cfg` has one text with one in a line."""
    listed = requirements.splitlines() if isinstance(requirements, str) else requirements
    if not isinstance(listed, list):
        return []
    # A file's line may end in a comment, hashes or a backslash.
    texts = (re.split(r"\s(?:#|--)", line)[0].rstrip("\\ ") for line in listed if isinstance(line, str))
    return [text.strip() for text in texts]


def _distribution(requirement: str) -> str:
    """Return the normalised name of the distribution that a requirement asks for."""
    return re.split(r"[^\w.-]", requirement)[0].lower().replace("_", "-").replace(".", "-")


def _imported_requirements(
    files: Mapping[str, bytes], requirements: Sequence[str], importing: Iterable[str]
) -> list[str]:
    """Return the requirements that are plug-ins of pytest, or bring a module that the files `importing` import."""
    names = {requirement: _distribution(requirement) for requirement in _without_alternatives(requirements)}
    modules = {requirement: _MODULES.get(name, name.replace("-", "_")) for requirement, name in names.items() if name}
    if not modules:
        return []
    imports = {module.decode() for path in importing for module in _IMPORT.findall(files[path])}
    return [
        requirement
        for requirement, module in modules.items()
        if module in imports or (names[requirement].startswith("pytest-") and not _LINTER.match(names[requirement]))
    ]


def _without_alternatives(requirements: Iterable[str]) -> list[str]:
    """Return the requirements, with the name alone of what several of them ask for in different versions.

    Those of tox and nox are alternatives, each for an environment of its own. pip takes what suits the project.
    """
    alternatives: dict[str, list[str]] = {}
    for requirement in dict.fromkeys(requirements):
        alternatives.setdefault(_distribution(requirement), []).append(requirement)
    return [name if len(several) > 1 else several[0] for name, several in alternatives.items()]


def _group_requirements(groups: Mapping[str, Any], name: str, visited: set[str]) -> list[str]:
    """Return the requirements of a dependency group and of groups it includes; entries of other forms are left out."""
    if name in visited or not isinstance(entries := groups.get(name), list):
        return []
    visited.add(name)
    requirements: list[str] = []
    for entry in entries:
        if isinstance(entry, str):
            requirements.append(entry)
        elif isinstance(entry, dict):
            requirements += _group_requirements(groups, str(entry.get("include-group", "")), visited)
    return requirements


def _tool_requirements(tool: Mapping[str, Any]) -> list[str]:
    """Return the requirements of the first group for tests that Poetry, PDM or Hatch knows; of Poetry's, the names."""
    poetry, pdm = tool.get("poetry", {}), tool.get("pdm", {}).get("dev-dependencies", {})
    groups: dict[str, Any] = {"dev": poetry.get("dev-dependencies")}
    groups |= {name: requirement.get("dependencies") for name, requirement in poetry.get("group", {}).items()}
    hatch = {name: _of_hatch(described) for name, described in tool.get("hatch", {}).get("envs", {}).items()}
    for name in (*_EXTRAS, "hatch-test", "default"):
        if isinstance(groups.get(name), dict):
            return [requirement for requirement in groups[name] if requirement.lower() != "python"]
        if isinstance(pdm.get(name), list):
            return [
                requirement
                for requirement in pdm[name]
                if isinstance(requirement, str) and not requirement.startswith("-e")
            ]
        if hatch.get(name):
            return hatch[name]
    return []


def _of_hatch(environment: Mapping[str, Any]) -> list[str]:
    """Return the requirements of an environment of Hatch that are the same everywhere."""
    listed = [*_texts(environment.get("dependencies")), *_texts(environment.get("extra-dependencies"))]
    return [requirement for requirement in listed if "{" not in requirement]
