"""Which of a server's settings are secrets."""

from __future__ import annotations

import pytest

from skillful_eval.catalog.secrets import secrets_in


@pytest.mark.parametrize(
    ("settings", "secrets"),
    [
        ({"env": {"ACME_TOKEN": "t0pSec"}}, {"t0pSec"}),
        ({"env": {"ACME_TOKEN": "t0pSe"}}, set()),
        ({"env": {"apiKey": "abcdefgh", "API_KEYS_1": "ijklmnop"}}, {"abcdefgh", "ijklmnop"}),
        ({"env": {"API_KEY": "abcdefg", "TOKEN": "Required", "PASSWORD": "production"}}, set()),
        ({"env": {"AUTH_MODE": "interactive", "MAX_TOKENS": "200000", "KEY_PORT": "12345678"}}, set()),
        ({"env": {"MODE": "production", "PORT": "8080", "X": "true", "AUTHOR": "jane.doe"}}, set()),
        ({"env": {"SEED": "qwrtplkjhgfdsyxcvb"}}, {"qwrtplkjhgfdsyxcvb"}),
        ({"headers": {"Authorization": "Basic dXNlcjpwYXNz"}}, {"dXNlcjpwYXNz"}),
        ({"headers": {"X-Custom": "bearer a1b2c3d4"}}, {"a1b2c3d4"}),
        ({"headers": {"X-Custom": "token bucket-limit", "Accept": "application/json"}}, set()),
        ({"headers": {"Cookie": "sid=abc123def; theme=dark"}}, {"sid=abc123def; theme=dark", "abc123def"}),
        ({"args": ["--token=abcdefgh", "--password", "ijklmnop", "-e", "KEY=qrstuvwx"]},
         {"abcdefgh", "ijklmnop", "qrstuvwx"}),
        ({"args": ["--token-file", "--verbose"]}, {"--verbose"}),
        ({"url": "pg://me:p%40ssw0rd@host/db?api_key=abcdefgh"}, {"p%40ssw0rd", "p@ssw0rd", "abcdefgh"}),
        ({"url": "https://[bad/x?token=1"}, set()),
        ({"nested": {"deep": [{"secret": "abcdefgh"}]}, "timeout": 30, "ok": True}, {"abcdefgh"}),
    ],
)  # fmt: skip
def test_secrets_are_told_by_their_name_or_their_form(settings, secrets):
    assert set(secrets_in(settings)) == secrets
