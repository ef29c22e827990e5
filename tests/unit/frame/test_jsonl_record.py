from __future__ import annotations

import json
from contextlib import suppress

import pytest

from skillshift.frame.jsonl_record import RecordParser, raw_values, record_in
from skillshift.frame.jsonl_values import BadLineError


@pytest.fixture
def parse(probe):
    return RecordParser(probe).parse


@pytest.fixture
def why(parse):
    """Why a line is refused: code, field, found."""

    def refused(line: str | bytes, end: bytes = b"\n") -> list[tuple[str, str | None, str]]:
        with pytest.raises(BadLineError) as caught:
            parse((line if isinstance(line, bytes) else line.encode()) + end)
        return [(one.code, one.field, one.found) for one in caught.value.violations]

    return refused


def test_fields_and_other_keys(parse, record):
    line = (
        record(count=2.0, run=7, texts=["b"], number=1, note=None)[:-1] + ', "x": 1.50, "y" : {"z":[ ]} }\r\n'
    )
    known, others = parse(line.encode())
    assert known == {
        "name": "a", "flag": True, "count": 2, "note": None, "run": "7", "number": 1.0, "texts": ["b"],
    }  # fmt: skip
    assert others == {"x": "1.50", "y": '{"z":[ ]}'}


def test_null_is_the_contracts_affair(parse, record):
    assert parse(record(name=None, flag=None, count=None).encode())[0] == dict.fromkeys(
        ["name", "flag", "count"]
    )


def test_every_wrong_field_is_told_with_what_was_found(why):
    line = '{"name": 1, "flag": 0.50, "count": "' + "9" * 99 + '"}'
    assert why(line) == [
        ("name.type", "name", "1"),
        ("flag.type", "flag", "0.50"),
        ("count.type", "count", '"' + "9" * 76 + "..."),
    ]


def test_a_missing_key_names_the_nearest_other(parse, why):
    assert why("{}") == [
        (f"{key}.missing-key", key, "no such key, the object is empty") for key in ["name", "flag", "count"]
    ]
    with pytest.raises(BadLineError) as caught:
        parse(b'{"name": "a", "flags": true, "count": 1}')
    (violation,) = caught.value.violations
    assert violation.found == "no such key (keys: name, flags, count)"
    assert violation.expected == "the key with true or false or null"
    assert violation.hint == "the key 'flags' is near to it"


def test_a_key_of_the_table_is_not_the_nearest_one(parse):
    with pytest.raises(BadLineError) as caught:
        parse(b'{"name": "a", "flag": true, "note": "count"}')
    assert caught.value.violations[0].hint == ""


@pytest.mark.parametrize("text", ['"a"', "[1]", "null", "1.5", "true", '""'])
def test_a_line_that_is_no_object(why, text):
    assert why(text) == [("json.object", None, text)]


NO_JSON = [
    *("{", "nope", "{}x", "// {}", "{'a': 1}", '{"a": 1,}', '{"a": 01}', '{"a": +1}', '{"a": 1} {"a": 2}'),
    *('{"a": "\t"}', '{"a": "\\x"}', '{"a": "\\u12g4"}', '{"a": TRUE}', "\ufeff{}", "\x0c{}", "\xa0{}"),
]


@pytest.mark.parametrize("text", NO_JSON)
def test_a_line_that_is_no_json(why, text):
    assert why(text) == [("json.syntax", None, text)]


def test_a_comment_gets_a_hint(parse):
    with pytest.raises(BadLineError) as caught:
        parse(b"# hello\n")
    assert caught.value.violations[0].hint == "comments are not allowed here"


@pytest.mark.parametrize("length", [1, 9, 20, -1])
def test_a_cut_last_line(why, record, length):
    whole = record()
    ((code, field, found),) = why(whole[:length], end=b"")
    assert (code, field) == ("json.cut", None)
    assert found == f"{whole[:length][-40:]} at the end of the file"


def test_a_last_line_cut_inside_a_character_or_an_inner_object(why):
    assert why('{"name": "é'.encode()[:-1], end=b"")[0][0] == "json.cut"
    assert why('{"a": {"b": 1}', end=b"")[0][0] == "json.cut"


def test_a_wrong_last_line_is_not_cut(why):
    assert why('{"a": nope}', end=b"")[0][0] == "json.syntax"
    assert why(b'{"name": "\xff"}', end=b"")[0][0] == "encoding.utf8"


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_constants(why, record, constant):
    assert why(record(count=0).replace("0", constant)) == [("json.constant", "count", constant)]
    assert why(record(x=[0]).replace("[0]", f"[{constant}]")) == [("json.constant", None, constant)]


def test_keys_that_stand_there_twice(why, record):
    line = record()[:-1] + ', "x": 1, "na\\u006de": "b", "x": 1}'
    assert why(line) == [
        ("json.duplicate-key", "name", "the key twice"),
        ("json.duplicate-key", "x", "the key twice"),
    ]


def test_keys_twice_in_an_inner_object_lose_nothing(parse, record):
    assert parse((record()[:-1] + ', "x": {"a": 1, "a": 2}}').encode())[1] == {"x": '{"a": 1, "a": 2}'}


@pytest.mark.parametrize("text", ["\\ud800", "\\udc00\\ud800", "x\\uDFFFy", "\\ud83d\\ud83d\\ude00"])
def test_half_a_surrogate_pair(why, record, text):
    assert why(record(name="@").replace("@", text))[0][0] == "json.surrogate"
    assert why(record(x=[{"@": 1}]).replace("@", text))[0][0] == "json.surrogate"
    assert why('{"@": NaN, "@": 1}'.replace("@", text)) == [("json.constant", None, "NaN")]
    assert why('{"@": 1, "@": 1}'.replace("@", text))[0][0] == "json.surrogate"


@pytest.mark.parametrize("text", ["\\ud83d\\ude00", "\\\\ud800", "\\uD83D\\uDE00\\u0000"])
def test_whole_characters(parse, record, text):
    line = record(name="@").replace("@", text)
    assert parse(line.encode())[0]["name"] == json.loads(f'"{text}"')


def test_bytes_that_are_not_utf8(why):
    assert why(b'{"a": "\xe9"}') == [("encoding.utf8", None, "the byte 0xe9 as byte 8 of the line")]


@pytest.mark.parametrize("name", ["_file", "_record"])
def test_the_readers_own_columns(why, record, name):
    assert why(record(**{name: 1})) == [("json.reserved-key", name, "the key")]


@pytest.mark.parametrize("depth", [*range(900, 1000), 100_000])
def test_depth_is_fine_or_a_refusal_but_no_traceback(parse, why, record, depth):
    value = "[" * depth + "]" * depth
    line = record()[:-1] + f', "x": {value}}}'
    with suppress(BadLineError):
        assert parse(line.encode())[1] == {"x": value}
        return
    assert why(line)[0][0] == "json.syntax"


def test_thousands_of_digits(why, parse, record):
    digits = "9" * 5000
    assert [one[0] for one in why(record(count=0).replace("0", digits))] == ["count.range"]
    assert parse(record(run=0).replace("0", digits).encode())[0]["run"] == digits
    assert parse(record(x=0).replace("0", digits).encode())[1] == {"x": digits}


@pytest.mark.parametrize(
    "text",
    [
        '{"k": 1, "x": "k"}',
        '{"\\u006b": 1, "x": "k"}',
        '{"x": "k", "\\u006b": 1}',
        '{"x": ["k"], "k": 1}',
        '{"x": {"k": 2}, "k" :\t1 }',
        '{"x": "\\"k\\"", "k": 1}',
        ' { "x" : "a\\\\" , "k": 1}',
    ],
)
def test_raw_values_belong_to_their_key(text):
    assert raw_values(text, ["k"]) == {"k": "1"}


def test_raw_values_of_odd_keys():
    text = '{",": ["a","b"], "": 1, ":": {"": ":"}, "\\"": [ ]}'
    assert raw_values(text, [",", "", ":", '"']) == {",": '["a","b"]', "": "1", ":": '{"": ":"}', '"': "[ ]"}


def test_what_can_be_read_of_a_refused_line():
    assert record_in('{"a": 1}') == {"a": 1}
    for text in ["[1]", "nope", "9" * 5000, "[" * 100_000]:
        assert record_in(text) is None
