"""Which errors are the infrastructure's: one table, read by everything that has to tell.

What the workspace, the code under test or the model's words cause is no error: the environment and the agents see to
it that it ends in `unresolved`, and never gets here.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass

from stackrank.agents.episode.loop import ReplayDiffers
from stackrank.agents.episode.protocol import AccessError, EndpointDown, EndpointError, SetupError
from stackrank.db.errors import DatabaseError
from stackrank.env.mcp.server import McpServerChanged, McpServerFailed
from stackrank.env.sandbox.base import BuildError, PreparationFailed, SandboxError
from stackrank.errors import StackrankError
from stackrank.terms import ErrorClass


@dataclass(frozen=True, slots=True)
class Policy:
    """What to do about an error that ended an episode."""

    cause: str
    """What failed, for people."""
    error_class: ErrorClass
    """Whose part of the world that is. None is the entrant's."""
    retried: bool
    """Whether the episode is tried again. It is never counted as a failure of the entrant."""
    afresh: bool = False
    """Whether it then starts from the beginning, whatever it had done. Otherwise it goes on where it was cut off."""
    ends_run: bool = False
    """Whether no other episode can do better, so that none is started any more."""
    waits: bool = False
    """Whether the episode waits until what failed is there again, without any verdict."""


# Any other error is a fault of stackrank: the episode ends in `error`, is not tried again, and its message says so.
POLICIES: dict[type[Exception], Policy] = {
    BuildError: Policy("the environment", ErrorClass.ENVIRONMENT, retried=False),  # before its base class
    SandboxError: Policy("the sandbox", ErrorClass.MACHINE, retried=True),
    PreparationFailed: Policy("what the episode needs", ErrorClass.MACHINE, retried=True),
    McpServerChanged: Policy("a tool of others", ErrorClass.ENVIRONMENT, retried=False),  # before its base class
    McpServerFailed: Policy("a tool of others", ErrorClass.ENVIRONMENT, retried=True),
    EndpointDown: Policy(
        "the model's endpoint", ErrorClass.ENDPOINT, retried=True, waits=True
    ),  # before its base class
    EndpointError: Policy("the model's endpoint", ErrorClass.ENDPOINT, retried=True),
    DatabaseError: Policy("the database", ErrorClass.MACHINE, retried=True),
    ReplayDiffers: Policy("the repetition", ErrorClass.MACHINE, retried=True, afresh=True),
    AccessError: Policy(
        "the model's endpoint", ErrorClass.ENDPOINT, retried=False, ends_run=True
    ),  # before its base class
    # CPython may fail at parsing source in several threads: https://github.com/python/cpython/issues/106905
    SystemError: Policy("the Python interpreter", ErrorClass.MACHINE, retried=True),
    SetupError: Policy("the agent's set-up", ErrorClass.ENVIRONMENT, retried=False),
}
SHORTAGE = Policy("this machine", ErrorClass.MACHINE, retried=True)
"""What an OSError means that says the machine has no more of something: disk space, files, memory, processes."""
_SHORTAGES = {errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN, errno.EIO}
FAULT = Policy("stackrank itself", ErrorClass.OURS, retried=False)


class EpisodeFailed(StackrankError):
    """An episode ended in `error`, which has been written down; or it has to wait for an endpoint, still claimed."""

    def __init__(
        self,
        message: str,
        retried: bool = False,
        afresh: bool = False,
        ends_run: bool = False,
        endpoint: str = "",
        by: str = "",
    ) -> None:
        """As in `Policy`; `endpoint`: what it waits for, `by`: whose claim it is then.

        All arguments are kept in `args`, so that it can be sent between processes.
        """
        super().__init__(message, retried, afresh, ends_run, endpoint, by)
        self.retried = retried
        self.afresh = afresh
        self.ends_run = ends_run
        self.endpoint = endpoint
        self.by = by

    def __str__(self) -> str:
        return str(self.args[0])


def policy(error: BaseException) -> Policy:
    """The policy for an error, by its class and not by its text."""
    if isinstance(error, OSError) and error.errno in _SHORTAGES:
        return SHORTAGE
    for kind, found in POLICIES.items():
        if isinstance(error, kind):
            return found
    return FAULT


def sentence(error: BaseException) -> str:
    """The error in one line."""
    text = " ".join(str(error).split()) or type(error).__name__
    found = policy(error)
    return f"{found.cause}: {text}" if found is not FAULT else f"{found.cause}: {type(error).__name__}: {text}"
