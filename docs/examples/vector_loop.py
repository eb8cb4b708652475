"""Play four episodes at once with one pool of sandboxes."""

import stackrank

with stackrank.make_vec("bugs", 4, tools="debug", rewards={"verdict": 1, "milestones": 0.2}) as envs:
    envs.reset()
    for tool in ("listdir", "eval", "submit"):
        transitions = envs.step([{"tool": tool}] * len(envs))
    for transition in transitions:
        print(transition.info["task"], transition.info["verdict"], round(transition.reward, 3))
