"""Keys in any form, private text by its look, and what stands for it."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillful_eval.recording.redaction import Redactor, digest, fits, hidden
from skillful_eval.router.prompts import WITHHELD
from skillful_eval.sanitise.keys import Keys
from skillful_eval.sanitise.private import Private
from skillful_eval.sanitise.views import MARK, views
from skillshift.frame.errors import UsageError

KEY = "Zeta/Quux+plum_42"


@pytest.mark.parametrize(
    "text",
    [
        KEY,
        f"model-{KEY}",
        f"x{KEY}x",
        KEY.upper(),
        quote(KEY, safe=""),
        quote(quote(KEY, safe=""), safe=""),
        "".join(f"%{ord(char):02x}" for char in KEY),
        "".join(f"%{ord(char):02X}" for char in KEY.lower()),
        json.dumps(KEY).replace("/", "\\/"),
        "".join(f"\\u{ord(char):04x}" for char in KEY),
        "\u200b".join(KEY),
        KEY.encode().hex(),
        base64.b64encode(KEY.encode()).decode(),
        base64.urlsafe_b64encode(KEY.encode()).decode().rstrip("="),
        base64.b64encode(f"user:{KEY}".encode()).decode(),
        base64.b64encode(f"us:{KEY}:x".encode()).decode(),
        base64.b64encode(f"u:{KEY}".encode()).decode(),
        f"{KEY}{KEY}",
    ],
)
def test_a_key_is_found_in_any_form(text):
    redactor = Redactor([f" {KEY}\n"])
    clean = redactor.text(f"so {text} so")
    assert MARK in clean
    left = clean.replace(MARK, "").casefold()
    assert "zeta" not in left
    assert "plum" not in left
    assert base64.b64encode(KEY.encode()).decode()[4:14].casefold() not in left
    assert clean.startswith("so ")
    assert clean.endswith(" so")


@pytest.mark.parametrize("key", [KEY, "plain words as a key", "?>?>?>~~~~"])
@pytest.mark.parametrize("before", ["", "u", "us", "user:"])
@pytest.mark.parametrize("after", ["", ":x", "yz"])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_a_key_is_found_in_base64_at_any_place(key, before, after, encode):
    """By what it is, whatever else its look tells."""
    text = f"see {encode(f'{before}{key}{after}'.encode()).decode()}"
    (view, *_) = views(text)
    ((_, first, last),) = Keys(secrets=[key]).find(view)
    # All but the characters that it shares with what is beside it.
    assert last - first >= len(key) * 4 // 3 - 2


def test_what_is_private_by_its_look_goes_without_any_key():
    assert Redactor().text("mail jane@example.org") == f"mail {MARK}"


def test_offered_ids_and_the_words_of_every_response_stay():
    redactor = Redactor(["none", "choice", "undo"])
    assert redactor.text("a:skill:x:undo", {"a:skill:x:undo"}) == "a:skill:x:undo"
    assert redactor.text("a:skill:x:undo") == f"a:skill:x:{MARK}"
    assert [redactor.text(word) for word in ("none", "choice", "noul")] == ["none", "choice", "noul"]


def test_blank_keys_are_no_keys():
    assert Redactor(["", " \n"]).text("a b") == "a b"


def test_one_text_is_no_list_of_keys():
    with pytest.raises(UsageError, match="expected a list"):
        Redactor("key")


def test_a_response_is_cleaned_in_texts_keys_and_numbers(answer):
    given = answer("jane@example.org", model=f"proxy-{KEY}")
    given["answers"]["primary"]["probabilities"] |= {f"{KEY}!": 0.2, f"{KEY}": 0.3}
    clean = Redactor([KEY]).response(given, frozenset())
    assert clean["model"] == f"proxy-{MARK}"
    assert clean["answers"]["primary"]["choice"] == MARK
    # The choice's own probability, which came first, is the one that stays.
    assert clean["answers"]["primary"]["probabilities"] == {MARK: 0.9, "none": 0.1, f"{MARK}!": 0.2}
    assert clean["usage"] == given["usage"]


def test_a_key_of_digits_is_found_in_numbers(answer):
    given = answer(usage={"input_tokens": 9876543210, "output_tokens": 3})
    given["answers"]["primary"]["probabilities"]["x"] = 0.9876543210
    given["answers"]["c0"]["noul"] = 19876543210.5
    clean = Redactor(["9876543210"]).response(given, frozenset())
    assert clean["usage"] == {"output_tokens": 3}
    assert clean["answers"]["c0"] == {"type": "noul"}
    # Zeros at the end of a fraction are not written, so this is another number.
    assert clean["answers"]["primary"]["probabilities"]["x"] == 0.987654321
    assert Redactor(["12"]).response(answer(), frozenset()) == answer()


def test_a_private_fixture_id_is_replaced_and_still_tells_apart():
    redactor = Redactor([KEY])
    names = ["3f2a8b1c-0d4e-4f6a-8b9c-0d1e2f3a4b5c", "jane@example.org", "john@example.org", f"f-{KEY}"]
    assert [redactor.fixture(name) for name in names] == [hidden(name) for name in names]
    assert len({*map(hidden, names)}) == len(names)
    assert redactor.fixture("amb-release") == "amb-release"


@given(st.text())
def test_what_stands_for_an_id_is_not_private_itself(text):
    assert Private().find(hidden(text)) == []
    assert Private().find(digest(text)) == []


def test_the_placeholder_is_not_private():
    assert Redactor().text(WITHHELD) == WITHHELD


@pytest.mark.parametrize(
    ("recorded", "sent", "expected"),
    [
        ("same", "same", True),
        ("same", "some", False),
        ("a [redacted] b", "a x b", True),
        ("a [redacted] b", "a b", False),
        ("a [redacted] b [redacted]", "a 1 b 2", True),
        ("[redacted] b [redacted] c", "1 c 2 b", False),
        ("[redacted] b [redacted] c [redacted]", "1 c 2 b 3", False),
        ("[redacted] b [redacted] b [redacted]", "1 b 2", False),
        ("aba[redacted]aba", "ababa", False),
        ("a[redacted]", "a[redacted]", True),
        ("[redacted]", "anything", True),
    ],
)
def test_a_text_fits_where_the_recording_shows_it(recorded, sent, expected):
    assert fits(recorded, sent) is expected


@given(
    st.lists(st.sampled_from(["jane@example.org", "~/notes/x", "plain", " ", "[redacted]", KEY, "ü", "/"]))
)
def test_every_text_fits_its_own_redaction(parts):
    text = "".join(parts)
    assert fits(Redactor([KEY]).text(text), text)
