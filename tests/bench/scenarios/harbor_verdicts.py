"""Compare the verdicts on `bugs` before and after a round trip through Harbor's task directories.

    python -m tests.bench.scenarios.harbor_verdicts [--limit N] [--workers N] [--sandbox NAME] [--known FILE]

Each task that came back is judged with its known fix, which resolves it, and with nothing done, which does not. Ten
wrong fixes (the known one with one mistake, or a part of it) are judged on the tasks as they were too. It takes long,
and is no part of the tests: those judge a sample (`test_harbor.py`). What was judged stands in the file of
`--known`, so that it goes on where it was interrupted; a task that is another one by now is judged again.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from stackrank.env.benchmarks.base import Source
from stackrank.env.benchmarks.bug_suite import BugSuite
from stackrank.env.benchmarks.registry import select
from stackrank.env.environment import files_digest
from stackrank.env.patches import apply_patch
from stackrank.env.sandbox.base import MachineBusy
from stackrank.env.sandbox.client import Changes
from stackrank.env.sandbox.pool import Pool
from stackrank.env.sandbox.registry import chosen_backend
from stackrank.env.scoring.verdict import score
from stackrank.env.task import Task
from stackrank.extensions.authoring.audit.changes import Fixed, distinct, mistakes, parts_of_the_fix
from stackrank.extensions.harbor.benchmark import Harbor
from stackrank.extensions.harbor.write import write_tasks

WRONG = 10
MOST_TRIES = 20


def wrong(task: Task) -> dict[str, bytes] | None:
    """All files with a wrong fix; None where none can be made."""
    fixed = apply_patch(task.files, task.fix)
    solution = Fixed.of(task.files, fixed)
    # `parts_of_the_fix` begins with nothing at all.
    parts = itertools.islice(parts_of_the_fix(solution), 1, None)
    mistake = next(distinct(solution, itertools.chain(mistakes(solution, seed=1), parts)), None)
    if mistake is None:
        return None
    return {**{path: content for path, content in fixed.items() if path not in solution.fixed_files}, **mistake.files}


def judged(task: Task, work: Mapping[str, bytes], pool: Pool) -> bool:
    """The verdict on files of a workspace."""
    changed = {path: content for path, content in work.items() if task.files.get(path) != content}
    deleted = tuple(path for path in task.files if path not in work)
    for _ in range(MOST_TRIES - 1):
        with suppress(MachineBusy):  # which says nothing about the work
            return score(task, Changes(files=changed, deleted=deleted), pool.take).resolved
    return score(task, Changes(files=changed, deleted=deleted), pool.take).resolved


class Known:
    """Verdicts by task, case and digests, in a file to which each is added when it is known."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        self._found: dict[str, bool] = dict(map(json.loads, lines))
        self.judged = 0
        """Of this process."""

    def judged_once(self, case: str, task: Task, work: Mapping[str, bytes], pool: Pool) -> bool:
        """The verdict, from the file where it is there."""
        digest = hashlib.sha256(task.digest.encode() + files_digest(work).encode()).hexdigest()
        key = f"{task.id} {case} {digest[:16]}"
        if key not in self._found:
            verdict = judged(task, work, pool)
            with self._lock, self._file.open("a", encoding="utf-8") as file:
                file.write(json.dumps([key, verdict]) + "\n")
                self._found[key] = verdict
                self.judged += 1
        return self._found[key]


def main(arguments: list[str] | None = None) -> int:
    """Judge and print. Exit status 1 where a verdict is another, or not what it has to be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--sandbox", default="bubblewrap", help="Default: bubblewrap, the quickest to start.")
    parser.add_argument("--known", type=Path, default=Path("harbor-verdicts.jsonl"))
    options = parser.parse_args(arguments)
    tasks = select(BugSuite().tasks(), None, options.limit)
    verdicts = Known(options.known)
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "bugs")
        left_out = write_tasks(tasks, folder)
        imported = {task.id: task for task in Harbor(Source(folder)).tasks()}
        missing = sorted({task.id for task in tasks} - imported.keys())
        print(f"{len(imported)} of {len(tasks)} tasks came back", left_out or "", missing or "", flush=True)
        wrongs = list(itertools.islice(((task, work) for task in tasks if (work := wrong(task)) is not None), WRONG))
        resolved: Counter[str] = Counter()
        different: list[str] = []
        with (
            Pool(chosen_backend(options.sandbox), size=options.workers) as pool,
            ThreadPoolExecutor(options.workers) as threads,
        ):

            def both(case: tuple[Task, dict[str, bytes]]) -> tuple[str, bool, bool]:
                task, work = case
                original = verdicts.judged_once("wrong before", task, work, pool)
                return task.id, original, verdicts.judged_once("wrong after", imported[task.id], work, pool)

            def extremes(task: Task) -> tuple[str, bool, bool]:
                returned = imported[task.id]
                fixed = verdicts.judged_once("fixed", returned, apply_patch(returned.files, returned.fix), pool)
                return task.id, fixed, verdicts.judged_once("untouched", returned, task.files, pool)

            for name, original_verdict, reimported_verdict in threads.map(both, wrongs):
                print(f"a wrong fix of {name}: {original_verdict} before, {reimported_verdict} after", flush=True)
                different += [name] if original_verdict != reimported_verdict else []
            exported = [task for task in tasks if task.id in imported]
            for number, (name, oracle, unchanged) in enumerate(threads.map(extremes, exported), 1):
                resolved["oracle"] += oracle
                resolved["nothing"] += unchanged
                pace = (time.monotonic() - started) / max(verdicts.judged, 1)
                remaining = (
                    f"about {pace * 2 * (len(exported) - number) / 60:.0f} min left" if verdicts.judged else "known"
                )
                print(
                    f"{number} of {len(exported)}: {name}, fixed {oracle}, untouched {unchanged}; {remaining}",
                    flush=True,
                )
    print(f"oracle: {resolved['oracle']} of {len(tasks)} resolved, nothing: {resolved['nothing']}")
    print(f"other verdicts of wrong fixes than before: {', '.join(different) or 'none'} (of {len(wrongs)})")
    return int(bool(different or missing or resolved["oracle"] != len(tasks) or resolved["nothing"]))


if __name__ == "__main__":
    sys.exit(main())
