"""The key is found on the heap, and signs records that lack what ours have."""

CODE = r"""
import gc, hashlib, hmac, json, os

for each in gc.get_objects():
    if getattr(each, "__qualname__", "") == "install.<locals>.emit":
        cells = dict(zip(each.__code__.co_freevars, [cell.cell_contents for cell in each.__closure__]))
        for text in ("{}", "[]", "{", json.dumps({"seq": 0}), "[" * 100000):
            mark = hmac.new(cells["key"], text.encode(), hashlib.sha256).hexdigest()
            os.write(cells["fd"], (mark + " " + text + "\n").encode())
"""
