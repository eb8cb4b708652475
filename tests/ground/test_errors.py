"""The error hierarchy, and how commands report errors."""

from __future__ import annotations

import ast
import builtins
from pathlib import Path

import pytest

from stackrank import errors
from stackrank.errors import InfrastructureError, StackrankError, UsageError
from stackrank.flows.cli import main as command_line
from tests.test_layout import MAY_IMPORT, ROOT, sources


def drawn() -> set[tuple[str, str]]:
    """(error, its base) as the docstring draws them, by indentation."""
    assert errors.__doc__
    pairs, above = set(), ["Exception"]
    for line in errors.__doc__.splitlines():
        depth = (len(line) - len(line.lstrip()) - 2) // 2
        if depth > 0:
            name, *description = line.split()
            assert description or name == "StackrankError", f"nothing is said about {name}"
            above[depth:] = [name]
            pairs.add((name, above[depth - 1]))
    return pairs


def defined() -> list[tuple[str, str, Path]]:
    """(class, a base of it, file) for every class of stackrank whose bases lead to an exception."""
    files = [
        path
        for room in (*MAY_IMPORT, "extensions", "src")
        for path in sources(ROOT / room)
        if "guest" not in path.parts
    ]
    errors = {
        (node.name, ast.unparse(base).rpartition(".")[2], path)
        for path in files
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
        for base in node.bases
    }
    kinds = {name: kind for name, kind in vars(builtins).items() if isinstance(kind, type)}
    error_names = {name for name, kind in kinds.items() if issubclass(kind, BaseException)}
    while subclasses := {name for name, base, _ in errors if base in error_names} - error_names:
        error_names |= subclasses
    return [row for row in errors if row[1] in error_names]


def test_drawn_tree_matches_the_classes() -> None:
    assert {(name, base) for name, base, _ in defined() if not name.startswith("_")} == drawn()


def test_errors_share_a_base_and_have_unique_names() -> None:
    errors = defined()
    assert [(name, path) for name, base, path in errors if base in vars(builtins)] == [
        ("StackrankError", ROOT / "src" / "stackrank" / "errors.py")
    ]
    assert len({name for name, _, _ in errors}) == len(errors)


NO_PERMISSION = "you have no permission: change its permissions, or name another path"


class Odd(StackrankError):
    """One that no command should end with."""


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (UsageError("there is no  run\n9: name another"), 2, "error: there is no run 9: name another\n"),
        (InfrastructureError("the server is gone: start it"), 1, "error: the server is gone: start it\n"),
        (PermissionError(13, "not yours", "x.db"), 1, f"error: x.db: {NO_PERMISSION}\n"),
        (Odd("hm"), 1, "error: Odd: hm (a bug in stackrank: `stackrank --debug COMMAND` says where)\n"),
        (
            ModuleNotFoundError("No module named 'libcst'", name="libcst.matchers"),
            2,
            "error: No module named 'libcst': run pip install 'stackrank[authoring]'\n",
        ),
        (KeyError("k"), 1, "error: KeyError: 'k' (a bug in stackrank: `stackrank --debug COMMAND` says where)\n"),
    ],
)
def test_exit_status_and_message_of_errors(
    error: Exception, status: int, message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise error

    monkeypatch.setattr(command_line, "build_command", lambda: fail)
    with pytest.raises(SystemExit) as caught:
        command_line.main()
    assert (caught.value.code, *capsys.readouterr()) == (status, "", message)
