"""Prints verdicts as JSON; `test_digest.py` runs it with the scorer as it is, and with a scorer without texts."""

from __future__ import annotations

import json

from stackrank.env.sandbox.client import Changes
from stackrank.env.scoring.verdict import score
from stackrank.env.task import Task
from tests.env.scoring.bounty.test_bounty import CHEATS, on, played, shop, with_proof

PLAYED = ("always_equal", "calls_the_reporter", "file_conftest_hook", "key_from_the_heap", "os_exit_at_import")


def verdict(task: Task, changes: Changes) -> list[bool]:
    """Return what does not depend on chance."""
    outcome = score(task, changes, on("bubblewrap"))
    return [outcome.resolved, outcome.tampered, outcome.timed_out, outcome.sealed > 0, outcome.unsealed != ""]


def main() -> None:
    """Score the shop as given, with its known fix, and with some cheats."""
    task = with_proof(shop({}))
    verdicts = {"given": verdict(task, Changes(files={}))}
    fixed = task.files["cart.py"].replace(b" - 1", b"")
    verdicts["fixed"] = verdict(task, Changes(files={"cart.py": fixed}))
    verdicts |= {path.stem: verdict(*played(path)) for path in CHEATS if path.stem in PLAYED}
    print(json.dumps(verdicts))


if __name__ == "__main__":
    main()
