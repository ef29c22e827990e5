from decimal import Decimal

import pytest

from skillful_eval.router.quotas import Quotas, parse_ranges
from skillful_eval.sweep_plan import MOST, Plan, SweepSettings, parse_configuration, parse_thresholds, plan_of
from skillshift.frame.errors import UsageError

ONE = "skill=6,mcp=4,agent=3,command+rule=2"
JUDGED = f"{ONE},none=0.4,winner=0.25"


def planned(**given):
    nothing = {"quotas": None, "none": None, "winner": None, "settings": SweepSettings(), "confirm": None}
    return plan_of(**(nothing | {"decides": True} | given))


def test_a_range_is_exact_decimals_and_holds_its_end():
    found = parse_thresholds("0.1:0.9:0.05", "none")
    assert found == tuple(Decimal(n) / 100 for n in range(10, 95, 5))
    assert [float(one) for one in found] == [float(f"{n / 100:.2f}") for n in range(10, 95, 5)]
    assert parse_thresholds("0:0.5:0.2", "none") == (Decimal(0), Decimal("0.2"), Decimal("0.4"))


def test_numbers_and_texts_are_the_same_thresholds():
    assert parse_thresholds([0.3, 0.1, 1], "none") == parse_thresholds("1.0,0.10,.3,0.3", "none")
    assert parse_thresholds([1e-05], "none") == (Decimal("0.00001"),)


@pytest.mark.parametrize(
    "given",
    [
        "",
        "a",
        "0.1:0.9",
        "0.9:0.1:0.1",
        "0:1:0",
        "1.1",
        "0:2:1",
        "-0.1",
        "nan",
        "0.1,",
        "0.0000000001",
        "1e-3",
    ],
)
def test_what_is_no_threshold_is_refused(given):
    with pytest.raises(UsageError, match="winner floor"):
        parse_thresholds(given, "winner floor")


@pytest.mark.parametrize("given", [[True], ["0.1"], [float("nan")], [2], []])
def test_what_is_no_number_is_refused(given):
    with pytest.raises(UsageError, match="none threshold"):
        parse_thresholds(given, "none threshold")


def test_a_tiny_step_is_counted_before_it_is_made():
    with pytest.raises(UsageError, match="1,000,000,001 thresholds"):
        parse_thresholds("0:1:0.000000001", "none")


def test_every_name_is_taken_as_the_one_configuration_that_it_is():
    settings = SweepSettings(when_to_use=False, heuristics=False, max_prompt_chars=500, upload_prompts=False)
    plan = planned(
        quotas=parse_ranges(["skill=4:5"]),
        none=parse_thresholds("0.10,1", "none"),
        winner=parse_thresholds("0", "winner"),
        settings=settings,
    )
    names = list(plan.names)
    assert len(names) == len(plan) == len(set(names)) == 4
    assert names[0] == (
        "skill=4,mcp=4,agent=3,command+rule=2,none=0.1,winner=0,when-to-use=no,heuristics=no,"
        "max-prompt-chars=500,prompt-upload=no"
    )
    for name in names:
        one = parse_configuration(name)
        assert list(one.names) == [name]
        assert one.settings == settings


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "unknown"),
        ("skill=6", "mcp, agent, command\\+rule left open"),
        ("best", "unknown"),
        (f"{ONE},none=0.4", "winner left open"),
        (f"{ONE},skill=7", "skill stands there twice"),
        (f"{ONE},none=0.3:0.4:0.1,winner=0", "none has a range"),
        (ONE.replace("skill=6", "skill=4:14"), "skill has a range"),
        (f"{ONE},none=0.4,winner=2", "winner"),
        (f"{ONE},heuristics=yes", "heuristics=yes"),
        (f"{ONE},max-prompt-chars=0", "max-prompt-chars=0"),
        (f"{ONE},wnner=0.4", "winner"),
    ],
)
def test_what_names_no_single_configuration_is_refused(text, said):
    with pytest.raises(UsageError, match=said):
        parse_configuration(text)


def test_several_values_cannot_be_smuggled_into_a_name():
    """A comma parts names and values alike, so a second threshold is a piece without a name."""
    with pytest.raises(UsageError, match="unknown"):
        parse_configuration(f"{ONE},none=0.4,0.5,winner=0.25")
    assert len(parse_configuration(JUDGED)) == 1


def test_defaults_are_those_of_the_router():
    assert list(planned().names) == [JUDGED]
    assert list(planned(decides=False).names) == [ONE]


def test_a_confirmed_configuration_is_the_only_one():
    plan = planned(confirm=JUDGED, quotas=parse_ranges(["skill=4:14"]), none=parse_thresholds("0.4,0.5", "n"))
    assert list(plan.names) == [JUDGED]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"quotas": [Quotas(skill=7)]}, "quotas"),
        ({"none": (Decimal("0.5"),)}, "none threshold"),
        ({"winner": (Decimal("0.3"),)}, "winner floor"),
        ({"settings": SweepSettings(heuristics=False)}, "settings"),
        ({"confirm": ONE}, "ambiguous"),
        ({"decides": False}, "give the replay"),
    ],
)
def test_a_confirmed_configuration_must_be_among_those_given(given, said):
    with pytest.raises(UsageError, match=said):
        planned(**({"confirm": JUDGED} | given))


@pytest.mark.parametrize(
    "given",
    [
        {"none": (Decimal("0.5"),)},
        {"winner": (Decimal("0.5"),)},
        {"settings": SweepSettings(heuristics=False)},
        {"settings": SweepSettings(max_prompt_chars=9)},
        {"confirm": f"{ONE},heuristics=no"},
    ],
)
def test_what_nothing_depends_on_without_answers_is_refused(given):
    with pytest.raises(UsageError, match="replay"):
        planned(decides=False, **given)


def test_too_many_or_none_are_refused():
    tenths = tuple(Decimal(n) / 1000 for n in range(1001))
    with pytest.raises(UsageError, match=f"1,002,001 configurations, expected at most {MOST:,}"):
        Plan((Quotas.DEFAULT,), tenths, tenths)
    with pytest.raises(UsageError, match="at least one"):
        Plan(())
    with pytest.raises(UsageError, match=r"found .*more than once, expected at least one, each once"):
        Plan((Quotas.DEFAULT, Quotas.DEFAULT))
