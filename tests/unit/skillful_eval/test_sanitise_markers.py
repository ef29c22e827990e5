"""Which texts carry a private marker."""

from __future__ import annotations

import pytest

from skillful_eval.sanitise.markers import Markers, read_markers
from skillshift.frame.errors import InputError


@pytest.mark.parametrize(
    ("marker", "text"),
    [
        ("orca", "Runs orca."),
        ("ORCA", "Runs Orca."),
        ("orca", "orca-deploy"),
        ("orca", "deploy_orca_now"),
        ("orca", "orcaDeploy and OrcaDeploy"),
        ("orca", "ORCADeploy"),
        ("orca", "orca2 and 3orca"),
        ("orca", "o-r-c-a"),
        ("orca", "or**ca** tool"),
        ("orca", "or\u200bca"),
        ("orca", "\uff4f\uff52\uff43\uff41"),
        ("orca", "\u00f3rca"),
        ("orca", "%6frca"),
        ("orca", "\\u006frca"),
        ("orca", "@orca/tools"),
        ("k8s", "on K8s."),
        ("acmetools", "superacmetoolset"),
        ("acmetools", "acme-tools, acme_tools"),
        ("acmetools", "AcmeTools"),
        ("acme corp", "Acme Corp."),
        ("acme corp", "acme-corp and acmecorp"),
        ("acme corp", "AcmeCorp"),
        ("acme corp", "Acme\n  Corp"),
        ("acme corp", "**Acme** Corp"),
        ("Stra\u00dfe-7", "STRASSE 7"),
        ("\u79d8\u5bc6", "\u8fd9\u662f\u79d8\u5bc6\u9879\u76ee"),
        ("\ube44\ubc00", "\ube44\ubc00\uc740"),
        ("e\u0301clair", "\u00e9clair"),
    ],
)
def test_a_marker_is_found(marker, text):
    assert Markers.of(["unrelated", marker]).first(text) == 2


@pytest.mark.parametrize(
    ("marker", "text"),
    [
        ("orca", "orchestration"),
        ("orca", "Orchestrates the orchestra of orcamentos; sorcas, Forca."),
        ("orca", ""),
        ("k8s", "k8sfoo, mk8s"),
        ("acme", "acmetools"),
        ("acme corp", "acme and corp"),
        ("acmetools", "acme tool"),
        ("ab", "a b"),
    ],
)
def test_a_marker_is_not_found(marker, text):
    assert Markers.of([marker]).first(text) is None


def test_six_letters_match_inside_words_and_five_do_not():
    assert Markers.of(["secret"]).first("topsecrets") == 1
    assert Markers.of(["secre"]).first("topsecrets") is None
    assert Markers.of(["se-cre"]).first("topsecrets") is None


def test_without_markers_nothing_is_looked_at():
    assert Markers().first("anything") is None


def test_markers_are_read_from_toml(tmp_path):
    path = tmp_path / "private.toml"
    path.write_text('\ufeffmarkers = ["orca", "Acme Corp"]\n', encoding="utf-8")
    markers = read_markers(path)
    assert (markers.first("Orca"), markers.first("acme-corp"), markers.first("orchestra")) == (1, 2, None)


PRIVATE = "zebrafish"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "no field markers"),
        (b'markers = "zebrafish"', "at least one text"),
        (b"markers = []", "at least one text"),
        (b'markers = ["zebrafish", 5]', "marker 2 is no text"),
        (b'markers = ["zebrafish", "--"]', "marker 2 has neither letter nor digit"),
        (b'markers = ["zebrafish"]\nzebrafish = 1', "1 other field"),
        (b'zebrafish = ["x"]', "1 other field"),
        (b"x = 1\nmarkers = [zebrafish]", r"not TOML \(line 2\)"),
        (b'markers = ["zebrafish', "not TOML"),
        (b'markers = ["zebrafish"]\nmarkers = ["zebrafish"]', "not TOML"),
        (b"markers = " + b"[" * 100_000, "not TOML"),
        (b"\xff\xfe", "not UTF-8"),
        (b"#" * 1_000_001, "larger than"),
    ],
)
def test_a_wrong_file_is_refused_without_repeating_what_is_private(tmp_path, content, told):
    path = tmp_path / "private.toml"
    path.write_bytes(content)
    with pytest.raises(InputError, match=told) as raised:
        read_markers(path)
    assert PRIVATE not in str(raised.value)
    assert str(path) in str(raised.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"none\.toml: cannot be read"):
        read_markers(tmp_path / "none.toml")
