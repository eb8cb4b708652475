"""The seal of a person's decision about a proposed fix, which nobody can make without the key."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping
from typing import Any

from stackrank.errors import UsageError
from stackrank.home import home, locked
from stackrank.settings import settings
from stackrank.wording import as_json


class DecisionRefused(UsageError):
    """A decision that cannot count: too late, about another change, or not written by stackrank."""


def digest_of(base: str, diff: str, test_diff: str) -> str:
    """Return the digest that identifies a change: of the commit that it is for, and of both its diffs."""
    return hashlib.sha256("\0".join((base, diff, test_diff)).encode("utf-8", "surrogateescape")).hexdigest()


def shown_of(proposal: Mapping[str, Any]) -> str:
    """Return the digest of what a person is shown beside the change."""
    columns = [proposal[name] for name in ("title", "tests", "evidence")]
    return hashlib.sha256(json.dumps(columns, sort_keys=True).encode()).hexdigest()


def seal_of(decision: Mapping[str, Any], shown_digest: str) -> str:
    """Return the seal of a decision. Nobody can make one without the key, even with write access to the database.

    `shown_digest`: the result of `shown_of`.
    """
    parts = [*(str(decision[name]) for name in ("proposal_id", "digest", "kind", "reason", "person")), shown_digest]
    return hmac.new(_key(), as_json(parts).encode(), hashlib.sha256).hexdigest()


def require_genuine(proposal: Mapping[str, Any]) -> None:
    """Check that the decision about a proposal, as `queries.proposal` returns it, is genuine.

    Raises DecisionRefused if it was not written by stackrank, or if the change or the evidence that is stored now is
    not what it is about.
    """
    decision = {**proposal["decision"], "proposal_id": proposal["id"]}
    if not hmac.compare_digest(str(decision["seal"]), seal_of(decision, shown_of(proposal))):
        raise DecisionRefused(
            f"the decision about proposal {proposal['id']} does not have the seal of this key: it was written by "
            "other means or with another STACKRANK_DECISION_KEY, or the evidence has been altered since"
        )
    actual = digest_of(proposal["base"], proposal["diff"], proposal["test_diff"])
    if not actual == proposal["digest"] == decision["digest"]:
        raise DecisionRefused(f"proposal {proposal['id']} has changed since it was decided")


def _key() -> bytes:
    configured = settings().decision_key
    if configured:
        return configured.encode()
    file = home() / "decisions.key"
    if not file.exists():
        with locked("decisions"):
            if not file.exists():
                part = file.with_suffix(".part")
                part.unlink(missing_ok=True)
                part.touch(0o600)
                part.write_text(secrets.token_hex(32), encoding="ascii")
                part.replace(file)
    return file.read_bytes()
