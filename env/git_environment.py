"""The environment that git is called with: it works where it is told to, whatever calls us."""

from __future__ import annotations

import os
from collections.abc import Mapping

_ELSEWHERE = {
    f"GIT_{name}"
    for name in (
        "ALTERNATE_OBJECT_DIRECTORIES", "COMMON_DIR", "DIR", "GRAFT_FILE", "INDEX_FILE", "NAMESPACE",
        "OBJECT_DIRECTORY", "PREFIX", "QUARANTINE_PATH", "SHALLOW_FILE", "TEMPLATE_DIR", "WORK_TREE",
    )
}  # fmt: skip
"""What git sets for its hooks and aliases. Below those, git would work on that repository instead."""
UNCONFIGURED = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
"""Nobody's habits: no line endings to convert, no hooks, no signatures."""
NO_PROGRAMS = {"core.fsmonitor": "false", "core.hooksPath": os.devnull}
"""Settings with which no hook and no monitor of a repository runs: they do what they like."""


def git_environment(more: Mapping[str, str]) -> dict[str, str]:
    """This process's environment and `more`, without what names another repository."""
    return {name: value for name, value in os.environ.items() if name not in _ELSEWHERE} | dict(more)


def with_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """The variables that give git these settings, which go before those of the repository."""
    variables = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (name, value) in enumerate(settings.items()):
        variables |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return variables
