from __future__ import annotations

import copy
import pickle
import time
from decimal import Decimal

import pytest

from skillshift.frame.errors import InputError
from skillshift.submission.jsontext import MAX_BYTES, Number, dump, parse, printable, read_bytes

HOSTILE = {
    "too long": (b'{"a": "' + b"x" * 50_000_000 + b'"}', "more than 524,288 bytes"),
    "too deep": (b'{"a":' + b"[" * 10_000 + b"]" * 10_000 + b"}", "10,001 levels of nesting"),
    "unclosed": (b"[" * 500_000, "500,000 levels"),
    "a key twice": (b'{"a": 1, "b": 2, "a": 3}', 'the key "a" occurs twice'),
    "a key twice inside": (b'{"x": {"a": 1, "a": 1}}', 'the key "a" occurs twice'),
    "NaN": (b'{"a": NaN}', "found NaN"),
    "Infinity": (b'{"a": -Infinity}', "found -Infinity"),
    "1e999": (b'{"a": 1e999}', "1e999"),
    "a tiny number": (b'{"a": 1e-999999999}', "1e-999999999"),
    "just above a double": (b'{"a": 1.8e308}', "a double holds"),
    "just below a double": (b'{"a": -1e-400}', "a double holds"),
    "an endless exponent": (b'{"a": 1e99999999999999999999999}', "a double holds"),
    "an endless number": (b'{"a": ' + b"9" * 100_000 + b"}", "100,000 characters"),
    "half a character": (b'{"a": "\\ud800"}', "lone surrogate"),
    "half a character in a key": (b'{"\\udfff": 1}', "lone surrogate"),
    "half a character in a key twice": (b'{"\\ud800": 1, "\\ud800": 2}', "occurs twice"),
    "many escapes": (b'{"a":"' + b'\\"' * 250_000, "Unterminated string"),
    "many quotes": (b'{"a":' + b'""' * 250_000, "not JSON"),
    "not UTF-8": (b'{"a": "\xff"}', "byte 8 is not UTF-8"),
    "a list": (b"[1]", "expected one JSON object"),
    "nothing": (b"", "line 1, column 1: not JSON"),
    "cut off": (b'{"a": 1', "not JSON"),
    "two documents": (b"{}{}", "Extra data"),
    "a comment": (b'{"a": 1} // b', "Extra data"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_documents_are_refused_quickly_with_one_clear_message(case):
    raw, message = HOSTILE[case]
    started = time.perf_counter()
    with pytest.raises(InputError, match=message) as error:
        parse(read_bytes(raw)[0], "document")
    assert time.perf_counter() - started < 2
    text = str(error.value)
    assert text.startswith("document: ")
    assert text == printable(text), "a terminal takes it for nothing but text"
    assert len(text) < 300


def test_a_file_is_read_no_further_than_a_document_goes(tmp_path):
    big = tmp_path / "big.json"
    with big.open("wb") as file:
        file.truncate(2**40)  # sparse: reading it all would never end
    with pytest.raises(InputError, match="more than"):
        read_bytes(big)


@pytest.mark.parametrize("name", ["absent.json", "."])
def test_an_unreadable_file_is_named(tmp_path, name):
    with pytest.raises(InputError, match="cannot be read"):
        read_bytes(tmp_path / name)


def test_a_document_of_just_the_limit_is_read():
    raw = b'{"a": "' + b"x" * (MAX_BYTES - 9) + b'"}'
    assert len(parse(read_bytes(raw)[0], "document")["a"]) == MAX_BYTES - 9


def test_brackets_within_text_are_not_nesting():
    assert parse(b'{"a": "' + b"[" * 100 + b'\\"{{{{"}', "document")["a"].endswith('"{{{{')


def test_nesting_is_read_up_to_its_limit():
    assert parse(b'{"a":' + b"[" * 31 + b"]" * 31 + b"}", "document")
    with pytest.raises(InputError, match="33 levels"):
        parse(b'{"a":' + b"[" * 32 + b"]" * 32 + b"}", "document")


def test_a_byte_order_mark_is_passed_over():
    assert parse(b'\xef\xbb\xbf{"a": 1}', "document") == {"a": 1}


LITERALS = [
    "16.90",
    "16.9",
    "0.0",
    "-0.0",
    "-0",
    "0",
    "7",
    "1e2",
    "1E+2",
    "1.50e-3",
    "123456789012345678901234567890",
]


@pytest.mark.parametrize("literal", LITERALS)
def test_numbers_keep_their_form(literal):
    tree = parse(f'{{"a": {literal}}}'.encode(), "document")
    assert dump(tree) == f'{{\n  "a": {literal}\n}}'
    assert Decimal(literal) == tree["a"]


@pytest.mark.parametrize("clone", [copy.copy, copy.deepcopy, lambda n: pickle.loads(pickle.dumps(n))])  # noqa: S301
def test_a_copied_number_keeps_its_form(clone):
    assert clone(Number("1e2")).literal == "1e2"


def test_numbers_from_python_take_their_shortest_text():
    assert [Number.of(n).literal for n in (16.9, 3, Decimal("2.50"))] == ["16.9", "3", "2.50"]


@pytest.mark.parametrize("wrong", [True, "1", None, float("nan"), float("inf"), Decimal("sNaN")])
def test_what_is_no_finite_number_is_refused(wrong):
    with pytest.raises(ValueError, match="not a"):
        Number.of(wrong)


def test_dump_writes_as_the_published_documents_are_written():
    tree = {"b": [], "a": {"text": "é\n", "list": [1, None, True]}}
    assert dump(tree).splitlines() == [
        "{",
        '  "b": [],',
        '  "a": {',
        '    "text": "é\\n",',
        '    "list": [',
        "      1,",
        "      null,",
        "      true",
        "    ]",
        "  }",
        "}",
    ]
