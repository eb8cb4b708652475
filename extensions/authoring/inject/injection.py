"""Make bugs until there are enough: in parallel, in an order that does not depend on the parallelism, and resumably.

Results about the project and about each candidate are kept in `state/` of the output folder, so that a call that was
cut off can continue, and a call for more bugs does not start over.
"""

from __future__ import annotations

import hashlib
import json
import queue
import threading
from collections import Counter, deque
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.benchmarks.python_project.pytest_command import TestCommand
from stackrank.env.environment import Environment, files_digest
from stackrank.env.sandbox.base import Backend, SandboxError, SandboxSpec, Say
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.task import Limits
from stackrank.extensions.authoring.inject.candidates import Mutant, find_candidates
from stackrank.extensions.authoring.inject.deep_operators import DEEP
from stackrank.extensions.authoring.inject.operators import OPERATORS
from stackrank.extensions.authoring.inject.reach import Reach, measure, refuse_copies
from stackrank.extensions.authoring.inject.verify import LEAST_RANK, Project, Verified, guessed_rank, verify
from stackrank.extensions.authoring.inject.write import choose_hidden

Bug = tuple[Mutant, Verified]
_PER_FUNCTION = 4
_SURPLUS = 3
"""How many bugs are found for each requested one before bugs without hidden tests are accepted."""
_TRIES = 2


@dataclass(frozen=True)
class InjectionOptions:
    """Which bugs to make, and how to find them."""

    count: int
    seed: int
    test: TestCommand
    environment: Environment = field(default_factory=Environment)
    """What the tests need, without the project's files."""
    workers: int = 2
    timeout_s: float = 60.0
    """Seconds that a test run of a task may take; all tests of the project together may take five times as long."""
    deep: bool = False
    """Whether to make only faults far from their failures."""
    proved_later: bool = False
    """Whether the code that makes tasks of bugs runs and measures them again; then that is not done here too."""


@dataclass
class Tally:
    """How many candidates were tried, and how many bugs were found, so far."""

    requested: int
    candidates: int = 0
    tried: int = 0
    bugs: int = 0
    problems: Counter[str] = field(default_factory=Counter)
    """Why candidates are unusable -> how many of them."""


class Injection:
    """Makes bugs for one project."""

    def __init__(self, backend: Backend, files: Mapping[str, bytes], options: InjectionOptions, folder: Path) -> None:
        """`folder`: the output folder. Results in its `state/` for another project or other tests are not used."""
        self._backend = backend
        self._files = files
        self._options = options
        self._state = folder / "state"
        environment = options.environment.with_source(files) if options.environment != Environment() else None
        self._spec = SandboxSpec(environment=environment, limits=Limits(timeout_s=options.timeout_s))
        identity = (files_digest(files), options.test, options.environment, options.timeout_s)
        self._digest = hashlib.sha256(repr(identity).encode()).hexdigest()[:16]
        self._benches: queue.SimpleQueue[Sandbox | None] = queue.SimpleQueue()
        self._writing = threading.Lock()
        self._lines: set[tuple[str, int]] = set()
        self._functions: Counter[tuple[str, str]] = Counter()

    def prepare(self, say: Say) -> None:
        """Build the environment, unless it exists. Raises BuildError."""
        if self._spec.environment is not None:
            self._backend.prepare(self._spec, say)

    def reach(self) -> Reach:
        """Return what the tests reach; measure it unless it is known. Raises BenchmarkError, SandboxError."""
        file = self._state / f"{self._digest}.reach.json"
        if file.is_file():
            return Reach.from_json(file.read_text(encoding="utf-8"))
        with Sandbox(self._backend, self._spec) as sandbox:
            if self._options.environment.setup:
                refuse_copies(sandbox, self._files)
            reach = measure(sandbox, self._files, self._options.test, self._options.timeout_s * 5)
        self._state.mkdir(parents=True, exist_ok=True)
        file.write_text(reach.to_json(), encoding="utf-8")
        return reach

    def bugs(
        self, reach: Reach, on_tally: Callable[[Tally], None], useless: Collection[str] = frozenset()
    ) -> list[Bug]:
        """Return as many bugs as are wanted, or as there are: never two on one line, and few in one function.

        Bugs that can have hidden tests are preferred, so a few more than wanted may be looked for. `useless`: the keys
        of candidates that make no task.
        """
        self._lines.clear()
        self._functions.clear()
        candidates = [candidate for candidate in self.candidates(reach) if candidate.key not in useless]
        tally = Tally(self._options.count, len(candidates))
        order = _deep_first(candidates, reach) if self._options.deep else candidates
        count, sealable, visible = self._options.count, list[Bug](), list[Bug]()
        with closing(self.find_bugs(reach, order, tally, on_tally)) as bugs:
            for candidate, verified in islice(bugs, _SURPLUS * count):
                (sealable if choose_hidden(self._files, verified) else visible).append((candidate, verified))
                if len(sealable) == count:
                    break
        return [*sealable, *visible][:count]

    def candidates(self, reach: Reach) -> list[Mutant]:
        """Return what could be tried. Raises BenchmarkError if that is nothing."""
        operators = DEEP if self._options.deep else OPERATORS
        if not (candidates := find_candidates(self._files, reach, self._options.seed, operators)):
            raise BenchmarkError("its tests run no line that could be changed")
        return candidates

    def find_bugs(
        self, reach: Reach, candidates: Iterable[Mutant], tally: Tally, on_tally: Callable[[Tally], None]
    ) -> Generator[tuple[Mutant, Verified]]:
        """Yield the bugs among these candidates one by one. To be closed. Raises BenchmarkError, SandboxError.

        Never two bugs are on one line, and few in one function, those of earlier calls included.
        """
        options = self._options
        command = options.test.without(reach.left_out)
        project = Project(self._files, command, reach, options.timeout_s, options.deep, options.proved_later)
        with closing(self._verified(project, iter(candidates))) as results:
            for candidate, result in results:
                tally.tried += 1
                good = not result.problem and not self._full(candidate)
                if result.problem:
                    tally.problems[result.problem] += 1
                tally.bugs += good
                on_tally(tally)
                if good:
                    self._functions[candidate.file, candidate.function] += 1
                    self._lines.update((candidate.file, line) for line in candidate.lines)
                    yield candidate, result

    def _full(self, candidate: Mutant) -> bool:
        """Whether its function has enough bugs, or one of its lines has one."""
        if self._functions[candidate.file, candidate.function] >= _PER_FUNCTION:
            return True
        return any((candidate.file, line) in self._lines for line in candidate.lines)

    def _verified(self, project: Project, waiting: Iterator[Mutant]) -> Generator[tuple[Mutant, Verified]]:
        """Yield results in the order of `waiting`, a few worked out ahead, and skip candidates whose place is full."""
        stored = self._read()
        ahead: deque[tuple[Mutant, Future[Verified]]] = deque()
        workers = self._options.workers
        for _ in range(workers):
            self._benches.put(None)
        with ThreadPoolExecutor(max_workers=workers) as threads, self._closing():
            try:
                while True:
                    while len(ahead) < 2 * workers and (candidate := next(waiting, None)) is not None:
                        if not self._full(candidate):
                            future = threads.submit(self._verify_one, project, candidate, stored.get(candidate.key))
                            ahead.append((candidate, future))
                    if not ahead:
                        return
                    candidate, future = ahead.popleft()
                    yield candidate, future.result()
            finally:
                for _, future in ahead:
                    future.cancel()

    @contextmanager
    def _closing(self) -> Iterator[None]:
        try:
            yield
        finally:
            threading.Thread(target=self._close, name="inject-close").start()

    def _close(self) -> None:
        for _ in range(self._options.workers):
            sandbox = self._benches.get()
            if sandbox is not None:
                sandbox.close()

    def _verify_one(self, project: Project, candidate: Mutant, stored: Verified | None) -> Verified:
        if stored is not None:
            return stored
        sandbox = self._benches.get()
        try:
            for tries_left in reversed(range(_TRIES)):
                try:
                    sandbox = sandbox or Sandbox(self._backend, self._spec)
                    result = verify(sandbox, project, candidate)
                    break
                except SandboxError:
                    if sandbox is not None:
                        sandbox.close()
                    sandbox = None
                    if not tries_left:
                        raise
        finally:
            self._benches.put(sandbox)
        with self._writing, self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(result.to_json()) + "\n")
        return result

    @property
    def _file(self) -> Path:
        kind = "quick" if self._options.proved_later else "deep" if self._options.deep else "candidates"
        return self._state / f"{self._digest}.{kind}.jsonl"

    def _read(self) -> dict[str, Verified]:
        results: dict[str, Verified] = {}
        if self._file.is_file():
            for line in self._file.read_text(encoding="utf-8").splitlines():
                try:
                    result = Verified.from_json(json.loads(line))
                except ValueError:  # cut off while it was written
                    continue
                results[result.key] = result
        return results


def _deep_first(candidates: Iterable[Mutant], reach: Reach) -> Iterator[Mutant]:
    """Yield the candidates that look deep, then the others. No candidate is looked at before it is needed."""
    shallow = []
    for candidate in candidates:
        if guessed_rank(reach, candidate) > LEAST_RANK:
            yield candidate
        else:
            shallow.append(candidate)
    yield from shallow
