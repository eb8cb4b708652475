"""An episode as SkyRL's generator plays it: prompts, steps and rewards. It runs where skyrl-gym is."""

from __future__ import annotations

import json
import sys

import skyrl_gym

from stackrank.extensions.training.skyrl import register


def main() -> None:
    """Play the answers of the command line, until the episode is over."""
    register(tools="debug", sandbox="bubblewrap", rewards={"verdict": 1.0, "tests": 0.2})
    env = skyrl_gym.make("stackrank", env_config={}, extras={"task": "bugs/vat-table", "max_turns": 4})
    messages, _ = env.init([])
    steps = []
    for answer in json.loads(sys.argv[1]):
        step = env.step(answer)
        steps.append({"reward": step["reward"], "done": step["done"], "said": step["observations"]})
    env.close()
    print(json.dumps({"prompt": messages, "steps": steps}))


if __name__ == "__main__":
    main()
