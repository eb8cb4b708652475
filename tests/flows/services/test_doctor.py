"""What doctor says that this machine can and cannot hold code to."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackrank.env.sandbox.bubblewrap import cgroups, unprivileged
from stackrank.flows.services import doctor
from stackrank.flows.services.doctor import _disk, _guarantees, _isolation, _proxy
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


@pytest.mark.parametrize(
    ("variable", "proxy", "shown"),
    [
        ("https_proxy", "http://ann:secret@proxy.example:3128", "http://ann:***@proxy.example:3128 for other machines"),
        ("ALL_PROXY", "socks5://10.0.0.1:1080", "socks5://10.0.0.1:1080 for other machines"),
    ],
)
def test_the_proxy_is_named(variable: str, proxy: str, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    assert _proxy()["detail"] == "none"
    monkeypatch.setenv(variable, proxy)
    assert shown in _proxy()["detail"]


def test_a_disk_with_little_space(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("STACKRANK_HOME", str(tmp_path / "not" / "made"))
    assert _disk()["ok"] and f"{tmp_path}/not/made: " in _disk()["detail"]
    monkeypatch.setattr(doctor, "free_bytes", lambda folder: 3 << 20)
    assert not _disk()["ok"] and "only 3 MB free: free some space" in _disk()["detail"]


def test_a_full_disk_under_the_database(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "is_full", lambda folder: True)
    (row,) = [row for row in doctor._database() if row["check"] == "database"]
    assert not row["ok"] and row["detail"].endswith("no result can be stored, free some space on its disk")
