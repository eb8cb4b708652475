"""Signals raise exceptions wherever pytest happens to be."""

CODE = r"""
import signal, random
def rings(*_):
    raise KeyboardInterrupt if random.random() < 0.3 else ValueError("x")
signal.signal(signal.SIGALRM, rings)
signal.setitimer(signal.ITIMER_REAL, 0.005, 0.003)
"""
