"""What a project's files say that it and its tests require, in the forms of many tools."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from stackrank.env.benchmarks.python_project.loaded_tests import loaded_tests
from stackrank.env.benchmarks.python_project.pytest_settings import (
    django_variables,
    pytest_settings,
    read_pyproject,
    read_section,
    read_toml,
    required_plugins,
)
from stackrank.env.benchmarks.testfiles import is_test
from stackrank.source import literal, parse_python

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
_LINTER = re.compile(r"pytest-(black|checkdocs|enabler|flake8|isort|mypy|pycodestyle|pydocstyle|pylint|ruff)$")
_IN_TREE = re.compile(r"[{]|\bfile:|@ *\.")
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
_IMPORT = re.compile(rb"^[ \t]*(?:from|import)[ \t]+([A-Za-z_]\w*)", re.M)


@dataclass(frozen=True)
class TestNeeds:
    """What the tests of a project need besides what the program needs."""

    __test__ = False

    extra: str
    """The project's extra for tests, or an empty text."""
    of_group: list[str]
    """The requirements of a dependency group, or of a tool's settings, for tests."""
    file: str
    """The file of requirements for tests, or an empty text."""
    additional: list[str]
    """Plug-ins of pytest, and what brings the modules that tests import."""


def find_needs(files: Mapping[str, bytes], targets: Iterable[str] = ()) -> TestNeeds:
    """Find out what a project's tests need.

    It is in an extra, in a dependency group (PEP 735, Poetry, PDM, uv, Rye), in an environment of Hatch or in a file of
    requirements. Of other extras, groups and files, and of what tox and nox install, the modules that tests import are
    taken, and plug-ins of pytest. Of the extras with which tox or Hatch test the project, these are also the modules
    that the program imports. pytest's own settings show the plug-ins without which it cannot start. `targets`: the
    tests that will run, if not all of them: modules that only other tests import are left out.
    """
    project = read_pyproject(files)
    tool_settings = project.get("tool", {})
    groups = project.get("dependency-groups", {})
    extras = all_extras(files)
    extra, group, file = extra_of_tests(extras), _first(_EXTRAS, groups), _first(_FILES, files)
    of_group = _group_requirements(groups, group, set()) if group else _tool_requirements(tool_settings)
    file = file if not (extra or group or of_group) else ""
    optional = [
        requirement
        for name, requirements in {**extras, **groups}.items()
        if name not in (extra, group)
        for requirement in requirement_lines(requirements)
    ]
    optional += [*tox_requirements(files), *_nox_requirements(files.get("noxfile.py", b""))]
    optional += [
        requirement for name in (*_FILES, *_DEV_FILES) if name != file for requirement in lines_of_file(files, name)
    ]
    # An extra may consist of others of the same project, which no index needs to have.
    own_name = distribution(str(project.get("project", {}).get("name", "")))
    optional = [requirement for requirement in optional if distribution(requirement) != own_name]
    modules = _imported_modules(files, loaded_tests(files, targets))
    imported = _imported_requirements(optional, modules)
    # An extra that is named after a module brings it, although its distribution has another name.
    imported += [
        requirement
        for name, requirements in extras.items()
        if name in modules and name != extra
        for requirement in requirement_lines(requirements)
        if distribution(requirement) != own_name
    ]
    of_runner = [
        text for name in _extras_of_runner(files, tool_settings) for text in requirement_lines(extras.get(name))
    ]
    if of_runner:
        program = [path for path in files if path.endswith(".py") and not is_test(path)]
        imported += _imported_requirements(of_runner, _imported_modules(files, program))
    return TestNeeds(extra, of_group, file, list(dict.fromkeys([*needed_plugins(files), *imported])))


def needed_plugins(files: Mapping[str, bytes]) -> list[str]:
    """Return the plug-ins without which pytest cannot start, or cannot set Django up."""
    plugins = required_plugins(pytest_settings(files))
    if django_variables(files):
        plugins = [*plugins, "pytest-django"]
    # An application may leave the choice of Django to the site that uses it, and require none.
    return [*plugins, "django"] if "pytest-django" in plugins else plugins


def find_added(old: Mapping[str, bytes], new: Mapping[str, bytes], old_needs: TestNeeds | None = None) -> list[str]:
    """Return what a later state of a project or its tests requires, of distributions that the earlier one has not.

    `old_needs`: what all tests of the earlier state need, if that is known.
    """
    existing = {distribution(requirement) for requirement in _all_requirements(old, old_needs or find_needs(old))}
    added = {distribution(text): text for text in _all_requirements(new, find_needs(new))}
    return [text for name, text in added.items() if name[:1].isalnum() and name not in existing and not in_tree(text)]


def _all_requirements(files: Mapping[str, bytes], needs: TestNeeds) -> list[str]:
    """Return the requirements of a project, and those of its tests."""
    project = read_pyproject(files)
    described = project.get("project", {})
    return [
        distribution(str(described.get("name", ""))),
        *requirement_lines(described.get("dependencies")),
        *project.get("tool", {}).get("poetry", {}).get("dependencies", {}),
        *requirement_lines(read_section(files.get("setup.cfg", b""), "options").get("install_requires")),
        *requirement_lines(all_extras(files).get(needs.extra)),
        *needs.of_group,
        *lines_of_file(files, needs.file),
        *needs.additional,
    ]


def all_extras(files: Mapping[str, bytes]) -> dict[str, Any]:
    """Return the extras of a project: name -> requirements, in one of several forms."""
    return {
        **_extras_of_setup_py(files.get("setup.py", b"")),
        **read_section(files.get("setup.cfg", b""), "options.extras_require"),
        **read_pyproject(files).get("project", {}).get("optional-dependencies", {}),
    }


def extra_of_tests(extras: Collection[str]) -> str:
    """Return the extra for tests, or an empty text."""
    return _first(_EXTRAS, extras)


def tox_requirements(files: Mapping[str, bytes]) -> list[str]:
    """Return what tox installs for every environment. `py311: name` is for an environment of that name alone."""
    listed = [
        requirement
        for settings in _tox_settings(files, read_pyproject(files).get("tool", {}))
        for requirement in requirement_lines(settings.get("deps"))
    ]
    return [re.sub(r"^[\w{},.!-]+: +", "", requirement) for requirement in listed]


def _tox_settings(files: Mapping[str, bytes], tool: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the settings of tox for every environment, in the old form and in the new one."""
    described = tool.get("tox", {}) or read_toml(files, "tox.toml")
    ini = str(described.get("legacy_tox_ini", "")).encode() or files.get("tox.ini", b"")
    return [read_section(ini, "testenv"), described.get("env_run_base", {})]


def _extras_of_runner(files: Mapping[str, bytes], tool: Mapping[str, Any]) -> list[str]:
    """Return the project's extras with which tox, or an environment of Hatch for tests, installs it."""
    listed = [settings.get("extras") for settings in _tox_settings(files, tool)]
    environments = tool.get("hatch", {}).get("envs", {})
    listed += [environments.get(name, {}).get("features") for name in (*_EXTRAS, "hatch-test", "default")]
    return [
        name
        for text in map(requirement_lines, listed)
        for line in text
        for name in re.findall(r"[\w.-]+(?![\w.-]*:)", line)
    ]


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


def requirement_lines(requirements: object) -> list[str]:
    """Return the requirements of an extra or a group: `setup.cfg` has one text with one in a line."""
    listed = requirements.splitlines() if isinstance(requirements, str) else requirements
    if not isinstance(listed, list):
        return []
    # A file's line may end in a comment, hashes or a backslash.
    texts = (re.split(r"\s(?:#|--)", line)[0].rstrip("\\ ") for line in listed if isinstance(line, str))
    return [text.strip() for text in texts]


def lines_of_file(files: Mapping[str, bytes], name: str) -> list[str]:
    """Return the requirements of a file of requirements."""
    return requirement_lines(files.get(name, b"").decode("utf-8", "replace"))


def in_tree(requirement: str) -> bool:
    """Whether the place of a requirement depends on where the project is."""
    return bool(_IN_TREE.search(requirement))


def distribution(requirement: str) -> str:
    """Return the normalised name of the distribution that a requirement asks for."""
    return re.split(r"[^\w.-]", requirement)[0].lower().replace("_", "-").replace(".", "-")


def _imported_requirements(requirements: Sequence[str], imported: Collection[str]) -> list[str]:
    """Return the requirements that are plug-ins of pytest, or bring one of the `imported` modules."""
    names = {requirement: distribution(requirement) for requirement in _without_alternatives(requirements)}
    modules = {requirement: _MODULES.get(name, name.replace("-", "_")) for requirement, name in names.items() if name}
    return [
        requirement
        for requirement, module in modules.items()
        if module in imported or (names[requirement].startswith("pytest-") and not _LINTER.match(names[requirement]))
    ]


def _imported_modules(files: Mapping[str, bytes], importing: Iterable[str]) -> set[str]:
    """Return the top-level modules that these files import."""
    return {module.decode() for path in importing for module in _IMPORT.findall(files[path])}


def _without_alternatives(requirements: Iterable[str]) -> list[str]:
    """Return the requirements, with the name alone of what several of them ask for in different versions.

    Those of tox and nox are alternatives, each for an environment of its own. pip takes what suits the project.
    """
    alternatives: dict[str, list[str]] = {}
    for requirement in dict.fromkeys(requirements):
        alternatives.setdefault(distribution(requirement), []).append(requirement)
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
    """Return the requirements of the first group for tests that a tool knows; of Poetry's, the names."""
    poetry = tool.get("poetry", {})
    one_list = [tool.get(name, {}).get("dev-dependencies") for name in ("uv", "rye")]
    lists = {"dev": next(filter(None, one_list), None), **tool.get("pdm", {}).get("dev-dependencies", {})}
    groups: dict[str, Any] = {"dev": poetry.get("dev-dependencies")}
    groups |= {name: requirement.get("dependencies") for name, requirement in poetry.get("group", {}).items()}
    hatch = {name: _of_hatch(described) for name, described in tool.get("hatch", {}).get("envs", {}).items()}
    for name in (*_EXTRAS, "hatch-test", "default"):
        if isinstance(groups.get(name), dict):
            return [requirement for requirement in groups[name] if requirement.lower() != "python"]
        if isinstance(lists.get(name), list):
            return [
                requirement
                for requirement in lists[name]
                if isinstance(requirement, str) and not requirement.startswith("-e")
            ]
        if hatch.get(name):
            return hatch[name]
    return []


def _of_hatch(environment: Mapping[str, Any]) -> list[str]:
    """Return the requirements of an environment of Hatch that are the same everywhere."""
    listed = [
        *requirement_lines(environment.get("dependencies")),
        *requirement_lines(environment.get("extra-dependencies")),
    ]
    return [requirement for requirement in listed if "{" not in requirement]
