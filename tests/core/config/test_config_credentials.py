"""Variables of an OpenClaw installation: where they stand, what counts more, and no writing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.config.credentials import Environment, Place, dotenv
from commonplace.errors import ConfigError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace.config.settings import Settings


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("A=1", {"A": "1"}),
        ("A = 1 \n B=2\r\nC=3", {"A": "1", "B": "2", "C": "3"}),
        ("export A=1", {"A": "1"}),
        ("# A=1\nB=2 # two", {"B": "2"}),
        ("A='x # y'\nB=\"x # y\"\nC=`z`", {"A": "x # y", "B": "x # y", "C": "z"}),
        ('A="two\\nlines"', {"A": "two\nlines"}),
        ("A='two\nlines'\nB=1", {"A": "two\nlines", "B": "1"}),
        ('A="with \\" in it"', {"A": 'with " in it'}),
        ("A=", {"A": ""}),
        ("A=1\nA=2", {"A": "2"}),
        ("not a line\n1A=x\nA-B=x\n=x", {}),
        ("A=sk-abc+/=", {"A": "sk-abc+/="}),
        ("", {}),
    ],
)
def test_a_file_of_variables_is_read(tmp_path: Path, text: str, values: dict[str, str]) -> None:
    file = tmp_path / ".env"
    file.write_text(text, encoding="utf-8", newline="")
    assert dict(dotenv(str(file)).values) == values


@given(st.text())
def test_any_file_can_be_read(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    file = tmp_path_factory.getbasetemp() / "any.env"
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    place = dotenv(str(file))
    assert all(place.origin(name).startswith(f"{name} in {file}:") for name in place.values)
    assert repr(place) == f"<{len(place.values)} variables, not shown>"


def test_a_file_that_is_not_there_has_none_and_one_that_is_closed_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert dotenv(str(tmp_path / "gone")).values == {}
    assert dotenv(str(tmp_path)).values == {}

    def refuse(*_: object, **__: object) -> Any:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(
        UnavailableError, match="closed cannot be read: Permission denied"
    ) as caught:
        dotenv("closed")
    assert "chmod" in caught.value.hint


def test_the_process_counts_more_than_the_file_and_the_file_more_than_the_block(
    tmp_path: Path,
) -> None:
    (tmp_path / ".env").write_text("A=file\nB=file\nE=\n")
    block = Place({"A": "block", "B": "block", "C": "block", "E": "block"})
    found = Environment({"A": "process", "D": ""}, [str(tmp_path)], [block])
    assert [found[name] for name in "ABCDE"] == ["process", "file", "block", "", "block"]
    assert "F" not in found
    assert set(found) == set("ABCDE")
    assert len(found) == 5
    assert "process" not in repr(found)


def test_no_file_is_read_where_the_process_has_the_variable(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("A=file")
    found = Environment({"A": "process"}, [str(tmp_path)], [])
    assert found["A"] == "process"
    assert found._others is None


def test_references_are_looked_up_in_both_places(
    write: Callable[[str, Any], str], load: Callable[..., Settings], env: dict[str, str]
) -> None:
    text = """{
      env: { MODEL: "of-the-block", vars: { GATEWAY: "https://gw.test/v1" }, shellEnv: {} },
      memory: { search: { model: "${MODEL}", remote: { baseUrl: "${GATEWAY}" } } },
    }"""
    path = Path(write("original", text))
    assert load().search.model == "of-the-block"
    assert load().search.remote.base_url == "https://gw.test/v1"
    (path.parent / ".env").write_text("MODEL=of-the-file\n")
    assert load().search.model == "of-the-file"
    env["MODEL"] = "of-the-process"
    assert load().search.model == "of-the-process"
    assert "gw.test" not in repr(load().env_blocks)
    assert sorted(entry.name for entry in path.parent.iterdir()) == [".env", "openclaw.json"]


def test_they_are_no_settings_of_ours(
    write: Callable[[str, Any], str], load: Callable[..., Settings], tmp_path: Path
) -> None:
    elsewhere = str(tmp_path / "not-here")
    write("original", {"env": {"COMMONPLACE_STATE_DIR": elsewhere, "COMMONPLACE_AGENT": "x"}})
    settings = load()
    assert settings.state_dir != elsewhere
    assert settings.agent == "main"


@pytest.mark.parametrize("block", [5, [], "x", {"A": 5}, {"vars": 5}, {"A": "${B}"}, {"": "x"}])
def test_a_block_of_another_form_is_passed_over(
    write: Callable[[str, Any], str], load: Callable[..., Settings], block: object
) -> None:
    write("original", {"env": block, "memory": {"search": {"model": "${A}"}}})
    with pytest.raises(ConfigError, match="A, which is not set"):
        load()


def test_a_workspace_s_own_file_has_no_block(
    write: Callable[[str, Any], str], load: Callable[..., Settings]
) -> None:
    write("workspace", {"env": {"A": "x"}})
    assert ": env: a workspace's own file may hold only" in load().ignored
