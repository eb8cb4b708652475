"""The available tools and tool sets. Other packages add tools by the entry point group `stackrank.tools`."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from stackrank.env.environment import Environment
from stackrank.env.tools.base import Tool
from stackrank.env.tools.bash import Bash
from stackrank.env.tools.branch import Branch
from stackrank.env.tools.debugging.calls import Calls
from stackrank.env.tools.debugging.inspect import Inspect
from stackrank.env.tools.debugging.investigate import INVESTIGATOR, Answer, Investigate
from stackrank.env.tools.debugging.pdb import Pdb
from stackrank.env.tools.debugging.snapshot import Snapshot
from stackrank.env.tools.debugging.terminal import Terminal
from stackrank.env.tools.debugging.trace import Trace
from stackrank.env.tools.editing.edit import Create, Insert, StrReplace, Undo
from stackrank.env.tools.editing.rewrite import Rewrite
from stackrank.env.tools.grep import Grep
from stackrank.env.tools.listdir import Listdir
from stackrank.env.tools.program import RunProgram
from stackrank.env.tools.run_tests import Eval
from stackrank.env.tools.server_plugin import ServerTool, server_plugin
from stackrank.env.tools.servers import Offer
from stackrank.env.tools.submit import Submit
from stackrank.env.tools.view import View
from stackrank.errors import PluginError
from stackrank.plugins import load_plugin, plugin_names
from stackrank.terms import DEBUGGERS
from stackrank.wording import count_of

GROUP = "stackrank.tools"

BUILT_IN: tuple[Callable[[], Tool], ...] = (
    *(Eval, View, Listdir, Grep, Rewrite, StrReplace, Insert, Create, Undo),
    *(Pdb, Inspect, Trace, Calls, Snapshot, Investigate, Answer, Bash, Terminal, RunProgram, Branch, Submit),
)


@dataclass(frozen=True, slots=True)
class ToolSet:
    """A named list of tools, some of which may become available only later in an episode."""

    name: str
    tools: tuple[str, ...]
    after_rewrites: tuple[tuple[str, int], ...] = ()
    """(tool, n): the tool is available only after n successful rewrites."""
    must_parse: bool = False
    """Whether an edit after which a file no longer parses is refused."""
    servers: tuple[str, ...] = ()
    """The MCP servers whose tools belong to the set."""
    added: tuple[ServerTool, ...] = ()
    """The servers' tools, once it is known what the servers offer; `tools` names them too. See `with_offers`."""

    installed: tuple[Environment, ...] = ()
    """What is installed for the entrant's own program."""

    @property
    def offers(self) -> tuple[Offer, ...]:
        """What the set's MCP servers offer."""
        return tuple({tool.offer.name: tool.offer for tool in self.added}.values())

    @property
    def prefixes(self) -> tuple[Environment, ...]:
        """What is installed for the servers and the entrant's program, in addition to a task's own environment."""
        return (*self.installed, *(offer.server.prefix for offer in self.offers if offer.server.prefix))

    def find(self, name: str) -> Tool:
        """Return the tool of that name. Raises ValueError."""
        return next((tool for tool in self.added if tool.name == name), None) or find_tool(name)

    def version(self, name: str) -> str:
        """Return a tool's version; `1` if the tool was written before tools had versions. Raises ValueError."""
        return str(getattr(self.find(name), "version", "1"))

    def with_offers(self, offers: Sequence[Offer]) -> ToolSet:
        """Return the set with its servers' tools added. Raises ValueError if a name is too long or occurs twice."""
        added = tuple(tool for offer in offers for tool in server_plugin().tools_of(offer))
        names = [*self.tools, *(tool.name for tool in added)]
        if duplicate := next((name for name in names if names.count(name) > 1), ""):
            raise ValueError(f"duplicate tool name {duplicate}: rename the MCP server, or select its `tools`")
        return replace(self, tools=tuple(names), added=added)

    @property
    def debuggers(self) -> tuple[str, ...]:
        """The set's debugging tools."""
        return tuple(name for name in DEBUGGERS if name in self.tools)

    @property
    def reachable(self) -> tuple[str, ...]:
        """The set's tools, and the tools of an investigation if the set can open one."""
        return tuple(dict.fromkeys((*self.tools, *(INVESTIGATOR if Investigate.name in self.tools else ()))))

    def for_toolchain(self, toolchain: str) -> ToolSet:
        """Return the set for tasks in another language than Python.

        Debuggers of plug-ins, whose `toolchains` name the language, take the place of Python's.
        """
        native = [name for name, tool in _all_tools().items() if toolchain in getattr(tool, "toolchains", ())]
        places = {name: native if name in DEBUGGERS else [name] for name in self.tools}
        tools = dict.fromkeys(tool for name in self.tools for tool in places[name])
        later = tuple((tool, n) for name, n in self.after_rewrites for tool in places[name])
        return replace(self, tools=tuple(tools), after_rewrites=later)

    def locked(self, tool: str, rewrites: int) -> int:
        """Return how many more rewrites it takes until `tool` is available; 0 if it is available."""
        return max(dict(self.after_rewrites).get(tool, 0) - rewrites, 0)

    def why_unavailable(self, tool: str, rewrites: int, *, investigating: bool) -> str:
        """Return why a tool cannot be used now, for the agent; empty if it can. `rewrites`: so many succeeded."""
        available = INVESTIGATOR if investigating else self.tools
        if tool not in available:
            is_later = f"{tool} is not available during an investigation."
            return f"{is_later if tool in self.tools else f'There is no tool {tool!r}.'} Tools: {', '.join(available)}."
        locked = self.locked(tool, rewrites)
        return f"{tool} becomes available after {count_of(locked, 'more rewrite')}." if locked else ""


_READ = ("view", "listdir", "grep")
_EDIT = ("str_replace", "insert", "create", "undo")

# `rewrite`, `debug` and `debug5` are the three agents of the debug-gym report (https://arxiv.org/abs/2503.21557).
TOOL_SETS: dict[str, ToolSet] = {
    tools.name: tools
    for tools in (
        ToolSet("rewrite", ("eval", *_READ, "rewrite", "submit")),
        ToolSet("debug", ("eval", *_READ, "pdb", "rewrite", "submit")),
        ToolSet("debug5", ("eval", *_READ, "pdb", "rewrite", "submit"), (("pdb", 5),)),
        # Like `debug`, with another interface to the running program instead of pdb.
        ToolSet("inspect", ("eval", *_READ, "inspect", "rewrite", "submit")),
        ToolSet("trace", ("eval", *_READ, "trace", "rewrite", "submit")),
        ToolSet("calls", ("eval", *_READ, "calls", "rewrite", "submit")),
        ToolSet("snapshot", ("eval", *_READ, "snapshot", "rewrite", "submit")),
        ToolSet("investigate", ("eval", *_READ, "investigate", "rewrite", "submit")),
        # The editing tools that models are trained with.
        ToolSet("edit", ("eval", *_READ, *_EDIT, "submit"), must_parse=True),
        ToolSet("edit-debug", ("eval", *_READ, "pdb", *_EDIT, "submit"), must_parse=True),
        # A shell, without and with a debugger: what every agent of today has, and what a debugger adds to it.
        ToolSet("bash", ("eval", *_READ, "bash", "rewrite", "submit")),
        ToolSet("bash-debug", ("eval", *_READ, "bash", "pdb", "rewrite", "submit")),
        ToolSet("terminal", ("eval", *_READ, "terminal", "rewrite", "submit")),
        # With the tool that goes back to an earlier step.
        ToolSet("debug-branch", ("eval", *_READ, "pdb", "rewrite", "branch", "submit")),
        ToolSet("bash-debug-branch", ("eval", *_READ, "bash", "pdb", "rewrite", "branch", "submit")),
        # For the agent `command`, whose program brings its own tools.
        ToolSet("command", ("program", "submit")),
    )
}

CONTRAST = ("rewrite", "bash", "debug", "bash-debug")
"""The tool sets that show what a debugger is worth, without and with a shell."""


@functools.cache
def _all_tools() -> dict[str, Tool]:
    tools = [make() for make in BUILT_IN]
    for name in plugin_names(GROUP):
        with contextlib.suppress(PluginError):  # `find_tool` says so, if it is used
            tools += [make()] if (make := load_plugin(GROUP, name)) else []
    return {tool.name: tool for tool in tools}


def tool_names() -> list[str]:
    """Return the names of all tools."""
    return list(_all_tools())


def find_tool(name: str) -> Tool:
    """Return the tool of that name. Raises ValueError with a sentence that lists all tools, PluginError."""
    try:
        return _all_tools()[name]
    except KeyError:
        load_plugin(GROUP, name)  # says why a plug-in is not among the tools
        raise ValueError(f"there is no tool {name!r}: choose from {', '.join(_all_tools())}") from None


def tool_set(text: str) -> ToolSet:
    """Return a tool set by name or from a list such as `view,rewrite,eval`; `+SERVER` adds an MCP server's tools.

    Raises ValueError.
    """
    base, *servers = (part.strip() for part in text.split("+"))
    if servers:
        if not all(servers) or len(set(servers)) < len(servers):
            raise ValueError(f"{text!r} is not a tool set: write SET+SERVER, with a different server after each +")
        base_set = tool_set(base)
        return replace(base_set, name="+".join((base_set.name, *servers)), servers=tuple(servers))
    if text in TOOL_SETS:
        return TOOL_SETS[text]
    names = [name.strip() for name in text.split(",") if name.strip()]
    if len(names) == 1 and names[0] not in _all_tools():
        raise ValueError(
            f"there is no tool set or tool {text!r}: choose from the tool sets {', '.join(TOOL_SETS)}, "
            f"or list tools with commas from {', '.join(_all_tools())}"
        )
    for name in names:
        find_tool(name)
    if not names:
        raise ValueError("a tool set needs at least one tool")
    if "submit" not in names:
        names.append("submit")
    return ToolSet(",".join(names), tuple(names))
