# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from layers.files import parse
from layers.stack import Stack

BASE = """
[web]
port = 80
debug = true
[web.tls]
cert = "site.pem"
"""
SITE = """
[web]
port = 8080
[web.tls]
cert = !unset
[mail]
host = "mx"
debug = !unset
"""


def test_override():
    stack = Stack(BASE, "[web]\nport = 81\n")
    assert stack.get("web.port") == 81
    assert stack.get("web.debug") is True


def test_unset_over_a_full_base():
    stack = Stack(BASE + '[mail]\nhost = "old"\ndebug = true\n', SITE)
    assert stack.dump() == '[web]\nport = 8080\ndebug = true\n[mail]\nhost = "mx"\n'


def test_unset_over_a_short_base():
    assert Stack(BASE, SITE).dump() == '[web]\nport = 8080\ndebug = true\n[mail]\nhost = "mx"\n'


def test_bad_line():
    with pytest.raises(ValueError, match="line 2"):
        parse("a = 1\nhello\n")
