"""What each backend of a chain may take of the time of a search."""

from __future__ import annotations

from math import inf

import pytest

from commonplace.fallback.manager import Shares, shares_of

MOST = 10.0


@pytest.mark.parametrize(
    ("left", "waiting", "last", "shares"),
    [
        # One of several has an equal part, and ten seconds at most: half of it for its index.
        (30, 2, False, Shares(update=5, whole=10, answer=5, last_try=2)),
        (18, 2, False, Shares(update=4.5, whole=9, answer=4.5, last_try=2)),
        (12, 4, False, Shares(update=1.5, whole=3, answer=1.5, last_try=1.5)),
        # The last that could answer leaves a quarter to those that were passed over.
        (40, 2, True, Shares(update=30, whole=30, answer=20, last_try=2)),
        (8, 3, True, Shares(update=6, whole=6, answer=4, last_try=1)),
        # The only one that has not failed leaves nothing.
        (40, 1, True, Shares(update=30, whole=40, answer=20, last_try=2)),
        # Without a deadline only those that are not the last have one.
        (inf, 2, False, Shares(update=5, whole=10, answer=5, last_try=2)),
        (inf, 2, True, Shares(update=inf, whole=inf, answer=inf, last_try=2)),
        (inf, 1, True, Shares(update=inf, whole=inf, answer=inf, last_try=2)),
        # With no time left there is none to share.
        (0, 2, False, Shares(update=0, whole=0, answer=0, last_try=0)),
        (0, 1, True, Shares(update=0, whole=0, answer=0, last_try=0)),
    ],
)
def test_the_shares_of_one_backend(left: float, waiting: int, last: bool, shares: Shares) -> None:
    assert shares_of(left, waiting, last=last, most=MOST) == shares
