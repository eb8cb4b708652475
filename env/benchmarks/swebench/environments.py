"""How a SWE-bench instance is built and tested: by overrides, the `swebench` package's specifications, or an image.

Sandboxes that can pull the prebuilt image use it; otherwise the environment is built as described here.
"""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.benchmarks.files import read_text
from stackrank.env.benchmarks.swebench.instances import Instance
from stackrank.env.environment import Environment
from stackrank.env.scoring.log_formats import swebench_module

PYTEST = "python -m pytest -rA --tb=short -p no:cacheprovider"
# The test commands of repositories whose tests are not run by pytest.
COMMANDS = {
    "sympy/sympy": "python bin/test -C --verbose",
    "django/django": "python tests/runtests.py --verbosity 2 --settings=test_sqlite --parallel 1",
}


class Override(BaseModel):
    """How an instance, a version of a repository, or a whole repository is built and tested."""

    model_config = ConfigDict(extra="forbid")

    requirements: list[str] = Field(default_factory=list)
    python: str | None = None
    editable_install: str | None = None
    """Arguments of `pip install`, such as `-e .[test]`."""
    environment: dict[str, str] = Field(default_factory=dict)
    """Environment variables."""
    setup: list[str] = Field(default_factory=list)
    """Commands that run before the installation."""
    test: str | None = None


class Overrides:
    """A file of overrides: JSON, by instance, by repository and version, or by repository."""

    def __init__(self, file: Path | None) -> None:
        """Read the file. Raises BenchmarkError."""
        self._file = file
        self._entries: dict[str, Any] = {}
        if file is None:
            return
        try:
            data = json.loads(read_text(file))
        except ValueError as error:
            raise BenchmarkError(f"--environments {file} is not JSON: {error}") from None
        if isinstance(data, list):
            data = {_name(entry): entry for entry in data if isinstance(entry, dict)}
        if not isinstance(data, dict):
            raise BenchmarkError(f"--environments {file} has to be a JSON object: instance id -> environment")
        self._entries = data

    def find(self, instance: Instance) -> Override | None:
        """Return the entry for an instance, else for its repository's version. Raises BenchmarkError if it is wrong."""
        version = instance.version or ""
        names = [instance.instance_id, *(f"{instance.repo}{mark}{version}" for mark in (" ", "@", ":", "/", "-", "=="))]
        entry = next((self._entries[name] for name in names if name in self._entries), None)
        if entry is None:
            versions = self._entries.get(instance.repo)
            entry = versions.get(version) if isinstance(versions, dict) else None
            if entry is None and isinstance(versions, dict) and versions.keys() <= Override.model_fields.keys():
                entry = versions  # for all versions of the repository
        if entry is None:
            return None
        try:
            fields = {
                name: value for name, value in dict(entry).items() if name not in ("instance_id", "repo", "version")
            }
            return Override.model_validate(fields)
        except (ValidationError, TypeError, ValueError) as error:
            first = error.errors()[0] if isinstance(error, ValidationError) else {"loc": (), "msg": str(error)}
            field = ".".join(map(str, first["loc"]))
            raise BenchmarkError(f"{self._file}: {field or 'the entry'}: {first['msg']}") from None


def _name(entry: dict[str, Any]) -> str:
    return str(entry.get("instance_id") or f"{entry.get('repo', '')} {entry.get('version', '')}")


def environment_of(instance: Instance, override: Override | None) -> Environment:
    """Return the environment that the instance needs, without its source."""
    image = instance.image or (
        f"swebench/sweb.eval.x86_64.{instance.instance_id.lower().replace('__', '_1776_')}:latest"
    )
    if override is None:
        override = _from_specification(instance)
    if override is None:
        return Environment(prebuilt=image, repository=instance.directory)
    variables = {"SETUPTOOLS_SCM_PRETEND_VERSION": instance.version or "0", **override.environment}
    setup = list(override.setup)
    if override.editable_install:
        install = f"python -m pip install -q {override.editable_install}"
        if override.requirements:
            # All requirements are named already; build requirements too, if the first command works.
            install = f"{install} --no-deps --no-build-isolation || {install} --no-deps"
        setup.append(install)
    return Environment(
        python=override.python or "",
        requirements=tuple(override.requirements),
        setup=tuple(setup),
        variables=tuple(sorted(variables.items())),
        prebuilt=image,
        repository=instance.directory,
    )


def test_command(instance: Instance, override: Override | None, tests: list[str]) -> str:
    """Return the command that runs the instance's tests. `tests`: the test files."""
    if override is not None and override.test:
        return override.test
    if instance.command:
        return instance.command
    if instance.eval_script:
        marks = r">>>>> Start Test Output'?\n(.*?)\n[^\n]*>>>>> End Test Output"
        if match := re.search(marks, instance.eval_script, re.S):
            return match[1].strip().splitlines()[-1].removeprefix("+ ")
    command = COMMANDS.get(instance.repo, PYTEST)
    spec = _specification(instance)
    if spec and instance.repo not in COMMANDS and (spec_command := _joined(spec.get("test_cmd"), " && ")):
        command = spec_command if "tox" not in spec_command else command
    if instance.repo == "django/django":
        tests = [path.removeprefix("tests/").removesuffix(".py").replace("/", ".") for path in tests]
    return " ".join([command, *map(shlex.quote, tests)])


def _from_specification(instance: Instance) -> Override | None:
    spec = _specification(instance)
    if spec is None:
        return None
    packages = spec.get("packages") or ""
    requirements = [] if re.search(r"\.(txt|yml|yaml)$", packages) else packages.split()
    files = (spec.get("reqs_path") or [packages]) if packages.endswith(".txt") else []
    install_files = [f"python -m pip install -q {' '.join(f'-r {file}' for file in files)}"] if files else []
    # Steps for the operating system of the package's own images do not apply here.
    prepared = [command for command in _listed(spec.get("pre_install")) if not command.startswith("apt")]
    return Override(
        python=spec.get("python"),
        requirements=[*requirements, *_listed(spec.get("pip_packages"))],
        setup=[*install_files, *prepared, _joined(spec.get("install"), " && ") or "true"],
    )


def _listed(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value or [])


def _joined(value: Any, separator: str) -> str:
    return separator.join(filter(None, _listed(value)))


def _specification(instance: Instance) -> dict[str, Any] | None:
    """Return the row's specification, or that of the repository in version 4 of the package; version 5 has none."""
    if instance.install_config:
        return instance.install_config
    specifications = getattr(swebench_module("constants"), "MAP_REPO_VERSION_TO_SPECS", {})
    specification: dict[str, Any] | None = specifications.get(instance.repo, {}).get(instance.version or "")
    return specification
