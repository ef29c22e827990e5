"""What is taken out of a text, and what is left alone."""

from __future__ import annotations

import time

import pytest

from skillful_eval.sanitise.literals import Literals
from skillful_eval.sanitise.markers import Markers
from skillful_eval.sanitise.patterns import CODES, NAME, PATTERNS, SECRET, TARGET
from skillful_eval.sanitise.private import Private, redact


@pytest.mark.parametrize(
    ("text", "left", "code"),
    [
        ("See https://a.example/b?c=d#e.", "See [redacted].", "url"),
        ("(see http://x.io/y), then", "(see [redacted]), then", "url"),
        ("[docs](https://x.example/y)", "[docs]([redacted])", "url"),
        ("clone git@github.com:acme/repo.git now", "clone [redacted] now", "url"),
        ("on localhost:3000 or http://localhost/x", "on [redacted] or [redacted]", "url"),
        ("at api.acme.io and acme.com", "at [redacted] and [redacted]", "url"),
        ("at db.internal", "at [redacted]", "url"),
        ("data:text/plain;base64,AAAA x", "[redacted] x", "url"),
        ("Ask jane.doe+x@mail.acme.co.uk.", "Ask [redacted].", "email"),
        ("<jane@localhost>", "<[redacted]>", "email"),
        ("at 10.0.0.1, say", "at [redacted], say", "ip"),
        ("at 192.168.1.1:8080/x then", "at [redacted] then", "ip"),
        ("in 10.0.0.0/8", "in [redacted]", "ip"),
        ("at ::1 or fe80::1%eth0 or [2001:db8::7334]", "at [redacted] or [redacted] or [[redacted]]", "ip"),
        ("reads ~/.config/app.toml too", "reads [redacted] too", "path"),
        ("reads $HOME/x and ${ROOT}/y", "reads [redacted] and [redacted]", "path"),
        ("in C:\\Users\\Jane Doe\\x y", "in [redacted] y", "path"),
        ("in \\\\server\\share\\x", "in [redacted]", "path"),
        ("in /Users/jane doe/Library/Application Support/x/y z", "in [redacted] z", "path"),
        ("in `/srv/My App/x y`", "in `[redacted]`", "path"),
        ("in /etc, /a/b and /foo.txt", "in [redacted], [redacted] and [redacted]", "path"),
        ("api_key=abcd", "api_key=[redacted]", "secret"),
        ("AUTH_TOKEN: a1b2c3d4", "AUTH_TOKEN: [redacted]", "secret"),
        ('{"password": "correct horse"}', '{"password": "[redacted]"}', "secret"),
        ("the passphrase is hunter22", "the passphrase is [redacted]", "secret"),
        ("key AKIAIOSFODNN7EXAMPLE", "key [redacted]", "secret"),
        ("eyJhbGciOi.eyJzdWIi.sig", "[redacted]", "secret"),
        ("Bearer abc123def456", "Bearer [redacted]", "secret"),
        ("d41d8cd98f00b204e9800998ecf8427e", "[redacted]", "secret"),
        ("550e8400-e29b-41d4-a716-446655440000", "[redacted]", "secret"),
        ("x8Kd03jfLq92mZpQ7sWv1 yes", "[redacted] yes", "secret"),
        ("QwErTyUiOpAsDfGhJkLzXcVb yes", "[redacted] yes", "secret"),
        ("MCP server (stdio): node server.js", "MCP server (stdio): [redacted]", "mcp-target"),
        ("run npx -y @acme/mcp-server now", "run [redacted] now", "mcp-target"),
    ],
)
def test_what_is_private_by_its_form_is_taken_out(text, left, code):
    clean, codes = Private().redact(text)
    assert clean == left
    assert code in codes
    assert redact(text) == left


@pytest.mark.parametrize(
    "text",
    [
        "and/or, either/or/both, I/O, CI/CD, TCP/IP, read/write",
        "use /plan, /ak:plan or /code-review",
        "Next.js/React, Node.js, ASP.NET/C#, socket.io, Draw.io",
        "README.md, src/app/main.py, ./scripts/x.sh, main.py:42",
        "react@18.2.0 and @acme/pkg",
        "std::vector, Foo::Bar, 12:30:45, ratio 16:9",
        "version 1.2.3, v1.2.3.4, GPT-4o, claude-3-5-sonnet-20241022",
        "max tokens: 4096, max_tokens=4096, token usage, API key: required",
        "basic understanding, bearer authentication, author = Jane",
        "the bearer understands responsibilities, and basic responsibilities are the bearer's",
        "Bearer authentication-and-authorisation, basic internationalization, basic understanding.",
        "basic client/server setups, basic JavaScript/TypeScript, BASIC AUTHENTICATION/AUTHORISATION",
        "basic versta\u0308ndnis-und-\u00fcberblick; basic\n~~~~~~~~~~~~~~~~~~~~~~",
        "AKIA, AKIAABCDEFGHIJKLMNOPQ, ASIAPACIFIC, aida_config, npm_run_build_and_publish_everything_again",
        "hf_transformers_pipeline_for_classification, sk-project-management-of-large-teams, AIzawa",
        "convertHTMLToPDFDocumentStream and utf8-base64-sha256-md5-aes128",
        "ak-design-system-v2-2024-q3-plan, OAuth2.0, RFC6749",
        "$5/month, ~50, a ~ b, 50%/50%, npm_install_packages",
        "key: value, data:pipeline-v2, python scripts/run.py",
        "[redacted]",
        "",
    ],
)
def test_what_is_not_private_is_left_alone(text):
    assert Private().redact(text) == (text, frozenset())


LETTERS = "abcdefghijklmnopqrstuvwxyz" * 4


@pytest.mark.parametrize(
    "key",
    [
        "AKIAABCDEFGHIJKLMNOP",
        "ASIAQWERTYUIOPASDFGH",
        *(f"{kind}ABCDEFGHIJKLMNOP" for kind in ("AROA", "AIDA")),
        *(f"gh{kind}_{LETTERS[:36]}" for kind in "pousr"),
        f"github_pat_{LETTERS[:22]}_{LETTERS[:59]}",
        *(f"xox{kind}-{LETTERS[:12]}-{LETTERS[:24]}" for kind in "abpors"),
        f"AIza{LETTERS[:35]}",
        *(f"{kind}_{LETTERS[:24]}" for kind in ("sk_live", "sk_test", "rk_live", "rk_test")),
        f"sk-proj-{LETTERS[:48]}",
        f"sk-ant-{LETTERS[:40]}",
        f"sk-{LETTERS[:48]}",
        f"glpat-{LETTERS[:20]}",
        f"npm_{LETTERS[:36]}",
        f"hf_{LETTERS[:34]}",
    ],
)
@pytest.mark.parametrize("around", ["see {}.", "({})", "x={};", "`{}`", '"{}"', "-{}", "_{}"])
def test_a_key_of_its_issuers_length_needs_no_digit(key, around):
    clean, codes = Private().redact(around.format(key))
    assert (clean, codes) == (around.format("[redacted]"), {SECRET})
    assert Private().redact(around.format(key.upper()))[0] == around.format("[redacted]")


@pytest.mark.parametrize(
    "token",
    [
        "abcdefghijklmnopqrst",
        "deadbeefcafebabe",
        "abcd-efgh-ijkl-mnop",
        "qXwErTzUiOpAsDfG",
        "responsibilitiesQ",
        "abcdefgh_x",
        "abcdefg.hij",
        "YWJjOmRlZmdoaQ==",
        "internationalisations" * 2,
    ],
)
@pytest.mark.parametrize("scheme", ["Bearer", "basic", "Authorization: Bearer", "BASIC\n"])
def test_what_is_sent_to_identify_needs_no_digit_where_it_is_no_prose(scheme, token):
    assert Private().redact(f"so {scheme} {token}, so")[0] == f"so {scheme} [redacted], so"


def test_every_pattern_has_a_code_and_something_that_only_it_finds_or_confirms():
    assert {pattern.code for pattern in PATTERNS} == set(CODES) - {NAME}


@pytest.mark.parametrize(
    "piece",
    [
        "a.",
        "1.",
        "/",
        "/a",
        "https://",
        "a@",
        "A1",
        "a:",
        "token=",
        "C:/Users/a ",
        "\u00e9",
        "basic a.",
        "sk-proj-",
    ],
)
def test_a_long_text_costs_no_more_than_its_length(piece):
    started = time.process_time()
    redact(piece * (20_000 // len(piece)))
    assert time.process_time() - started < 4


def private(**texts):
    found = Private(Markers(), Literals())
    for text, code in texts.items():
        found.literals.add(text, code)
    return found


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Use orion.", "Use [redacted]."),
        ("Use ORION's, `orion` or **Or**ion", "Use [redacted]'s, `[redacted]` or **[redacted]"),
        ("Use /ops:orion: it", "Use /ops:[redacted]: it"),
        ("orion-helper, ops-orion, orion:x, my_orion, orions", None),
    ],
)
def test_a_name_is_found_as_a_whole_name(text, left):
    assert private(orion=NAME).redact(text)[0] == (text if left is None else left)


def test_colon_and_hyphen_are_one_and_case_and_accents_do_not_matter():
    names = Private(literals=Literals())
    assert names.literals.add("ak:D\u00e9ploy", NAME)
    assert not names.literals.add("AK-deploy", NAME)
    assert len(names.literals) == 1
    assert names.redact("the ak-deploy, AK:DE\u0301PLOY")[0] == "the [redacted], [redacted]"


def test_a_target_is_found_where_no_letter_or_digit_touches_it():
    targets = Private(literals=Literals())
    targets.literals.add("@acme/server@1.2", TARGET)
    assert targets.redact("x(@Acme/server@1.2) @acme/server@1.23")[0] == "x([redacted]) @acme/server@1.23"


def test_a_text_without_letters_or_digits_is_no_literal():
    assert not Literals().add(" -- ", NAME)


def test_secrets_are_named_for_looking_elsewhere():
    assert Private().secrets("password: hunter22, see https://x.example") == {"hunter22"}
    assert SECRET in CODES
