"""Edits are done exactly, or refused with a sentence and nothing changed."""

from __future__ import annotations

import pytest

from stackrank.env.sandbox.base import Refused
from stackrank.env.sandbox.client import Sandbox
from tests.fixtures.env import Play, cart, make_task

LATIN = "# -*- coding: latin-1 -*-\nname = 'Bj\xf6rn'\nx = 1\n".encode("latin-1")
JAPANESE = "# coding: shift_jis\ns = '日本'\nx = 1\n".encode("shift_jis")
EURO = "# coding: cp1252\r\ns = '€'\r\nx = 1\r\n".encode("cp1252")
ESCAPES = b"# coding: unicode_escape\na = 1\n"
BIG = b"".join(b"value_%d = %d\n" % (number, number) for number in range(40_000))

# content before, first line, last line, new text, content after
EXACT: dict[str, tuple[bytes, int | None, int | None, str, bytes]] = {
    "quotes": (
        b"a\nb\n",
        1,
        1,
        'x = \'it\'\'s "so"\' + """\\n\'\'\'"""',
        b'x = \'it\'\'s "so"\' + """\\n\'\'\'"""\nb\n',
    ),
    "heredoc marker": (b"a\nb\n", 2, 2, "EOF\n$HOME `id` $(id) \\", b"a\nEOF\n$HOME `id` $(id) \\\n"),
    "CRLF is kept": (b"a\r\nb\r\nc\r\n", 2, 2, "x\ny", b"a\r\nx\r\ny\r\nc\r\n"),
    "CRLF given": (b"a\r\nb\r\n", 1, 1, "x\r\n", b"x\r\nb\r\n"),
    "tabs": (b"if a:\n\tb\n", 2, 2, "\tc\n\td", b"if a:\n\tc\n\td\n"),
    "BOM is kept": (b"\xef\xbb\xbfa = 1\nb = 2\n", 1, 1, "a = 3", b"\xef\xbb\xbfa = 3\nb = 2\n"),
    "BOM, whole file": (b"\xef\xbb\xbfa = 1\n", None, None, "a = 3\n", b"\xef\xbb\xbfa = 3\n"),
    "latin-1 source": (LATIN, 3, 3, "x = '\xe9'", LATIN.replace(b"x = 1", b"x = '\xe9'")),
    "mixed ends": (b"a\r\nb\nc\r\n", 2, 2, "x", b"a\r\nx\nc\r\n"),
    "mixed ends, more lines": (b"a\nb\r\nc\n", 2, 2, "x\ny", b"a\nx\r\ny\r\nc\n"),
    "mixed ends, whole file": (b"a\r\nb\nc\r\n", None, None, "a\nb\nx\nc\n", b"a\r\nb\nx\nc\r\n"),
    "mixed ends, nothing after": (b"a\r\nb\nc", 2, 3, "x\ny", b"a\r\nx\ny"),
    "Shift JIS": (JAPANESE, 3, 3, "x = '本'", JAPANESE.replace(b"x = 1", "x = '本'".encode("shift_jis"))),
    "an ASCII line in cp1252 with CRLF": (EURO, 3, 3, "x = 2", EURO.replace(b"x = 1", b"x = 2")),
    "another encoding is declared": (
        LATIN,
        None,
        None,
        "# coding: utf-8\nx = 'ö'\n",
        "# coding: utf-8\nx = 'ö'\n".encode(),
    ),
    "no encoding is declared any more": (LATIN, None, None, "x = 'ö'\n", "x = 'ö'\n".encode()),
    "an encoding that does not exist": (b"# coding: x\na = 1\n", 2, 2, "a = 2", b"# coding: x\na = 2\n"),
    "an encoding that is no text": (ESCAPES, 2, 2, "a = 2\nb = 3", b"# coding: unicode_escape\na = 2\nb = 3\n"),
    "no final newline": (b"a\nb", 1, 1, "x", b"x\nb"),
    "no final newline, last line": (b"a\nb", 2, 2, "x", b"a\nx"),
    "append after no final newline": (b"a\nb", 3, 2, "c", b"a\nb\nc"),
    "insert before": (b"a\nb\n", 2, 1, "x", b"a\nx\nb\n"),
    "append": (b"a\n", 2, 1, "b", b"a\nb\n"),
    "delete": (b"a\nb\nc\n", 2, 2, "", b"a\nc\n"),
    "empty file": (b"", None, None, "a\n", b"a\n"),
    "empty file, first line": (b"", 1, 0, "a", b"a\n"),
    "form feed and separators": (b"a\x0cb\n\xe2\x80\xa8c\nd\n", 2, 2, "x", b"a\x0cb\nx\nd\n"),
    "unicode": (b"a\n", 1, 1, "s = '\U0001f41b \u2603'", "s = '\U0001f41b \u2603'\n".encode()),
    "a megabyte": (b"", None, None, BIG.decode(), BIG),
    "a line of a megabyte": (BIG, 39_999, 39_999, "x = 0", BIG.replace(b"value_39998 = 39998", b"x = 0")),
}


@pytest.mark.parametrize("case", EXACT)
def test_done_exactly(local: Sandbox, case: str) -> None:
    old, start, end, text, new = EXACT[case]
    local.put({"a.py": old})
    edit = local.edit("a.py", text, start, end)
    assert local.read("a.py") == new
    assert (edit.changed, edit.content) == (old != new, new)
    assert [changed.path for changed in local.news()] == ["a.py"] * edit.changed


REFUSED: dict[str, tuple[str, int | None, int | None, str]] = {
    "outside": ("../x.py", None, None, "outside the workspace"),
    "absolute": ("/etc/hosts", None, None, "outside the workspace"),
    "through a link": ("link/passwd", None, None, "outside the workspace"),
    "a link out": ("out.py", None, None, "outside the workspace"),
    "a folder": ("folder", None, None, "is a directory"),
    "beyond the end": ("a.py", 9, 9, "not in a.py, which has 2 lines"),
    "backwards": ("a.py", 2, 0, "comes before the first"),
    "line 0": ("a.py", 0, 0, "not in a.py"),
    "lines of a new file": ("new.py", 3, 4, "does not exist"),
    "below a file": ("a.py/b.py", None, None, "a.py is a file, so it cannot contain"),
    "no name": ("", None, None, "empty"),
    "a NUL": ("a\0.py", None, None, "NUL"),
    "a long name": ("x" * 300, None, None, "cannot be written"),
}


def test_refused_with_nothing_changed(sandbox: Sandbox) -> None:
    sandbox.put({"a.py": b"x = 1\ny = 2\n", "folder/b.py": b""})
    sandbox.run("ln -s /etc link; ln -s /etc/hostname out.py; ln -s a.py in.py", 5)
    listing = sandbox.run("ls -laR --time-style=+ . ; cat a.py", 5).output
    for case, (path, start, end, message) in REFUSED.items():
        with pytest.raises(Refused, match=message):
            sandbox.edit(path, "evil\n", start, end)
        assert sandbox.run("ls -laR --time-style=+ . ; cat a.py", 5).output == listing, case


def test_what_the_encoding_cannot_hold(local: Sandbox) -> None:
    local.put({"a.py": LATIN})
    with pytest.raises(Refused, match="iso-8859-1"):
        local.edit("a.py", "x = '\u2603'", 3, 3)
    assert local.read("a.py") == LATIN


def test_a_link_inside_is_followed(sandbox: Sandbox) -> None:
    sandbox.put({"a.py": b"1\n"})
    sandbox.run("ln -s a.py in.py", 5)
    sandbox.edit("in.py", "2\n")
    assert sandbox.read("a.py") == b"2\n"
    assert sandbox.run("readlink in.py", 5).output == "a.py\n"


def test_a_full_disk_leaves_the_old_content(sandbox: Sandbox) -> None:
    sandbox.put({"a.py": b"x = 1\n"})
    sandbox.run("head -c 1G /dev/zero > filler", 60)
    with pytest.raises(Refused, match="No space left"):
        sandbox.edit("a.py", "y = 2\n" * 1000)
    assert sandbox.read("a.py") == b"x = 1\n"


def test_lines_that_a_file_has_are_shown(play: Play) -> None:
    step = play(make_task({"a.py": "x = 1\ny = 2\n", "tests/test_a.py": "def test(): assert 0\n"}))
    changed = step("rewrite", path="a.py", start=2, end=2, new_code="y = 3\n")
    assert changed.text == "Replaced line 2 of a.py.\n1  x = 1\n2- y = 2\n2+ y = 3"
    assert step("rewrite", path="a.py", start=1, end=2, new_code="").text == (
        "Deleted lines 1 to 2 of a.py.\n1- x = 1\n2- y = 3"
    )


def test_the_tool_shows_what_was_done(play: Play) -> None:
    step = play(cart())
    observation = step("rewrite", path="cart.py", start=5, end=5, new_code="    return result")
    assert observation.ok and observation.state["lines"] == [5, 5]
    assert "Replaced line 5 of cart.py." in observation.text and "\n5+     return result\n6  \n" in observation.text
    assert "\n5-     return result - 1\n" in observation.text, "what was there, as the line was named by its number"
    broken = step("rewrite", path="cart.py", start=1, end=1, new_code="def total(items:")
    assert broken.ok and "SyntaxError" in broken.text
    repeated = step("rewrite", path="cart.py", start=1, end=1, new_code="def total(items:")
    assert repeated.text == "cart.py already has this content."
    for path in ("tests/test_cart.py", "./tests/test_cart.py", "tests/../tests/test_cart.py", "conftest.py"):
        refused = step("rewrite", path=path, new_code="")
        assert not refused.ok and "read-only" in refused.text, path
    linked = step("bash", command="ln -s tests t2; ln -s conftest.py c2.py")
    assert linked.ok
    for path in ("t2/test_cart.py", "c2.py"):
        assert not step("rewrite", path=path, new_code="").ok, path
    assert not step("rewrite", path="cart.py", end=3, new_code="").ok
    assert not step("rewrite", path="cart.py", nonsense=3).ok
    assert not step("nonsense").ok
    for character in ("\0", "\ud800"):  # JSON can write them
        assert "bash: command:" in step("bash", command=f"echo {character}").text
        assert "view: path:" in step("view", path=f"cart{character}.py").text


def test_views(play: Play) -> None:
    files: dict[str, bytes | str] = {
        "long.py": BIG,
        "tests/test_a.py": "def test(): assert 0\n",
        "empty": b"",
        "bin": b"\0\1\xff",
    }
    step = play(make_task(files))
    view = step("view", path="long.py", start=100, end=102)
    assert view.text.splitlines() == [
        "long.py, lines 100 to 102 of 40000:",
        "100  value_99 = 99",
        "101  value_100 = 100",
        "102  value_101 = 101",
    ]
    assert len(step("view", path="long.py", end=40_000).text.splitlines()) == 401
    assert step("view", path="empty").text == "empty is empty."
    binary = step("view", path="bin")
    assert not binary.ok and binary.text == "bin is a binary file of 3 bytes, and not text."
    assert "read-only" in step("view", path="tests/test_a.py").text
    assert "long.py" in step("view", path=".").text, "of a directory, what is in it"
    for wrong in ({"path": "none"}, {"path": "long.py", "start": 99999}, {"path": "a", "start": 0}):
        assert not step("view", **wrong).ok
    assert "(read-only)" in step("listdir").text
    assert step("grep", pattern="value_3999\\b").text == "long.py\n4000: value_3999 = 3999"
    assert step("grep", pattern="nothing like it").text == "No matches."


@pytest.mark.parametrize(
    ("new_code", "lines"),
    [
        ("a\nb\nX\nd\n", [3, 3]),
        ("a\nb\nd\n", [3, 3]),
        ("a\nb\nnew\nc\nd\n", [3, 3]),
        ("X\nb\nc\nY\n", [1, 4]),
        ("a\nb\nc\nd\ne\n", [5, 5]),
        ("", [1, 4]),
    ],
)
def test_a_rewrite_of_the_whole_file_says_which_lines_it_changed(
    local: Sandbox, new_code: str, lines: list[int]
) -> None:
    local.put({"a.txt": b"a\nb\nc\nd\n"})
    assert local.edit("a.txt", new_code).touched == tuple(lines)


def test_the_tool_edits_files_that_are_no_python(play: Play) -> None:
    episode = play(cart({"prices.json": b'{"tea": 1}\n'}))
    observation = episode("rewrite", path="prices.json", new_code='{"tea": 2}\n')
    assert observation.ok and "syntax_error" not in observation.state
    assert '"tea": 2' in episode("view", path="prices.json").text


def test_a_binary_file_has_no_lines_to_edit(local: Sandbox) -> None:
    for content in (b"\x89PNG\0\r\n\x1a\n", "x = 1\n".encode("utf-16")):
        local.put({"a.py": content})
        with pytest.raises(Refused, match="binary"):
            local.edit("a.py", "x", 1, 1)
        assert local.read("a.py") == content


def test_characters_that_a_declared_encoding_lacks(local: Sandbox) -> None:
    local.put({"a.py": EURO})
    with pytest.raises(Refused, match=r"cp1252, which cannot hold '本'"):
        local.edit("a.py", "x = '€本'", 3, 3)
    assert local.read("a.py") == EURO
