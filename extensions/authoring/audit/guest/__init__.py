"""Runs inside a sandbox: tries many changes of a program against its tests, each in a process forked for it.

Standard library and pytest only, Python 3.8. The changes are our own, so nothing here protects against forgery: the
scorer has agreed with everything that the audit reports.
"""
