"""Draw stratified samples of cases, in proportion to the values of a field."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from heapq import heappush, heappushpop, nlargest
from itertools import chain
from operator import itemgetter

from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.core.suggest import suggest
from judgekit.datasets.draw import Draw
from judgekit.datasets.selection import fields_of, spelled, values_at

MOST_STRATA = 10_000


def sample_cases(
    cases: Iterable[Case], count: int, *, by: str | None = None, seed: int = 42
) -> list[Case]:
    """Return a random sample, in the order of the cases.

    A case is drawn by a digest of the seed and its id, so the order of the file does not matter.
    Memory is bounded by `count` cases for each value of the field.

    Args:
        cases: all cases.
        count: size of the sample; all cases if there are fewer.
        by: the field whose values define the strata: a path in the metadata, or `labels.NAME`.
            Cases without it form their own stratum.
        seed: another seed draws other cases.

    Raises:
        ConfigError: the count is below 1, no case has the field, or the field has too many values.
    """
    if count < 1:
        raise ConfigError(f"-n {count}: must be at least 1")
    strata: defaultdict[str, list[tuple[int, int, Case]]] = defaultdict(list)
    sizes: Counter[str] = Counter()
    fields: dict[str, None] = {}
    found = by is None
    for number, case in enumerate(cases):
        stratum = "" if by is None else stratum_of(case, by)
        found = found or stratum != ""
        if not found and len(fields) < MOST_STRATA:
            fields |= dict.fromkeys(fields_of(case.metadata))
            fields |= dict.fromkeys(f"labels.{name}" for name in case.labels)
        if len(sizes) > MOST_STRATA:
            message = f"more than {MOST_STRATA:,} values; choose a field with fewer"
            raise ConfigError(f"--by {by}: {message}")
        sizes[stratum] += 1
        # The heap stores the lowest draws as negative numbers, so its first item is removed first.
        entry = (-Draw("sample", seed, case.id).below(2**64), -number, case)
        kept = strata[stratum]
        (heappush if len(kept) < count else heappushpop)(kept, entry)
    if not found and sizes:
        raise ConfigError(f"--by {by}: no case has such a field{suggest(by, fields)}")
    shares = allocate(sizes, count)
    drawn = chain.from_iterable(nlargest(shares[name], kept) for name, kept in strata.items())
    return [case for _, _, case in sorted(drawn, key=itemgetter(1), reverse=True)]


def stratum_of(case: Case, field: str) -> str:
    """Return the value of a field as text; empty if missing; several values are joined."""
    if field.startswith("labels.") and field[7:] in case.labels:
        return spelled(case.labels[field[7:]])
    return ", ".join(map(spelled, values_at(case, field.removeprefix("metadata."))))


def allocate(sizes: Mapping[str, int], count: int) -> dict[str, int]:
    """Return the sample size of each stratum: proportional, by largest remainders.

    Every stratum gets at least one case if the sample is large enough; ties are broken by name.

    >>> allocate({"a": 90, "b": 9, "c": 1}, 10)
    {'a': 8, 'b': 1, 'c': 1}
    """
    total = sum(sizes.values())
    count = min(count, total)
    least = int(count >= len(sizes))
    shares = {name: max(least, count * size // total) for name, size in sizes.items()}

    def missing(name: str) -> int:
        return count * sizes[name] - shares[name] * total  # of the exact share, times total

    order = sorted(sizes)
    while sum(shares.values()) < count:
        name = max((n for n in order if shares[n] < sizes[n]), key=missing)
        shares[name] += 1
    while sum(shares.values()) > count:
        name = min((n for n in order if shares[n] > least), key=missing)
        shares[name] -= 1
    return shares
