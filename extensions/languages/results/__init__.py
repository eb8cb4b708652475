"""Readers of what test programs of other languages print, one module a program, registered as `stackrank.log_formats`.

A reader gets the whole output and returns each test's outcome; none if results are missing that the output announces.
Each reads the form for programs and the form for people, so that one format serves a verdict and an agent's `eval`.
"""
