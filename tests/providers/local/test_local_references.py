"""Reading local.modelPath."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace_local.references import DEFAULT_MODEL, HubModel, is_remote, parse_hub


@pytest.mark.parametrize(
    ("reference", "model"),
    [
        ("hf:o/r/m.gguf", HubModel("o", "r", "m.gguf")),
        ("HF:o/r/a/b/m.GGUF", HubModel("o", "r", "a/b/m.GGUF")),
        ("huggingface:o/r/m.gguf#v1", HubModel("o", "r", "m.gguf", "", "v1")),
        (" hf:o/r.x/m.gguf#refs/pr/1 ", HubModel("o", "r.x", "m.gguf", "", "refs/pr/1")),
        ("hf:o/r", HubModel("o", "r")),
        ("hf:o/r:Q8_0", HubModel("o", "r", "", "Q8_0")),
        ("hf:o/r:Q4_K_M#dev", HubModel("o", "r", "", "Q4_K_M", "dev")),
    ],
)
def test_references_are_read(reference: str, model: HubModel) -> None:
    assert is_remote(reference)
    assert parse_hub(reference) == model
    assert parse_hub(str(model)) == model


@pytest.mark.parametrize(
    "reference",
    [
        "hf:",
        "hf:o",
        "hf:o/",
        "hf:/r/m.gguf",
        "hf:o/r/../m.gguf",
        "hf:../r/m.gguf",
        "hf:o/../m.gguf",
        "hf:o/r//m.gguf",
        "hf:o/r/a\\b.gguf",
        "hf:o/r/c:m.gguf",
        "hf:o/r/m.bin",
        "hf:o/r/m.gguf#../x",
        "hf:o/r/m.gguf#a b",
        "hf:o/r:Q8/../x",
        "hf:o/r/m-00001-of-00000.gguf",
        "hf:o/r/m-00001-of-99999.gguf",
        "hf:o/r/m\n.gguf",
        "https://huggingface.co/o/r/m.gguf",
    ],
)
def test_references_that_could_lead_astray_are_refused(reference: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse_hub(reference)


@given(st.text(max_size=60))
def test_whatever_is_read_stays_inside_its_repository(text: str) -> None:
    try:
        model = parse_hub(f"hf:{text}")
    except ValueError:
        return
    for name in (model.owner, model.repo, model.path, model.revision):
        assert ".." not in name.split("/")
        assert not name.startswith(("/", "\\"))
        assert "\\" not in name
        assert "\0" not in name


@pytest.mark.parametrize("path", ["/m.gguf", "m.gguf", "~/m.gguf", "hfx/m.gguf", "C:\\m.gguf"])
def test_files_are_not_remote(path: str) -> None:
    assert not is_remote(path)


def test_the_models_that_are_usual_elsewhere_can_be_named() -> None:
    qat = "hf:ggml-org/embeddinggemma-300m-qat-q8_0-GGUF/embeddinggemma-300m-qat-Q8_0.gguf"
    for reference in (DEFAULT_MODEL, qat):
        assert str(parse_hub(reference)) == reference


def test_a_split_model_has_all_its_parts() -> None:
    model = parse_hub("hf:o/r/d/m-00002-of-00003.gguf")
    assert model.parts() == tuple(f"d/m-0000{n}-of-00003.gguf" for n in (1, 2, 3))
    assert parse_hub("hf:o/r/m.gguf").parts() == ("m.gguf",)


@pytest.mark.parametrize(
    ("path", "picked"),
    [
        ("m-Q8_0.gguf", True),
        ("m.q8_0.gguf", True),
        ("Q8_0/m-Q8_0-00001-of-00002.gguf", True),
        ("Q8_0/m-Q8_0-00002-of-00002.gguf", False),
        ("m-IQ8_0.gguf", False),
        ("m-Q8_0_L.gguf", False),
        ("mmproj-Q8_0.gguf", False),
        ("m-Q8_0.bin", False),
    ],
)
def test_a_quantisation_picks_by_its_whole_name(path: str, picked: bool) -> None:
    assert parse_hub("hf:o/r:Q8_0").picks(path) is picked
