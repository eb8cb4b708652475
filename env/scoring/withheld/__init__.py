"""The run with withheld expectations: the hidden tests no longer say which answers are wanted, but still ask for them.

`questions` writes these tests, `ownership` tells a test's own values from those of the program, and `answers` compares.
"""
