from __future__ import annotations

import pytest

from skillful_eval.criteria import Criterion, read_criteria
from skillshift.frame.errors import InputError, UsageError


@pytest.fixture
def criteria_in(tmp_path):
    def read(text):
        path = tmp_path / "gate.toml"
        path.write_text(text, encoding="utf-8")
        return read_criteria(path)

    return read


def test_criteria_are_read_in_order(criteria_in):
    found = criteria_in(
        """
        [[criteria]]
        metric = "recall@5"
        minimum = 0.75

        [[criteria]]
        metric = "latencyP99"
        maximum = 3000
        scope = "group:mcp"

        [[criteria]]
        metric = "degradedRate"
        maximum = 0
        """
    )
    assert found == (
        Criterion("recall@5", minimum=0.75),
        Criterion("latencyP99", maximum=3000, scope="group:mcp"),
        Criterion("degradedRate", maximum=0),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"criteria: found nothing, expected at least one table \[\[criteria\]\]"),
        ("criteria = []", r"criteria: found \[\], expected at least one"),
        ('criteria = ["recall@K"]', "criteria: found"),
        ("[criteria]\nmetric = 'MRR'", "criteria: found"),
        (
            "[[criterion]]\nmetric = 'MRR'",
            r'criterion: unknown key, expected criteria \(the nearest is "criteria"\)',
        ),
        ("[[criteria]]\nminimum = 1", r"criteria\[1\]\.metric: found nothing"),
        ("[[criteria]]\nmetric = 'MRR'", r"criteria\[1\]\.minimum: found neither"),
        ("[[criteria]]\nmetric = 'MRR'\nminimum = 0\nmaximum = 1", r"criteria\[1\]\.minimum: found both"),
        (
            "[[criteria]]\nmetric = 'recall@k'\nminimum = 1",
            r'criteria\[1\]\.metric: found "recall@k".*differs from',
        ),
        ("[[criteria]]\nmetric = 'recall@0'\nminimum = 1", r"criteria\[1\]\.metric: found"),
        (
            "[[criteria]]\nmetric = 5\nminimum = 1",
            r"criteria\[1\]\.metric: found 5, expected one of recall@K",
        ),
        (
            "[[criteria]]\nmetric = 'MRR'\nminimum = '0.5'",
            r'criteria\[1\]\.minimum: found "0.5", expected a number',
        ),
        ("[[criteria]]\nmetric = 'MRR'\nminimum = true", r"criteria\[1\]\.minimum: found true"),
        ("[[criteria]]\nmetric = 'MRR'\nminimum = nan", r"criteria\[1\]\.minimum: found nan"),
        ("[[criteria]]\nmetric = 'latencyP95'\nmaximum = inf", r"criteria\[1\]\.maximum: found inf"),
        (
            "[[criteria]]\nmetric = 'MRR'\nminimum = 90",
            r"criteria\[1\]\.minimum: found 90, expected a number from 0 to 1",
        ),
        ("[[criteria]]\nmetric = 'MRR'\nminimum = -0.1", r"criteria\[1\]\.minimum: found -0.1"),
        (
            "[[criteria]]\nmetric = 'MRR'\nmaximum = 0.5",
            r"criteria\[1\]\.maximum: more is better for MRR; give a minimum",
        ),
        (
            "[[criteria]]\nmetric = 'latencyP95'\nminimum = 1500",
            r"criteria\[1\]\.minimum: less is better for latencyP95; give a maximum",
        ),
        (
            "[[criteria]]\nmetric = 'MRR'\nminimum = 0.5\nscope = 'mcp'",
            r'criteria\[1\]\.scope: found "mcp", expected all',
        ),
        ("[[criteria]]\nmetric = 'MRR'\nminimum = 0.5\nscope = 'group:'", r"criteria\[1\]\.scope: found"),
        ("[[criteria]]\nmetric = 'MRR'\nminimum = 0.5\nscope = 5", r"criteria\[1\]\.scope: found 5"),
        (
            "[[criteria]]\nmetric = 'MRR'\nmininum = 0.5",
            r'criteria\[1\]\.mininum: unknown key.*the nearest is "minimum"',
        ),
        (
            "[[criteria]]\nmetric = 'MRR'\nminimum = 0.5\n" * 2,
            r"criteria\[2\]: is criteria\[1\] again",
        ),
        ("[[criteria]\nmetric", "not a TOML file: .*line 1"),
    ],
)
def test_what_is_wrong_is_said_with_file_and_key(criteria_in, text, message):
    with pytest.raises(InputError, match=rf"gate\.toml: {message}"):
        criteria_in(text)


def test_a_file_that_cannot_be_read_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="the criteria cannot be read: No such file"):
        read_criteria(tmp_path / "none.toml")
    with pytest.raises(InputError, match="the criteria cannot be read"):
        read_criteria(tmp_path)
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="not a TOML file"):
        read_criteria(tmp_path / "bytes.toml")


def test_a_criterion_of_one_s_own_is_held_to_the_same():
    assert Criterion("meanShortlistLength", maximum=12).limit == 12
    assert Criterion("meanShortlistLength", minimum=12).limit == 12
    with pytest.raises(UsageError, match="metric: found"):
        Criterion("accuracy", minimum=1)
