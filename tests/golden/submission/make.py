"""How the golden files are made: run from the project's root, and look at the diff.

``mutations.py`` beside it counts which slips the checks catch.
"""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl

import skillshift as ss
from skillshift.submission.build import build
from skillshift.submission.commitment import canonical_form, digest
from skillshift.submission.receipt import make_receipt

HERE = Path(__file__).parent
SALT = "0123456789abcdef" * 4
SCHEMA = {
    "uid": pl.String,
    "site": pl.String,
    "condition": pl.String,
    "success": pl.Boolean,
    "steps": pl.Int64,
    "skill_calls": pl.Int64,
    "skill_failures": pl.Int64,
    "error": pl.String,
}

VECTORS = {
    "one record": [["skillshift.gitlab.v1.9", "gitlab", "tgt-exec", False, 10, 1, 1, None]],
    "no executable skills": [["a", "magento", "src", True, 3, None, None, None]],
    "an errored record and its retry": [
        ["a", "gitlab", "src", None, None, None, None, "timeout"],
        ["a", "gitlab", "src", True, 3, 0, 0, None],
    ],
    "sorted by condition, site, uid": [
        ["b", "gitlab", "tgt", True, 1, 0, 0, None],
        ["a", "wordpress", "src", True, 1, 0, 0, None],
        ["a", "gitlab", "src", True, 1, 0, 0, None],
        ["B", "gitlab", "src", True, 1, 0, 0, None],
        ["\u00e9", "gitlab", "src", True, 1, 0, 0, None],
        ["\U0001f600", "gitlab", "src", True, 1, 0, 0, None],
        ["\uff21", "gitlab", "src", True, 1, 0, 0, None],
    ],
    "text with tabs, line ends, backslashes and what looks like null": [
        ["a\tb", "gitlab", "src", None, None, None, None, "line\nline\r\\n"],
        ["\\N", "gitlab", "src", True, 0, 0, 0, None],
        ["", "gitlab", "src", True, 2**62, 0, 0, ""],
    ],
}


def vectors() -> list[dict[str, object]]:
    """Each vector with its canonical form and digest."""
    made = []
    for name, records in VECTORS.items():
        form = canonical_form(pl.DataFrame(records, schema=SCHEMA, orient="row"))
        made.append(
            {
                "name": name,
                "salt": SALT,
                "records": records,
                "form": form.decode(),
                "digest": digest(form, SALT),
            }
        )
    return made


def documents() -> tuple[bytes, bytes]:
    """The results document and the receipt of a simulated run."""
    rates = ss.Rates.flat(ss.SKILLSHIFT, SR=41.5, AS=8.25, ASC=0.03, SFR=20)
    log = ss.simulate(rates=rates, seed=11, method="golden", model="gpt-5-mini", run="first")
    cells = ss.cells(log.lazy())
    results = build(
        ss.marginals(cells),
        cells,
        name="Golden",
        model="gpt-5-mini",
        date="2026-09-01",
        code_url="https://example.org/golden",
        temperature=0.7,
        notes="Simulated: an example of the form, not a result.",
    )
    receipt = make_receipt(
        results,
        log,
        cells,
        salt=SALT,
        logs={"per_task.jsonl": digest(b"the log's bytes", SALT)},
        env_digests={"gitlab-v12": digest(b"an image", SALT), "magento-v19": None},
    )
    return results.to_bytes(), receipt.to_bytes()


def main() -> None:
    """Write all of them."""
    results, receipt = documents()
    (HERE / "results.json").write_bytes(results)
    (HERE / "run_receipt.json").write_bytes(receipt)
    text = json.dumps({"fields": list(SCHEMA), "vectors": vectors()}, indent=1)
    (HERE / "vectors.json").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
