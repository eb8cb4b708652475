"""The messages of OpenEnv (https://github.com/huggingface/OpenEnv), as our environments fill them.

OpenEnv's clients need nothing of ours, and the server in `serve` needs nothing of OpenEnv's.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from stackrank.env.actions import Observation
from stackrank.env.tools import ToolSet
from stackrank.env.tools.base import Described, schema
from stackrank.extensions.training.env import Info

PROTOCOL = "1.0.0"


class WireAction(BaseModel):
    """The action that `step` takes."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    tool: str
    """Name of a tool; `POST /mcp` with the method `tools/list` describes them."""
    arguments: dict[str, Any] = Field(default_factory=dict)
    metadata: dict[str, Any] = Field(default_factory=dict)
    """Ignored."""


class WireObservation(BaseModel):
    """What `reset` and `step` return, in addition to `reward` and `done`."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    text: str
    """The text that an agent reads."""
    ok: bool
    """False if the tool could not do what was asked."""
    truncated: bool = False
    """Whether a limit ended the episode."""
    metadata: dict[str, Any] = Field(default_factory=dict)
    """The `info` of a transition."""


class WireState(BaseModel):
    """What `state` returns."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    episode_id: str | None = None
    """The id that was given to `reset`."""
    step_count: int = 0
    task: str = ""
    session: str = ""
    """The name by which another session branches from this one."""


class WireReset(BaseModel):
    """What `reset` takes."""

    model_config = ConfigDict(extra="ignore", use_attribute_docstrings=True)

    task: str | None = None
    """A task such as `bugs/vat-table`. Default: the next task that is served, or the one that `seed` picks."""
    seed: int | None = None
    branch: str | None = Field(default=None, max_length=64)
    """Stand where another session's episode stands: its `session`, as its `state` says. Default: a new episode."""
    at: int | None = None
    """The step of that episode after which the branch begins. Default: its last."""
    episode_id: str | None = Field(default=None, max_length=255)


def answer(
    observation: Observation, info: Info, *, reward: float | None, is_done: bool, truncated: bool = False
) -> dict[str, Any]:
    """Return the answer to `reset` and `step`."""
    wire = WireObservation(text=observation.text, ok=observation.ok, truncated=truncated, metadata=info)
    return {"observation": wire.model_dump(), "reward": reward, "done": is_done}


def schemas(tools: ToolSet) -> dict[str, Any]:
    """Return the answer to `GET /schema`. It lists the tools, because some clients show a model nothing else."""
    kinds: dict[str, type[BaseModel]] = {"action": WireAction, "observation": WireObservation, "state": WireState}
    models = {name: kind.model_json_schema() for name, kind in kinds.items()}
    signatures = [f"{tool.name}({', '.join(schema(tool)['properties'])}): {tool.description}" for tool in _all(tools)]
    models["action"]["properties"]["tool"] |= {"enum": list(tools.tools), "description": "\n".join(signatures)}
    return models


def _all(tools: ToolSet) -> list[Described]:
    return [tools.find(name) for name in tools.tools]


def mcp_answer(request: object, tools: ToolSet) -> dict[str, Any]:
    """Return the answer to `POST /mcp`, which only describes tools: an episode is played over `/ws`."""
    message = request if isinstance(request, dict) else {}
    reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message.get("id")}
    if message.get("jsonrpc") != "2.0" or not isinstance(message.get("method"), str):
        return {**reply, "error": {"code": -32600, "message": "this is no JSON-RPC 2.0 request"}}
    if message["method"] != "tools/list":
        return {**reply, "error": {"code": -32601, "message": "only tools/list is answered here: play over /ws"}}
    listed = [{"name": e.name, "description": e.description, "inputSchema": schema(e)} for e in _all(tools)]
    return {**reply, "result": {"tools": listed}}
