"""What to do about tests that do not run, as their errors tell."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping

from stackrank.env.benchmarks.python_project.pytest_settings import read_toml
from stackrank.env.benchmarks.python_project.requirements import distribution, tox_requirements

_LACKING = re.compile(
    r"cannot import name .*? from '(\w+)|module '(\w+)[\w.]*' has no attribute|No module named '(\w+)\."
)
"""Matches the error of a program that uses what a package does not have; one of the groups names the package."""
_ASKS_FOR_SERVER = re.compile(
    r"\b(psycopg2?|MySQLdb|mysqlclient|cx_Oracle|oracledb)\b|connect(ion)? to (MySQL |MariaDB )?server|Can't connect to"
)
"""What the errors of drivers say: that they are not installed, or that no server answers."""
_LOCKS = ("uv.lock", "poetry.lock", "pdm.lock")
_DESCRIPTIONS = ("setup.py", "setup.cfg", "pyproject.toml")


def find_remedy(error: str, files: Mapping[str, bytes]) -> str:
    """Return what to do about tests of these files of which none runs or passes, because of this error."""
    return database_remedy(error) or (
        "name the test command with --test, and install what they need with --setup and --require"
        f"{describe_older(error, files)}"
    )


def database_remedy(error: str) -> str:
    """Return what to do if this error asks for a database server, or an empty text."""
    if not _ASKS_FOR_SERVER.search(error):
        return ""
    return (
        "a sandbox has no database server, so choose a database without one, such as SQLite, if the settings have one, "
        "as with --test 'DB=sqlite3 COMMAND'"
    )


def describe_older(reason: str, files: Mapping[str, bytes]) -> str:
    """Return the end of a sentence that says which older package to name, if an import failed for the lack of one.

    `reason`: how it failed. Empty if the package is part of the project, or it failed for another reason.
    """
    lacking = _LACKING.search(reason)
    package = next(filter(None, lacking.groups()), "") if lacking else ""
    if not package or any(f"/{package}/" in f"/{path}" or f"/{path}".endswith(f"/{package}.py") for path in files):
        return ""
    if package in sys.stdlib_module_names:
        return "; Python may be too new for this commit, so name an older one with --python"
    version = _tested_version(files, package)
    example = f", as in --require '{version}'" if version else ""
    return f"; {package} may be too new for this commit, so name a version of its time{example}"


def _tested_version(files: Mapping[str, bytes], package: str) -> str:
    """Return the version of a package that a lock file names, or the newest for which tox tests a project, or a
    classifier; empty if none does.
    """
    for name in _LOCKS:
        for entry in read_toml(files, name).get("package", []):
            if distribution(str(entry.get("name", ""))) == distribution(package) and "version" in entry:
                return f"{package}=={entry['version']}"
    tested = [text for text in tox_requirements(files) if distribution(text) == distribution(package)]
    if bounded := [text for text in tested if re.search(r"[<=~]", text)]:
        return bounded[-1]
    classifier = re.compile(rf"Framework :: {re.escape(package)} :: (\d+)\.(\d+)", re.IGNORECASE)
    described = "\n".join(files.get(path, b"").decode("utf-8", "replace") for path in _DESCRIPTIONS)
    versions = [(int(major), int(minor)) for major, minor in classifier.findall(described)]
    return f"{package}<{max(versions)[0]}.{max(versions)[1] + 1}" if versions else ""
