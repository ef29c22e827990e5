from __future__ import annotations

import pytest

from skillful_eval.scopes import scopes_of


@pytest.fixture
def many(fixtures_of):
    return fixtures_of(
        [
            ("a", "z", ["plan"]),
            ("b", "a", ["none"]),
            ("c", "z", ["none"]),
            ("d", "z", ["plan"]),
            ("e", "kind", ["style", "db"]),
        ]
    ).frame


def test_scopes_come_in_the_order_of_a_report(many):
    assert scopes_of(many, groups=True, kinds=True).table.rows() == [
        ("all", 3, 2),
        ("group:a", 0, 1),
        ("group:kind", 1, 0),
        ("group:z", 2, 1),
        ("kind:skill", 2, 0),
        ("kind:mcp", 1, 0),
        ("kind:agent", 2, 0),
        ("kind:rule", 1, 0),
    ]


def test_fixtures_of_the_same_scopes_share_a_signature(many):
    signature = scopes_of(many, groups=True, kinds=True).signature
    assert signature[0] == signature[3]
    assert signature.n_unique() == 4


def test_in_a_layer_a_signature_has_one_scope_at_most(many):
    scopes = scopes_of(many, groups=True, kinds=True)
    layers = scopes.layers()
    assert [names.to_list() for _, names in layers] == [
        ["all"],
        ["group:a", "group:kind", "group:z"],
        ["kind:skill"],
        ["kind:mcp"],
        ["kind:agent"],
        ["kind:rule"],
    ]
    members = {
        (signature, names[number])
        for numbers, names in layers
        for signature, number in enumerate(numbers)
        if number is not None
    }
    assert members == set(scopes.members.rows())


def test_without_groups_and_kinds_there_is_one(many):
    assert scopes_of(many, groups=False, kinds=False).table["scope"].to_list() == ["all"]
