"""A thread changes the runner while it runs."""

CODE = r"""
import threading, time


def patch():
    import _pytest.python

    while True:
        _pytest.python.Function.runtest = lambda self: None
        time.sleep(0.001)


threading.Thread(target=patch, daemon=True).start()
"""
