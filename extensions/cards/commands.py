"""The option `leaderboard --card`, and the command that checks a card."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stackrank.flows.cli.options import Json
from stackrank.flows.cli.output import print_json
from stackrank.wording import count_of, print_err, print_out

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from stackrank.db.queries import Scope

_MOST = 20


def card(engine: Engine, scope: Scope, folder: Path) -> None:
    """Write the card of a board into a new folder."""
    from stackrank.extensions.cards.card import PROGRAM, write_card

    count = write_card(engine, scope, folder)
    print_err(f"{folder}: a card with {count:,} published numbers; {PROGRAM} in it derives all of them again")


def check_card(
    folder: Annotated[Path, typer.Argument(help="A folder that `stackrank leaderboard --card` has written.")],
    as_json: Json = False,
) -> None:
    """Derive every number of a card again from its own tables, and say what differs. Exit status 1: something does."""
    from stackrank.extensions.cards import card

    count, differences, is_own_program = card.check_card(folder)
    if as_json:
        print_json({"card": str(folder), "numbers": count, "differences": differences, "own_program": is_own_program})
    elif differences:
        for sentence in differences[:_MOST]:
            print_out(sentence)
        print_out(f"{folder}: {count_of(len(differences), 'difference')}; {count:,} numbers were derived.")
    else:
        print_out(f"{folder}: all {count:,} published numbers follow from its episodes, to the last digit shown.")
    if not is_own_program:
        print_err(f"note: {folder / card.PROGRAM} is not the program of this version of stackrank, and was not run")
    if differences:
        raise typer.Exit(1)
