"""stackrank runs debugging agents against real bugs on a schedule, and shows which of them is better and why.

This package holds the code that all rooms (subpackages) may use. The rooms are `env` (the debugging
environment), `agents`, `db` (the database), `flows` (runs and the command line) and `dashboard`.

Training programs create environments with `stackrank.make("bugs/shop-filters")`. The functions of this package are
imported lazily.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stackrank.env.actions import Action as Action
    from stackrank.env.actions import Observation as Observation
    from stackrank.extensions.training.env import TrainingEnv as TrainingEnv
    from stackrank.extensions.training.env import Transition as Transition
    from stackrank.extensions.training.make import make as make
    from stackrank.extensions.training.make import make_vec as make_vec
    from stackrank.extensions.training.make import task_names as task_names
    from stackrank.extensions.training.vec import VecEnv as VecEnv

_OFFERED = {
    "Action": "stackrank.env.actions",
    "Observation": "stackrank.env.actions",
    "TrainingEnv": "stackrank.extensions.training.env",
    "Transition": "stackrank.extensions.training.env",
    "VecEnv": "stackrank.extensions.training.vec",
    "make": "stackrank.extensions.training.make",
    "make_vec": "stackrank.extensions.training.make",
    "task_names": "stackrank.extensions.training.make",
}
_TASKSET = dict.fromkeys(("EpisodeEnv", "EpisodeTaskset"), "stackrank.extensions.training.verifiers")
"""The names that the library verifiers, if installed, looks for in a package whose name is a taskset's id."""


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return [*_OFFERED, *(_TASKSET if find_spec("verifiers") else ())]
    if name in _TASKSET and find_spec("verifiers"):
        return getattr(import_module(_TASKSET[name]), name)
    if name not in _OFFERED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    offered = globals()[name] = getattr(import_module(_OFFERED[name]), name)
    return offered


def __dir__() -> list[str]:
    return sorted({*globals(), *_OFFERED})
