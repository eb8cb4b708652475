"""What test programs of other languages print, as it was printed by them. What a program can do to it comes first."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackrank.env.scoring.log_formats import log_formats, read_log

OUTPUTS = Path(__file__).with_name("outputs")


def read(format: str, name: str) -> dict[str, str]:
    return read_log(format, (OUTPUTS / name).read_text(encoding="utf-8"))


def test_a_program_that_ends_the_process_before_its_tests_are_over_has_no_results() -> None:
    assert read("cargo", "cargo_exited.txt") == {}
    whole = (OUTPUTS / "cargo.txt").read_text()
    assert read_log("cargo", whole.replace("test good ... ok\n", "").replace("2 passed; 1 failed", "1 passed")) == {}
    ctest = (OUTPUTS / "ctest.txt").read_text()
    assert read_log("ctest", "".join(line for line in ctest.splitlines(True) if "#1" not in line)) == {}
    began = '{"Action":"run","Package":"m","Test":"TestOk"}\n{"Action":"pass","Package":"m"}\n'
    assert read_log("go", began) == {"m::TestOk": "missing"}


@pytest.mark.parametrize("format", ["cargo", "catch2", "ctest", "go", "jest", "junit"])
@pytest.mark.parametrize(
    "output",
    [
        "",
        '{"testResults": [{}]}\n{"testResults": 3}\n{"\n',
        '{"Action": 3}\n[]',
        "<?xml version='1.0'?><testsuites><testcase></testsuites>",
        '<?xml version="1.0"?>\n<!DOCTYPE a [<!ENTITY b "bbb">]>\n<testsuite><testcase name="&b;"/></testsuite>',
        "\x00\ud800 ... ok" * 50,
        "a.c:1: error: expected ;\nmake: *** [Makefile:7: x.o] Error 1\n",
    ],
)
def test_output_without_results_has_none(format: str, output: str) -> None:
    assert read_log(format, output) == {}


@pytest.mark.parametrize(
    ("format", "output"),
    [
        ("cargo", f"running {'9' * 5000} tests\n"),
        ("ctest", f"100% tests passed, 0 tests failed out of {'9' * 5000}\n"),
        ("go", '{"Action": [], "Test": 1}\n'),
        ("jest", '{"testResults":' + "[" * 200_000 + "\n"),
    ],
)
def test_an_output_that_a_reader_does_not_survive_has_no_results(
    format: str, output: str, caplog: pytest.LogCaptureFixture
) -> None:
    """If it raised, an entrant could turn its loss into an error by printing."""
    assert read_log(format, output) == {}
    assert f"cannot be read as {format}" in caplog.text


@pytest.mark.parametrize(
    ("format", "output"), [("junit", '<?xml version="1.0"?>' + "<!>" * 60), ("ctest", "\n" * 200_000)]
)
def test_an_output_does_not_keep_a_reader_busy(format: str, output: str, caplog: pytest.LogCaptureFixture) -> None:
    assert read_log(format, output) == {}
    assert not caplog.text


def test_the_worst_outcome_of_a_test_counts() -> None:
    cases = '<testcase classname="A" name="a"/><testcase classname="A" name="a"><failure/></testcase>'
    document = f'<?xml version="1.0"?>\n<testsuite>{cases}</testsuite>\n'
    assert read_log("junit", document) == {"A::a": "failed"}
    assert read_log("junit", document + document.replace("<failure/>", "<skipped/>")) == {"A::a": "failed"}


GO = {"m::TestOk": "passed", "m::TestOk/a_b": "passed", "m::TestBad": "failed", "m::TestSkip": "skipped"}
CATCH2 = {"adds": "passed", "subtracts two [numbers]": "failed", "throws": "failed"}
CTEST = {"good": "passed", "bad": "failed", "off": "skipped"}
JEST = {
    "a.spec.js::alone": "passed",
    "a.spec.js::group > passes": "passed",
    "a.spec.js::group > fails": "failed",
    "a.spec.js::group > later": "skipped",
    "a.spec.js::group > inner > x > y": "passed",
}


@pytest.mark.parametrize(
    ("format", "name", "outcomes"),
    [
        ("go", "go.jsonl", GO),
        ("go", "go.txt", GO),
        ("catch2", "catch2.xml", CATCH2),
        ("catch2", "catch2.txt", CATCH2),
        ("ctest", "ctest.txt", CTEST),
        ("junit", "ctest.xml", {f"{name}::{name}": outcome for name, outcome in CTEST.items()}),
        ("jest", "jest.json", {**JEST, "b.spec.js": "failed"}),
        ("jest", "jest.txt", JEST),
        (
            "cargo",
            "cargo.txt",
            {
                "tests/t.rs::good": "passed",
                "tests/t.rs::bad": "failed",
                "tests/t.rs::inner::panics - should panic": "passed",
                "tests/t.rs::off": "skipped",
                "m::src/lib.rs - (line 1)": "passed",
            },
        ),
        (
            "junit",
            "junit.txt",
            {
                "BaseConverterTest::testOne()": "passed",
                "BaseConverterTest::testTwo()": "failed",
                "OtherTest::cases(int) > [1] 3": "passed",
                "OtherTest::later()": "skipped",
            },
        ),
    ],
)
def test_each_test_has_its_outcome(format: str, name: str, outcomes: dict[str, str]) -> None:
    assert format in log_formats()
    assert read(format, name) == outcomes
