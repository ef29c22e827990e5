from __future__ import annotations

import re

import pytest

from skillful_eval.router.quotas import (
    DEFAULT,
    GROUPS,
    KIND_GROUPS,
    LARGEST,
    Quotas,
    parse_quotas,
    parse_ranges,
)
from skillful_eval.schema import KINDS
from skillshift.frame.errors import UsageError


def test_every_kind_has_a_group_and_commands_and_rules_share_one():
    assert tuple(KIND_GROUPS) == KINDS
    assert GROUPS == ("skill", "mcp", "agent", "command+rule")
    assert KIND_GROUPS["command"] == KIND_GROUPS["rule"] == "command+rule"


def test_the_default_quotas():
    assert Quotas.DEFAULT is DEFAULT
    assert Quotas() == DEFAULT
    assert DEFAULT.text == "skill=6,mcp=4,agent=3,command+rule=2"
    assert DEFAULT.total == 15
    assert [DEFAULT[group] for group in GROUPS] == [6, 4, 3, 2]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([], DEFAULT),
        (["skill=8"], Quotas(skill=8)),
        (["skill=8", "mcp=0"], Quotas(skill=8, mcp=0)),
        (["command+rule=5,agent=1"], Quotas(agent=1, command_rule=5)),
        ([" skill = 8 , mcp=1 "], Quotas(skill=8, mcp=1)),
        ([f"skill={LARGEST}"], Quotas(skill=LARGEST)),
        (["skill=007"], Quotas(skill=7)),
    ],
)
def test_quotas_are_read(texts, expected):
    assert parse_quotas(texts) == expected
    assert parse_quotas([expected.text]) == expected


@pytest.mark.parametrize("parse", [parse_quotas, parse_ranges])
@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["skill"], 'quota: found "skill", expected GROUP=NUMBER'),
        (["=4"], 'quota: found "=4", expected GROUP=NUMBER'),
        (["skill="], 'quota: found "skill=", expected GROUP=NUMBER'),
        ([""], 'quota: found "", expected GROUP=NUMBER'),
        (["skill=4,"], 'quota: found "", expected GROUP=NUMBER'),
        (["skills=4"], 'quota: found the group "skills", expected .*; the nearest is "skill"'),
        (["Skill=4"], 'found the group "Skill", expected .*differs from "skill" only by case'),
        (["command=2"], 'found the group "command".*command shares the quota command\\+rule'),
        (["rule=2"], 'found the group "rule".*: write command\\+rule='),
        (["xyz=2"], 'found the group "xyz".*no group is near it'),
        (["skill=x"], 'quota skill: found "x", expected a whole number from 0 to 1,000,000'),
        (["skill=-1"], 'quota skill: found "-1", expected a whole number'),
        (["skill=1.5"], 'quota skill: found "1.5", expected a whole number'),
        (["skill=٣"], "quota skill: found .*expected a whole number"),
        (["skill=1000001"], "quota skill: found 1000001, expected a whole number from 0 to 1,000,000"),
        (["skill=99999999999"], "quota skill: found .*, expected a whole number from 0 to 1,000,000"),
        (["skill=4=5"], 'quota skill: found "4=5", expected a whole number'),
        (["skill=4", "skill=5"], "quota skill: given twice, 4 and 5; give it once"),
        (["skill=4,skill=4"], "quota skill: given twice"),
    ],
)
def test_what_is_no_quota_is_refused(parse, texts, message):
    with pytest.raises(UsageError, match=message):
        parse(texts)


@pytest.mark.parametrize("value", [-1, 1.0, True, None, "6", LARGEST + 1])
def test_a_quota_is_a_whole_number(value):
    with pytest.raises(UsageError, match=r"quota agent: found .*, expected a whole number from 0"):
        Quotas(agent=value)


def test_a_range_is_for_sweeps_only():
    with pytest.raises(UsageError, match=re.escape('quota skill: found "4:14", expected a whole number')):
        parse_quotas(["skill=4:14"])


def test_ranges_include_their_last_and_multiply():
    assert parse_ranges([]) == [DEFAULT]
    assert [one.skill for one in parse_ranges(["skill=4:14"])] == list(range(4, 15))
    assert [one.skill for one in parse_ranges(["skill=4:14:3"])] == [4, 7, 10, 13]
    assert [one.skill for one in parse_ranges(["skill=5:5"])] == [5]
    both = parse_ranges(["command+rule=0:1", "skill=1:2", "mcp=3"])
    assert [(one.skill, one.mcp, one.agent, one.command_rule) for one in both] == [
        (1, 3, 3, 0),
        (1, 3, 3, 1),
        (2, 3, 3, 0),
        (2, 3, 3, 1),
    ]


@pytest.mark.parametrize("text", ["14:4", "4:14:0", "4:14:2:1"])
def test_a_range_that_is_none_is_refused(text):
    with pytest.raises(UsageError, match=f'quota skill: found the range "{text}", expected GROUP=FIRST:LAST'):
        parse_ranges([f"skill={text}"])


@pytest.mark.parametrize("text", ["4:", ":14", "4::2", "4:x"])
def test_a_range_has_whole_numbers(text):
    with pytest.raises(UsageError, match=r"quota skill: found .*, expected a whole number"):
        parse_ranges([f"skill={text}"])


def test_ranges_do_not_span_without_end():
    with pytest.raises(UsageError, match=r"span 1,002,001 combinations, expected at most 100,000"):
        parse_ranges(["skill=0:1000", "mcp=0:1000"])
