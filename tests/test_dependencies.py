"""Dependencies: few direct ones, complete for the core, and extras for optional features."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib.metadata import distribution, packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from stackrank import extras
from stackrank.errors import UsageError
from tests.test_layout import GROUND_FLOOR, GUEST, MAY_IMPORT, ROOT, imported, sources

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
MOST_DIRECT = 22
OPTIONAL = {"psycopg", "prompt_toolkit", "authlib", "prefect_dask", "prefect_ray", "azure", "swebench", "dask", "ray"}
"""What the core imports only for a feature that has an extra."""
FOR_EXTENSIONS = ("env/mutation", "env/localisation")
"""Core packages that only extensions import: their extras bring what these need."""


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def required(specifiers: list[str]) -> set[str]:
    """The distributions that are installed with the specified ones, which are among them."""
    visited: set[tuple[str, str]] = set()
    waiting = [(Requirement(specifier), "") for specifier in specifiers]
    while waiting:
        requirement, extra = waiting.pop()
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        for chosen_extra in {"", *requirement.extras}:
            key = (plain(requirement.name), chosen_extra)
            if key not in visited:
                visited.add(key)
                waiting += [(Requirement(text), chosen_extra) for text in distribution(requirement.name).requires or ()]
    return {name for name, _ in visited}


def _for_extensions(path: Path) -> bool:
    return path.relative_to(ROOT).as_posix().startswith(FOR_EXTENSIONS)


def test_few_direct_dependencies() -> None:
    assert len(PROJECT["dependencies"]) <= MOST_DIRECT


def test_core_imports_are_declared_dependencies() -> None:
    rooms = [ROOT / room for room in MAY_IMPORT if not room.startswith("extensions")]
    files: list[Path] = [*GROUND_FLOOR]
    for room in rooms:
        files += [path for path in sources(room) if GUEST not in path.parents and not _for_extensions(path)]
    names = {name for path in files for name in imported(path)} - set(sys.stdlib_module_names) - {"stackrank"}
    installed = required(PROJECT["dependencies"])
    owners = packages_distributions()
    missing = {name for name in names - OPTIONAL if not installed & {plain(owner) for owner in owners.get(name, ())}}
    assert missing == set()


def test_extra_all_includes_every_feature() -> None:
    groups = PROJECT["optional-dependencies"]
    match = re.search(r"\[(.*)\]", groups["all"][0])
    assert match
    assert set(match[1].split(",")) == groups.keys() - {
        "all",
        "dev",
        "verifiers",
        "trl",
        "verl",
        "skyrl",
        "tokens",
        "swebench",
    }


def test_missing_extra_is_explained_in_one_sentence() -> None:
    extras.require("json", extra="none", feature="nothing")
    with pytest.raises(
        UsageError, match=r"PostgreSQL needs the package no_such: run pip install 'stackrank\[postgres\]'"
    ):
        extras.require("no_such", extra="postgres", feature="PostgreSQL")


def test_missing_package_names_its_extra() -> None:
    error = ModuleNotFoundError("No module named 'libcst'", name="libcst")
    assert extras.missing_extra(error, preferred="repair") == "repair"
    assert extras.missing_extra(error, preferred="mcp") == "authoring"
    assert extras.missing_extra(ModuleNotFoundError("?", name="no_such")) is None
    assert extras.missing_extra(ImportError("?", name="libcst")) is None


def test_command_line_imports_no_optional_package() -> None:
    code = "import sys, stackrank.flows.cli.main; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"libcst", "coverage", "mcp", "prefect", "streamlit", *OPTIONAL} & set(modules)
