from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.config.load import load_settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Terminal(io.StringIO):
    """What a person types, and what is shown to one."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    (folder / "daily").mkdir(parents=True)
    (folder / "Keys.md").write_text("The spare key hangs behind the boiler.\n")
    (folder / "daily" / "2026-11-03.md").write_text("The ferry was late.\n")
    (folder / "list.txt").write_text("bread\n")
    return folder


def user_file(home: Path) -> Path:
    return home / ".config" / "commonplace" / "config.json5"


def test_it_writes_a_file_indexes_and_says_what_to_try(
    run: Callable[..., Any], vault: Path, home: Path
) -> None:
    ran = run("init", str(vault))
    assert ran.code == 0
    assert f"Found 2 notes in {vault}." in ran.out
    assert "1 .txt file was ignored" in ran.out
    assert f"Wrote {vault}/commonplace.json5:" in ran.out
    assert "2 added" in ran.out
    assert f'commonplace search --workspace {vault} "' in ran.out
    assert not user_file(home).exists()
    settings = load_settings(workspace=str(vault), env={"HOME": str(home)})
    assert [extra.path for extra in settings.search.extra_paths] == ["."]
    assert "Keys.md" in run("search", "--workspace", str(vault), "spare key").out


def test_what_it_comments_out_is_right(run: Callable[..., Any], vault: Path, home: Path) -> None:
    run("init", str(vault))
    file = vault / "commonplace.json5"
    file.write_text(file.read_text().replace("// notes", "notes").replace("// query", "query"))
    assert run("config", "check", "--workspace", str(vault)).code == 0
    settings = load_settings(workspace=str(vault), env={"HOME": str(home)})
    assert settings.search.query.max_results == 10
    assert settings.search.notes.gitignore


def test_it_never_overwrites(run: Callable[..., Any], vault: Path) -> None:
    file = vault / "commonplace.json5"
    file.write_text("{ memory: { citations: 'on' } } // mine\n")
    before = file.read_bytes()
    ran = run("init", str(vault))
    assert ran.code == 0
    assert f"Kept {file} as it is. New, it would be:\n  // How" in ran.out
    assert file.read_bytes() == before


def test_what_it_would_write_again_is_not_shown_again(run: Callable[..., Any], vault: Path) -> None:
    assert "// How" in run("init", str(vault)).out
    ran = run("init", str(vault))
    assert f"Kept {vault / 'commonplace.json5'} as it is.\n" in ran.out
    assert "// How" not in ran.out


def test_a_dry_run_writes_and_indexes_nothing(
    run: Callable[..., Any], vault: Path, home: Path
) -> None:
    ran = run("init", str(vault), "--dry-run", "--user")
    assert f"Would write {user_file(home)}:" in ran.out
    assert "Indexed" not in ran.out
    assert not user_file(home).exists()
    assert not (home / ".local").exists()
    printed = run("init", str(vault), "--dry-run", "--json").json
    assert printed["index"] is None
    assert [file["written"] for file in printed["files"]] == [False]
    assert not (vault / "commonplace.json5").exists()


def test_the_users_file_makes_the_folder_the_workspace(
    run: Callable[..., Any], vault: Path, home: Path
) -> None:
    assert run("init", str(vault), "--user", "--yes").code == 0
    assert not (vault / "commonplace.json5").exists()
    assert load_settings(env={"HOME": str(home)}).workspace == str(vault)


@pytest.mark.parametrize(("typed", "provider"), [("1", "none"), ("openai", "openai"), ("", None)])
def test_on_a_terminal_it_asks_in_words(
    run: Callable[..., Any],
    vault: Path,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    typed: str,
    provider: str | None,
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(f"{typed}\n"))
    monkeypatch.setattr(sys, "stdout", shown := Terminal())
    run("init", str(vault))
    assert "1  by words alone: nothing to install, nothing leaves this computer" in shown.getvalue()
    assert "openai, a service: it is sent the text of your notes" in shown.getvalue()
    assert user_file(home).exists() is (provider is not None)
    if provider is not None:
        settings = load_settings(workspace=str(vault), env={"HOME": str(home)})
        assert settings.search.provider == provider


def test_an_answer_that_is_no_choice_writes_nothing(
    run: Callable[..., Any], vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal("99\n"))
    monkeypatch.setattr(sys, "stdout", Terminal())
    ran = run("init", str(vault))
    assert ran.code == 1
    assert "'99' is none of the choices; nothing was written" in ran.err
    assert not (vault / "commonplace.json5").exists()


def test_the_home_folder_is_refused(run: Callable[..., Any], home: Path) -> None:
    (home / "a.md").write_text("a note")
    ran = run("init", str(home))
    assert ran.code == 1
    assert "name a folder in it" in ran.err
    assert not (home / "commonplace.json5").exists()


def test_a_folder_that_is_not_there_is_refused(run: Callable[..., Any], home: Path) -> None:
    assert "is not a folder" in run("init", str(home / "nowhere")).err
