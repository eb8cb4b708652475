"""Test modules are loaded by a finder of the program's own."""

CODE = r"""
import importlib.abc, importlib.util, sys


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        if name.rpartition(".")[2].startswith("test_hidden"):
            return importlib.util.spec_from_loader(name, self)

    def exec_module(self, module):
        import re

        source = open("tests/test_hidden.py").read()
        exec(re.sub(r"assert .*", "pass", source), module.__dict__)


sys.meta_path.insert(0, Finder())
"""
