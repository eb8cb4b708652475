"""Three megabytes of constants, whose tree takes a gigabyte of the worker's memory."""

FILES = {"more.py": "x = [" + "0," * 1_500_000 + "]\n"}
