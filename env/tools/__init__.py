"""The tools of agents. One file each; see `base.Tool` for the protocol, and `registry` for the list.

What connects tools of other programs belongs in an extension; `server_plugin` says what it provides.
"""

from stackrank.env.tools.base import Bench, Tool, ToolError
from stackrank.env.tools.registry import CONTRAST, TOOL_SETS, ToolSet, find_tool, tool_names, tool_set

__all__ = ["CONTRAST", "TOOL_SETS", "Bench", "Tool", "ToolError", "ToolSet", "find_tool", "tool_names", "tool_set"]
