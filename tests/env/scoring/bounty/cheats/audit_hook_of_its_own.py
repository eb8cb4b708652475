"""An audit hook stops the report of failures."""

CODE = r"""
import sys


def hook(event, arguments):
    if event == "stackrank.report" and arguments[0].get("outcome") == "failed":
        arguments[0].update(outcome="passed", reported="passed", message="")


sys.addaudithook(hook)
"""
