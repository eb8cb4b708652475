"""What a project's own files say about how pytest, or Django's test runner, runs its tests."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterable, Mapping
from configparser import ConfigParser, Error
from pathlib import PurePosixPath
from posixpath import dirname
from typing import Any

from stackrank.env.benchmarks.testfiles import is_test_file

_SETTINGS_FILES = ("pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
"""Files in which pytest looks for settings, in this order."""
_OPTIONS = {
    "--cov": "pytest-cov",
    "--no-cov": "pytest-cov",
    "--numprocesses": "pytest-xdist",
    "-n": "pytest-xdist",
    "--dist": "pytest-xdist",
    "--timeout": "pytest-timeout",
    "--asyncio-mode": "pytest-asyncio",
    "--benchmark": "pytest-benchmark",
    "--reruns": "pytest-rerunfailures",
    "--randomly": "pytest-randomly",
    "--mypy": "pytest-mypy",
    "--html": "pytest-html",
    "--mpl": "pytest-mpl",
    "--doctest-plus": "pytest-doctestplus",
    "--doctest-rst": "pytest-doctestplus",
    "--remote-data": "pytest-remotedata",
    "--ds": "pytest-django",
    "--reuse-db": "pytest-django",
    "--record-mode": "pytest-recording",
    "--disable-socket": "pytest-socket",
    "--picked": "pytest-picked",
    "--typeguard-packages": "typeguard",
}
"""The start of a pytest option -> the distribution that knows the option. Without it, pytest does not start."""
_SETTINGS = {
    "asyncio_mode": "pytest-asyncio",
    "timeout": "pytest-timeout",
    "django_settings_module": "pytest-django",
    "mypy_plugins": "pytest-mypy-plugins",
}
"""A setting of pytest -> the distribution that knows it."""
_DJANGO_SETTINGS = re.compile(rb"(?:DJANGO_SETTINGS_MODULE\W+|--settings[= ])([A-Za-z_][\w.]*)")
_SAYS_SETTINGS = ("tox.ini", "noxfile.py", "pyproject.toml", "setup.cfg", "Makefile", "runtests.py", "manage.py")
"""Files that name the settings with which Django's own runner tests a project, the most reliable first."""
_SETTING_SCRIPTS = ("/runtests.py", "/manage.py")
"""Those of them that may be in a folder, which is then on their path."""


def read_pyproject(files: Mapping[str, bytes]) -> dict[str, Any]:
    """Return what `pyproject.toml` says; empty if there is none, or if it cannot be read."""
    return read_toml(files, "pyproject.toml")


def read_toml(files: Mapping[str, bytes], name: str) -> dict[str, Any]:
    """Return what a file in TOML says; empty if there is none, or if it cannot be read."""
    try:
        return tomllib.loads(files.get(name, b"").decode())
    except ValueError:
        return {}


def pytest_settings(files: Mapping[str, bytes]) -> dict[str, Any]:
    """Return a project's settings for pytest, from the first of its files that has any: pytest reads no other."""
    return _settings_of(files)[1]


def rooting_options(files: Mapping[str, bytes]) -> list[str]:
    """Return options with which pytest takes the same settings and counts paths from the project's folder, whichever
    tests it runs. Without them, settings in a folder are those of a run that names only files in there.
    """
    folders = {folder for above in _folders_of_tests(files) for folder in above[1:]}
    if not any(_settings_in(files, folder)[0] for folder in folders):
        return []
    name, _ = _settings_of(files)
    return [*(["-c", name] if name else []), *(["--rootdir=."] if dirname(name) or not name else [])]


def _settings_of(files: Mapping[str, bytes]) -> tuple[str, dict[str, Any]]:
    """Return the path and the settings of the file in which a project sets pytest; both empty if none does.

    It is in the project's own folder, or else in one that contains all of its tests.
    """
    nested = _folders_of_tests(files)
    shared = [folder for folder in min(nested, key=len, default=[""])[1:] if all(folder in above for above in nested)]
    folders = ["", *reversed(shared)]
    return next((found for folder in folders if (found := _settings_in(files, folder))[0]), ("", {}))


def _folders_of_tests(files: Iterable[str]) -> list[list[str]]:
    """Return the folders around each file of tests, from the project's, whose path is empty, to the innermost."""
    tests = [PurePosixPath(path) for path in files if is_test_file(path) and PurePosixPath(path).name != "conftest.py"]
    around = {test.parent: [*reversed(test.parents)] for test in tests}
    return [["", *(str(folder) for folder in folders[1:])] for folders in around.values()]


def _settings_in(files: Mapping[str, bytes], folder: str) -> tuple[str, dict[str, Any]]:
    """Return the path and the settings of the file in a folder in which pytest finds some; both empty if in none."""
    for name in _SETTINGS_FILES:
        path = str(PurePosixPath(folder, name))
        if name == "pyproject.toml":
            tool = read_toml(files, path).get("tool", {}).get("pytest", {})
            settings = tool.get("ini_options", tool)
        else:
            settings = read_section(files.get(path, b""), "tool:pytest" if name == "setup.cfg" else "pytest")
        if settings or (name.endswith("pytest.ini") and path in files):
            return path, {key.lower(): value for key, value in settings.items()}
    return "", {}


def django_variables(files: Mapping[str, bytes]) -> dict[str, str]:
    """Return the environment in which Django's own test runner tests a project: its settings and, if they are not
    found from the project's folder, the folder from which they are.

    Empty if the project has no such settings, or tells pytest about them itself.
    """
    if "django_settings_module" in pytest_settings(files) or "pytest-django" in required_plugins(
        pytest_settings(files)
    ):
        return {}
    scripts = sorted(
        (path for path in files if path.count("/") in (1, 2) and path.endswith(_SETTING_SCRIPTS)), key=_depth_and_name
    )
    shell_scripts = sorted(path for path in files if "/" not in path and path.endswith(".sh"))
    for path in (*_SAYS_SETTINGS, *scripts, *shell_scripts):
        for module in _DJANGO_SETTINGS.findall(files.get(path, b"")):
            if (home := _home_of(module.decode(), files, dirname(path))) is not None:
                return {**({"PYTHONPATH": home} if home else {}), "DJANGO_SETTINGS_MODULE": module.decode()}
    return {}


def _home_of(module: str, files: Mapping[str, bytes], near: str) -> str | None:
    """Return the folder from which a module can be imported, the project's if possible, else `near`; None if none."""
    place = module.replace(".", "/")
    ends = (f"/{place}.py", f"/{place}/__init__.py")
    homes = {f"/{file}".removesuffix(end)[1:] for file in files for end in ends if f"/{file}".endswith(end)}
    return min(homes, key=lambda home: (home != "", home != near, _depth_and_name(home)), default=None)


def _depth_and_name(path: str) -> tuple[int, str]:
    return path.count("/"), path


def read_section(content: bytes, name: str) -> Mapping[str, Any]:
    """Return a section of a file such as `setup.cfg`; empty if it has none, or cannot be read."""
    parser = ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(content.decode("utf-8", "replace"))
    except Error:  # pytest says so itself
        return {}
    return parser[name] if parser.has_section(name) else {}


def required_plugins(settings: Mapping[str, Any]) -> list[str]:
    """Return the plug-ins of pytest that its settings name or use."""
    addopts = settings.get("addopts", "")
    options = addopts if isinstance(addopts, list) else _words(str(addopts))
    required = settings.get("required_plugins", [])
    names = [*required] if isinstance(required, list) else str(required).split()
    named_plugins = {re.split(r"[<>=!~ \[]", name)[0] for name in names}
    for option in map(str, options):
        # `--cov-branch` is pytest-cov's, and `-n4` is `-n`; but `--timeout` is not `--timeouts`.
        for start, plugin in _OPTIONS.items():
            if re.match(rf"{start}(?![a-z])", option) and plugin not in named_plugins:
                names.append(plugin)
                named_plugins.add(plugin)
    names += [plugin for name, plugin in _SETTINGS.items() if name in settings and plugin not in named_plugins]
    return list(dict.fromkeys(names))


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # a quote that does not close, of which pytest itself complains
        return text.split()
