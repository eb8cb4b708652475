"""Write labels on tasks and episodes, and saved views. Their rows are never changed or deleted."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, insert, select

from stackrank.db.connection.errors import NotFound, no_episode
from stackrank.db.connection.transactions import EPISODE, LABEL, TASK, VIEW, Transactions, clean, new_id
from stackrank.errors import UsageError
from stackrank.host.wall_clock import now
from stackrank.terms import Label

MOST_CHARS, MOST_NAME, MOST_ADDRESS = 10_000, 80, 2_000


class Labels(Transactions):
    """Writes labels and saved views. Raises as `Store` does."""

    def put(
        self,
        label: Label,
        *,
        person: str,
        task_id: int | None = None,
        episode_id: int | None = None,
        reason: str = "",
        is_set: bool = True,
    ) -> int:
        """Append a label of a task or of an episode, or (`is_set` False) its withdrawal by this person.

        Returns the row's number. Raises NotFound; UsageError if both or neither is named, if the reason is too long, or
        if this person withdraws a label that they have not given.
        """
        if (task_id is None) == (episode_id is None):
            raise UsageError("a label is about a task or about an episode: name one of them")
        if len(reason.strip()) > MOST_CHARS:
            raise UsageError(f"a reason has at most {MOST_CHARS} characters, this one has {len(reason.strip())}")
        columns = {"label": str(label), "is_set": is_set, "person": person, "reason": reason.strip()}

        def work(connection: Connection) -> int:
            row: dict[str, Any] = {**columns, "task_id": task_id, "episode_id": episode_id}
            if episode_id is not None:
                row["task_id"] = connection.scalar(select(EPISODE.c.task_id).where(EPISODE.c.id == episode_id))
                if row["task_id"] is None:
                    raise no_episode(episode_id)
            elif connection.scalar(select(TASK.c.id).where(TASK.c.id == task_id)) is None:
                raise NotFound(f"There is no task {task_id}: `stackrank tasks BENCHMARK` lists them.")
            row = clean(row)
            if not is_set and not _is_set(connection, row):
                raise UsageError(f"{person} has not set the label {label}, so there is nothing to withdraw")
            return new_id(connection.execute(insert(LABEL).values({**row, "created_at": now()})))

        return self._write(work)

    def save_view(self, page: str, name: str, address: str, *, person: str) -> int:
        """Save the filters of a page under a name, in place of an earlier view of that name. Raises UsageError.

        `address` is the part of the address after the question mark; an empty one removes the view.
        """
        view_name = " ".join(name.split())
        if not view_name or len(view_name) > MOST_NAME:
            raise UsageError(f"the name of a view has 1 to {MOST_NAME} characters")
        if len(address) > MOST_ADDRESS:
            raise UsageError(f"the filters of a view have at most {MOST_ADDRESS} characters: choose fewer")
        row = clean({"page": page, "name": view_name, "address": address, "person": person}) | {"created_at": now()}
        return self._write(lambda connection: new_id(connection.execute(insert(VIEW).values(row))))


def _is_set(connection: Connection, row: dict[str, Any]) -> bool:
    """Whether the label holds: this person's newest row with it, about the same task or episode, gives it.

    A row about a task may come from another version of the benchmark if the task is the same there.
    """
    conditions = [LABEL.c.label == row["label"], LABEL.c.person == row["person"]]
    if row["episode_id"] is not None:
        conditions.append(LABEL.c.episode_id == row["episode_id"])
    else:
        this = select(TASK.c.name, TASK.c.digest).where(TASK.c.id == row["task_id"]).cte("this")
        same_tasks = select(TASK.c.id).join(this, (this.c.name == TASK.c.name) & (this.c.digest == TASK.c.digest))
        conditions += [LABEL.c.episode_id.is_(None), LABEL.c.task_id.in_(same_tasks)]
    newest = select(LABEL.c.is_set).where(*conditions).order_by(LABEL.c.id.desc()).limit(1)
    return bool(connection.scalar(newest))
