"""Entrants and their names. No two entrants have the same name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, select, update

from stackrank.db.connection.transactions import ENTRANT, Transactions, clean
from stackrank.db.models.runs import Entrant
from stackrank.host.wall_clock import now


class Entrants(Transactions):
    """The part of `db.writes.store.Store` that records entrants."""

    def save_entrant(
        self,
        *,
        digest: str,
        name: str,
        agent: str,
        agent_version: str = "",
        model: str = "",
        tools: str = "",
        tool_list: Sequence[str] = (),
        tool_versions: Mapping[str, str] | None = None,
        config: Mapping[str, Any] | None = None,
        reference: bool = False,
    ) -> int:
        """Store the entrant if its digest is new, and return its id; a new name replaces the old one.

        Boards show different names for entrants that are called the same: see `Entrant.name`. A `reference` is shown
        beside the other entrants but not ranked.
        """
        entrant = Entrant(
            digest=digest,
            name=name,
            called=name,
            reference=reference,
            agent=agent,
            agent_version=agent_version,
            model=model,
            tools=tools,
            tool_list=list(tool_list),
            tool_versions=dict(tool_versions or {}),
            config=dict(config or {}),
            created_at=now(),
        )
        row = clean(entrant.model_dump(exclude={"id"}))

        def work(connection: Connection) -> int:
            query = select(ENTRANT.c.id, ENTRANT.c.called).where(ENTRANT.c.digest == row["digest"])
            stored = connection.execute(query).one_or_none()
            if stored is not None and stored.called == row["called"]:
                return int(stored.id)
            changed = ("name", "called", "reference")
            entrant_id = self._upsert(connection, ENTRANT, row, key=("digest",), change=changed)
            for name in {row["called"], *([stored.called] if stored is not None else [])}:
                make_names_unique(connection, name)
            return entrant_id

        return self._write(work)


def make_names_unique(connection: Connection, spec_name: str) -> None:
    """Name all entrants called `called`: the newest just that, the others with how they differ from it."""
    query = select(ENTRANT).where(ENTRANT.c.called == spec_name).order_by(ENTRANT.c.id.desc())
    rows = connection.execute(query).mappings().all()
    if not rows:
        return
    newest, names = rows[0], {spec_name}
    for row in rows:
        name = spec_name if row is newest else f"{spec_name}, {_difference(row, newest)}"
        if row is not newest and name in names:
            name = f"{name} {row['digest'][:6]}"
        names.add(name)
        if name != row["name"]:
            connection.execute(update(ENTRANT).where(ENTRANT.c.id == row["id"]).values(name=name))


def _difference(row: Any, newest: Any) -> str:
    """Say in a few words how an entrant differs from the newest one: `version 1`, `other settings`."""
    differences = [f"version {row['agent_version']}"] if row["agent_version"] != newest["agent_version"] else []
    differences += [row["model"]] if row["model"] != newest["model"] else []
    same_tools = all(row[column] == newest[column] for column in ("tool_list", "tool_versions"))
    differences += [] if same_tools else ["other tools"]
    if row["config"] != newest["config"] or not differences:
        differences.append("other settings")
    return ", ".join(differences)
