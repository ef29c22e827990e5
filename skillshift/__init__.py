"""From per-task logs of a web-agent benchmark to its diagnostics, with everything that must hold about them."""
