"""What the agent knows in one episode, and how it learns it."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping, Sequence
from typing import Any

import libcst as cst

from stackrank.agents.episode.protocol import Briefing
from stackrank.env.actions import Action, Observation
from stackrank.env.localisation.formulas import Counts, ochiai
from stackrank.env.mutation.source import ParsedFile
from stackrank.env.sandbox.guest.testing.ids import parse_id, path_of
from stackrank.env.state import messages_of, outcomes_of
from stackrank.extensions.repair.debugger import MOST
from stackrank.extensions.repair.localise import Suspicion, frames, functions_of, words

PlannedStep = tuple[Action, str]
"""An action and the reason for it."""
Executed = tuple[int, int, int]
"""A line, and how many failing and how many passing tests execute it."""

MOST_FILES = 10
"""The most files of the program that are read."""
MOST_EXECUTED = 5
"""The most further files that are read because failing tests execute them."""
MOST_FOLDERS = 4
"""The most folders that are listed after a listing that left them out."""
PAGES = 3
"""The most pages of a file that are read, unless it is the likeliest file of the program, or that tests execute."""

_CUT = re.compile(r"^\.\.\. and \d+ more", re.MULTILINE)


class Workspace:
    """The files, the tests and their outcomes, as they are now."""

    def __init__(self, briefing: Briefing, first: Observation) -> None:
        self.briefing = briefing
        self.steps_left = briefing.max_steps
        self.rewrites = 0
        self.files: dict[str, str] = {}
        """The program: the files that were read, with the changes that were kept."""
        self.tests: dict[str, str] = {}
        self.readonly: set[str] = set()
        self.links: dict[str, str] = {}
        """Link in the workspace -> the path to which it leads. Tracebacks and imports name files by links, too."""
        self.values: dict[str, str] = {}
        """Local variables where the failing test is stopped, once the debugger has shown them."""
        self.store_outcomes(first)

    def store_outcomes(self, result: Observation) -> None:
        """Store how the tests end now."""
        self.shown = result.text
        self.outcomes: dict[str, str] = dict(outcomes_of(result.state))
        self.messages: tuple[str, ...] = tuple(messages_of(result.state).values())

    @property
    def failing(self) -> list[str]:
        """The tests that fail now."""
        return [test for test, outcome in self.outcomes.items() if outcome in ("failed", "missing")]

    def can_use(self, *tools: str) -> bool:
        """Whether all these tools can be used now."""
        toolset = self.briefing.tools
        return all(tool in toolset.tools and not toolset.locked(tool, self.rewrites) for tool in tools)

    def step(self, action: Action, thought: str) -> Generator[PlannedStep, Observation, Observation]:
        """PlannedStep one step and return its observation."""
        self.steps_left -= 1
        observation = yield action, thought
        self.rewrites += action.tool == "rewrite" and observation.ok
        return observation

    def call(self, tool: str, thought: str, **arguments: Any) -> Generator[PlannedStep, Observation, Observation]:
        """Call a tool by name, as one step."""
        return (yield from self.step(Action(tool, arguments), thought))

    def read(self) -> Generator[PlannedStep, Observation, None]:
        """Read the files that matter: failing tests, then the program, starting with what the tests mention."""
        paths = (yield from self._listed()) if self.can_use("listdir") else []
        mentioned = [path for path, _ in frames(self.shown, paths or _mentioned_files(self.shown), self.links)]
        tests = list(dict.fromkeys(path_of(test) for test in self.failing))
        tests += [path for path in mentioned if _is_test(path) and path not in tests]
        # A doctest is part of the file that it tests.
        doctests = [path for path in tests if path in paths and path not in self.readonly and not _is_test(path)]
        mentioned += doctests
        for path in [path for path in tests if path not in doctests][:2]:
            text = yield from self.view(path)
            if text is not None:
                self.tests[path] = text
                self.readonly.add(path)
        program = [path for path in paths or mentioned if path not in self.readonly and not _is_test(path)]
        program = [path for path in program if not path.endswith(("setup.py", "conftest.py"))]
        order = self._by_relevance(program, mentioned)
        limit = min(MOST_FILES, max(self.steps_left // 4, 3))
        for path in order[:limit]:
            # The likeliest file may be the whole program.
            yield from self._read_program(path, max(self.steps_left // 5, PAGES) if path == order[0] else PAGES)

    def read_more(self, executed: Mapping[str, Sequence[Executed]]) -> Generator[PlannedStep, Observation, None]:
        """Read files of the program that failing tests execute, the likeliest first, as far as there are steps.

        `executed`: path -> its lines; those that were not named come in order.
        """
        failing = len(self.failing)
        suspicions = {
            path: max((ochiai(Counts(bad, failing - bad, good, 0)) for _, bad, good in rows), default=0.0)
            for path, rows in executed.items()
        }
        known = max((suspicions[path] for path in executed if path in self.files), default=0.0)
        unread = [path for path in executed if path not in self.files and path not in self.readonly]
        for path in unread[: min(MOST_EXECUTED, self.steps_left // 5)]:
            # Without the file with the bug, no other step is of use.
            share = 2 if suspicions[path] >= known else 4
            yield from self._read_program(path, max(self.steps_left // share, PAGES) if path == unread[0] else PAGES)

    def _read_program(self, path: str, pages: int = PAGES) -> Generator[PlannedStep, Observation, None]:
        """Read a file of the program, and keep it if it has any text."""
        text = yield from self.view(path, pages)
        if text is not None and text.strip():
            self.files[path] = text

    def _listed(self) -> Generator[PlannedStep, Observation, list[str]]:
        """Return the Python files. If a long listing leaves out folders of the program, these are listed separately."""
        readonly_by_path: dict[str, bool] = {}
        folders = ["."]
        for _ in range(1 + MOST_FOLDERS):
            if not folders:
                break
            path = folders.pop(0)
            listing = yield from self.call("listdir", "Which files are there?", path=path, depth=6, limit=MOST)
            rows = [line.strip().partition(" -> ") for line in listing.text.splitlines()]
            self.links |= {name.rstrip("/"): target.rstrip("/") for name, arrow, target in rows if arrow}
            lines = [name for name, arrow, _ in rows if not arrow]
            readonly_by_path |= {
                line.removesuffix("(read-only)").strip(): line.endswith("(read-only)") for line in lines
            }
            if path == "." and _CUT.search(listing.text):
                folders = [folder for folder in lines if folder.endswith("/") and not _is_test(folder)]
                folders = [
                    folder
                    for folder in folders
                    if not any(name.startswith(folder) for name in {*readonly_by_path} - {folder})
                ]
                shallowest = min((folder.count("/") for folder in folders), default=0)
                folders = [folder for folder in folders if folder.count("/") == shallowest]
                tests = tuple(map(path_of, self.failing))
                folders.sort(key=lambda folder: not any(test.startswith(folder) for test in tests))
        self.readonly |= {
            path for path, is_readonly in readonly_by_path.items() if is_readonly and path.endswith(".py")
        }
        return [path for path in readonly_by_path if path.endswith(".py")]

    def _by_relevance(self, program: Sequence[str], mentioned_files: Sequence[str]) -> list[str]:
        text = "\n".join(self.tests.values())
        mentioned = words(text) | words(self.briefing.statement)

        def rank(path: str) -> tuple[int, int, int, str]:
            modules = [_module_of(name) for name in (path, *self._names_by_links(path))]
            tail = modules[0].rpartition(".")[2]
            named = "|".join(rf"\b{re.escape(module)}\b" for module in modules)
            imported = bool(re.search(rf"{named}|\bimport\b.*\b{re.escape(tail)}\b", text))
            empty = path.endswith("__init__.py")
            return (-(path in mentioned_files), -imported, empty - len(words(modules[0]) & mentioned), path)

        return sorted(program, key=rank)

    def _names_by_links(self, path: str) -> list[str]:
        """Return the other names that a file has through links to folders."""
        return [
            name + path.removeprefix(target) for name, target in self.links.items() if path.startswith(f"{target}/")
        ]

    def view(self, path: str, pages: int = PAGES) -> Generator[PlannedStep, Observation, str | None]:
        """Read a file page by page. Return None if it has more than `pages` pages; then only the first is read."""
        lines: list[str] = []
        while True:
            start = {"start": len(lines) + 1} if lines else {}
            page = yield from self.call("view", f"Read {path}.", path=path, limit=MOST, **start)
            if not page.ok:
                return None
            head, *page_lines = page.text.split("\n")
            total = re.search(r"of (\d{1,9})\b", head)
            width = len(str(page.state["lines"][1])) if page.state["kind"] == "shown" and "lines" in page.state else 1
            lines += [line[width + 2 :] for line in page_lines]
            if total is None or len(lines) >= int(total.group(1)):
                return "\n".join(lines) + "\n" if lines else ""
            pages -= 1
            if pages * len(page_lines) < int(total.group(1)) - len(lines):
                return None

    def rate_lines(self) -> Suspicion:
        """Return how suspicious each line is, before anything has been run."""
        functions = [function for path, text in self.files.items() for function in functions_of(path, text)]
        paths = [*self.files, *self.tests]
        program_frames = [frame for frame in frames(self.shown, paths, self.links) if frame[0] in self.files]
        return Suspicion(
            functions=functions,
            frames=program_frames,
            statement=words(self.briefing.statement) | {word for test in self.failing for word in words(test)},
            failing=self._mentioned(),
            total_failing=max(len(self.failing), 1),
        )

    def _mentioned(self) -> set[str]:
        """Return the names that the failing tests mention, and those in the helpers of their file that they call."""
        names: set[str] = set()
        bad = {parse_id(test).name or test for test in self.failing}
        for test in self.failing:
            test_id = parse_id(test)
            if test_id.path in self.files:  # a doctest: its name ends with what it tests
                names.add(test_id.qualified.rpartition(".")[2])
        for path, text in self.tests.items():
            functions = {function.name: function for function in functions_of(path, text) if function.text}
            # A test file that cannot be imported has no failing test in it: all its functions count.
            for name in bad & set(functions) or set(functions):
                calls = functions[name].calls
                names |= calls.union(*(functions[helper].calls for helper in calls & set(functions)))
        return names

    def source(self, path: str) -> ParsedFile | None:
        """Parse a file of the program; None if it may not be edited or does not parse."""
        if path in self.readonly:
            return None
        program = "\n".join(self.files.values())
        coroutines = frozenset(re.findall(r"\basync def (\w+)", program))
        # A name that is also a property or a field somewhere tells nothing.
        fields = set(re.findall(r"property\n\s+def (\w+)|^ +(\w+):|self\.(\w+) =", program, re.MULTILINE))
        methods = frozenset(re.findall(r"^ +def (\w+)\(self\)", program, re.MULTILINE))
        try:
            return ParsedFile(path, self.files[path], coroutines, methods - {name for row in fields for name in row})
        except cst.ParserSyntaxError:
            return None


def _is_test(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name.startswith("test_") or name.endswith("_test.py") or path.startswith("tests/") or name == "conftest.py"


def _module_of(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _mentioned_files(text: str) -> list[str]:
    return sorted({match.removeprefix("/workspace/") for match in re.findall(r"[\w./-]+\.py", text)})
