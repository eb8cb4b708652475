"""What doctor says that this machine can and cannot hold code to."""

from __future__ import annotations

import pytest

from stackrank.env.sandbox.bubblewrap import cgroups, unprivileged
from stackrank.flows.services.doctor import _guarantees, _isolation
from tests.fixtures.env import ISOLATING, usable


@pytest.mark.parametrize(
    ("root", "message"), [(True, "user 4711, group 4712 of this machine, never as root"), (False, "your own user id")]
)
def test_whose_code_it_is(root: bool, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    usable("bubblewrap")
    monkeypatch.setattr(unprivileged, "is_host_root", lambda: root)
    monkeypatch.setattr(unprivileged, "host_ids", lambda: (4711, 4712))
    assert message in _guarantees()[0]["detail"]


def test_limits_that_hold_for_a_process_only_are_no_limits_of_a_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    usable("bubblewrap")
    monkeypatch.setattr(cgroups, "make_cgroup", lambda limits: None)
    limits = _guarantees()[1]
    assert not limits["ok"] and "for each process only" in limits["detail"]


@pytest.mark.parametrize("name", ISOLATING)
def test_isolation_is_checked_from_inside_a_sandbox(name: str) -> None:
    usable(name)
    check = _isolation(name)
    assert check["ok"] and "no network, no capabilities" in check["detail"] and "NOT" not in check["detail"]


def test_missing_isolation_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STACKRANK_ALLOW_LOCAL", "1")
    check = _isolation("local")
    assert (
        not check["ok"]
        and "NOT enforced" in check["detail"]
        and "system calls filtered" in check["detail"].split("NOT")[1]
    )
    assert "could not be inspected" in _isolation("nothing")["detail"]
