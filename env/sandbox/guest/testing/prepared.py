"""Does once, in the Python that runs are forked from, what pytest does the same way in every run.

Making a configuration, before pytest has looked at the command or the workspace, takes a third of a short run, and
searching pytest's own plug-ins for fixtures a fifth. If a run needs something else, pytest makes it itself.
"""

from __future__ import annotations

import contextlib
import inspect
import pathlib
import types
from typing import Any, Dict, Iterator, List, Sequence, Tuple

_MOST = 4
"""The most configurations that are kept."""
_USUAL = ((), ("-p", "no:cacheprovider"))

_configurations: Dict[Tuple[str, ...], Any] = {}
_searched: Dict[types.ModuleType, types.ModuleType] = {}
"""Plug-in of pytest's own -> a module that has only its fixtures."""


def prepare(arguments: Sequence[str]) -> bool:
    """Make the initial configuration of a run with these arguments, unless it exists. Returns whether it was made."""
    import _pytest.config as pytest_config

    left_out = _left_out(arguments)
    if left_out in _configurations or len(_configurations) >= _MOST or not hasattr(pytest_config, "get_config"):
        return False
    with contextlib.suppress(Exception):  # the run itself says what is wrong with its arguments
        config = pytest_config.get_config(list(left_out), **_options(pytest_config))
        if hasattr(config, "invocation_params"):  # pytest has it since 5.1
            _configurations[left_out] = config
    if not _searched:
        _search(pytest_config.default_plugins)
    return left_out in _configurations


def prepare_usual() -> None:
    """Do the same for the arguments that most runs have."""
    for arguments in _USUAL:
        prepare(arguments)


@contextlib.contextmanager
def prepared(arguments: Sequence[str]) -> Iterator[None]:
    """Let the next configuration that pytest makes be the prepared one, if there is one for these arguments."""
    import _pytest.config as pytest_config

    config = _configurations.get(_left_out(arguments))
    if config is None:
        yield
        return
    original, expected = pytest_config.get_config, _options(pytest_config)

    def give(args: Any = None, plugins: Any = None, **options: Any) -> Any:
        pytest_config.get_config = original
        if options != expected or list(args or ()) != list(arguments):
            return original(args, plugins, **options)
        kind = type(config.invocation_params)
        config.invocation_params = kind(args=args or (), plugins=plugins, dir=pathlib.Path.cwd())
        return config

    pytest_config.get_config = give
    try:
        yield
    finally:
        pytest_config.get_config = original


def plugin() -> List[Any]:
    """Return a plug-in, or none, that keeps pytest from searching its own plug-ins for fixtures again."""
    if not _searched:
        return []
    import _pytest.fixtures
    import pytest

    class Prepared:
        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_sessionstart(self) -> Iterator[None]:
            manager: Any = _pytest.fixtures.FixtureManager
            original = manager.parsefactories

            def search(self: Any, *arguments: Any, **options: Any) -> Any:
                return original(
                    self, *map(_small, arguments), **{name: _small(option) for name, option in options.items()}
                )

            manager.parsefactories = search
            yield
            manager.parsefactories = original

    return [Prepared()]


def _left_out(arguments: Sequence[str]) -> Tuple[str, ...]:
    """Return the arguments that keep plug-ins from being imported, each once, sorted by name."""
    names = set()
    words = iter(arguments)
    for word in words:
        if word.startswith("-p"):
            name = (next(words, "") if word == "-p" else word[2:]).strip()
            if name.startswith("no:"):
                names.add(name)
    return tuple(word for name in sorted(names) for word in ("-p", name))


def _options(pytest_config: types.ModuleType) -> Dict[str, Any]:
    """Return what `pytest.main` passes besides arguments and plug-ins."""
    parameters = inspect.signature(pytest_config.get_config).parameters
    return {"prog": "pytest.main()"} if "prog" in parameters else {}


def _search(names: Sequence[str]) -> None:
    import importlib

    modules = {name: importlib.import_module("_pytest." + name) for name in names}
    fixtures_only: Dict[types.ModuleType, types.ModuleType] = {}
    for module in modules.values():
        small = types.ModuleType(module.__name__)
        small.__dict__.update({name: value for name, value in vars(module).items() if _is_fixture(value)})
        fixtures_only[module] = small
    if "tmp_path" in vars(fixtures_only[modules["tmpdir"]]):  # else this pytest has another kind of object for fixtures
        _searched.update(fixtures_only)


def _is_fixture(value: Any) -> bool:
    return type(value).__name__ == "FixtureFunctionDefinition" or (
        isinstance(value, types.FunctionType) and hasattr(value, "_pytestfixturefunction")
    )


def _small(argument: Any) -> Any:
    return _searched.get(argument, argument) if isinstance(argument, types.ModuleType) else argument
