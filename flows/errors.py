"""Which errors are the infrastructure's: one table, read by everything that has to tell."""

from __future__ import annotations

from dataclasses import dataclass

from agents.base import AccessError, EndpointError
from agents.base import SetupError as AgentSetupError
from agents.episode import ReplayDiffers
from db.errors import DatabaseError
from env.sandbox.base import BuildError, SandboxError


@dataclass(frozen=True, slots=True)
class Policy:
    """What to do about an error that ended an episode."""

    cause: str
    """What failed, for people."""
    retried: bool
    """Whether the episode is tried again. It is never counted as a failure of the entrant."""
    afresh: bool = False
    """Whether it then starts from the beginning, whatever it had done. Otherwise it goes on where it was cut off."""
    ends_run: bool = False
    """Whether no other episode can do better, so that none is started any more."""


# Whatever is not here is a fault of ours: the episode is an error too, is not tried again, and says so.
POLICIES: dict[type[Exception], Policy] = {
    BuildError: Policy("the environment", retried=False),  # before its base class
    SandboxError: Policy("the sandbox", retried=True),
    EndpointError: Policy("the model's endpoint", retried=True),
    DatabaseError: Policy("the database", retried=True),
    ReplayDiffers: Policy("the repetition", retried=True, afresh=True),
    AccessError: Policy("the model's endpoint", retried=False, ends_run=True),  # before its base class
    # CPython may fail at parsing source in several threads: https://github.com/python/cpython/issues/106905
    SystemError: Policy("the Python interpreter", retried=True),
    AgentSetupError: Policy("the agent's set-up", retried=False),
}
FAULT = Policy("stackrank itself", retried=False)


class EpisodeFailed(Exception):
    """An episode ended in `error`, which has been written down."""

    def __init__(self, message: str, retried: bool = False, afresh: bool = False, ends_run: bool = False) -> None:
        """As in `Policy`. All arguments are kept in `args`, so that it can be sent between processes."""
        super().__init__(message, retried, afresh, ends_run)
        self.retried = retried
        self.afresh = afresh
        self.ends_run = ends_run

    def __str__(self) -> str:
        return str(self.args[0])


def policy(error: BaseException) -> Policy:
    """The policy for an error, by its class and not by its text."""
    for kind, found in POLICIES.items():
        if isinstance(error, kind):
            return found
    return FAULT


def sentence(error: BaseException) -> str:
    """The error in one line."""
    text = " ".join(str(error).split()) or type(error).__name__
    found = policy(error)
    return f"{found.cause}: {text}" if found is not FAULT else f"{found.cause}: {type(error).__name__}: {text}"
