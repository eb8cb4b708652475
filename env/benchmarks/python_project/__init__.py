"""Python projects of other people: how they are installed for their tests, and how pytest runs these.

All of it is read from a project's files, which say it in many ways. Nothing here runs any of their code.
"""
