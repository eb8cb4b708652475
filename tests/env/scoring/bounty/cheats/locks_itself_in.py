"""The process gives up every system call but four, so that the next one kills it without a word."""

CODE = r"""
import ctypes

ctypes.CDLL(None).prctl(22, 1, 0, 0, 0)
"""
