"""Every console block of README and docs does what it shows, on a machine on which the demo was played once."""

from __future__ import annotations

import contextlib
import os
import selectors
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.fixtures.calls import interruptible
from tests.guide.console import Command, commands, matches
from tests.guide.material import MATERIAL

ROOT = Path(__file__).parents[2]
PAGES = [
    page for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if "```console" in page.read_text()
]
FIRST_RUN = ROOT / "docs" / "guide" / "first-run.md"
DEMO = "make demo"
_SERVES_S = 60.0


@dataclass
class Reader:
    """A reader of a page: a shell in a folder that looks like the checkout."""

    home: Path
    folder: Path
    variables: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        """Give the reader the variables of somebody who has just installed stackrank."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("STACKRANK_", "PREFECT_"))}
        path = f"{Path(sys.executable).parent}{os.pathsep}{kept['PATH']}"
        self.variables = {**kept, "STACKRANK_HOME": str(self.home), "PATH": path, "COLUMNS": "300"}
        # What a page installs is there for its reader alone.
        site, programs = self.home.with_name("site"), self.home.with_name("bin")
        programs.mkdir()
        options = f"--target {site} --no-build-isolation"
        (programs / "pip").write_text(
            f'#!/bin/sh\ncommand="$1"; shift\nexec {sys.executable} -m pip "$command" {options} "$@"\n'
        )
        (programs / "pip").chmod(0o755)
        self.variables |= {"PATH": f"{programs}{os.pathsep}{path}", "PYTHONPATH": str(site)}

    def run(self, command: str) -> tuple[str, str, int]:
        """Return what a command printed to standard output and to both, and its exit status."""
        script = f'{command}\nstatus=$?\nenv -0 > "$READER_VARIABLES"\nexit $status'
        left = self.folder.with_name("variables")
        out, both = bytearray(), bytearray()
        with (
            subprocess.Popen(
                ["bash", "-c", script],
                cwd=self.folder,
                env={**self.variables, "READER_VARIABLES": str(left)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            ) as process,
            selectors.DefaultSelector() as pipes,
        ):
            pipes.register(process.stdout, selectors.EVENT_READ, (out, both))  # type: ignore[arg-type]
            pipes.register(process.stderr, selectors.EVENT_READ, (both,))  # type: ignore[arg-type]
            while pipes.get_map():
                for key, _ in pipes.select():
                    part = os.read(key.fd, 1 << 16)
                    if not part:
                        pipes.unregister(key.fileobj)
                    for printed in key.data:
                        printed += part
        exported = (item.partition("=") for item in left.read_text().split("\0") if item)
        self.variables = {name: value for name, _, value in exported}
        return out.decode(), both.decode(), process.returncode

    def serve(self, command: Command) -> str:
        """Run a command that serves until Ctrl-C, and return what it printed."""
        with subprocess.Popen(
            ["bash", "-c", f"exec {command.command}"],
            cwd=self.folder,
            env=self.variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=interruptible,
        ) as server:
            assert server.stdout is not None
            os.set_blocking(server.stdout.fileno(), False)
            printed, deadline = "", time.monotonic() + _SERVES_S
            while not matches(command.shown, printed) and time.monotonic() < deadline and server.poll() is None:
                time.sleep(0.2)
                with contextlib.suppress(TypeError):  # nothing is there yet
                    printed += server.stdout.read() or ""
            server.send_signal(signal.SIGINT)
        return printed


def reader(folder: Path) -> Reader:
    """Return a reader with an empty home in a folder that contains links to everything in the checkout."""
    place = folder / "stackrank"
    place.mkdir()
    for path in ROOT.iterdir():
        (place / path.name).symlink_to(path)
    # pip builds packages in their folders.
    (place / "docs").unlink()
    shutil.copytree(ROOT / "docs", place / "docs")
    return Reader(folder / "home", place)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Reader, tuple[str, str, int]]:
    """A reader who has played the demo, and what it printed. Setting up a machine is tested elsewhere."""
    first = reader(tmp_path_factory.mktemp("demo"))
    outcome = first.run("make --no-print-directory -o setup demo")
    first.run("stackrank down")
    return first, outcome


@pytest.fixture
def visitor(demo: tuple[Reader, tuple[str, str, int]], tmp_path: Path) -> Iterator[Reader]:
    """A reader of one page, who has played the demo before."""
    visitor, home = reader(tmp_path), demo[0].home
    linked = {"sandbox-python", "environments"}
    shutil.copytree(home, visitor.home, ignore=lambda folder, names: linked & {*names}, symlinks=True)
    for name in linked:
        if (home / name).exists():
            (visitor.home / name).symlink_to(home / name)
    yield visitor
    visitor.run("stackrank down")


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(
            page, id=page.relative_to(ROOT).as_posix(), marks=[] if page == FIRST_RUN else [pytest.mark.exhaustive]
        )
        for page in PAGES
    ],
)
def test_the_commands_of_a_page_print_what_it_shows(
    page: Path, demo: tuple[Reader, tuple[str, str, int]], visitor: Reader
) -> None:
    prepare: Callable[[Path], None] = MATERIAL.get(page.name, lambda folder: None)
    prepare(visitor.folder)
    wrong = []
    for command in commands(page):
        place = f"{page.name}:{command.line}: {command.command}"
        if command.serves:
            printed = visitor.serve(command)
            wrong += [] if matches(command.shown, printed) else [f"{place}\n{printed}"]
            continue
        out, both, status = demo[1] if command.command == DEMO else visitor.run(command.command)
        fails = command.shown.startswith("error:")
        if (status != 0) != fails or not (matches(command.shown, out) or matches(command.shown, both)):
            wrong.append(f"{place} (exit status {status})\n{both}")
    assert not wrong, "\n\n".join(wrong)


def test_material_belongs_to_pages() -> None:
    assert set(MATERIAL) <= {page.name for page in PAGES}
