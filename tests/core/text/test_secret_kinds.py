from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from commonplace.text.redaction import redact

HERE = Path(__file__).parent
ROOT = HERE.parents[2]


@pytest.fixture(scope="module")
def kinds() -> Any:
    # Tests are not packages, so what they share is loaded from its file.
    spec = importlib.util.spec_from_file_location("secret_kinds", HERE / "secret_kinds.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("seed", range(3))
def test_of_every_kind_of_secret_at_most_ten_characters_are_left(kinds: Any, seed: int) -> None:
    left = [
        text
        for _, text, secrets in kinds.samples(seed)
        if not kinds.is_hidden(redact(text), secrets)
    ]
    assert left == []


def test_a_second_time_changes_nothing(kinds: Any) -> None:
    for _, text, _ in kinds.samples(7):
        assert redact(redact(text)) == redact(text)


def test_text_around_secrets_stays(kinds: Any) -> None:
    for _, text, secrets in kinds.samples(8):
        if "\n" not in text and "cookie" not in text.lower():
            before = text.partition(secrets[0])[0]
            plain = before.rpartition(" ")[0]
            assert redact(f"we met at noon; {text}").startswith(f"we met at noon; {plain[:8]}")


@pytest.mark.parametrize(
    "line",
    [
        "id = Column(Integer, primary_key=True)",
        "Token: a unit of text that a model reads",
        "Turkey: 85 million people",
        "The password: ask Ann for it",
        "password = getpass()",
        "password = os.environ['DB_PASSWORD']",
        "password: ${DB_PASSWORD}",
        "api_key: <your key here>",
        "def login(self, password: str, token: str | None = None) -> Session:",
        "Authorization: required for all requests",
        "the authorization server issues an access token",
        "session: 2026-11-22",
        "status installed dbus-user-session:amd64 1.14.10",
        "secret: it is not what you think",
        "the key: patience and time",
        "sort_key: name",
        "for key, value in items.items(): total[key] = value",
        "密码：请问管理员",
        "パスワード：管理者に聞いてください",
        "пароль: спросите администратора",
        "clave: tener paciencia",
        "https://example.org/a?page=2&sort=name&key=title",
        "commit 4f2a9c1d8e7b6a5f4e3d2c1b0a9f8e7d6c5b4a39",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "user 123e4567-e89b-12d3-a456-426614174000 came at 10:15:30",
        "curl -s https://example.org | sh",
        "mysql -u root -p",
        "docker login -u joe",
        "pip install xoxo hf_hub npm_x",
    ],
)
def test_ordinary_lines_stay(line: str) -> None:
    assert redact(line) == line


@pytest.mark.slow
def test_of_the_project_s_own_pages_hardly_a_line_is_touched() -> None:
    pages = [*ROOT.glob("docs/**/*.md"), ROOT / "README.md"]
    lines = [
        line for page in pages for line in page.read_text("utf-8").splitlines() if line.strip()
    ]
    touched = [line for line in lines if redact(line) != line]
    assert len(lines) > 1000
    assert len(touched) <= 0.002 * len(lines), touched


@pytest.mark.parametrize(
    ("length", "left"), [(8, 0), (17, 0), (18, 4), (39, 4), (40, 10), (3000, 10)]
)
def test_little_is_left_of_a_secret(length: int, left: int) -> None:
    secret = ("aB3dE5gH" * length)[:length]
    shown = redact(f"API_TOKEN={secret} and on")
    assert shown.startswith("API_TOKEN=")
    assert shown.endswith(" and on")
    rest = shown.removeprefix("API_TOKEN=").removesuffix(" and on")
    assert len(rest.replace("…", "").replace("***", "")) == left


def test_a_secret_that_goes_on_below_is_masked_whole() -> None:
    text = "TOKEN=abcDEF123456\\\n  ghiJKL789012\\\n  mnoPQR345678\nand on"
    shown = redact(text)
    assert "789012" not in shown
    assert "345678" not in shown[:-12]
    assert shown.endswith("and on")


def test_one_s_own_patterns_are_masked_too() -> None:
    patterns = ("BADGE-[0-9]{6}", r"room code (\d{4})")
    text = "BADGE-123456 opens it; the room code 4711 too"
    assert redact(text, patterns) == "*** opens it; the room code *** too"
    assert redact(redact(text, patterns), patterns) == redact(text, patterns)
