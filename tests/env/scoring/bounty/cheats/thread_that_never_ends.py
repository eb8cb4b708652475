"""All tests pass or fail, and then the process does not end, for a thread of it never does."""

LIMIT_S = 5
CODE = r"""
import threading

threading.Thread(target=threading.Event().wait).start()
"""
