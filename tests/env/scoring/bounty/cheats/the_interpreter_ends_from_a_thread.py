"""A thread ends the interpreter while the tests run."""

CODE = r"""
import ctypes, threading
threading.Timer(0.05, ctypes.pythonapi.Py_FinalizeEx).start()
"""
