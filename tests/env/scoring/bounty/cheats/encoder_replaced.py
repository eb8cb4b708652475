"""The reporter's JSON encoder says something else."""

CODE = r"""
import json

plain = json.JSONEncoder.encode


def encode(self, value):
    if isinstance(value, dict) and value.get("outcome") == "failed":
        value = {**value, "outcome": "passed", "reported": "passed", "message": ""}
    return plain(self, value)


json.JSONEncoder.encode = encode
"""
