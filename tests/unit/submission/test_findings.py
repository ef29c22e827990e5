from __future__ import annotations

import pytest

from skillshift.submission.findings import SHOWN_FINDINGS, Finding, Verdict, show


def finding(severity="error", path="metrics.SR", found="1"):
    return Finding(code="c.d", severity=severity, path=path, found=found, expected="2", why="why")


@pytest.mark.parametrize(
    ("verdict", "status"),
    [
        (Verdict("v"), "passed"),
        (Verdict("v", (finding("warning"),)), "passed"),
        (Verdict("v", (finding("warning"), finding())), "failed"),
        (Verdict("v", ran=False), "not checked"),
    ],
)
def test_status(verdict, status):
    assert verdict.status == status
    assert verdict.to_dict()["status"] == status


def test_the_text_tells_every_finding_and_what_was_left_out():
    verdict = Verdict("v", (finding(), finding("warning")), unchecked=("digests",))
    assert str(verdict).splitlines() == [
        "v: failed (1 error, 1 warning)",
        "  error: metrics.SR: found 1, expected 2: why [c.d]",
        "  warning: metrics.SR: found 1, expected 2: why [c.d]",
        "  unchecked: digests",
    ]


def test_a_flood_of_findings_is_counted_in_text_and_whole_in_data():
    verdict = Verdict("v", (finding(),) * (SHOWN_FINDINGS + 5))
    assert str(verdict).splitlines()[-1] == "  ... and 5 more"
    assert len(verdict.to_dict()["findings"]) == SHOWN_FINDINGS + 5


def test_a_strangers_text_cannot_steer_a_terminal_or_fill_it():
    text = str(finding(path="x\x1b[2J" + "y" * 10_000, found=show("\x1b]0;\u202ename\x9b")))
    assert text.isprintable()
    assert len(text) < 400
