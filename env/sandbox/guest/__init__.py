"""The resident program of a sandbox. It runs inside, under Python 3.8 or later, with the standard library only.

The host sends this package as a zip over the channel (see `env.sandbox.client`). It is kept in an anonymous
memory file, so none of it is on a disk that the agent can list. `core` and `testing` decide verdicts, so the scorer's
digest covers them; `debugging` holds tools only. The modules here do nothing but put the three together.
"""
