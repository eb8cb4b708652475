"""A hook that runs nothing."""

CODE = r"""
import sys

frame = sys._getframe()
while frame and "config" not in frame.f_locals:
    frame = frame.f_back


class Evil:
    @staticmethod
    def pytest_pyfunc_call(pyfuncitem):
        return True


frame.f_locals["config"].pluginmanager.register(Evil())
"""
