"""stackrank runs debugging agents against real bugs on a schedule, and shows which of them is better and why.

This package holds the code that all rooms (subpackages) may use. The rooms are `env` (the debugging
environment), `agents`, `db` (the database), `flows` (runs and the command line), `dashboard`, and `extensions`.

Training programs create environments with `stackrank.make("bugs/shop-filters")`. The names of the extension `training`
that this package offers are imported when they are used. Authors of extensions read `stackrank.api`.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

_TRAINING = "stackrank.extensions.training"
_OFFERED = (
    *("Action", "Observation", "TrainingEnv", "Transition", "VecEnv"),
    *("curriculum", "make", "make_vec", "task_names"),
)
_TASKSET = ("EpisodeEnv", "EpisodeTaskset")
"""The names that the library verifiers, if installed, looks for in a package whose name is a taskset's id."""


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return [*_OFFERED, *(_TASKSET if find_spec("verifiers") else ())]
    if name in _OFFERED or (name in _TASKSET and find_spec("verifiers")):
        globals()[name] = attribute = getattr(import_module(_TRAINING), name)
        return attribute
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_OFFERED})
