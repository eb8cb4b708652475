"""Every error has a class, and none of them is the entrant's."""

from __future__ import annotations

import errno

import pytest

from stackrank.env.sandbox.base import BuildError, MachineBusy, PreparationFailed, SandboxError
from stackrank.flows.runs.playing.error_policy import POLICIES, find_policy
from stackrank.terms import ErrorClass


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (SandboxError("gone"), ErrorClass.MACHINE),
        (MachineBusy("busy"), ErrorClass.MACHINE),
        (PreparationFailed("no proof"), ErrorClass.MACHINE),
        (BuildError("no pip"), ErrorClass.ENVIRONMENT),
        (OSError(errno.ENOSPC, "No space left on device"), ErrorClass.MACHINE),
        (OSError(errno.EMFILE, "Too many open files"), ErrorClass.MACHINE),
        (FileNotFoundError(errno.ENOENT, "No such file or directory"), ErrorClass.OURS),
        (KeyError("x"), ErrorClass.OURS),
    ],
)
def test_the_class_of_an_error(error: Exception, expected: ErrorClass) -> None:
    assert find_policy(error).error_class is expected


def test_every_error_class_has_a_policy() -> None:
    assert {policy.error_class for policy in POLICIES.values()} | {ErrorClass.OURS} == set(ErrorClass)
