"""Check candidates for private data: check digits and other rules beyond the pattern."""

import hashlib
import ipaddress
import re
from collections.abc import Callable, Iterable, Mapping

_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"


def luhn(digits: str) -> bool:
    """Return whether the check digit is correct (ISO/IEC 7812-1, annex B)."""
    doubled = "".join(str(2 * int(digit)) for digit in digits[-2::-2])
    return sum(map(int, digits[::-2] + doubled)) % 10 == 0


def weighted(digits: str, weights: Iterable[str | int]) -> int:
    """Return the sum of the digits, each times its weight."""
    return sum(int(d) * int(w) for d, w in zip(digits, weights, strict=False))


def mod97(text: str) -> int:
    """Return the remainder by 97 of letters (A is 10) and digits (ISO/IEC 7064)."""
    return int("".join(str(int(character, 36)) for character in text)) % 97


def verhoeff(digits: str) -> bool:
    """Return whether the check digit is correct by Verhoeff's dihedral group of order 10."""
    row = list(range(10))
    check = 0
    for digit in reversed(digits):
        check = _dihedral(check, row[int(digit)])
        row = [row[n] for n in (1, 5, 7, 6, 2, 8, 3, 0, 9, 4)]
    return check == 0


def _dihedral(a: int, b: int) -> int:
    rotation = (a + b if a < 5 else a - b) % 5
    return rotation + 5 if (a < 5) != (b < 5) else rotation


def base58check(text: str) -> bool:
    """Return whether the last four bytes are the checksum of the others (Bitcoin addresses)."""
    number = 0
    for character in text:
        number = number * 58 + _BASE58.index(character)
    if number >> 200:
        return False
    data = number.to_bytes(25, "big")
    digest = hashlib.sha256(hashlib.sha256(data[:21]).digest()).digest()
    return data[21:] == digest[:4]


def bech32(text: str) -> bool:
    """Return whether the checksum is correct (BIP 173 and BIP 350)."""
    prefix, _, data = text.lower().rpartition("1")
    if not prefix or any(character not in _BECH32 for character in data):
        return False
    codes = [ord(c) >> 5 for c in prefix] + [0] + [ord(c) & 31 for c in prefix]
    check = 1
    for value in [*codes, *map(_BECH32.index, data)]:
        top = check >> 25
        check = (check & 0x1FFFFFF) << 5 ^ value
        for bit, mask in enumerate((0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)):
            check ^= mask if top >> bit & 1 else 0
    return check in (1, 0x2BC830A3)


def vin(text: str) -> bool:
    """Return whether the ninth character of a vehicle's number is correct (49 CFR 565.15)."""
    values = dict(zip("ABCDEFGHJKLMNPRSTUVWXYZ", "12345678123457923456789", strict=True))
    digits = "".join(values.get(character, character) for character in text)
    weights = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2]
    return text[8] == "0123456789X"[weighted(digits, weights) % 11]


def _is_dni(value: str) -> bool:
    number = int(value[:-1].translate(str.maketrans("XYZ", "012")))
    return value[-1] == "TRWAGMYFPDXBNJZSQVHLCKE"[number % 23]


def _is_codice(value: str) -> bool:
    # Characters at odd positions have the value of their index in this order, a digit like the
    # letter of the same number (decree of 23 December 1976); those at even positions have their own
    # value.
    place = [int(c) if c.isdigit() else ord(c) - 65 for c in value]
    odd = sum("BAKPLCQDREVOSFTGUHMINJWZYX".index(chr(65 + p)) for p in place[:15:2])
    return (odd + sum(place[1:15:2])) % 26 == place[15]


def _is_nir(value: str) -> bool:
    number = value[:13].replace("2A", "19").replace("2B", "18")
    return number.isdigit() and 97 - mod97(number) == int(value[13:])


def _is_cpf(value: str) -> bool:
    checks = [weighted(value, list(range(n, 1, -1))) * 10 % 11 % 10 for n in (10, 11)]
    return len(set(value)) > 1 and value[9:] == f"{checks[0]}{checks[1]}"


def _is_chinese(value: str) -> bool:
    weights = [2**n % 11 for n in range(17, 0, -1)]
    return value[17] == "10X98765432"[weighted(value, weights) % 11]


def _is_nric(value: str) -> bool:
    rest = (weighted(value[1:8], "2765432") + {"T": 4, "G": 4, "M": 3}.get(value[0], 0)) % 11
    tables = {"S": "JZIHGFEDCBA", "F": "XWUTRQPNMLK", "M": "KLJNPQRTUWX"}
    table = tables[{"T": "S", "G": "F"}.get(value[0], value[0])]
    return value[8] == (table[10 - rest] if value[0] == "M" else table[rest])


def _is_rut(value: str) -> bool:
    return value[-1] == "0123456789K"[-weighted(value[-2::-1], "23456723") % 11]


def _is_hetu(value: str) -> bool:
    return value[-1] == "0123456789ABCDEFHJKLMNPRSTUVWXY"[int(value[:6] + value[-4:-1]) % 31]


def _is_host(written: str) -> bool:
    """Return whether an IP address can be that of a single host."""
    try:
        address = ipaddress.ip_address(written)
    except ValueError:
        return False
    special = address.is_loopback or address.is_unspecified or address.is_multicast
    return not special and not written.startswith("0.") and written != "255.255.255.255"


def _is_pair(written: str) -> bool:
    """Return whether two numbers are coordinates: 4 decimals (11 m), and not both in 0..1."""
    latitude, longitude = re.findall(r"\d{1,3}\.\d{1,15}", written)
    places = min(len(number.partition(".")[2]) for number in (latitude, longitude))
    inside = float(latitude) <= 90 and float(longitude) <= 180
    directed = bool(re.search("[NS]", written)) and bool(re.search("[EW]", written))
    return inside and (directed or (places >= 4 and max(float(latitude), float(longitude)) > 1))


CHECKS: Mapping[str, Callable[[str], bool]] = {
    "base58check": base58check,
    "bech32": bech32,
    "card": lambda value: len(set(value)) > 1 and luhn(value),
    "codice_fiscale": _is_codice,
    "coordinates": _is_pair,
    "cpf": _is_cpf,
    "dni": _is_dni,
    "hetu": _is_hetu,
    "hexadecimal": lambda written: len(set(written[2:].lower())) > 3,
    "host": _is_host,
    "iban": lambda value: mod97(value[4:] + value[:4]) == 1,
    "imei": lambda value: len(value) == 14 or luhn(value),
    "luhn": lambda value: luhn(value.replace("+", "")),
    "mac": lambda value: not value.isdigit() and len(set(value)) > 2,
    "nir": _is_nir,
    "nric": _is_nric,
    "resident_identity": _is_chinese,
    "routing": lambda value: weighted(value, "371371371") % 10 == 0,
    "rut": _is_rut,
    "verhoeff": verhoeff,
    "vin": vin,
}
"""Name in `forms.yaml` -> whether a value passes."""
