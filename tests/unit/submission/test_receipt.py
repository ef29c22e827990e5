from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import skillshift as ss
from skillshift.frame.errors import InputError
from skillshift.submission.commitment import canonical_form, digest
from skillshift.submission.receipt import (
    is_receipt,
    read_digests,
    read_receipt,
    receipt_path,
    run_of,
    scored_per_cell,
)

SALT = "0123456789abcdef" * 4


def test_a_receipt_says_what_ran_and_what_came_out(made):
    receipt = made.receipt
    assert receipt.run == {"method": "mine", "model": "gpt-5-mini"}
    assert receipt.per_task_commitment.records == 2130
    assert receipt.per_task_commitment.digest == digest(canonical_form(made.log), SALT)
    assert receipt.harness_version == f"skillshift {ss.__version__}"
    assert receipt.n_per_cell["wordpress"]["tgt-exec"] == 79
    assert receipt.aggregate.metrics == made.results.metrics
    assert receipt.submission.model == "gpt-5-mini"


def test_a_receipt_reads_back(made):
    raw = made.receipt.to_bytes()
    assert read_receipt(raw).to_bytes() == raw
    assert is_receipt(json.loads(raw))
    assert not is_receipt(json.loads(made.results.to_bytes()))


def test_a_receipt_holds_no_per_task_judgement(made):
    text = made.receipt.to_bytes().decode()
    assert made.log["uid"][0] not in text
    assert SALT not in text
    assert "success" not in text


def test_a_document_that_is_no_receipt_is_refused(made):
    with pytest.raises(InputError, match="should be a Receipt document"):
        read_receipt(made.results.to_bytes())


def test_one_run_with_or_without_run_keys(made):
    assert run_of(made.cells.drop("method", "model")) == {}
    with pytest.raises(InputError, match="found 0 runs"):
        run_of(made.cells.clear())
    many = pl.concat([made.cells.with_columns(method=pl.lit(f"m{i}")) for i in range(9)])
    with pytest.raises(InputError, match=r"found 9 runs .*m4 / gpt-5-mini; \.\.\.\)"):
        run_of(many)


def test_cells_by_website_then_condition(made):
    counts = scored_per_cell(made.cells)
    assert list(counts) == list(ss.SKILLSHIFT.website_names)
    assert list(counts["gitlab"].items())[:2] == [("src", 162), ("src-perc", 162)]


def test_where_a_folder_keeps_a_receipt():
    assert receipt_path("board/2026-09-01--a--b.json") == Path("board/2026-09-01--a--b.receipt.json")


def test_published_digests(tmp_path):
    path = tmp_path / "DIGESTS.json"
    path.write_text(json.dumps({"gitlab-v12": "sha256:" + "0" * 64, "magento-v19": None}))
    assert read_digests(path) == {"gitlab-v12": "sha256:" + "0" * 64, "magento-v19": None}


@pytest.mark.parametrize(
    "raw", [b"[]", b'{"a": "md5:0"}', b'{"a": 1}', b'{"a": {}}', b"{", b'{"a": null, "a": null}']
)
def test_what_are_no_digests_is_refused(raw):
    with pytest.raises(InputError):
        read_digests(raw)
