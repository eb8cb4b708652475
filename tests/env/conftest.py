"""Sandboxes for tests: real ones. A backend that is missing is skipped with its reason, and fails where CI=true."""

from __future__ import annotations

import functools
import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from stackrank.env.actions import Action, Observation
from stackrank.env.debug_env import DebugEnv
from stackrank.env.sandbox.base import Backend, SandboxError, SandboxSpec
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.sandbox.pool import Pool
from stackrank.env.sandbox.registry import backend
from stackrank.env.task import Limits, Task
from stackrank.env.tools import ToolSet, tool_names
from tests.support.tiny_library import FILES, publish
from tests.support.waiting import missing

ISOLATING = ("docker", "bubblewrap")
EVERYTHING = ToolSet("everything", tuple(tool_names()))


@functools.cache
def _why_not(name: str) -> str | None:
    try:
        backend(name)
    except SandboxError as error:
        return str(error)
    return None


def usable(name: str) -> Backend:
    """The backend, or a skip with the reason; under continuous integration a failure."""
    problem = _why_not(name)
    if problem is not None:
        missing(f"{name}: {problem}")
    return backend(name)


@pytest.fixture(params=ISOLATING)
def sandbox_backend(request: pytest.FixtureRequest) -> Backend:
    """Each backend that isolates."""
    return usable(request.param)


@pytest.fixture(params=[*ISOLATING, "local"])
def any_backend(request: pytest.FixtureRequest) -> Backend:
    """Each backend, the one without isolation too."""
    return usable(request.param)


@pytest.fixture
def sandbox(sandbox_backend: Backend) -> Iterator[Sandbox]:
    """An empty sandbox of each backend that isolates."""
    with Sandbox(sandbox_backend, SandboxSpec(limits=Limits(timeout_s=60))) as made:
        made.put({})
        yield made


@pytest.fixture(scope="session")
def local() -> Iterator[Sandbox]:
    """One sandbox without isolation, for what is the guest's alone and the same everywhere."""
    with Sandbox(usable("local"), SandboxSpec(limits=Limits(timeout_s=60))) as made:
        yield made


@pytest.fixture(scope="session")
def pools() -> Iterator[Callable[[Backend], Pool]]:
    """A pool for each backend."""
    made: dict[str, Pool] = {}

    def pool(kind: Backend) -> Pool:
        return made.setdefault(kind.name, Pool(kind, size=2))

    yield pool
    for each in made.values():
        each.close()


@pytest.fixture
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A place for proofs, and for what known fixes answer, that no other test has."""
    for module in ("proof", "untold"):
        monkeypatch.setattr(f"stackrank.env.scoring.{module}.home", lambda: tmp_path)


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A folder that pip takes packages from, with the tiny library; its hash."""
    return publish(FILES, tmp_path / "index", monkeypatch)


def source(text: str) -> bytes:
    """A file from an indented literal."""
    return textwrap.dedent(text).lstrip("\n").encode()


def _contents(files: Mapping[str, bytes | str]) -> dict[str, bytes]:
    return {path: source(body) if isinstance(body, str) else body for path, body in files.items()}


def make_task(files: Mapping[str, bytes | str], **options: object) -> Task:
    """A task of a few files; tests are read-only."""
    contents = _contents(files)
    defaults: dict[str, object] = {
        "id": "mini",
        "benchmark": "tests",
        "statement": "It is wrong.",
        "files": contents,
        "test_command": "python -m pytest -q -p no:cacheprovider",
        "readonly": ("tests/**", "conftest.py"),
        "limits": Limits(timeout_s=60),
    }
    return Task(**{**defaults, **options})  # type: ignore[arg-type]


CART = """
    def total(items):
        result = 0
        for price in items:
            result += price
        return result - 1


    def average(items):
        whole = total(items)
        return whole / len(items)
"""
TEST_CART = """
    from cart import average, total


    def test_total():
        assert total([1, 2, 3]) == 6


    def test_average():
        assert average([2, 4]) == 3
"""


def cart(more: Mapping[str, bytes | str] | None = None, **options: object) -> Task:
    """A shop whose totals are one too small, with `more` files."""
    files = {"cart.py": CART, "tests/test_cart.py": TEST_CART, "conftest.py": "", **(more or {})}
    return make_task(files, **options)


class Episode:
    """A DebugEnv that is told what to do in one line."""

    def __init__(self, env: DebugEnv) -> None:
        self.env = env

    def __call__(self, tool: str, **arguments: object) -> Observation:
        """The observation of one action."""
        return self.env.step(Action(tool, arguments))[0]

    def pdb(self, command: str, entrypoint: str | None = None) -> Observation:
        """One action of the debugger."""
        extra = {"entrypoint": entrypoint} if entrypoint else {}
        return self("pdb", command=command, **extra)


Play = Callable[..., Episode]


@pytest.fixture
def play(sandbox_backend: Backend, pools: Callable[[Backend], Pool]) -> Iterator[Play]:
    """Starts an episode on a task in each backend; ends what it started."""
    started: list[DebugEnv] = []

    def start(task: Task, tools: ToolSet = EVERYTHING, **options: bool) -> Episode:
        env = DebugEnv(task, tools, pools(sandbox_backend).take, **options)
        started.append(env)
        env.reset()
        return Episode(env)

    yield start
    for env in started:
        env.close()
