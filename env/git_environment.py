"""The environment that git is called with, so that it works where it is told to, whatever process calls us."""

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
"""Variables that git sets for its hooks and aliases. If one of them calls us, git would use that repository instead."""
UNCONFIGURED = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
"""Ignore the user's configuration: no line endings to convert, no hooks, no signatures."""
NO_PROGRAMS = {"core.fsmonitor": "false", "core.hooksPath": os.devnull}
"""Settings that keep a repository's hooks and file monitor from running, because they can run any code."""


def git_environment(overrides: Mapping[str, str]) -> dict[str, str]:
    """Return this process's environment and `more`, without variables that name another repository."""
    return {name: value for name, value in os.environ.items() if name not in _ELSEWHERE} | dict(overrides)


def with_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that give git these settings, which take precedence over those of the repository."""
    variables = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (name, value) in enumerate(settings.items()):
        variables |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return variables
