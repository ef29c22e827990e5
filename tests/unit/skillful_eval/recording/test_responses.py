"""What is kept of a response, and what makes it none."""

from __future__ import annotations

import pytest

from skillful_eval.recording.responses import WrongError, checked


def test_a_documented_response_is_kept_whole(answer):
    assert checked(answer()) == answer()


def test_unknown_fields_are_left_out(answer):
    given = answer(id="r-1", api_key="x")
    given["answers"]["primary"]["note"] = "x"
    given["answers"]["c0"]["note"] = "x"
    given["answers"]["comment"] = "x"
    given["answers"]["c01"] = 1
    given["answers"]["c²"] = 1
    given["usage"]["cost"] = "x"
    assert checked(given) == answer()


def test_optional_fields_may_be_null_or_missing(answer):
    given = answer(model=None, usage=None)
    given["answers"] |= {"c0": None}
    given["answers"]["primary"] |= {"confidence": None, "type": None}
    kept = checked(given)
    primary = {"choice": "a:skill:x:undo", "probabilities": {"a:skill:x:undo": 0.9, "none": 0.1}}
    assert kept == {"answers": {"primary": primary}}
    assert checked({"answers": {"primary": primary}}) == kept


def test_senseless_values_of_the_right_type_are_kept(answer):
    given = answer("not offered")
    given["answers"]["primary"]["probabilities"] = {"else": 7}
    assert checked(given) == given


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ((), [], r"^found \[\], expected an object"),
        (("answers",), [], r"^answers: found \[\], expected an object"),
        (("answers", "primary"), None, "answers.primary: found null, expected an object"),
        (("answers", "primary", "choice"), 5, "answers.primary.choice: found 5, expected text"),
        (("answers", "primary", "choice"), None, "answers.primary.choice: found null, expected text"),
        (("answers", "primary", "choice"), "\ud800", r"found .*ud800.*, expected text"),
        (("answers", "primary", "type"), 1, "answers.primary.type: found 1, expected text"),
        (("answers", "primary", "confidence"), "high", "answers.primary.confidence: .*expected a number"),
        (("answers", "primary", "confidence"), True, "found true, expected a number"),
        (("answers", "primary", "probabilities"), None, "probabilities: found null, expected an object"),
        (("answers", "primary", "probabilities", "none"), "0", 'probabilities.none: found "0"'),
        (("answers", "primary", "probabilities", "none"), float("inf"), "found Infinity"),
        (("answers", "primary", "probabilities", "\ud800"), 0, "expected text"),
        (("answers", "c0"), 0.5, "answers.c0: found 0.5, expected an object"),
        (("answers", "c0", "noul"), "x", "answers.c0.noul: .*expected a number"),
        (("model",), 4, "model: found 4, expected text"),
        (("usage",), 4, "usage: found 4, expected an object"),
        (("usage", "input_tokens"), 4.0, "usage.input_tokens: found 4.0, expected a whole number from 0"),
        (("usage", "output_tokens"), -1, "usage.output_tokens: found -1, expected a whole number"),
        (("usage", "output_tokens"), True, "usage.output_tokens: found true"),
    ],
)
def test_a_wrong_type_is_refused_where_it_is(answer, path, value, said):
    given = place = {"whole": answer()}
    *steps, last = ("whole", *path)
    for step in steps:
        place = place[step]
    place[last] = value
    with pytest.raises(WrongError, match=said):
        checked(given["whole"])


@pytest.mark.parametrize(
    ("path", "said"),
    [
        (("answers",), "^answers: found nothing"),
        (("answers", "primary"), "^answers.primary: found nothing"),
        (("answers", "primary", "choice"), "^answers.primary.choice: found nothing"),
        (("answers", "primary", "probabilities"), "^answers.primary.probabilities: found nothing"),
    ],
)
def test_a_missing_field_is_named(answer, path, said):
    given = place = answer()
    for step in path[:-1]:
        place = place[step]
    del place[path[-1]]
    with pytest.raises(WrongError, match=said):
        checked(given)
