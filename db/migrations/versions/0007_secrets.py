"""Secrets that earlier versions took into specifications and settings are masked. They cannot be brought back."""

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

MASK = "$MASKED_SECRET"
"""Has the form of a variable's name, in which secrets are written now. So resuming such a run fails with the message
that this variable is not set."""
OPERATORS_OWN = "$STACKRANK_WEBHOOK"
SECRET = re.compile(
    r"(?i)api[_-]?key|(access|secret|private|auth)[_-]?(key|token)|secret|passw|authorization|credential|cookie|bearer"
)
"""As `agents.llm.settings` had it when this was written."""


def upgrade() -> None:
    mask("run", "spec", without_secrets)
    mask("entrant", "config", masked_config)


def downgrade() -> None:
    """What is masked stays so."""


def mask(table: str, column: str, masked: Callable[[Any], Any]) -> None:
    found = sa.table(table, sa.column("id", sa.Integer()), sa.column(column, sa.JSON()))
    for row in list(op.get_bind().execute(sa.select(found.c.id, found.c[column]))):
        now = masked(row[1])
        if now != row[1]:
            op.execute(found.update().where(found.c.id == row[0]).values({column: now}))


def without_secrets(spec: Any) -> Any:
    if not isinstance(spec, dict):
        return spec
    found = dict(spec)
    webhook = found.get("webhook")
    if isinstance(webhook, str) and webhook and "$" not in webhook:
        found["webhook"] = OPERATORS_OWN  # such an address is its own password
    if isinstance(found.get("entrants"), list):
        found["entrants"] = [with_config(each) for each in found["entrants"]]
    if "matrix" in found:
        found["matrix"] = with_config(found["matrix"])
    return found


def with_config(part: Any) -> Any:
    if not isinstance(part, dict) or "config" not in part:
        return part
    return {**part, "config": masked_config(part["config"])}


def masked_config(value: Any, name: str = "") -> Any:
    if isinstance(value, dict):
        return {key: masked_config(each, key) for key, each in value.items()}
    if isinstance(value, list):
        return [masked_config(each, name) for each in value]
    if not isinstance(value, str) or value.startswith("$") or not value or name.endswith(("_env", "_file")):
        return value
    if SECRET.search(name) or value.startswith(("Bearer ", "sk-")):
        return MASK
    return masked_address(value) if name.endswith(("url", "endpoint")) else value


def masked_address(url: str) -> str:
    """Without user, password and the parameters that are secrets: a key comes from the environment now."""
    try:
        parts = urlsplit(url)
        query = parse_qsl(parts.query, keep_blank_values=True)
    except ValueError:
        return url
    left = [(name, value) for name, value in query if not SECRET.search(name)]
    host = parts.netloc.rpartition("@")[2]
    if host == parts.netloc and left == query:
        return url
    return urlunsplit(parts._replace(netloc=host, query=urlencode(left)))
