"""What an agent writes for the debugger, taken apart into commands."""

from __future__ import annotations

import dis
import pdb
from types import FunctionType

import pytest

from stackrank.env.normalise import normalise
from stackrank.env.sandbox.guest.core.files import Refused
from stackrank.env.sandbox.guest.debugging.entry_point import entry_point
from stackrank.env.sandbox.guest.debugging.evaluation import run
from stackrank.env.sandbox.guest.debugging.pdb.batch import WITHOUT_ARGUMENT, commands_of
from stackrank.env.sandbox.guest.debugging.shortening import shortened
from stackrank.env.sandbox.guest.debugging.values import folded

BATCHES = {
    "b cart.py:3, x > 1\nc\np total": ["b cart.py:3, x > 1", "c", "p total"],
    "def f(x):\n    return x+1\np f(2)": ["!def f(x):\n    return x+1", "p f(2)"],
    "if a:\n    b()\nelse:\n    c()\nn": ["!if a:\n    b()\nelse:\n    c()", "n"],
    "if x: y()\nelse: z()\nc": ["if x: y()\nelse: z()", "c"],
    "x = [\n 1,\n 2]\np x": ["!x = [\n 1,\n 2]", "p x"],
    "p [x for x in\n   y]\np (1 +\n2)": ["p [x for x in\n   y]", "p (1 +\n2)"],
    "@dec\ndef f():\n\n    return 1\n\n\np 3": ["!@dec\ndef f():\n\n    return 1", "p 3"],
    "s = '''a\n\nreturn\n'''\nc": ["!s = '''a\n\nreturn\n'''", "c"],
    "def f(:\n  return 3\nc": ["!def f(:\n  return 3", "c"],
    "n = 5\nl: int = 3\na, b = 1, 2\nc > 3": ["!n = 5", "!l: int = 3", "!a, b = 1, 2", "!c > 3"],
    "next(it)\nlist(x)\nargs.x\nd['x']": ["!next(it)", "!list(x)", "!args.x", "!d['x']"],
    "n\nl 3, 5\nu -1\nl .\nexit()": ["n", "l 3, 5", "u -1", "l .", "exit()"],
    "# look\n(Pdb) p x  # why\n(Pdb) c\r\n": ["p x  # why", "c"],
    "    p 1\n    p 2": ["p 1", "p 2"],
    "p x\n    p y": ["p x", "p y"],
    "commands 1\nsilent\np x\nc\nend": ["commands 1", "silent", "p x", "c", "end"],
    "p 1 ;; p 2\nalias pi p %1 ;; n\npi x": ["p 1", "p 2", "alias pi p %1 ;; n", "pi x"],
    "n; n;;s;\nb x.py:2 if a == ';;' ;; c\nx = 1; n": ["n", "n", "s", "b x.py:2 if a == ';;'", "c", "x = 1; n"],
    "p (1 +": ["p (1 +"],
    "länge\nñ = 1": ["!länge", "ñ = 1"],
    "\n \n": [],
}


def test_the_commands_that_ignore_their_argument_are_those_of_pdb() -> None:
    methods = {name[3:]: method for name, method in vars(pdb.Pdb).items() if name.startswith("do_")}
    ignoring = {name for name, method in methods.items() if not _reads(method, method.__code__.co_varnames[1])}
    assert ignoring - {"EOF", "bt", "interact", "w", "where"} == WITHOUT_ARGUMENT - {"restart", "run"}


def _reads(method: FunctionType, parameter: str) -> bool:
    """Whether a function reads a parameter, alone or (from Python 3.13 on) together with another variable."""
    return any(
        parameter in (step.argval if isinstance(step.argval, tuple) else (step.argval,))
        for step in dis.get_instructions(method)
    )


@pytest.mark.parametrize("text", BATCHES)
def test_lines_that_belong_together_are_one_command(text: str) -> None:
    assert commands_of(text) == BATCHES[text]


@pytest.mark.parametrize(
    ("command", "entry"),
    [
        ("tests/t.py::test[a-b]", ["pytest", "tests/t.py::test[a-b]"]),
        ("pytest -x tests", ["pytest", "-x", "tests"]),
        ("-m pkg.mod arg", ["-m", "pkg.mod", "arg"]),
        ("python3 -u prog.py 'a b'", ["prog.py", "a b"]),
        ("python -m pdb -c continue prog.py", ["prog.py"]),
        ("-c 'x = 1; print(x > 0)'", ["-c", "x = 1; print(x > 0)"]),
        ("python -c import m; m.f(1)", ["-c", "import m; m.f(1)"]),
    ],
)
def test_entry_points(command: str, entry: list[str]) -> None:
    assert entry_point(command) == entry


@pytest.mark.parametrize("command", ["make", "python prog.py | head", "python", ""])
def test_what_is_no_program_is_refused(command: str) -> None:
    with pytest.raises(Refused, match="cannot be debugged"):
        entry_point(command)


def test_nested_code_sees_the_locals() -> None:
    outer, names = {"seen": 0}, {"least": 2, "rows": [1, 2, 3]}
    assert run("[row for row in rows if row >= least]", "eval", outer, names) == [2, 3]
    run("def count(n):\n    global seen\n    seen += 1\n    return n and count(n - 1)\n", "single", outer, names)
    assert run("(lambda: count(2))()", "eval", outer, names) == 0 and "count" in names and "count" not in outer


def test_what_repeats_is_said_once() -> None:
    assert folded("abbbbc") == [(0, 1, 1), (1, 1, 4), (5, 1, 1)]
    assert folded("xabababy") == [(0, 1, 1), (1, 2, 3), (7, 1, 1)]
    assert folded("aabb") == [(0, 1, 1), (1, 1, 1), (2, 1, 1), (3, 1, 1)]


def test_a_cut_leaves_no_half_of_an_address() -> None:
    text = " ".join(f"<T at 0x7f{number:010x}>" for number in range(400))
    for max_chars in range(500, 540):
        cut = shortened(text, max_chars, "look")
        assert len(cut) <= max_chars and "look" in cut
        assert "0x7f" not in normalise(cut, "/workspace")


@pytest.mark.parametrize(
    "address", ["94412345678912", "140012345678912", "0x55d0c0ffee00", "8776543210987", "0x7FABCDEF0123"]
)
def test_addresses_in_every_form_are_taken_out(address: str) -> None:
    assert address not in normalise(f"id {address}.", "/workspace")


@pytest.mark.parametrize("number", ["1700000000000", "1700000000", "0xff", "0x1234567890ab", "123456789012345"])
def test_numbers_that_are_no_addresses_stay(number: str) -> None:
    assert number in normalise(f"id {number}.", "/workspace")
