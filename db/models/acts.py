"""What operators did to runs."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlmodel import SQLModel

from stackrank.db.models.columns import json, key, long_text, one_of, ref, when
from stackrank.terms import ActKind


class Act(SQLModel, table=True):
    """One act of an operator. Rows are appended, never changed."""

    __table_args__ = (one_of("kind", ActKind),)

    id: int | None = key()
    run_id: int = ref("run.id", index=True)
    kind: str = ""
    # For `set`: {field: [old value, new value]}; for `retry`: {"episode": number}.
    change: dict[str, Any] = json()
    person: str = ""
    why: str = long_text()
    created_at: datetime | None = when()
