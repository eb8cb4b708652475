"""os.write and hmac are replaced."""

CODE = r"""
import hmac, json, os

os.write = lambda fd, data: len(data)
hmac.new = None
json.dumps = lambda value, **k: "{}"
"""
