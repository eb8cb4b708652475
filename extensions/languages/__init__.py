"""Other languages than Python: their tests as verdicts, their exercises in `aider`, and the tool `debug`.

What every task has, whatever its language, belongs in the core.
"""
