"""Keeps a project's own pytest options from breaking a run that a debugging tool follows.

The options may stand in the task's command or in the project's settings, so they are changed when pytest has read both.
"""

from __future__ import annotations

import contextlib
import pathlib
import shutil
import tempfile
from typing import Any, Callable, Dict, Generator, Iterator, Optional

_NEUTRAL: Dict[str, Any] = {
    # Earlier runs must not decide which tests run.
    "lf": False, "failedfirst": False, "newfirst": False, "stepwise": False, "stepwise_skip": False,
    "stepwise_reset": False, "cacheclear": False,
    # Tests that run in other processes cannot be followed.
    "numprocesses": None, "dist": "no", "tx": [], "looponfail": False,
    # Coverage has a trace function of its own.
    "cov_source": [],
    # pytest's own debugger would wait for somebody to type.
    "usepdb": False, "trace": False,
}  # fmt: skip


def project_options() -> Any:
    """Return a plug-in that neutralises these options and gives the run a cache of its own."""
    import pytest

    class ProjectOptions:
        def __init__(self) -> None:
            self._cache: Optional[str] = None

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_load_initial_conftests(self, early_config: Any) -> Generator[None, Any, None]:
            _neutralise(early_config.known_args_namespace)  # here pytest-cov starts
            yield

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_cmdline_main(self, config: Any) -> Generator[None, Any, None]:
            _neutralise(config.option)
            yield

        @pytest.hookimpl(trylast=True)
        def pytest_configure(self, config: Any) -> None:
            # This run must not change which tests the next `eval` runs.
            cache: Any = getattr(config, "cache", None)
            if hasattr(cache, "_cachedir"):
                self._cache = tempfile.mkdtemp()
                cache._cachedir = pathlib.Path(self._cache) / "cache"

        @pytest.hookimpl(trylast=True)
        def pytest_unconfigure(self, config: Any) -> None:
            if self._cache is not None:
                shutil.rmtree(self._cache, ignore_errors=True)

    return ProjectOptions()


def _neutralise(options: Any) -> None:
    for name, value in _NEUTRAL.items():
        if hasattr(options, name):
            setattr(options, name, value)


@contextlib.contextmanager
def conftest_errors(begin: Callable[[], None], tell: Callable[[str, BaseException], None]) -> Iterator[None]:
    """Call `begin` before each conftest.py is imported, and tell of those that cannot be.

    pytest has no hook for the ones that it loads at its start.
    """
    from _pytest.config import PytestPluginManager

    manager: Any = PytestPluginManager
    original = getattr(manager, "_importconftest", None)
    if original is None:
        yield
        return

    def load(self: Any, path: Any, *arguments: Any, **options: Any) -> Any:
        begin()
        try:
            return original(self, path, *arguments, **options)
        except Exception as error:
            cause = error.__cause__ or getattr(error, "cause", None) or error
            tell(pathlib.Path(str(path)).name, cause)
            raise

    manager._importconftest = load
    try:
        yield
    finally:
        manager._importconftest = original
