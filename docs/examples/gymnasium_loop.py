"""A random policy in Gymnasium's loop, with dense rewards."""

from stackrank.extensions.training.gymnasium import GymEnv

env = GymEnv("bugs/vat-table", rewards=("verdict", "tests", "distance"), steps=5)
observation, info = env.reset(seed=1)
is_done, total = False, 0.0
while not is_done:
    action = {"tool": env.np_random.integers(len(env.tools)), "arguments": "{}"}
    observation, reward, terminated, truncated, info = env.step(action)
    is_done, total = terminated or truncated, total + reward
print(info["stop_reason"], info["verdict"], total)
env.close()
