"""An episode over WebSocket with OpenEnv's client: `openenv_loop.py http://127.0.0.1:8765`."""

import sys

from openenv.core import GenericEnvClient

with GenericEnvClient(base_url=sys.argv[1]).sync() as env:
    result = env.reset(task="bugs/vat-table")
    for tool, arguments in (("listdir", {}), ("pdb", {"command": "c"}), ("submit", {})):
        result = env.step({"tool": tool, "arguments": arguments})
        print(result.observation["text"].partition("\n")[0])
    print(result.done, result.reward, result.observation["metadata"]["verdict"])
