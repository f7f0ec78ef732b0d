"""Laws about providers that cannot work, and about their end."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Literal, get_args

import pytest

from commonplace.errors import DeadlineExceededError, ProviderError, ProviderErrorKind
from commonplace.resilience.deadline import Deadline
from commonplace.testing.provider.law import TEXTS, ProviderLaws, law, soon, watched_network

if TYPE_CHECKING:
    from commonplace.protocols.providers import EmbeddingProvider, ProviderContext

__all__ = ["FailureLaws"]

_PURPOSES: tuple[Literal["query", "document"], ...] = ("query", "document")


class FailureLaws(ProviderLaws):
    """Errors, deadlines and ``close``."""

    @law()
    def test_without_time_nothing_is_asked(self, provider: EmbeddingProvider) -> None:
        """A deadline that has passed is an error, and no request is made for nobody.

        A ``ProviderError`` of kind ``timeout``, or ``DeadlineExceededError``.
        """
        del provider
        late = Deadline(0.0, clock=lambda: 1.0)
        with watched_network() as tried, self.opened() as fresh:
            for purpose in _PURPOSES:
                with pytest.raises((ProviderError, DeadlineExceededError)) as raised:
                    fresh.embed(TEXTS[:1], purpose=purpose, deadline=late)
                assert getattr(raised.value, "kind", "timeout") == "timeout"
        assert tried == []

    @law()
    def test_what_fails_says_so(self, provider: EmbeddingProvider) -> None:
        """Settings that cannot work end in a ``ProviderError``, and never in vectors.

        It names the provider and a kind that there is, in one line, with one line on how to put it
        right.
        """
        del provider
        for name, error in self._errors().items():
            assert error.provider.strip(), name
            assert error.kind in get_args(ProviderErrorKind), name
            assert str(error).strip(), name
            assert "\n" not in str(error) + error.hint, name

    @law()
    def test_no_error_holds_the_key(self, provider: EmbeddingProvider) -> None:
        """Not in its words, nor in what it was raised from."""
        del provider
        key = self.context().api_key
        if not key:
            pytest.skip("the provider has no key")
        for name, error in self._errors().items():
            told: list[str] = []
            waiting: list[BaseException | None] = [error]
            while waiting:
                one = waiting.pop()
                if one is not None:
                    told += [str(one), repr(one), repr(one.args), repr(vars(one))]
                    waiting += [one.__cause__, one.__context__]
            assert not any(key in text for text in told), name

    @law()
    def test_closing_twice_is_fine(self, provider: EmbeddingProvider) -> None:
        """``close`` may be called again and again, also where nothing was ever embedded."""
        for _ in range(3):
            provider.close()
        with self.opened() as other:
            other.embed(TEXTS[:1], purpose="document", deadline=soon())
            for _ in range(3):
                other.close()

    def _errors(self) -> dict[str, ProviderError]:
        failures = self.failures()
        assert failures, "there is always something that can fail"
        return {name: self._error(name, context) for name, context in failures.items()}

    def _error(self, name: str, context: ProviderContext) -> ProviderError:
        try:
            with closing(self.make_provider(context)) as broken:
                broken.embed(TEXTS[:1], purpose="document", deadline=soon())
        except ProviderError as error:
            return error
        pytest.fail(f"{name}: there are vectors all the same")
