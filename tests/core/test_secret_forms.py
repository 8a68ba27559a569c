from __future__ import annotations

import base64

import pytest

from judgekit.core.secret_forms import HIDDEN, SHORTEST, SecretForms

KEY = "sk-canary/Q7+w9==tail"
LONG = "sk-" + "0123456789abcdefghijklmnopqrstuvwxyz" * 2


def hidden(text: str, *secrets: str) -> str:
    return SecretForms(secrets or (KEY,)).hide(text)


@pytest.mark.parametrize("around", ["{}", "{}, {}", "a{}b{}{}c", "\\\\n{}\\u00e9%41{}&amp;"])
@pytest.mark.parametrize(
    "form",
    [
        KEY,
        KEY.replace("/", "\\/"),
        KEY.replace("/", "%2F").replace("+", "%2b"),
        KEY.replace("c", "\\u0063").replace("/", "\\\\/"),
        KEY.replace("=", "&#61;").replace("+", "&#x2B;"),
        KEY.replace("s", "\\u{73}"),
    ],
)
def test_only_the_secret_is_replaced(around: str, form: str) -> None:
    assert hidden(around.replace("{}", form)) == around.replace("{}", HIDDEN)


def test_texts_without_secrets_stay_as_they_are() -> None:
    for text in ("", "sk-", 'a \\u0041 "\\n" %41 &amp;', "sk-canar", "\ud800", "\\" * 100):
        assert hidden(text) == text


@pytest.mark.parametrize("before", ["", "a", "ab", "abc", "user:", "Authorization: Bearer "])
def test_base64_at_every_alignment(before: str) -> None:
    text = base64.b64encode(f"{before}{KEY}!?".encode()).decode()

    assert base64.b64encode(b"canary")[:4].decode() not in hidden(f"<{text}>")
    assert HIDDEN in hidden(text)


def test_halves_of_long_secrets_are_hidden_and_no_other_texts() -> None:
    assert hidden(f"cut {LONG[:50]}", LONG) == f"cut {HIDDEN}"
    assert hidden(f"{LONG[30:]} cut", LONG) == f"{HIDDEN} cut"
    assert hidden(f"masked {LONG[:8]}...", LONG) == f"masked {LONG[:8]}..."


def test_short_secrets_are_ignored() -> None:
    assert hidden("none" * 2, "none", "", "x" * (SHORTEST - 1)) == "none" * 2


def test_overlapping_secrets() -> None:
    assert hidden("abcdefgh12345678ij", "abcdefgh1234", "12345678ij") == HIDDEN
