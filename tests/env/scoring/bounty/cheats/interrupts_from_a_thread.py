"""A thread interrupts the main one for ever, so that no test comes to its end."""

CODE = r"""
import _thread
import threading
import time


def _on():
    while True:
        time.sleep(0.001)
        _thread.interrupt_main()


threading.Thread(target=_on, daemon=True).start()
"""
