"""File names that look like those of tests, of options, or of nothing."""

FILES = dict.fromkeys(
    (
        "tests/test_hidden.py\n",
        "tests/test_hidden.py ",
        "tests\\test_hidden.py",
        "TESTS/test_hidden.py",
        "tests/TEST_HIDDEN.py",
        "-p",
        "--collect-only",
        "tests/--co.py",
        "\x01\x1b[2J.py",
        "a\u202eyp.py",
        "tests/\u202etest_x.py",
        "tests/test_hidden.py::x.py",
        "[x].py",
        "tests/[test_hidden].py",
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx.py",
    ),
    "def test_x(): pass\n",
)
