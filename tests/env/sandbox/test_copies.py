"""The copies in memory that bubblewrap sandboxes see."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from stackrank.env.sandbox.base import silent
from stackrank.env.sandbox.bubblewrap import memory as memory_module
from stackrank.env.sandbox.bubblewrap import selection
from stackrank.env.sandbox.bubblewrap.memory import Memory, NoMemory, remove_unused
from stackrank.env.sandbox.bubblewrap.shared_objects import linked_files

SEEN_AS = Path("/opt/environment")


@pytest.fixture
def place() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield Path(folder)


@pytest.fixture(autouse=True)
def few_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "PROGRAMS", frozenset({"sh"}))
    monkeypatch.setattr(selection, "_DATA", {})
    monkeypatch.setattr(selection._Selection, "add_python", lambda self, python: self.add(python))


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    folder = tmp_path / "environment"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").symlink_to(os.path.realpath(sys.executable))
    (folder / "module.py").write_text("x = 1\n")
    return folder


def _end(memory: Memory) -> None:
    """Give up what a memory holds, as its process does when it ends."""
    for descriptor in memory._held.values():
        os.close(descriptor)


@pytest.mark.parametrize("changes", [1, 3])
def test_a_sandbox_that_runs_sees_its_files_until_it_ends(place: Path, environment: Path, changes: int) -> None:
    user = Memory((place,))
    first = user.view({environment: SEEN_AS}, silent)
    for number in range(changes):
        (environment / "module.py").write_text(f"x = 1{number}\n" * (number + 2))
        other = Memory((place,))
        second = other.view({environment: SEEN_AS}, silent)
        assert second != first and (first.folders[SEEN_AS] / "module.py").read_text() == "x = 1\n"
        _end(other)
    _end(user)
    (environment / "module.py").write_text("")
    Memory((place,)).view({environment: SEEN_AS}, silent)
    assert not first.folders[SEEN_AS].exists() and not second.folders[SEEN_AS].exists()


def test_copies_that_nobody_used_for_days_make_room(place: Path, environment: Path, tmp_path: Path) -> None:
    kept, forgotten = Memory((place,)), Memory((place,))
    others = [Path(shutil.copytree(environment, tmp_path / name, symlinks=True)) for name in ("old", "new")]
    in_use, unused = kept.view({environment: SEEN_AS}, silent), forgotten.view({others[0]: SEEN_AS}, silent)
    _end(forgotten)
    for file in place.rglob("*.top"):
        os.utime(file, (0, 0))
    Memory((place,)).view({others[1]: SEEN_AS}, silent)
    assert in_use.folders[SEEN_AS].is_dir() and not unused.folders[SEEN_AS].exists()


@pytest.mark.parametrize("fitting", [1, 2])
def test_copies_unused_for_longest_make_room_for_others(
    place: Path, environment: Path, monkeypatch: pytest.MonkeyPatch, fitting: int
) -> None:
    def view(number: int) -> Path:
        folder = Path(shutil.copytree(environment, environment.with_name(f"e{number}"), symlinks=True))
        (folder / "data.bin").write_bytes(bytes([number]) * 10_000_000)
        users.append(Memory((place,)))
        return users[-1].view({folder: SEEN_AS}, silent).folders[SEEN_AS]

    users: list[Memory] = []
    in_use, *unused = [view(number) for number in range(4)]
    for user in users[1:]:
        _end(user)
    for age, tree in enumerate([in_use, *unused]):
        os.utime(memory_module._top_of(tree), (age, age))
    monkeypatch.setattr(memory_module, "_UNUSED_S", 3e9)
    space = os.statvfs(place)
    rest = sum(file.stat().st_size for file in place.rglob("files/*")) - 40_000_000
    room = rest + (2 + fitting) * 10_000_000 + 5_000_000
    monkeypatch.setattr(memory_module, "_RESERVE", space.f_blocks * space.f_frsize / room)
    newest = view(4)
    kept = [tree for tree in unused if tree.exists()]
    assert in_use.is_dir() and newest.is_dir() and kept == unused[3 - fitting :]
    copies = [file.stat().st_size for file in place.rglob("files/*")]
    assert sum(copies) <= room and copies.count(10_000_000) == 2 + fitting


def test_a_changed_file_is_copied_again_and_nothing_old_stays(place: Path, environment: Path) -> None:
    users = [Memory((place,)), Memory((place,))]
    first = users[0].view({environment: SEEN_AS}, silent)
    copy = first.folders[SEEN_AS] / "module.py"
    assert copy.read_text() == "x = 1\n" and copy.stat().st_dev == place.stat().st_dev
    assert users[1].view({environment: SEEN_AS}, silent) == first
    for user in users:
        _end(user)
    (environment / "module.py").write_text("x = 22\n")
    second = Memory((place,)).view({environment: SEEN_AS}, silent)
    assert (second.folders[SEEN_AS] / "module.py").read_text() == "x = 22\n"
    files = [path for path in place.rglob("*") if path.is_file() and not path.is_symlink()]
    assert (
        not first.folders[SEEN_AS].exists()
        and second.machine == first.machine
        and "x = 1\n" not in {path.read_bytes().decode("latin-1") for path in files}
    )


def test_environments_share_the_system_part_and_one_copy_of_each_file(place: Path, environment: Path) -> None:
    memory, said = Memory((place,)), list[str]()
    one = memory.view({environment: SEEN_AS}, said.append)
    two = memory.view({environment: environment}, said.append)
    other = environment.with_name("other")
    shutil.copytree(environment, other, symlinks=True)
    three = Memory((place,)).view({other: SEEN_AS}, said.append)
    assert one.machine == two.machine == three.machine and len(said) == 1
    copies = [view.folders[seen_as] for view, seen_as in ((one, SEEN_AS), (two, environment), (three, SEEN_AS))]
    assert copies[0] == copies[1] != copies[2] and (copies[2] / "module.py").read_text() == "x = 1\n"
    assert (copies[2] / "module.py").samefile(copies[0] / "module.py"), "one copy, although it is a file of its own"


def test_what_only_some_packages_are_linked_with_is_seen_by_their_sandboxes_alone(
    place: Path, environment: Path
) -> None:
    memory = Memory((place,))
    plain = memory.view({environment: SEEN_AS}, silent)
    modules = Path(sysconfig.get_path("stdlib"), "lib-dynload").glob("*.so")
    module, library = next(
        (module, library)
        for module in modules
        for library in linked_files(module)
        if not (plain.machine / str(library)[1:]).exists()
    )
    linked = environment.with_name("linked")
    shutil.copytree(environment, linked, symlinks=True)
    shutil.copyfile(module, linked / module.name)
    special = memory.view({linked: SEEN_AS}, silent)
    assert (special.machine / str(library)[1:]).exists()
    assert memory.view({environment: SEEN_AS}, silent).machine == plain.machine != special.machine
    assert not (plain.machine / str(library)[1:]).exists()


def test_what_does_not_fit_or_may_be_anybodys_is_refused(
    place: Path, environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_module, "_RESERVE", 10**9)
    with pytest.raises(NoMemory, match=r"has \d+ MB, which is too much"):
        Memory((place,)).view({environment: SEEN_AS}, silent)
    root = place / f"stackrank-{os.getuid()}"
    root.chmod(0o755)
    with pytest.raises(NoMemory, match="remove it"):
        Memory((place,)).view({environment: SEEN_AS}, silent)
    root.rename(place / "elsewhere")
    root.symlink_to(place / "elsewhere")
    with pytest.raises(NoMemory, match="remove it"):
        Memory((place,)).view({environment: SEEN_AS}, silent)
    with pytest.raises(NoMemory, match="/dev/shm"):
        Memory(()).view({environment: SEEN_AS}, silent)


def test_copies_are_removed_once_nobody_uses_them(place: Path, environment: Path) -> None:
    memory = Memory((place,))
    memory.view({environment: SEEN_AS}, silent)
    assert remove_unused((place,)) == []
    os.close(memory._in_use or -1)
    assert remove_unused((place,)) == [str(place / f"stackrank-{os.getuid()}")] and list(place.iterdir()) == []


def test_where_the_machine_swaps_the_copies_are_locked(
    place: Path, environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_module, "_swaps", lambda: True)

    def refuse(path: str) -> None:
        raise memory_module.Problem("refused")

    locked: list[str] = []
    with monkeypatch.context() as patch:
        patch.setattr(memory_module, "lock_file", locked.append)
        assert Memory((place,)).view({environment: SEEN_AS}, silent).problem == ""
    assert {"module.py", "dash", "bash"} & {Path(path).name for path in locked}
    monkeypatch.setattr(memory_module, "lock_file", refuse)
    assert "ulimit -l" in Memory((place,)).view({environment: SEEN_AS}, silent).problem


def test_the_libraries_of_a_program_are_found() -> None:
    names = {file.name for file in linked_files(Path("/bin/sh").resolve())}
    assert any(name.startswith("libc.") for name in names) and any(name.startswith("ld-") for name in names)
    assert linked_files(Path(__file__)) == linked_files(Path("/nowhere")) == []


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ("test/__init__.py", True), ("test/support/__init__.py", True), ("test/support/deep/os_helper.py", True),
        ("test/__pycache__/__init__.cpython-311.pyc", True), ("unittest/test/__init__.py", True),
        ("testing.py", True), ("test/test_re.py", False), ("test/data/words.txt", False), ("lib2to3/tests/a.py", False),
        ("test/__pycache__/test_re.cpython-311.pyc", False), ("test/supported.py", False),
        ("site-packages/shop/cart.py", False), ("idlelib/run.py", False),
    ],
)  # fmt: skip
def test_the_standard_library_has_what_other_projects_tests_use(tmp_path: Path, path: str, kept: bool) -> None:
    library = tmp_path / "lib" / "python3.11"
    file = library / path
    file.parent.mkdir(parents=True)
    file.write_text("")
    assert [*selection.files_below(library, selection._LEFT_OUT)] == [file] * kept
