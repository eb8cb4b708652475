"""Every process that it can reach is killed, itself among them."""

CODE = r"""
import os
import signal

os.kill(-1, signal.SIGKILL)
"""
