"""Changes of trees whose files are of every kind: their patch, applied by us or by git, gives every byte back."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from stackrank.env.benchmarks.git import CommitFiles, diff_of
from stackrank.env.patches import apply_patch, make_diff, portable_patch, reverse_patch, touched_files
from stackrank.patches.contents import Executable, Link, decode_text, read_content, stored_bytes, write_content
from stackrank.patches.reading import Patch
from stackrank.patches.writing import file_diff, readable
from stackrank.storable import storable_text
from tests.support.repository import git

NAMES = (
    "plain.py", "with space.py", "ü.py", 'quo"te.py', "back\\slash.py", "a\ttab ü.py", "two\nlines.py", "-dash.py",
    "odd b/x.py", "odd b/odd b/y z.py", "caf\udce9.py", "caf\udce9/ü/\udcff", "*", "[x]/?a.py", " lead", "trail ",
    "\r.py", "tests b/test_it.py", "data/blob.bin", "CON", "a/b/c/d/e.txt", ":(top)x", "~x", "x@{1}", "e\u0301.py",
)  # fmt: skip
LINES = (
    "x = 1", "", "ß", "\ttab", "@@ -1 +1 @@", "--- a/x", "+++ b/x", "\\ No newline at end of file",
    "diff --git a/x b/x", "\x0c", "-- ", "\u2028", "GIT binary patch", "literal 3", "rename from x", "日本", "\x1b[1m",
)  # fmt: skip
TARGETS = (b"plain.py", b"../x", b"nowhere \xff", b"./data/../plain.py", b"/etc/hosts", b"a\nb")
ENCODINGS = ("cp1252", "shift_jis", "latin-1", "koi8-r", "iso-2022-jp", "utf-16", "utf-8-sig", "utf-7")


def a_text(chance: random.Random) -> bytes:
    """A text with any endings, in any encoding."""
    lines = [chance.choice(LINES) for _ in range(chance.choice((0, 1, 3, 12, 40)))]
    newlines = chance.choice((("\n",), ("\r\n",), ("\n", "\r\n"), ("\r",), ("\n", "\r\n", "\r")))
    text = "".join(line + chance.choice(newlines) for line in lines)
    if chance.random() < 0.3:
        text = text.rstrip("\r\n")
    encoding = chance.choice(("utf-8", "utf-8", *ENCODINGS))
    if encoding != "utf-8" and chance.random() < 0.7:
        text = f"# -*- coding: {encoding} -*-\n{text}"
    return text.encode(encoding, "replace")


def a_content(chance: random.Random) -> bytes:
    """A file of any kind."""
    kind = chance.random()
    if kind < 0.1:
        return Link(
            chance.choice((b"plain.py", b"../x", b"nowhere \xff", b"./data/../plain.py", b"/etc/hosts", b"a\nb"))
        )
    content = chance.randbytes(chance.choice((1, 51, 52, 53, 70_000))) if kind < 0.3 else a_text(chance)
    return Executable(content) if chance.random() < 0.15 else content


def changed(content: bytes, chance: random.Random) -> bytes:
    """The same file after a small change."""
    if isinstance(content, Link) or chance.random() < 0.2:
        return a_content(chance)
    lines = bytes(content).split(b"\n")
    lines[chance.randrange(len(lines))] = chance.choice((b"y = 2", b"y = 2\r", b"\xff", b"", b"\0"))
    result = b"\n".join(lines)
    return Executable(result) if isinstance(content, Executable) != (chance.random() < 0.2) else result


def a_change(seed: int) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """A tree before and after a change."""
    chance = random.Random(seed)
    before = {name: a_content(chance) for name in NAMES if chance.random() < 0.7}
    after = dict(before)
    for name in NAMES:
        if name in after and chance.random() < 0.2:
            del after[name]
        elif chance.random() < 0.5:
            after[name] = changed(after[name], chance) if name in after else a_content(chance)
    if moved := [name for name in before if name in after and chance.random() < 0.1]:
        after[f"moved/{moved[0]}"] = after.pop(moved[0])
    return before, after


def stored(files: Mapping[str, bytes]) -> dict[str, tuple[type, bytes]]:
    """What git stores for files."""
    return {path: (type(content), stored_bytes(content)) for path, content in files.items()}


def check_out(folder: Path, files: Mapping[str, bytes]) -> str:
    """Make the checkout hold exactly these files, and return the tree that git makes of it."""
    for entry in folder.iterdir():
        if entry.name != ".git":
            shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
    for path, content in files.items():
        write_content(folder / path, content)
    git(folder, "add", "--all")
    return git(folder, "write-tree").strip()


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "config", "core.autocrlf", "false")
    return tmp_path


def check_change(repo: Path, before: dict[str, bytes], after: dict[str, bytes]) -> None:
    """Carry a change in every way that there is."""
    patch = make_diff(before, after)
    assert storable_text(patch) == patch == json.loads(json.dumps(patch).encode()) == Patch.read(patch.encode()).text
    assert touched_files(patch) == {path for path in {*before, *after} if before.get(path) != after.get(path)}
    assert stored(apply_patch(before, patch)) == stored(after)
    assert stored(apply_patch(after, reverse_patch(patch))) == stored(before)
    assert {file.path for file in readable(Patch.read(patch)).files} == touched_files(patch)
    # git itself: apply, am, its own patches, and its own commits
    check_out(repo, before)
    git(repo, "commit", "--quiet", "--allow-empty", "-m", "Before")
    tree = check_out(repo, after)
    git(repo, "commit", "--quiet", "--allow-empty", "-m", "After")
    old, new = (git(repo, "rev-parse", commit).strip() for commit in ("HEAD~1", "HEAD"))
    difference = diff_of(repo, old, new)
    assert difference.patch.text == patch and not difference.submodules
    assert stored(CommitFiles(repo, new)) == stored(after)
    for options in (("--no-renames",), ("--find-renames=30%",)):
        raw = repo / ".git" / "raw.patch"
        git(repo, "diff", "--binary", *options, f"--output={raw}", old, new)
        theirs = raw.read_bytes().decode("utf-8", "surrogateescape")
        assert stored(apply_patch(before, theirs)) == stored(after)
        assert stored(apply_patch(after, reverse_patch(theirs))) == stored(before)
        assert stored(apply_patch(before, portable_patch(before, theirs))) == stored(after)
    git(repo, "checkout", "--quiet", "--force", "HEAD~1")
    (repo / ".git" / "our.patch").write_bytes(patch.encode())
    if patch:
        git(repo, "apply", "--index", "--whitespace=nowarn", ".git/our.patch")
    assert git(repo, "write-tree").strip() == tree


def test_every_change_keeps_every_byte(repo: Path) -> None:
    for seed in range(6):
        check_change(repo, *a_change(seed))


@pytest.mark.exhaustive
def test_many_changes_keep_every_byte(repo: Path) -> None:
    for seed in range(100, 135):
        check_change(repo, *a_change(seed))


def test_what_a_repository_says_about_attributes_changes_no_byte() -> None:
    before = {".gitattributes": b"* text eol=crlf\n", "x.py": b"# $Id$\na = 1\n", "y.txt": b"a\n"}
    after = {".gitattributes": b"* text eol=crlf ident\n", "x.py": b"# $Id$\na = 2\n", "y.txt": b"a\r\nb\n"}
    assert apply_patch(before, make_diff(before, after)) == after


def test_a_file_and_a_folder_change_places() -> None:
    before, after = {"a": b"1\n", "b/c": b"2\n"}, {"a/x": b"1\n", "b": b"2\n"}
    assert apply_patch(before, make_diff(before, after)) == after


@pytest.mark.parametrize("encoding", ["cp1252", "shift_jis", "latin-1", "utf-8", "utf-8-sig"])
def test_readers_see_the_text_of_a_file_in_its_encoding(encoding: str) -> None:
    text = "ß = '日本é'\r\nb = 1\r\n".encode(encoding, "ignore").decode(encoding)
    old, new = (f"# coding: {encoding.removesuffix('-sig')}\r\n{text}{line}\r\n" for line in ("c = 1", "c = 2"))
    contents = old.encode(encoding), new.encode(encoding)
    shown = readable(Patch.read(make_diff({"a.py": contents[0]}, {"a.py": contents[1]})))
    assert shown.size == (1, 1, 1) and [line.text for line in shown.files[0].hunks[0].lines][1:-2] == (
        text.splitlines(keepends=True)
    )
    assert "+c = 2\r\n" in file_diff("a.py", *contents) and text.splitlines()[0] in file_diff("a.py", *contents)


def test_a_file_that_only_claims_an_encoding() -> None:
    for cookie in ("rot13", "unicode_escape", "nonsense", "utf-16", "cp037", "idna"):
        content = f"# coding: {cookie}\nx = 1\n".encode()
        assert decode_text(content, "a.py") == content.decode()
    for binary in (b"\x1f\x8b\x08\x01\x02\xff", "é".encode("utf-16")):
        assert decode_text(binary, "a.py") is None and decode_text(binary, "a.txt") is None


def test_reading_back_what_was_written(tmp_path: Path) -> None:
    for number, content in enumerate((b"a", Executable(b"a"), Link(b"./x/../y"))):
        write_content(tmp_path / str(number), content)
        assert read_content(tmp_path / str(number)) == content
    assert Executable(b"a") != b"a" and Executable(b"a") != b"a" and Link(b"a") != Link(b"b", b"a") != b"a"
