"""Parts of the guest and of the host's side that need no sandbox."""

from __future__ import annotations

import collections
import os
import struct
from pathlib import Path
from typing import Any

import pytest

from stackrank.env.sandbox import local as local_module
from stackrank.env.sandbox.base import SandboxSpec
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.sandbox.guest.core import framing, seccomp
from stackrank.env.sandbox.guest.core.disk import empty
from stackrank.env.sandbox.guest.core.processes import HeadTail
from stackrank.env.sandbox.guest.debugging.entry_point import entry_point
from stackrank.env.sandbox.guest.debugging.evaluation import evaluate
from stackrank.env.sandbox.guest.debugging.observers.calls import differences, parts
from stackrank.env.sandbox.guest.debugging.pdb.debugger import follow_line
from stackrank.env.sandbox.guest.debugging.values import safe_locals, shown
from stackrank.env.sandbox.guest.testing.commands import pytest_arguments, pytest_run
from stackrank.env.sandbox.replies.decoder import to_json
from stackrank.env.task import Limits
from tests.support.waiting import run_out


@pytest.mark.parametrize("chunks", [[b"0123456789"], [b"0", b"123", b"", b"456789"], [b"x" * 10_000]])
@pytest.mark.parametrize("cap", [2, 4, 6, 10, 20])
def test_head_and_tail(chunks: list[bytes], cap: int) -> None:
    collector = HeadTail(cap)
    for chunk in chunks:
        collector.write(chunk)
    content = b"".join(chunks)
    data, dropped = collector.take()
    assert dropped == max(len(content) - cap, 0)
    if dropped:
        assert data == content[: cap // 2] + b"\n[... %d bytes dropped ...]\n" % dropped + content[-(cap // 2) :]
    else:
        assert data == content
    assert collector.take() == (b"", 0)


def test_frames_of_any_content() -> None:
    for header, body in (({}, b""), ({"a": "\u2603\ud800\0"}, b"\0\xff" * 1000)):
        raw = framing.pack(header, body)
        position = 0

        def read(size: int, raw: bytes = raw) -> bytes:
            nonlocal position
            position += size
            return raw[position - size : position]

        assert framing.unpack(read) == (header, body)


def test_breakpoints_follow_their_line() -> None:
    old = ["a", "b", "c", "d"]
    assert follow_line(old, ["new", "a", "b", "c", "d"], 3) == 4
    assert follow_line(old, ["b", "c", "d"], 3) == 2
    assert follow_line(old, ["a", "b", "changed", "d"], 3) == 3
    assert follow_line(old, ["a", "b"], 4) <= 2
    assert follow_line(old, [""], 2) == 1


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("python -m pytest -q 'a b.py'", ["-q", "a b.py"]),
        ("pytest tests", ["tests"]),
        ("python3 -m pytest", []),
        ("python -m pytest | tail", None),
        ("FOO=1 pytest", None),
        ("pytest; true", None),
        ("python script.py", None),
        ("", None),
    ],
)
def test_what_counts_as_plain_pytest(command: str, arguments: list[str] | None) -> None:
    assert pytest_arguments(command) == arguments
    if arguments is not None:
        assert entry_point(command) == ["pytest", *arguments]


@pytest.mark.parametrize(
    ("command", "arguments", "folder", "variables"),
    [
        ("cd . && pytest -q", ["-q"], ".", {}),
        ("cd lib && cd app; A=1 B='x y' python3.11 -m pytest tests", ["tests"], "lib/app", {"A": "1", "B": "x y"}),
        ("python -m pytest && true", [], ".", {}),
        (
            "export A=1; env B=2 py.test -k 'a and b' 2>&1 | tee log | tail -5",
            ["-k", "a and b"],
            ".",
            {"A": "1", "B": "2"},
        ),
        ("uv run pytest", [], ".", {}),
        ("coverage run --branch -m pytest x", ["x"], ".", {}),
        ("coverage run -p --source shop,x --omit=a -m pytest -q", ["-q"], ".", {}),
        ("python3 -m coverage run --data-file x -m pytest y", ["y"], ".", {}),
        ("cd lib && bash -c 'cd app && A=1 pytest -q' && true", ["-q"], "lib/app", {"A": "1"}),
        ("python -W error -m pytest", [], ".", {"PYTHONWARNINGS": "error"}),
    ],
)
def test_pytest_is_recognised_with_things_around_it(
    command: str, arguments: list[str], folder: str, variables: dict[str, str]
) -> None:
    assert pytest_run(command) == (arguments, folder, variables)


@pytest.mark.parametrize(
    "command",
    [
        "make test",
        "pytest a && pytest b",
        "pytest $X",
        "(pytest)",
        "./run pytest",
        "rm x; pytest",
        "sh -c 'pytest $X'",
        "sh x pytest",
    ],
)
def test_what_is_not_understood_is_not_taken_for_pytest(command: str) -> None:
    assert pytest_run(command) is None


def test_filter_of_system_calls_is_well_formed() -> None:
    for machine in ("x86_64", "aarch64"):
        code = list(struct.iter_unpack("HBBI", seccomp.program(machine)))
        assert code[-1][0] == 0x06 and len(code) < 4096
        for position, (operation, if_true, if_false, _) in enumerate(code):
            if operation & 7 == 5:
                assert position + 1 + max(if_true, if_false) < len(code)
    with pytest.raises(KeyError):
        seccomp.program("pdp11")


class Hostile:
    def __repr__(self) -> str:
        raise AssertionError("code of the program was run")

    def __init__(self) -> None:
        self.inner = [self] if False else [1]

    @property
    def size(self) -> int:
        raise AssertionError("code of the program was run")

    def __lt__(self, other: object) -> bool:
        raise AssertionError("code of the program was run")


def test_locals_are_shown_without_running_code() -> None:
    first, second = Hostile(), Hostile()
    texts = safe_locals(
        {"x": first, "keys": {first: 2, second: 3}, "members": {first, second}, "__dunder__": 1, "module": os}
    )
    x = "<Hostile inner=[1]>"
    assert texts == {"x": x, "keys": f"{{{x}: 2, {x}: 3}}", "members": f"{{{x}, {x}}}"}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (list(range(230)), "[0, 1, 2, 3, 4, 5, ... 230 in all]"),
        ({"b": 1, "a": 2}, "{'b': 1, 'a': 2}"),
        ({3, 1, 2}, "{1, 2, 3}"),
        ((1,), "(1,)"),
        (collections.deque(range(9)), "<deque [0, 1, 2, 3, 4, 5, ... 9 in all]>"),
        ([[[[1, 2]]]], "[[[[... 2 in all]]]]"),
        ("ab" * 500, f"'{'ab' * 14}'...'{'ab' * 14}' (1000 characters)"),
        (b"", "b''"),
        ([10**5000, 7], "[<int of 16610 bits>, 7]"),
        ({f"k{number}": "v" * 60 for number in range(50)}, "{'k0': 'vvvvvvvv'...'vvvvvvvv' (60 characters), "),
    ],
)
def test_values_that_are_cut_say_how_much_there_is(value: object, text: str) -> None:
    text_shown = shown(value)
    assert (
        text_shown.startswith(text)
        and len(text_shown) <= 200
        and (text_shown == text or text_shown.endswith("... 50 in all}"))
    )
    assert shown(10**5000) == "<int of 16610 bits>"


def pythons() -> list[Path]:
    """Other Pythons of this machine, as old images have them."""
    root = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser() / "versions"
    paths = sorted(root.glob("3.*/bin/python")) if root.is_dir() else []
    return [path for path in paths if int(path.parts[-3].split(".")[1]) >= 8]


@pytest.mark.exhaustive
@pytest.mark.slow
@pytest.mark.parametrize("python", pythons(), ids=lambda path: path.parts[-3])
def test_the_debugger_under_other_pythons(python: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_module, "ensure_sandbox_python", lambda: python)
    program = b"def f(a):\n    b = a\n    return b\n\n\nx = f(1)\ny = f(2)\nwhile y: y += 1\n"
    with Sandbox(local_module.LocalBackend(), SandboxSpec(limits=Limits(timeout_s=run_out(3)))) as sandbox:
        sandbox.put({"p.py": program})

        def pdb(commands: str) -> dict[str, object]:
            reply = sandbox.debug(commands, "python p.py", run_out(0.7))
            state: dict[str, object] = to_json(reply.standing)
            return {**state, "text": reply.text, "timed_out": reply.timed_out}

        pdb("b p.py:2, a > 1\ncommands 1\np a * 100\nend\nb f")
        assert pdb("c")["line"] == 2
        assert (lambda state: (state["line"], state["function"]))(pdb("n\nn\nn")) == (7, "<module>")
        pdb("c\n!b = 7\ncl 2")
        hung = pdb("c")
        assert (hung["timed_out"], hung["event"], hung["line"]) == (True, "interrupted", 8)
        assert pdb("p y > 5")["text"] == "True\n"
        sandbox.edit("p.py", "# moved\ndef f(a):", 1, 1)
        restarted = pdb("c")
        assert restarted["line"] == 3 and "200" in str(restarted["text"])


def test_emptying_leaves_folders_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as those that lead to a mount, which the sandbox's set-up made."""
    (tmp_path / "lead" / "to").mkdir(parents=True)
    (tmp_path / "file").touch()
    with monkeypatch.context() as patch:
        patch.setattr(os, "getuid", lambda: -1)
        empty(str(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["lead"]
    empty(str(tmp_path))
    assert not list(tmp_path.iterdir())


def test_what_a_call_changed_is_told_whatever_the_size() -> None:
    class Row:
        def __init__(self, number: int) -> None:
            self.number = number
            self.tags = ["a"]

    rows = [Row(number) for number in range(5000)]
    table = {number: number for number in range(500)}
    state = {"rows": rows, "table": table, "few": {1: [2]}}
    old_parts = parts("state", state)
    rows.append(Row(5000))
    rows[3].tags.append("b")
    table[500] = 1
    state["few"][1] = None
    state["more"] = Row(7)
    changes = differences(old_parts, parts("state", state))
    assert [change for change in changes if "gone" in change and "few" not in change] == [], (
        "items that are not known are not gone"
    )
    assert "state['rows']: list of 5000 -> list of 5001" in changes and "state['rows'][5000] = Row, new" in changes
    assert "state['table'][500] = 1, new" in changes and "state['few'][1]: list of 1 -> None" in changes
    assert (
        "state['rows'][3].tags[1] = 'b', new" in changes or "state['rows'][3].tags: list of 1 -> list of 2" in changes
    )
    assert [change for change in changes if "more" in change] == ["state['more'] = Row, new"], "not each part of it"
    rows.clear()
    assert "state['rows']: list of 5001 -> list of 0" in differences(
        parts("state", {"rows": [*range(5001)]}), parts("state", {"rows": rows})
    )
    assert differences(parts("x", rows), parts("x", rows)) == []


def test_an_expression_is_evaluated_once_and_what_is_nested_in_it_sees_the_locals() -> None:
    names: dict[str, Any] = {"seen": [], "least": 2}
    code = compile("(seen.append(1), [n for n in (1, 2, 3) if n > least])[1]", "<expression>", "eval")
    assert evaluate(code, {}, names) == [3]
    assert names["seen"] == [1]


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("python -m pytest --deselect 'a.py::t[x=${b}|y]' b.py", ["--deselect", "a.py::t[x=${b}|y]", "b.py"]),
        ("python -m pytest 'a.py::t[`x` && > \"$y\"]'", ['a.py::t[`x` && > "$y"]']),
        ("python -m pytest \"it's $HOME 'x'\"", None),
        ("python -m pytest \\'$X\\'", None),
        ("python -m pytest $X 'a'", None),
    ],
)
def test_names_of_tests_may_have_what_a_shell_expands(command: str, arguments: list[str] | None) -> None:
    assert pytest_arguments(command) == arguments
    run = pytest_run(command)
    assert (run.arguments if run else None) == arguments
