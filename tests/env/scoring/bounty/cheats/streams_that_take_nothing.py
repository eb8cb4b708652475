"""Both streams write another code, or raise, or are none; so do locale and codecs."""

CODE = r"""
import codecs
import io
import sys


class _Stream(io.TextIOBase):
    encoding = "utf-16"

    def write(self, text):
        raise UnicodeEncodeError("utf-16", text or "x", 0, 1, "no")

    def flush(self):
        raise OSError(28, "no")

    def fileno(self):
        return -1

    def isatty(self):
        raise ValueError


sys.stdout = sys.__stdout__ = _Stream()
sys.stderr = sys.__stderr__ = None
for _name in ("strict", "replace", "backslashreplace", "surrogateescape", "ignore"):
    codecs.register_error(_name, lambda error: ("\udcff", 0))
"""
