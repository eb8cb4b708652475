"""Write the notes and tags of members of the team. All else in the database comes from runs."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, delete, insert, select

from stackrank.db.connection.errors import NotFound
from stackrank.db.connection.transactions import EPISODE, NOTE, RUN, Transactions, clean, new_id
from stackrank.db.models.labels import Note
from stackrank.errors import UsageError
from stackrank.host.wall_clock import now

MOST_CHARS, MOST_TAGS, MOST_TAG_CHARS = 10_000, 20, 60


class Notes(Transactions):
    """Writes notes and tags. Raises as `Store` does."""

    def add(
        self, run_id: int, body: str, *, author: str, episode_id: int | None = None, step_index: int | None = None
    ) -> int:
        """Store a note about a run, one of its episodes, or a step of that episode, and return the note's id."""
        text = body.strip()
        if not text or len(text) > MOST_CHARS:
            raise UsageError(f"a note has 1 to {MOST_CHARS} characters, this one has {len(text)}")
        if step_index is not None and episode_id is None:
            raise UsageError("a note about a step names its episode")
        note = Note(
            run_id=run_id, episode_id=episode_id, step_index=step_index, author=author, body=text, created_at=now()
        )
        row = clean(note.model_dump(exclude={"id"}))

        def work(connection: Connection) -> int:
            self._exists(connection, RUN, run_id)
            if episode_id is not None:
                run_of_episode = connection.scalar(select(EPISODE.c.run_id).where(EPISODE.c.id == episode_id))
                if run_of_episode != run_id:
                    raise NotFound(
                        f"Run {run_id} has no episode {episode_id}: `stackrank episodes {run_id}` lists them."
                    )
            return new_id(connection.execute(insert(NOTE).values(row)))

        return self._write(work)

    def remove(self, note_id: int, *, author: str) -> bool:
        """Delete a note if it is by this author; False if this author has no such note."""
        statement = delete(NOTE).where(NOTE.c.id == note_id, NOTE.c.author == author)
        return self._write(lambda connection: bool(connection.execute(statement).rowcount))

    def tag_run(self, run_id: int, tags: Sequence[str]) -> None:
        """Replace the tags of a run with these."""
        row = clean({"tags": _tags(tags)})
        self._write(lambda connection: self._update(connection, RUN, run_id, row))

    def tag_episode(self, episode_id: int, tags: Sequence[str]) -> None:
        """Replace the tags of an episode with these."""
        row = clean({"tags": _tags(tags)})
        self._write(lambda connection: self._update(connection, EPISODE, episode_id, row))


def _tags(tags: Sequence[str]) -> list[str]:
    cleaned = list(dict.fromkeys(" ".join(tag.split()) for tag in tags if tag.strip()))
    if len(cleaned) > MOST_TAGS or any(len(tag) > MOST_TAG_CHARS for tag in cleaned):
        raise UsageError(f"there are at most {MOST_TAGS} tags of at most {MOST_TAG_CHARS} characters")
    return cleaned
