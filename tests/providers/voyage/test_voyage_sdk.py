"""Voyage's own SDK judges the fake, and the provider by what both send."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from commonplace.plugin import ProviderContext
from commonplace.resilience.deadline import Deadline
from commonplace_voyage.provider import VoyageProvider

if TYPE_CHECKING:
    from collections.abc import Callable

TEXTS = ["chunk one", "chunk two — zwei"]
# Of the SDK's dependencies, not of the code under test.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


@pytest.fixture
def vendor(fake: Callable[[str], Any]) -> Any:
    return fake("voyage")


@pytest.fixture
def voyageai() -> Any:
    return pytest.importorskip("voyageai", reason="the extra sdks is not installed")


@pytest.fixture
def sdk(voyageai: Any, vendor: Any, key: str) -> Any:
    return voyageai.Client(api_key=key, base_url=f"{vendor.url}/v1")


@pytest.mark.parametrize("purpose", ["query", "document"])
@pytest.mark.parametrize("dims", [None, 512])
def test_both_send_and_get_the_same(
    sdk: Any, vendor: Any, key: str, purpose: Any, dims: int | None
) -> None:
    theirs = sdk.embed(
        TEXTS,
        model="voyage-4-large",
        input_type=purpose,
        truncation=False,
        output_dimension=dims,
    )
    context = ProviderContext(base_url=f"{vendor.url}/v1", api_key=key, dims=dims)
    provider = VoyageProvider(context)
    ours = provider.embed(TEXTS, purpose=purpose, deadline=Deadline.after(60))
    provider.close()
    first, second = vendor.requests
    # The SDK writes null for what is not asked for.
    said = {name: value for name, value in first.json.items() if value is not None}
    assert said == second.json
    assert first.path == second.path
    assert first.headers["authorization"] == second.headers["authorization"]
    assert [list(vector) for vector in ours] == theirs.embeddings


def test_the_sdk_chooses_the_same_host_by_the_key(voyageai: Any) -> None:
    for key in ("pa-0123456789", "al-0123456789"):
        theirs = voyageai.Client(api_key=key)._params["base_url"]
        provider = VoyageProvider(ProviderContext(api_key=key))
        assert provider.client().origin == theirs.rstrip("/")
        provider.close()


def test_the_sdk_understands_the_fake_s_errors(
    voyageai: Any, sdk: Any, vendor: Any, key: str
) -> None:
    with pytest.raises(voyageai.error.InvalidRequestError, match="too many"):
        sdk.embed(["a" * 70_000], model="voyage-4", truncation=False)
    with pytest.raises(voyageai.error.InvalidRequestError, match="batch size limit"):
        sdk.embed(["a"] * 1001, model="voyage-4")
    vendor.vendor.key = "another"
    with pytest.raises(voyageai.error.AuthenticationError):
        sdk.embed(["a"], model="voyage-4")


def test_truncation_loses_the_tail_in_silence_which_is_why_it_is_off(sdk: Any) -> None:
    long = "a" * 64_000
    (whole,) = sdk.embed([long], model="voyage-4", truncation=True).embeddings
    (longer,) = sdk.embed([f"{long} and the end"], model="voyage-4", truncation=True).embeddings
    assert whole == longer
