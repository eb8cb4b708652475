"""Sign-in with a local OpenID Connect provider."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from oidc_provider_mock import User, run_server_in_thread

from stackrank.dashboard.launch import command
from stackrank.dashboard.login import address_is_verified, allowed
from stackrank.errors import UsageError
from tests.dashboard.browsing import heading, opens_for_certain, ready, sync_api
from tests.dashboard.serving import free_port, serve

RULES = "ada@example.org, @team.example"


@pytest.mark.parametrize(
    ("email", "verified", "rules", "expected"),
    [
        ("ada@example.org", True, RULES, True),
        ("Ada@Example.ORG", "true", RULES, True),
        ("bob@team.example", True, RULES, True),
        ("bob@example.org", True, RULES, False),
        ("bob@sub.team.example", True, RULES, False),
        ("bob@evil-team.example", True, RULES, False),
        ("bob@team.example@evil.example", True, RULES, False),
        ("ada@example.org", False, RULES, False),
        ("ada@example.org", "false", RULES, False),
        ("", True, RULES, False),
        ("@team.example", True, "", False),
        ("ada@example.org", True, "", False),
        ("ada@example.org", None, RULES, False),
        ("ada@example.org", 1.5, RULES, False),
        ("who@ever.example", True, "*", True),
        ("who@ever.example", None, "*", False),
        ("who@ever.example", False, "*", False),
        ("", True, "*", False),
    ],
)
def test_allowed_users(email: str, verified: object, rules: str, expected: bool) -> None:
    assert allowed(email, verified, rules) is expected


@pytest.mark.parametrize(("claim", "trusted", "expected"), [(None, "", False), (None, "1", True), (False, "1", False)])
def test_only_a_missing_claim_can_be_trusted(
    claim: object, trusted: str, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STACKRANK_TRUST_EMAILS", trusted or "0")
    assert allowed("ada@example.org", address_is_verified(claim), RULES) is expected


def secrets(folder: Path, port: int, provider: int) -> Path:
    file = folder / "secrets.toml"
    file.write_text(
        f'''[auth]
redirect_uri = "http://localhost:{port}/oauth2callback"
cookie_secret = "{"x" * 40}"
client_id = "stackrank"
client_secret = "not a secret"
server_metadata_url = "http://localhost:{provider}/.well-known/openid-configuration"
'''
    )
    return file


@pytest.fixture(scope="module")
def guarded(seeded: SimpleNamespace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a dashboard that requires a login."""
    folder, port = tmp_path_factory.mktemp("guarded"), free_port()
    people = [
        User(sub="ada", claims={"email": "ada@example.org", "email_verified": True}),
        User(sub="eve", claims={"email": "eve@elsewhere.example", "email_verified": True}),
    ]
    with run_server_in_thread(user_claims=people) as provider, pytest.MonkeyPatch.context() as patch:
        patch.setenv("STACKRANK_SECRETS", str(secrets(folder, port, provider.server_port)))
        patch.setenv("STACKRANK_ALLOWED_USERS", RULES)
        with serve(seeded.url, folder, port=port):
            yield f"http://localhost:{port}"


@pytest.fixture
def visitor(browser: Any, guarded: str) -> Iterator[sync_api.Page]:
    context = browser.new_context(viewport={"width": 1200, "height": 900}, base_url=guarded)
    page = context.new_page()
    page.set_default_timeout(120_000)
    opens_for_certain(page)
    yield page
    context.close()


def sign_in(page: sync_api.Page, email: str) -> None:
    page.get_by_role("button", name="Sign in").click()
    page.locator(f"button[name=sub][value={email}]").click()


def test_signed_out_users_see_nothing(visitor: sync_api.Page) -> None:
    for path in ("/", "/episode?id=1", "/leaderboard"):
        visitor.goto(path)
        ready(visitor)
        sync_api.expect(visitor.get_by_role("button", name="Sign in")).to_be_visible()
        assert "qwen3" not in visitor.content() and "nightly" not in visitor.content()


def test_allowed_user_signs_in_and_authors_notes(visitor: sync_api.Page) -> None:
    visitor.goto("/")
    sign_in(visitor, "ada")
    heading(visitor, "Worth reading")
    sync_api.expect(visitor.get_by_text("Signed in as ada@example.org")).to_be_visible()
    visitor.goto("/run?id=1")
    ready(visitor)
    visitor.get_by_text("Notes and tags").click()
    visitor.get_by_label("A note about the run").fill("Seen by me.")
    visitor.get_by_role("button", name="Add note").click()
    sync_api.expect(visitor.get_by_text("ada@example.org, 2")).to_be_visible()
    visitor.get_by_role("button", name="Sign out").click()
    visitor.wait_for_url("**/end_session**")  # the provider asks whether to sign out there as well
    visitor.goto("/")
    sync_api.expect(visitor.get_by_role("button", name="Sign in")).to_be_visible()


@pytest.mark.exhaustive
def test_other_users_are_refused(visitor: sync_api.Page) -> None:
    visitor.goto("/")
    sign_in(visitor, "eve")
    heading(visitor, "No access")
    visitor.goto("/leaderboard")
    heading(visitor, "No access")
    assert "qwen3" not in visitor.content()


def test_without_login_only_local_requests_are_served(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("STACKRANK_SECRETS", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for host in ("0.0.0.0", "192.0.2.1", "::", "example.org"):
        with pytest.raises(UsageError, match="STACKRANK_SECRETS"):
            command(host=host)
    for host in ("127.0.0.1", "::1", "localhost", "127.8.8.8"):
        command(host=host)
    monkeypatch.setenv("STACKRANK_DASHBOARD_OPEN", "1")
    command(host="0.0.0.0")
    monkeypatch.delenv("STACKRANK_DASHBOARD_OPEN")
    monkeypatch.setenv("STACKRANK_SECRETS", str(secrets(tmp_path, 1, 2)))
    assert f"--secrets.files={tmp_path / 'secrets.toml'}" in command(host="0.0.0.0")[0]


def test_streamlit_reads_the_secrets_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("STACKRANK_SECRETS", str(secrets(tmp_path, 1, 2).rename(tmp_path / "secrets")))
    with pytest.raises(UsageError, match=r"end with \.toml"):
        command(host="0.0.0.0")


@pytest.mark.exhaustive
@pytest.mark.parametrize("text", [None, "[auth", "[other]\n"])
@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_empty_secrets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str | None, host: str) -> None:
    file = tmp_path / "secrets.toml"
    if text is not None:
        file.write_text(text)
    monkeypatch.setenv("STACKRANK_SECRETS", str(file))
    argv = [sys.executable, "-m", "stackrank.dashboard", "--host", host]
    completed = subprocess.run(argv, capture_output=True, text=True, timeout=600)
    assert (
        completed.returncode == 2 and completed.stderr.startswith("error: ") and "STACKRANK_SECRETS" in completed.stderr
    )
    assert "Traceback" not in completed.stderr
