"""Finds and loads plug-ins: what installed packages register under stackrank's entry point groups."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import Any

from stackrank.errors import PluginError
from stackrank.extras import missing_extra


def plugin_names(group: str) -> list[str]:
    """Return the names of a group's plug-ins, stackrank's own first. Imports none of them."""
    return list(dict.fromkeys(point.name for point in _find_points(group)))


def load_plugin(group: str, name: str) -> Any | None:
    """Return the object that a plug-in's entry point names; None if there is no such plug-in. Raises PluginError."""
    point = next((point for point in _find_points(group) if point.name == name), None)
    if point is None:
        return None
    try:
        return point.load()
    except Exception as error:  # whatever an import of somebody else's module raises
        raise PluginError(
            f"the plug-in {name!r} of the package {_package(point)} (entry point group {group}) cannot be loaded: "
            f"{type(error).__name__}: {error}; {_remedy(point, error)}"
        ) from error


def _find_points(group: str) -> list[EntryPoint]:
    return sorted(entry_points(group=group), key=lambda point: _package(point) != "stackrank")


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist else point.module.partition(".")[0]


def _remedy(point: EntryPoint, error: Exception) -> str:
    package = _package(point)
    if point.extras:
        return f"run pip install '{package}[{','.join(point.extras)}]'"
    if package == "stackrank" and (extra := missing_extra(error, preferred=point.name)):
        return f"run pip install 'stackrank[{extra}]'"
    if isinstance(error, ModuleNotFoundError) and error.name and not point.module.startswith(error.name):
        return f"install what provides {error.name}, or uninstall {package}"
    return f"reinstall or uninstall {package}"
