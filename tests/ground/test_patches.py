"""Unusual file names in diffs: every reader of diffs decodes them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from stackrank.agents.episode.line_map import LineMap
from stackrank.dashboard.parts.side_by_side import sides
from stackrank.dashboard.trace.files import Files
from stackrank.env.benchmarks.git import diff_of
from stackrank.env.patches import PatchError, apply_patch, make_diff, reverse_patch, touched_files
from stackrank.patches.comparing import find_changes
from stackrank.patches.contents import Executable, Link
from stackrank.patches.names import unquoted
from stackrank.patches.reading import Patch
from stackrank.patches.writing import shown_text
from tests.support.shop import git, repository

NAMES = ("plain.py", "with space.py", "ü.py", 'quo"te.py', "back\\slash.py", "a\ttab ü.py", "two\nlines.py", " b/x.py")
NAMES += ("odd b/x.py", "odd b/odd b/y z.py", 'all "of\tit" b/ü.py', "x b/x", "\r.py", "tests b/test_it.py")
CHANGES = ((b"1\n", b"2\n"), (None, b"2\n"), (b"2\n", None), (None, b""), (b"", None), (b"1", b"2"))


@pytest.mark.parametrize("name", NAMES)
def test_diff_of_file_with_unusual_name(name: str) -> None:
    for old, new in CHANGES:
        old_files, new_files = ({} if side is None else {name: side} for side in (old, new))
        diff = make_diff(old_files, new_files)
        assert touched_files(diff) == {name} and apply_patch(old_files, diff) == new_files
        assert apply_patch(new_files, reverse_patch(diff)) == old_files
        assert [side.path for side in sides(diff)] == [name]
        assert {name for name, _ in LineMap(old_files).changed(diff)} == {name}
        texts = {path: content.decode() for path, content in old_files.items()}
        contents = Files(texts).follow([{"diff": diff, "index": 1, "edited": None}]).texts
        assert contents == {path: content.decode() for path, content in new_files.items()}


# What is inserted ends as the lines before it end, so it may be shown in several places.
REPEATING = (
    (
        "@case\ndef one():\n    pass\n\n\n@case\ndef last():\n    pass\n",
        "@case\ndef two():\n    x = 1\n    y = 2\n\n\n",
        2,
    ),
    ("- a: 1\n  on: yes\n\n- a: 2\n  on: yes\n\n", "- a: 3\n  b: 4\n  c: 5\n  on: yes\n\n", 3),
    ("x\n", "x\n", 9),
)


@pytest.mark.parametrize(("text", "inserted", "often"), REPEATING)
def test_lines_inserted_among_repeating_ones_apply(text: str, inserted: str, often: int) -> None:
    lines = (text * often).splitlines(keepends=True)
    for at in range(1, len(lines) + 1):
        old, new = (text * often).encode(), "".join(["first\n", *lines[1:at], inserted, *lines[at:]]).encode()
        diff = make_diff({"x": old, "y": b"y"}, {"x": new, "y": b"y"})
        assert apply_patch({"x": old, "y": b"y"}, diff) == {"x": new, "y": b"y"}
        assert apply_patch({"x": new, "y": b"y"}, reverse_patch(diff)) == {"x": old, "y": b"y"}


@pytest.mark.parametrize("ending", ["", "\n", "\r\n"])
def test_any_change_of_alike_lines_applies(ending: str) -> None:
    draw = random.Random(f"lines{ending}")
    for _ in range(40):
        sides = [draw.choices(["\n", "a\n", "b\n"], k=draw.randrange(1, 40))]
        start, stop = sorted(draw.choices(range(len(sides[0]) + 1), k=2))
        sides.append([*sides[0][:start], *draw.choices(["\n", "a\n", "b\n"], k=draw.randrange(9)), *sides[0][stop:]])
        old, new = (
            "".join([first, *side, "end", ending]).encode()
            for first, side in zip(("old\n", "new\n"), sides, strict=True)
        )
        assert apply_patch({"x": old}, make_diff({"x": old}, {"x": new})) == {"x": new}


def test_quoted_file_names(tmp_path: Path) -> None:
    repo = repository(tmp_path / "shop", {"ü.py": "one = 1\n", "tests/test_ü\t.py": "one = 1\n"})
    for name in ("ü.py", "tests/test_ü\t.py"):
        (repo / name).write_text("two = 2\n")
    git(repo, "commit", "-qam", "Fix")
    theirs = Patch.read(git(repo, "diff", "--no-renames", "HEAD~1", "HEAD"))
    assert '"a/\\303\\274.py"' in theirs.text
    ours = diff_of(repo, "HEAD~1", "HEAD").patch
    assert ours.paths == theirs.paths
    assert ours.paths == {"tests/test_ü\t.py", "ü.py"}
    assert unquoted('"a/caf\\351 \\"x\\".py"') == 'a/caf\udce9 "x".py' and unquoted('"') == '"'


@pytest.mark.parametrize("in_file", [True, False])
def test_a_patch_that_differs_only_in_line_endings_applies(in_file: bool) -> None:
    old, new = b"a = 1\nb = 2\nc = 3\n", b"a = 1\nb = 5\nc = 3\n"
    crlf = {path: content.replace(b"\n", b"\r\n") for path, content in {"old": old, "new": new}.items()}
    if in_file:
        files, diff, wanted = {"x.py": crlf["old"], "y": b"y"}, make_diff({"x.py": old}, {"x.py": new}), crlf["new"]
    else:
        files, diff, wanted = {"x.py": old, "y": b"y"}, make_diff({"x.py": crlf["old"]}, {"x.py": crlf["new"]}), new
    assert apply_patch(files, diff) == {"x.py": wanted, "y": b"y"}


def test_a_patch_that_differs_otherwise_does_not_apply() -> None:
    diff = make_diff({"x.py": b"a = 1\nb = 2\n"}, {"x.py": b"a = 1\nb = 5\n"})
    for other in (b"a = 1\r\nb = 3\r\n", b"", b"a = 1\r\n"):
        with pytest.raises(PatchError, match="does not apply"):
            apply_patch({"x.py": other}, diff)
    with pytest.raises(PatchError, match="only in line endings"):
        apply_patch({"x.py": b"a = 1\r\nb = 2\n"}, diff)


def test_pages_show_what_changes_in_files_that_are_no_utf_8_text() -> None:
    source = "# coding: koi8-r\nname = 'ж'\n"
    old = {"a.py": source.encode("koi8-r"), "b.bin": b"\0", "run": b"echo\n"}
    new = {"a.py": source.replace("ж", "щ").encode("koi8-r"), "b.bin": b"\0\1", "run": Executable(b"echo\n")}
    patch = make_diff(old, new)
    shown = {side.path: (side.before, side.after) for side in sides(patch)}
    assert "name = 'ж'" in shown["a.py"][0] and "name = 'щ'" in shown["a.py"][1]
    assert shown["b.bin"] == ("b.bin, 1 byte", "b.bin, 2 bytes")
    assert shown["run"] == ("run, mode 100644", "run, mode 100755")
    assert "+name = 'щ'" in shown_text(patch) and "Binary files a/b.bin and b/b.bin differ" in shown_text(patch)
    assert shown_text("no patch") == "no patch"
    assert [line for _, line in LineMap(old).changed(patch)] == [(2, 2), None, None]


# No two of them that follow each other on one side do so on the other, and none is so frequent that `difflib` skips it.
HOSTILE = [f"{number % 101}\n" for number in range(88_000)], [f"{-number % 101}\n" for number in range(88_000)]


def test_lines_that_take_days_to_compare_are_replaced_as_a_whole() -> None:
    (change,) = find_changes(*HOSTILE)
    assert change.old[0] == 1 and change.old.stop == len(HOSTILE[0]), "only equal lines at the ends are left"


@pytest.mark.parametrize("most_compared", [0, 40, 400, 4000])
def test_a_comparison_that_is_cut_short_is_whole(most_compared: int) -> None:
    chance = random.Random(most_compared)
    old, new = ([f"{chance.randrange(9)}\n" for _ in range(60)] for _ in range(2))
    rebuilt, at = [], 0
    for change in find_changes(old, new, most_compared):
        rebuilt += [*old[at : change.old.start], *new[change.new.start : change.new.stop]]
        at = change.old.stop
    assert [*rebuilt, *old[at:]] == new


def test_the_lines_of_a_link_or_a_program_do_not_pass_for_a_text() -> None:
    """A person who approves a new link would see a file with a path in it."""
    old = {"tool": b"1\n", "data": b"1\n"}
    new = {"tool": Executable(b"2\n"), "data": b"2\n", "link": Link(b"/etc/passwd")}
    shown = {side.path: (side.before, side.after) for side in sides(make_diff(old, new))}
    assert shown["tool"] == ("tool, mode 100644\n-    1 1", "tool, mode 100755\n+    1 2")
    assert shown["link"] == ("(no file)\n", "link, mode 120000\n+    1 /etc/passwd")
    assert shown["data"] == ("-    1 1", "+    1 2")


def test_patches_that_are_none_are_refused_with_the_line() -> None:
    whole = make_diff({"a": b"1\n2\n"}, {"a": b"1\n3\n"})
    for text, words in (
        (whole[:-3], "line 7: a hunk is cut off"),
        ("--- x.py\n+++ x.py\n@@ -1 +1 @@\n-1\n+2\n", "need the prefixes a/ and b/"),
        ("Hello\n", "not a unified diff"),
    ):
        with pytest.raises(PatchError, match=words):
            Patch.read(text)
    mail = f"From: A\nSubject: B\n\nText\n---\n a | 2 +-\n\n{whole}-- \n2.39\n"
    assert Patch.read(mail).text == whole and apply_patch({"a": b"1\n2\n"}, mail) == {"a": b"1\n3\n"}
