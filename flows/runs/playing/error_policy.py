"""One table of which errors the infrastructure causes, and what to do about each.

Failures that the workspace, the code under test or the model's output causes are not errors: the environment and the
agents turn them into `unresolved`, so they never get here.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass

from stackrank.agents.episode.loop import ReplayDiffers
from stackrank.agents.episode.protocol import AccessError, EndpointDown, EndpointError, SetupError
from stackrank.db.connection.errors import DatabaseError
from stackrank.env.sandbox.base import BuildError, PreparationFailed, SandboxError
from stackrank.errors import PluginError, StackrankError
from stackrank.terms import ErrorClass


@dataclass(frozen=True, slots=True)
class Policy:
    """What to do about an error that ended an episode."""

    cause: str
    """What failed, for people."""
    error_class: ErrorClass
    """Who is responsible. Never the entrant."""
    retried: bool
    """Whether the episode is retried. Either way, it does not count as a failure of the entrant."""
    afresh: bool = False
    """Whether the retry starts from the beginning. Otherwise it continues where the episode was interrupted."""
    ends_run: bool = False
    """Whether every other episode would fail, too, so that no more are started."""
    waits: bool = False
    """Whether the episode waits, without a verdict, until what failed works again."""


# Any other error is a bug of stackrank: the episode ends in `error`, is not retried, and its message says so.
POLICIES: dict[type[Exception], Policy] = {
    BuildError: Policy("the environment", ErrorClass.ENVIRONMENT, retried=False),  # before its base class
    SandboxError: Policy("the sandbox", ErrorClass.MACHINE, retried=True),
    PreparationFailed: Policy("the preparation of the episode", ErrorClass.MACHINE, retried=True),
    EndpointDown: Policy(
        "the model's endpoint", ErrorClass.ENDPOINT, retried=True, waits=True
    ),  # before its base class
    EndpointError: Policy("the model's endpoint", ErrorClass.ENDPOINT, retried=True),
    DatabaseError: Policy("the database", ErrorClass.MACHINE, retried=True),
    ReplayDiffers: Policy("the replay of earlier steps", ErrorClass.MACHINE, retried=True, afresh=True),
    AccessError: Policy(
        "the model's endpoint", ErrorClass.ENDPOINT, retried=False, ends_run=True
    ),  # before its base class
    # CPython may fail to parse source in several threads: https://github.com/python/cpython/issues/106905
    SystemError: Policy("the Python interpreter", ErrorClass.MACHINE, retried=True),
    PluginError: Policy("a plug-in", ErrorClass.ENVIRONMENT, retried=False),
    SetupError: Policy("the agent's configuration", ErrorClass.ENVIRONMENT, retried=False),
}
SHORTAGE = Policy("this machine", ErrorClass.MACHINE, retried=True)
"""The policy for an OSError that says the machine has run out of disk space, files, memory or processes."""
_SHORTAGES = {errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN, errno.EIO}
FAULT = Policy("stackrank itself", ErrorClass.OURS, retried=False)


class EpisodeFailed(StackrankError):
    """An episode ended in `error`, and that is stored; or it must wait for an endpoint, and is still claimed."""

    def __init__(
        self,
        message: str,
        retried: bool = False,
        afresh: bool = False,
        ends_run: bool = False,
        endpoint: str = "",
        by: str = "",
    ) -> None:
        """Most arguments are as in `Policy`. `endpoint`: what the episode waits for; `by`: who then holds the claim.

        `args` keeps all arguments, so that the error can be sent between processes.
        """
        super().__init__(message, retried, afresh, ends_run, endpoint, by)
        self.retried = retried
        self.afresh = afresh
        self.ends_run = ends_run
        self.endpoint = endpoint
        self.by = by

    def __str__(self) -> str:
        return str(self.args[0])


def find_policy(error: BaseException) -> Policy:
    """Return the policy for an error, chosen by its class and not by its text."""
    if isinstance(error, OSError) and error.errno in _SHORTAGES:
        return SHORTAGE
    for kind, matching in POLICIES.items():
        if isinstance(error, kind):
            return matching
    return FAULT


def describe_error(error: BaseException) -> str:
    """Return the error as one line."""
    text = " ".join(str(error).split()) or type(error).__name__
    error_policy = find_policy(error)
    return (
        f"{error_policy.cause}: {text}"
        if error_policy is not FAULT
        else f"{error_policy.cause}: {type(error).__name__}: {text}"
    )
