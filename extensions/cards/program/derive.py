"""Compare what a card publishes with what its facts give."""

from __future__ import annotations

import sys
from pathlib import Path

from stackrank.extensions.cards.program.board import Board
from stackrank.extensions.cards.program.facts import PUBLISHED, read, read_facts, shown_rows
from stackrank.extensions.cards.program.statement import statement
from stackrank.extensions.cards.program.tables import derive

MAX_SHOWN = 20


def differences(folder: Path) -> tuple[int, list[str]]:
    """Return how many cells were derived, and a sentence for each published one that differs or is missing.

    Raises ValueError for facts that cannot be read or contradict each other.
    """
    facts = read_facts(folder)
    derived = {table: shown_rows(table, rows) for table, rows in derive(Board(facts)).items()}
    cells, sentences = 0, []
    for table, rows in derived.items():
        keys = PUBLISHED[table].partition("|")[0].split()
        frame = read(folder, table)
        published = {tuple(row[key] for key in keys): row for row in frame.to_dict("records")}
        if len(published) < len(frame):
            sentences.append(f"{table}.csv has a row twice")
        for key in dict.fromkeys([*rows, *published]):
            place = f"{table}.csv, {', '.join(f'{name} {cell}' for name, cell in zip(keys, key, strict=True))}"
            if key not in published or key not in rows:
                sentences.append(f"{place}: {'missing' if key in rows else 'does not follow from the facts'}")
                continue
            cells += len(rows[key])
            for name, cell in rows[key].items():
                if published[key][name] != cell:
                    sentences.append(
                        f"{place}: {name} is {cell or 'empty'}, published {published[key][name] or 'empty'}"
                    )
    text = statement(facts, derived)
    if not (folder / "README.md").is_file() or (folder / "README.md").read_text(encoding="utf-8") != text:
        sentences.append("README.md does not state what follows from the facts")
    return cells, sentences


def _say(text: str) -> None:
    """Print a text, whose names may come from a stranger, without what a terminal would obey."""
    print("".join(sign if sign.isprintable() else "?" for sign in text))


def report(folder: Path) -> int:
    """Print what differs; return the exit status."""
    try:
        cells, sentences = differences(folder)
    except ValueError as error:
        _say(f"The card cannot be read: {error}")
        return 1
    for sentence in sentences[:MAX_SHOWN]:
        _say(sentence)
    if sentences:
        _say(f"{len(sentences):,} differences; {cells:,} numbers were derived.")
        return 1
    _say(f"All {cells:,} published numbers were derived again and are the same, to the last digit shown.")
    return 0


if __name__ == "__main__":
    sys.exit(report(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent))
