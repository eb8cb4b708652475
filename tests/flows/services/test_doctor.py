"""What doctor says that this machine can and cannot hold code to."""

from __future__ import annotations

import pytest

from stackrank.env.sandbox.bubblewrap import cgroups, unprivileged
from stackrank.flows.services.doctor import _guarantees, _held
from tests.fixtures.env import ISOLATING, usable


@pytest.mark.parametrize(
    ("root", "said"), [(True, "user 4711, group 4712 of this machine, never as root"), (False, "your own user id")]
)
def test_whose_code_it_is(root: bool, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    usable("bubblewrap")
    monkeypatch.setattr(unprivileged, "needed", lambda: root)
    monkeypatch.setattr(unprivileged, "host_ids", lambda: (4711, 4712))
    assert said in _guarantees()[0]["detail"]


def test_limits_that_hold_for_a_process_only_are_no_limits_of_a_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    usable("bubblewrap")
    monkeypatch.setattr(cgroups, "make", lambda limits: None)
    limits = _guarantees()[1]
    assert not limits["ok"] and "for each process only" in limits["detail"]


@pytest.mark.parametrize("name", ISOLATING)
def test_code_looks_at_its_cage_from_inside(name: str) -> None:
    usable(name)
    held = _held(name)
    assert held["ok"] and "no network, no capabilities" in held["detail"] and "NOT" not in held["detail"]


def test_what_is_not_held_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STACKRANK_ALLOW_LOCAL", "1")
    held = _held("local")
    assert not held["ok"] and "NOT held" in held["detail"] and "system calls filtered" in held["detail"].split("NOT")[1]
    assert "could not be inspected" in _held("nothing")["detail"]
