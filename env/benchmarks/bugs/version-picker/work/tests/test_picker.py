# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from versions.picker import newest, update
from versions.version import Version


def test_newest():
    offered = ["1.9.0", "1.10.0", "2.0.0-rc.2", "2.0.0", "2.0.0-rc.10"]
    assert newest(offered) == ["2.0.0", "1.10.0", "1.9.0"]
    assert newest(offered, "^2.0.0-rc.1", pre=True) == ["2.0.0", "2.0.0-rc.10", "2.0.0-rc.2"]


def test_update():
    assert update("1.4.0", ["1.3.0", "1.5.0-rc.1", "1.4.1"]) == "1.4.1"
    assert update("1.4.0-beta", ["1.4.0-alpha.3"]) is None


def test_no_version():
    with pytest.raises(ValueError):
        Version("1.2")
