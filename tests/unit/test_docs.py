"""The documentation pages that are derived say what they are derived from."""

from skillshift.metrics import METRICS


def test_the_metrics_page_is_what_the_registry_says(root):
    page = (root / "docs" / "metrics.md").read_text(encoding="utf-8")
    assert page.endswith(METRICS.documentation()), "write what `skillshift metrics` prints"
