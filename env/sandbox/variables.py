"""The environment variables of programs in sandboxes."""

from __future__ import annotations

from stackrank.env.sandbox.base import SandboxSpec

# Programs see the same surroundings in every sandbox.
FIXED_ENVIRONMENT = {
    "HOME": "/tmp",
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "USER": "agent",
    "LOGNAME": "agent",
    "TERM": "dumb",
    "COLUMNS": "100",
    "NO_COLOR": "1",
    "PYTHONHASHSEED": "0",
    # Also because a .pyc is checked by its source's size and time in seconds, and an edit may change neither.
    "PYTHONDONTWRITEBYTECODE": "1",
    "PIP_NO_INPUT": "1",
    "GIT_TERMINAL_PROMPT": "0",
}


def variables_of(spec: SandboxSpec) -> dict[str, str]:
    """Return the environment variables of every program in a sandbox of this specification."""
    return {**FIXED_ENVIRONMENT, **dict(spec.environment.variables if spec.environment else ())}
