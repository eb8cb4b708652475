"""str_replace, insert, create and undo: exactly what was asked for, or nothing and the reason. And debug5, by edits."""

from __future__ import annotations

from stackrank.env.actions import Action
from stackrank.env.debug_env import DebugEnv
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.tools import TOOL_SETS, tool_set
from tests.fixtures.env import Episode, Play, cart, make_task, usable

TESTS = {"tests/test_a.py": "def test(): pass\n"}


def content(step: Episode, path: str) -> bytes:
    return step.env.sandbox.read(path)


# content before, what is replaced, by what, content after
REPLACED = (
    (b"a\nb\nc\n", "b", "x", b"a\nx\nc\n"),
    (b"a\nb\nc\n", "b\n", "", b"a\nc\n"),
    (b"a\nb\nc\n", "b", "", b"a\n\nc\n"),
    (b"a\nb\nc\n", "b\nc\n", "x\n", b"a\nx\n"),
    (b"a\nb\nc\n", "b\n", "x", b"a\nxc\n"),
    (b"a\nb\nc\n", "a\nb", "1\n2\n3", b"1\n2\n3\nc\n"),
    (b"a\nb", "b", "x", b"a\nx"),
    (b"one two three\n", "two", "2", b"one 2 three\n"),
    (b"one two three\n", " two ", "\n", b"one\nthree\n"),
    (b"a\r\nb\r\nc\r\n", "a\nb", "x\ny", b"x\r\ny\r\nc\r\n"),
    (b"\xef\xbb\xbfa\nb\n", "a", "x", b"\xef\xbb\xbfx\nb\n"),
    ("é = 'ü'\nb\n".encode(), "ü", "ß", "é = 'ß'\nb\n".encode()),
    (b"a\nb\na\nc\n", "a\nc", "x", b"a\nb\nx\n"),
    (b"\n\n\n", "\n\n\n", "\n", b"\n"),
)


def test_str_replace(play: Play) -> None:
    files = {f"notes_{number}.txt": content for number, (content, *_) in enumerate(REPLACED)}
    step = play(make_task({**files, **TESTS}))
    for path, (original, old, new, expected) in zip(files, REPLACED, strict=True):
        observation = step("str_replace", path=path, old_str=old, new_str=new)
        assert observation.ok, observation.text
        assert content(step, path) == expected, path
        assert observation.state["diff"] and step("undo").ok and content(step, path) == original, path


def test_what_does_not_occur_once(play: Play) -> None:
    text = "def f():\n    return 1\n\n\ndef g():\n    return 1\n"
    step = play(make_task({"a.py": text, **TESTS}))
    for old, message in {
        "    return 1": "occurs 2 times in a.py, at lines 2, 6",
        "return 2": "is not in a.py: view the file",
        "def f():\n\treturn 1": "line 1 differs only in white space",
        "": "old_str is empty",
    }.items():
        refused = step("str_replace", path="a.py", old_str=old, new_str="x")
        assert not refused.ok and message in refused.text
    assert content(step, "a.py") == text.encode()
    assert not step("undo").ok, "nothing was edited"


def test_insert_create_and_undo(play: Play) -> None:
    step = play(make_task({"a.py": "one = 1\n", **TESTS}))
    assert step("insert", path="a.py", line=0, new_str="zero = 0").ok
    assert step("insert", path="a.py", line=2, new_str="two = 2\nthree = 3\n").ok
    assert content(step, "a.py") == b"zero = 0\none = 1\ntwo = 2\nthree = 3\n"
    assert not step("insert", path="a.py", line=9, new_str="x").ok
    assert not step("insert", path="a.py", line=0, new_str="").ok
    assert not step("insert", path="none.py", line=0, new_str="x").ok
    assert step("create", path="new/b.py", content="b = 2\n").ok
    refused = step("create", path="a.py", content="")
    assert not refused.ok and "already exists" in refused.text
    assert step("rewrite", path="new/b.py", new_code="b = 3\n").ok
    assert step("undo").text == "Undid the last edit of new/b.py." and content(step, "new/b.py") == b"b = 2\n"
    undone = step("undo")
    assert undone.text == "Undid the creation of new/b.py."
    assert "b = 2" in undone.state["diff"] and not step("view", path="new/b.py").ok
    assert step("undo").ok and step("undo").ok and content(step, "a.py") == b"one = 1\n"
    assert "no edit to undo" in step("undo").text


def test_an_edit_is_not_undone_after_another_change(play: Play) -> None:
    step = play(make_task({"a.py": "one = 1\n", **TESTS}))
    assert step("str_replace", path="a.py", old_str="1", new_str="2").ok
    assert step("bash", command="echo 'x = 0' >> a.py").ok
    refused = step("undo")
    assert not refused.ok and "has changed since that edit" in refused.text
    assert content(step, "a.py") == b"one = 2\nx = 0\n"


def test_tests_stay_as_they_are(play: Play) -> None:
    step = play(make_task({"a.py": "one = 1\n", **TESTS}))
    for tool, arguments in {
        "str_replace": {"old_str": "pass", "new_str": "return"},
        "insert": {"line": 0, "new_str": "import os"},
    }.items():
        refused = step(tool, path="tests/test_a.py", **arguments)
        assert not refused.ok and "read-only" in refused.text


def test_edits_that_do_not_parse_are_refused_where_the_tool_set_says_so(play: Play) -> None:
    task = make_task({"a.py": "def f():\n    return 1\n", "broken.py": "def g(:\n", "a.txt": "x\n", **TESTS})
    step = play(task, TOOL_SETS["edit"])
    refused = step("str_replace", path="a.py", old_str="return 1", new_str="return (")
    assert not refused.ok and "nothing was changed" in refused.text and "never closed" in refused.text
    assert content(step, "a.py") == b"def f():\n    return 1\n"
    assert not step("create", path="new.py", content="def (").ok and not step("view", path="new.py").ok
    assert step("str_replace", path="broken.py", old_str="g", new_str="h").ok, "it did not parse before"
    assert step("str_replace", path="a.txt", old_str="x", new_str="(").ok, "it is no Python"
    assert step("str_replace", path="a.py", old_str="1", new_str="2").ok
    loose = play(task)
    assert loose("str_replace", path="a.py", old_str="return 1", new_str="return (").state["syntax_error"]


def test_pdb_comes_after_the_fifth_rewrite() -> None:
    kind = usable("bubblewrap")
    with DebugEnv(cart(), tool_set("debug5"), lambda spec: Sandbox(kind, spec)) as env:
        env.reset()

        def do(tool: str, **arguments: object) -> tuple[bool, str]:
            observation = env.step(Action(tool, arguments))[0]
            return observation.ok, observation.text

        for remaining in (5, 4, 3, 2, 1):
            message = f"pdb becomes available after {remaining} more rewrite{'s' if remaining > 1 else ''}."
            assert do("pdb", command="p 6 * 7") == (False, message)
            assert do("rewrite", path="tests/test_cart.py", new_code="")[0] is False, "a refused one does not count"
            assert do("eval")[0] and do("view", path="cart.py")[0], "nor do other tools"
            assert do("rewrite", path="cart.py", start=1, new_code=f"def total(items):  # {remaining}")[0]
        ok, message = do("pdb", command="p 6 * 7")
        assert ok and "42" in message
        env.reset()
        assert do("pdb", command="c") == (False, "pdb becomes available after 5 more rewrites.")


def test_a_path_of_any_length_is_refused_and_the_episode_goes_on(play: Play) -> None:
    step = play(make_task({"a.py": "x = 1\n", **TESTS}))
    for path in ("x" * 100_000, "é" * 70_000, "d/" * 40_000 + "a.py"):
        for refused in (
            step("create", path=path, content="x"),
            step("insert", path=path, line=1, text="x"),
            step("str_replace", path=path, old_str="x", new_str="y"),
            step("view", path=path),
        ):
            assert not refused.ok and "took the place" not in refused.text, refused.text[:200]
    assert step("view", path="a.py").ok
