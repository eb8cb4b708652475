"""A hook of its own."""

CODE = r"""
import sys

frame = sys._getframe()
while frame and "config" not in frame.f_locals:
    frame = frame.f_back


class Evil:
    @staticmethod
    def pytest_runtest_makereport(item, call):
        call.excinfo = None


frame.f_locals["config"].pluginmanager.register(Evil())
"""
