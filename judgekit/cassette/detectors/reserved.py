"""Values that look private but are reserved for examples."""

from __future__ import annotations

import ipaddress
import re

_DOMAIN = re.compile(  # RFC 2606 and 6761
    r"(?:^|[.@])(?:example\.(?:com|net|org)|(?:[\w-]++\.)*+(?:example|test|invalid|localhost))\Z"
)
# Test numbers that payment providers publish.
_CARDS = {
    "4111111111111111", "4242424242424242", "4012888888881881", "4000056655665556",
    "5555555555554444", "5105105105105100", "5500000000000004", "2223003122003222",
    "378282246310005", "371449635398431", "340000000000009", "6011111111111117",
    "6011000990139424", "30569309025904", "3056930009020004", "3530111333300000",
    "3566002020360505", "6200000000000005",
}  # fmt: skip


def reserved(kind: str, value: str) -> bool:
    """Return whether a value is reserved for examples.

    >>> reserved("email", "ann@example.com"), reserved("ip", "198.51.100.7")
    (True, True)
    """
    if kind == "email":
        return _DOMAIN.search(value) is not None
    if kind == "card":
        return value in _CARDS
    if kind == "ip":
        # Documentation (RFC 5737, RFC 3849), and addresses of local networks.
        return not ipaddress.ip_address(value).is_global
    if kind == "phone":
        # 555-0100 to 555-0199 are reserved for fiction (NANPA).
        return re.search(r"55501\d\d\Z", value) is not None
    if kind == "ssn":
        # Printed on a sample card in 1938, and in a pamphlet of 1940.
        return value in ("078051120", "219099999")
    if kind != "key":
        return False
    return value.endswith("EXAMPLE") or "EXAMPLEKEY" in value  # as in manuals of cloud providers
