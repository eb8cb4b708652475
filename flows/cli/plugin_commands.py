"""Commands of plug-ins, which they add under the entry point group `stackrank.commands`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperGroup

from stackrank.errors import PluginError, UsageError
from stackrank.plugins import load_plugin, plugin_names
from stackrank.wording import print_err

COMMANDS = "stackrank.commands"
Command = Callable[..., None] | typer.Typer
"""A function that typer can call, or a typer application with commands of its own. The name of its entry point is the
name of the command; a name such as `validate.attack` answers the option `--attack` of a command of the core."""


class Group(TyperGroup):
    """A group whose `--help` lists each command with its whole first sentence; click would cut it off."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands."""
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [(name, _first_sentence(command.help)) for name, command in commands if command and not command.hidden]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


class GroupWithPlugins(Group):
    """The commands of the core and of plug-ins. A plug-in is imported when its command is called, and for `--help`."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands. A plug-in that cannot be loaded is left out, with a warning."""
        names = super().list_commands(ctx)
        for name in plugin_names(COMMANDS):
            if name not in names and "." not in name:
                try:
                    load_plugin(COMMANDS, name)
                except PluginError as error:
                    print_err(f"warning: {error}")
                else:
                    names.append(name)
        return names

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command, or None if there is none of that name. Raises PluginError."""
        command = super().get_command(ctx, cmd_name)
        if command is None and "." not in cmd_name and (plugin := load_plugin(COMMANDS, cmd_name)) is not None:
            return _as_click(cmd_name, plugin)
        return command


def find_option(command: str, option: str, extension: str) -> Callable[..., None]:
    """Return the function of a plug-in that answers an option of a command. Raises UsageError if there is none."""
    answer: Callable[..., None] | None = load_plugin(COMMANDS, f"{command}.{option}")
    if answer is None:
        raise UsageError(f"--{option} needs the extension {extension}, which is not installed: install it or omit it")
    return answer


def _first_sentence(text: str | None) -> str:
    paragraph = " ".join((text or "").split("\n\n")[0].split())
    return re.split(r"(?<=\.) (?=[A-Z`-])", paragraph)[0]


def _as_click(name: str, command: Command) -> Any:
    group = typer.Typer(add_completion=False, rich_markup_mode=None)
    if isinstance(command, typer.Typer):
        group.add_typer(command, name=name)
    else:
        group.command(name)(command)
    return typer.main.get_group(group).commands[name]
