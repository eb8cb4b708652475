"""A pytest plug-in that stops others from using what disturbs reports or debuggers: processes, randomness, tracing.

It is imported when pytest is there already, and before the workspace is on the path.
"""

from __future__ import annotations

import sys
from typing import Any, Generator

import pytest

# Option of a plug-in -> the value that it gets, whatever was given. Tests run in the one process that reports, one
# after another, and the same random numbers are drawn each time.
_OPTIONS = {
    "numprocesses": 0,  # pytest-xdist
    "forked": False,  # pytest-forked
    "no_cov": True,  # pytest-cov: it takes the only trace function, and writes a file into the workspace
}
_SEED = 1


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: Any) -> Generator[None, Any, None]:
    """Set the options that plug-ins read before anything else: pytest-cov begins here."""
    _set(early_config.known_args_namespace)
    yield


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_cmdline_main(config: Any) -> Generator[None, Any, None]:
    """Set the options that everything else reads."""
    _set(config.option)
    if getattr(config.option, "randomly_seed", None) == "default":  # pytest-randomly
        config.option.randomly_seed = _SEED
    yield


def pytest_collection_finish(session: Any) -> None:
    """Set the seed of Hypothesis, if a test has imported it. Its own option would import it in every run."""
    core = sys.modules.get("hypothesis.core")
    if core is not None and getattr(session.config.option, "hypothesis_seed", None) is None:
        core.global_force_seed = _SEED  # type: ignore[attr-defined]


def _set(options: Any) -> None:
    for name, value in _OPTIONS.items():
        if getattr(options, name, value) != value:
            setattr(options, name, value)
