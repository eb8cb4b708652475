"""What a specification of somebody else's may name, and the operator's consent to sandboxes that isolate nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stackrank.env.sandbox.base import SandboxError
from stackrank.env.sandbox.registry import backend
from stackrank.flows.runs.specification.spec import RunSpec, SpecError, make_spec

ORACLE = {"agent": "oracle", "tools": "rewrite"}


def made(config: dict[str, Any] | None = None, **fields: Any) -> RunSpec:
    entrant = ORACLE if config is None else {"agent": "llm", "model": "m", "config": config}
    return make_spec({"entrants": [entrant], **fields}, "the call")


@pytest.fixture
def guarded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine that plays others' specifications; returns the folder that they may name."""
    folder = tmp_path / "shared"
    folder.mkdir()
    (folder / "prompt").write_text("You are a good debugger.")
    (tmp_path / "secret").write_text("the operator's own")
    (folder / "link").symlink_to(tmp_path / "secret")
    monkeypatch.setenv("STACKRANK_GUARDED", "1")
    monkeypatch.setenv("STACKRANK_ALLOWED_PATHS", str(folder))
    monkeypatch.setenv("STACKRANK_ALLOWED_VARIABLES", "TEAM_KEY, SLACK")
    monkeypatch.setenv("STACKRANK_ALLOWED_HOSTS", "models.example.org, 10.0.0.5:8000")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://gpu.example.org:8000/v1")
    monkeypatch.setenv("DATABASE_PASSWORD", "x.example.org")
    return folder


def refused(folder: Path) -> list[tuple[dict[str, Any], str]]:
    secret = str(folder.parent / "secret")
    return [
        ({"path": secret}, "STACKRANK_ALLOWED_PATHS"),
        ({"repos": "/etc"}, "STACKRANK_ALLOWED_PATHS"),
        ({"environments": f"{folder}/../secret"}, "STACKRANK_ALLOWED_PATHS"),
        ({"config": {"prompts": {"system_file": secret}}}, "STACKRANK_ALLOWED_PATHS"),
        ({"config": {"prompts": {"system_file": f"{folder}/link"}}}, "STACKRANK_ALLOWED_PATHS"),
        ({"config": {"api_key_file": secret}}, "STACKRANK_ALLOWED_PATHS"),
        ({"config": {"seeker": {"api_key_file": secret}}}, "STACKRANK_ALLOWED_PATHS"),
        ({"config": {"api_key_env": "DATABASE_PASSWORD"}}, "STACKRANK_ALLOWED_VARIABLES"),
        ({"config": {"extra_body": {"user": "$DATABASE_PASSWORD"}}}, "STACKRANK_ALLOWED_VARIABLES"),
        ({"config": {"base_url": "https://evil.example/v1"}}, "STACKRANK_ALLOWED_HOSTS"),
        ({"config": {"base_url": "http://10.0.0.5:9000/v1"}}, "STACKRANK_ALLOWED_HOSTS"),
        ({"config": {"base_url": "http://models.example.org@evil.example/v1"}}, "STACKRANK_ALLOWED_HOSTS"),
        ({"webhook": "https://evil.example/"}, "STACKRANK_ALLOWED_HOSTS"),
        ({"webhook": "https://models.example.org/?k=$DATABASE_PASSWORD"}, "STACKRANK_ALLOWED_VARIABLES"),
        ({"webhook": "https://${DATABASE_PASSWORD}/"}, "STACKRANK_ALLOWED_VARIABLES"),
        ({"webhook": "https://evil.example/?k=$SLACK"}, "STACKRANK_ALLOWED_HOSTS"),
        ({"dask_address": "tcp://evil.example:8786"}, "STACKRANK_ALLOWED_HOSTS"),
    ]


def test_others_specifications_name_only_what_is_allowed(guarded: Path) -> None:
    for fields, remedy in refused(guarded):
        with pytest.raises(SpecError, match=remedy):
            made(**fields)


def test_allowed_specifications(guarded: Path) -> None:
    config = {
        "base_url": "https://models.example.org/v1", "api_key_env": "TEAM_KEY",
        "prompts": {"system_file": f"{guarded}/prompt"}, "extra_body": {"access_token": "$TEAM_KEY"},
    }  # fmt: skip
    spec = made(config, path=str(guarded), webhook="$SLACK", dask_address="tcp://10.0.0.5:8000")
    assert spec.entrants[0].config["prompts"] == {"system": "You are a good debugger."}
    made({"base_url": "http://gpu.example.org:8000/v1"}, webhook="https://models.example.org/hook?k=$SLACK")
    made({}, path="owner/name")


def test_a_user_of_this_machine_is_not_restricted(guarded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STACKRANK_GUARDED")
    for fields, _ in refused(guarded):
        made(**fields)


def test_the_local_sandbox_needs_the_operators_consent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STACKRANK_ALLOW_LOCAL", "1")
    assert backend("local").name == "local"
    backend.cache_clear()
    monkeypatch.delenv("STACKRANK_ALLOW_LOCAL")
    with pytest.raises(SandboxError, match="STACKRANK_ALLOW_LOCAL=1"):
        backend("local")
