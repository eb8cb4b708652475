"""The environment for training programs, without database and Prefect, and exports of episodes for trainers.

What `import stackrank` offers to trainers is named here, and imported when it is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stackrank.env.actions import Action as Action
    from stackrank.env.actions import Observation as Observation
    from stackrank.extensions.training.env import TrainingEnv as TrainingEnv
    from stackrank.extensions.training.env import Transition as Transition
    from stackrank.extensions.training.env_maker import curriculum as curriculum
    from stackrank.extensions.training.env_maker import make as make
    from stackrank.extensions.training.env_maker import make_vec as make_vec
    from stackrank.extensions.training.env_maker import task_names as task_names
    from stackrank.extensions.training.vec import VecEnv as VecEnv

_MODULES = {
    "Action": "stackrank.env.actions",
    "Observation": "stackrank.env.actions",
    "TrainingEnv": "stackrank.extensions.training.env",
    "Transition": "stackrank.extensions.training.env",
    "VecEnv": "stackrank.extensions.training.vec",
    "curriculum": "stackrank.extensions.training.env_maker",
    "make": "stackrank.extensions.training.env_maker",
    "make_vec": "stackrank.extensions.training.env_maker",
    "task_names": "stackrank.extensions.training.env_maker",
    "EpisodeEnv": "stackrank.extensions.training.verifiers",
    "EpisodeTaskset": "stackrank.extensions.training.verifiers",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
