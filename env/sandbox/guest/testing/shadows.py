"""Modules of the workspace whose names our own programs have already imported."""

from __future__ import annotations

import os
import sys

# Always loaded before a program's own folder is on the path.
_STARTUP = {
    "__main__", "_collections_abc", "_sitebuiltins", "abc", "codecs", "encodings", "genericpath", "guest", "importlib",
    "io", "os", "posixpath", "site", "stat", "sys", "types",
}  # fmt: skip
# The modules that judge the tests never come from the workspace.
_JUDGES = {"pytest", "_pytest", "pluggy", "iniconfig", "unittest"}


def forget_shadowed(folder: str) -> None:
    """Let `import name` find the folder's own module, as it would in a Python that had not imported ours first."""
    try:
        names = {entry.split(".")[0] for entry in os.listdir(folder)}
    except OSError:
        return
    for name in list(sys.modules):
        top = name.partition(".")[0]
        if top in names and top not in _STARTUP and top not in _JUDGES and _is_module(os.path.join(folder, top)):
            del sys.modules[name]


def _is_module(path: str) -> bool:
    return os.path.isfile(path + ".py") or os.path.isfile(os.path.join(path, "__init__.py"))
