"""The resident program of a sandbox. Runs inside, under any Python from 3.8 on, with the standard library only.

The host sends this package as a zip over the channel (see `env.sandbox.client`); it is kept in an anonymous
memory file, so nothing of it is on any disk that the agent can list.
"""
