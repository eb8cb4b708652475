"""What commands print for people and for pipes: nothing is cut, wrapped or taken for markup."""

from __future__ import annotations

import re

import pytest
import typer

from stackrank.flows.cli.main import app
from stackrank.flows.cli.output import print_table
from tests.fixtures.calls import CommandLine

NAMES = [
    "plain", ":smile: [bold]x[/bold]", "llm/qwen3-coder:480b-a35b-instruct-fp8 (debug, pdb, eval)" * 4, "[red]",
    ":warning:",
    "tests/test_icons.py::test_icon[:hourglass:-[/]]", "a  b", "日本語 " * 60,
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_piped_row_is_one_line_with_the_whole_name(capsys: pytest.CaptureFixture[str], name: str) -> None:
    print_table([{"id": 1, "name": name, "more": "x" * 300}, {"id": 2, "name": "b", "more": None}], COLUMNS, "none")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4 and lines[2].startswith(" 1   ") and name.strip() in lines[2] and "x" * 300 in lines[2]
    assert all(line == line.rstrip() for line in lines)


COLUMNS = {"id": "id", "name": "name", "more": "more"}


def test_help_lists_every_command_with_its_whole_first_sentence(stackrank: CommandLine) -> None:
    out = stackrank("--help").out
    listed = " ".join(out.split())
    assert "..." not in out.partition("Commands:")[2]
    group = typer.main.get_command(app)
    for name in group.list_commands(None):  # type: ignore[attr-defined]
        help_text = group.get_command(None, name).help  # type: ignore[attr-defined]
        (sentence,) = re.findall(r"^.*?\.(?= |$)", " ".join((help_text or "").split()))
        assert f" {name} {sentence}" in listed, name


@pytest.mark.parametrize("command", ["db", "schedule"])
def test_help_of_groups_is_whole(stackrank: CommandLine, command: str) -> None:
    assert "..." not in stackrank(command, "--help").out.partition("Commands:")[2]
