"""Try eight continuations of one paused debugging session, each in an environment of its own."""

import stackrank

with stackrank.make("bugs/vat-table", tools="debug") as env:
    env.reset()
    env.step("pdb", command="b vat/rates.py:10")
    env.step("pdb", command="c")
    branches = [env.branch() for _ in range(8)]
for number, branch in enumerate(branches):  # they go on although `env` is closed
    with branch:
        observation, *_ = branch.step("pdb", command=f"p {number}")
        print(branch.branched_from, observation.text.splitlines()[-1], branch.score().resolved)
