"""The reporter is found on the heap, and its writer told to lie."""

CODE = r"""
import gc, json


def lying(record):
    if record.get("outcome") == "failed":
        record = {**record, "outcome": "passed", "reported": "passed"}
    return json.dumps(record)


for each in gc.get_objects():
    if getattr(each, "__qualname__", "") == "install.<locals>.emit":
        names = each.__code__.co_freevars
        each.__closure__[names.index("dumps")].cell_contents = lying
"""
