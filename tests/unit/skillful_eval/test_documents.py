"""Strict JSON: what is refused, and where it is said to be."""

from __future__ import annotations

import json

import pytest

from skillful_eval.documents import FlawError, canonical, encodes, located, parse_json, read_json, read_text
from skillshift.frame.errors import InputError


@pytest.mark.parametrize(
    ("text", "path", "said"),
    [
        ('{"a": 1, "a": 2}', (), 'the key "a" stands twice'),
        ('{"x": {"a": 1, "a": 2}}', ("x",), 'the key "a" stands twice'),
        ('{"x": [0, {"y": NaN}]}', ("x", 1, "y"), "found NaN, which is not JSON"),
        ("[-Infinity]", (0,), "found -Infinity"),
        ("[" * 100_000, (0, 0, 0), "nested too deeply"),
        ("[0, [1, {}, [" + "[" * 100_000, (1, 2, 0), "nested too deeply"),
        (
            '{"a\\"[": ["]", {"x": {"b": 1}, "y": 2, "z": ' + "[" * 100_000,
            ('a"[', 1, "z"),
            "nested too deeply",
        ),
        ("[" * 100_000 + '"\\q": 1', (0, 0, 0), "nested too deeply"),
        ("[1, " + "1" * 5_000 + "]", (1,), "found a whole number of 5,000 digits"),
        ('{"x": -' + "1" * 5_000 + "}", ("x",), "found a whole number of 5,000 digits"),
        ("[" + "1" * 5_000 + ", " + "[" * 100_000, (1, 0, 0), "nested too deeply"),
        ('{"x": {"a": NaN}, "x": 1}', (), "found NaN"),
    ],
)
def test_a_flaw_is_refused_and_located(text, path, said):
    with pytest.raises(FlawError, match=said) as caught:
        parse_json(text)
    assert caught.value.path == path


def test_equal_objects_are_told_apart():
    """The flawed object is found by what it is, not by what it equals."""
    with pytest.raises(FlawError) as caught:
        parse_json('{"a": {"b": 2}, "c": {"b": 1, "b": 2}}')
    assert caught.value.path == ("c",)


def test_strict_text_parses_as_usual():
    text = '{"a": [1, 2.5, null, true, "\\u00e9"], "b": {}}'
    assert parse_json(text) == json.loads(text)
    with pytest.raises(json.JSONDecodeError):
        parse_json('{"a": ')


def test_a_file_is_read_with_or_without_a_mark(tmp_path):
    path = tmp_path / "a.json"
    path.write_bytes(b"\xef\xbb\xbf[1]")
    assert read_json(path, "a list", "a list of numbers") == [1]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"[1,\n 2", r"a\.json:2:3: not JSON: .*; expected a list of numbers"),
        (b"[NaN]", r"a\.json: 0: found NaN, which is not JSON; the whole must be a list of numbers"),
        (b'{"a": [' + b"1" * 5_000 + b"]}", r"a\.json: a\.0: found a whole number of 5,000 digits; expected"),
        (b"\xff", r"a\.json: not UTF-8 text .*; expected a list"),
    ],
)
def test_an_unreadable_file_is_named(tmp_path, content, said):
    path = tmp_path / "a.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=said):
        read_json(path, "a list", "a list of numbers")


@pytest.mark.parametrize("name", ["none.json", "", "nul\0l"])
def test_what_is_no_file_is_refused(tmp_path, name):
    path = str(tmp_path / name) if "\0" not in name else name
    with pytest.raises(InputError, match="cannot be read"):
        read_text(path, "a list")


def test_canonical_text_does_not_depend_on_order():
    assert canonical({"b": [1], "a": "ễ"}) == canonical({"a": "ễ", "b": [1]}) == '{"a":"ễ","b":[1]}'


def test_half_a_pair_is_no_text():
    assert encodes("\U0001f600")
    assert not encodes("\ud83d")


def test_a_place_in_a_message_is_short_and_can_be_printed():
    said = located(FlawError("found NaN", ("\ud800", "x" * 1000, 3)))
    said.encode()
    assert said.startswith("\\ud800.xxx")
    assert said.endswith("x.3: found NaN")
    assert len(said) < 150
    assert located(FlawError("found NaN")) == "found NaN"
