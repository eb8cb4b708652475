"""What a project and its environment lack, as failures of its tests tell: no fix of the program makes these pass."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Mapping
from pathlib import PurePosixPath

from stackrank.env.benchmarks.testfiles import is_imported, is_test
from stackrank.env.sandbox.guest.testing.ids import path_of

_MODULE = re.compile(r"ModuleNotFoundError: No module named '(\w+)'")
_IMPORT = re.compile(r"ModuleNotFoundError: No module named '(\w+)|ImportError: cannot import name .* from '(\w+)")
"""Matches the error of a test file that cannot be imported; the groups name the module that causes it."""
_FIXTURE = re.compile(r"FixtureLookupError\b(?:: \('(\w+)')?")
"""pytest raises it for an argument that it cannot give to a test. The group names the argument."""
_FILE = re.compile(r"\[Errno 2\][^'\"]*['\"](.+?)['\"]")
_DEPRECATED = re.compile(r"(?:\w+\.)*(?:\w*Deprecat\w*|Future|RemovedIn\w+)Warning\b")
"""The start of the error of a file that cannot be imported because warnings are errors."""
_DESCRIPTIONS = ("pyproject.toml", "setup.py", "setup.cfg")


class Lacking:
    """Explains failures. What it looks up in the files is cached: many tests may fail for the same reason."""

    def __init__(self, files: Mapping[str, bytes], submodules: Collection[str] = ()) -> None:
        self._files = files
        self._submodules = submodules
        self._is_own_module = functools.cache(self._has_module)
        self._is_imported_by_program = functools.cache(self._program_imports)
        self._is_own_fixture = functools.cache(self._defines_fixture)

    def explain_test(self, test: str, message: str) -> str:
        """Return why a failure of a test says nothing about the program; empty if it may say something."""
        module = _MODULE.match(message)
        if module and not self._is_own_module(module[1]) and not self._is_imported_by_program(module[1]):
            return (
                f"it needs the module {module[1]}, which is neither in the commit nor installed: commit it, or install "
                "it with --require"
            )
        fixture = _FIXTURE.match(message)
        if fixture and is_imported(self._files.get(path_of(test), b""), test):
            return "it is no test but a function that the file imports, and its name begins as a test's"
        if submodule := self._submodule_needed(message):
            return f"it needs a file of the submodule {submodule}, which is in no commit of this repository"
        if fixture and fixture[1] and not self._is_own_fixture(fixture[1]):
            return (
                f"it needs the fixture {fixture[1]}, which neither the commit nor an installed plug-in of pytest has: "
                "install the plug-in with --require"
            )
        return ""

    def explain_file(self, message: str) -> str:
        """Return why a file of tests cannot be imported, if that says nothing about the program; else an empty text."""
        if submodule := self._submodule_needed(message):
            return f"it needs a file of the submodule {submodule}, which is in no commit of this repository"
        if _DEPRECATED.match(message):
            return (
                f"warnings are errors here, and its imports use what is deprecated ({message[:200]}): name an older "
                "package with --require, or allow warnings with --test 'python -m pytest -W default'"
            )
        return ""

    def lacks_module(self, message: str) -> bool:
        """Whether a file of tests cannot be imported because of a module that is not part of the project."""
        module = _IMPORT.search(message)
        return module is not None and not self._is_own_module(module[1] or module[2])

    def folder_of_package(self, message: str) -> str:
        """Return the folder of the project with the top-level module that an import did not find; empty if none has it.

        Such a module is part of another package of the repository. One that is missing in a package is the program's
        fault.
        """
        missing = re.search(r"No module named '(\w+)'", message)
        if not missing:
            return ""
        paths = sorted(self._files)
        modules = (path for path in paths if path.endswith(f"/{missing[1]}.py") or f"/{missing[1]}/" in path)
        parents = (str(parent) for module in modules for parent in PurePosixPath(module).parents)
        described = {str(PurePosixPath(path).parent) for path in paths if PurePosixPath(path).name in _DESCRIPTIONS}
        return next((parent for parent in parents if parent in described - {"."}), "")

    def _submodule_needed(self, message: str) -> str:
        """Return the submodule that has the file which a failure did not find; empty if none has."""
        missing = _FILE.search(message)
        path = f"/{missing[1]}/" if missing else ""
        return next((submodule for submodule in self._submodules if f"/{submodule}/" in path), "")

    def _has_module(self, name: str) -> bool:
        return any(name in PurePosixPath(path).with_suffix("").parts for path in self._files)

    def _program_imports(self, module: str) -> bool:
        imports = re.compile(rb"^[ \t]*(?:from|import)[ \t]+" + module.encode() + rb"\b", re.MULTILINE)
        program = (path for path in self._files if path.endswith(".py") and not is_test(path))
        return any(imports.search(self._files[path]) for path in program)

    def _defines_fixture(self, name: str) -> bool:
        """Whether a file of the project defines a function or a fixture of that name."""
        defines = re.compile(rb"\bdef[ \t]+" + name.encode() + rb"\b|name=['\"]" + name.encode() + rb"['\"]")
        return any(path.endswith(".py") and defines.search(self._files[path]) for path in self._files)
