from __future__ import annotations

import re
import time
from string import ascii_letters, digits
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from commonplace.text.redaction import redact
from commonplace.text.secret_words import OTHER_KEYS

if TYPE_CHECKING:
    from collections.abc import Callable

WORD = ascii_letters + digits
SPACES = st.sampled_from([" ", "  ", "\n", "\t", " \n ", "\r\n", "\u00a0"])


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("OPENAI_API_KEY=sk-abcdefghijklmnop1234", "OPENAI_API_KEY=sk-a…"),
        ("export DB_PASSWORD=hunter2; ls", "export DB_PASSWORD=*** ls"),
        ("MY_TOKEN: 123", "MY_TOKEN: ***"),
        ("password=correct", "password=***"),
        ('SECRET="two words" and on', 'SECRET="***" and on'),
        ("secret: 'it is \"here\"' on", "secret: '***' on"),
        ('{"apiKey": "abc", "name": "x"}', '{"apiKey": "***", "name": "x"}'),
        ('{"accessToken":"abcdefghijklmnopqr"}', '{"accessToken":"abcd…"}'),
        ('"refreshToken" : "a\\"b"', '"refreshToken" : "***"'),
        (r"{\"token\": \"abc\", \"on\": 1}", r"{\"token\": \"***\", \"on\": 1}"),
        ("{'client_secret': 'abc'}", "{'client_secret': '***'}"),
        ('if token == "abc":', 'if token == "***":'),
        ("run --api-key abc --verbose", "run --api-key *** --verbose"),
        ("run --password 'a b' --token=x y", "run --password '***' --token=*** y"),
        ("run --access-token abc", "run --access-token ***"),
        ("Authorization: Bearer abc", "Authorization: Bearer ***"),
        ('-H "authorization: Basic am9lOmh1bnRlcjI=" x', '-H "authorization: Basic ***" x'),
        ("bearer abcdefghijklmnopqr!", "bearer abcd…!"),
        ("https://joe:hunter2@example.org/a", "https://joe:***@example.org/a"),
        ("ghp_abcdefghijklmnopqrst", "ghp_…"),
        ("github_pat_abcdefghijklmnopqrst", "gith…"),
        ("xoxb-1234567890-abc", "xoxb…"),
        ("gsk_abcdefghij", "***"),
        ("AIzaabcdefghijklmnopqrstuvw", "AIza…"),
        ("npm_abcdefghij", "***"),
        ("pplx-abcdefghij", "***"),
        ("xapp-1-abcdefgh", "***"),
        ("AKIAABCDEFGHIJKLMNOP", "AKIA…"),
        ("eyJhbGciOiJIUzI1.eyJzdWIiOiIx.abc-_", "eyJh…"),
        ("bot123456789:AAabcdefghijklmnopqrst", "bot1234…"),
        ("口令是sk-abcdefgh，请保密", "口令是***，请保密"),
        ("a sk-12345678 b sk-abcdefgh", "a *** b ***"),
        ("KEY=one TOKEN=two", "KEY=*** TOKEN=***"),
        ("the key: 47a11, key=abcdefghijklmnopqrs", "the key: *** key=abcd…"),
    ],
)
def test_secrets_are_masked(text: str, redacted: str) -> None:
    assert redact(text) == redacted


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The key: patience. House key: under the mat; monkey: Bob, key=len",
        "We spoke of tokens, secrets and passwords until 12:30:45.",
        "a task-oriented risk-assessment --- at https://example.org:8080/a@b",
        "keyboard: qwerty, tokenizer=fast, secretary: Ann",
        "Bearer of bad news; authorization is needed",
        "sk- xox ghp_ AIza eyJ. 1:2 --token",
        "see commit 0011223344556677 and 2026-01-31T10:00:00Z",
        "the file begins with -----BEGIN PRIVATE KEY----- and so on",
        "密钥：在垫子下面",
        '{"key": "content-of-the-overview"}, apiKey: { source: "env" }, token: [',
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact(text) == text


PEM = """-----BEGIN RSA PRIVATE KEY-----
Proc-Type: 4,ENCRYPTED
DEK-Info: AES-256-CBC,00112233

MIIEpAIBAAKCAQEA7bq7bq7bq7bq7bq7bq7b/+==
-----END RSA PRIVATE KEY-----"""


@pytest.mark.parametrize("shape", [str, lambda pem: " ".join(pem.split()), repr])
def test_of_a_private_key_the_first_and_last_line_are_left(shape: Callable[[str], str]) -> None:
    found = redact(f"mine: {shape(PEM)} end -----BEGIN PRIVATE KEY----- \n x")
    assert "MIIE" not in found
    assert "00112233" not in found
    assert found.count("-----BEGIN RSA PRIVATE KEY----- …redacted… -----END RSA PRIVATE KEY-----")
    assert found.startswith("mine: ")
    assert "end -----BEGIN PRIVATE KEY----- \n x" in found


def test_a_private_key_that_is_cut_off_is_masked_too() -> None:
    cut = PEM.partition("-----END")[0]
    found = redact(f"{cut} and this remains")
    assert "7bq7" not in found
    assert found.endswith("and this remains")


def values(alphabet: str, least: int, most: int = 60) -> st.SearchStrategy[str]:
    return st.text(alphabet, min_size=least, max_size=most)


_IN_VALUE = WORD + "-_.+/=!#%&*@$^~?"
# Nothing of code or prose: see test_secret_kinds.py for what is left as it is.
EXAMPLES = ("...", "xxx", "your", "replace", "example", "change", "placeholder", "-here")
SECRETS = values(_IN_VALUE, 3).map("9z{}x".format)
NAMED = st.tuples(
    st.sampled_from(
        ["{n}_KEY{w}={w}{v}", "my{n}Token{w}:{w}{v}", '"{n}Secret"{w}:{w}"{v}"', "{n}passwd='{v}'"]
    ),
    SECRETS,
)
OPTIONS = st.tuples(
    st.sampled_from(["--api-key{w}{v}", "--token{w}'{v}'", '--password{w}"{v}"']),
    values(WORD + "_./+", 3).map("9z{}x".format),
)
HEADERS = st.tuples(
    st.sampled_from(["Authorization:{w}Bearer{w}{v}", "authorization={w}{v}", "Bearer{w}{v}"]),
    values(WORD + "._-+=", 15).map("9z{}x".format),
)
PREFIXED = st.tuples(
    st.just("{v}"),
    st.builds(
        str.__add__,
        st.sampled_from(
            [
                *("sk-", "ghp_", "github_pat_", "xoxb-", "xoxp-", "xapp-", "gsk_", "AIza"),
                *("pplx-", "npm_", "123456:", "SK-", "GHP_"),
            ]
        ),
        values(WORD, 20),
    ),
)
PEMS = st.tuples(
    st.just("-----BEGIN PRIVATE KEY-----{w}{v}{w}-----END PRIVATE KEY-----"),
    values(WORD + "+/=", 4, 200),
)
AROUND = st.text("ab ,.:;=\"'…*-_\n한中", max_size=20)


@given(st.one_of(NAMED, OPTIONS, HEADERS, PREFIXED, PEMS), SPACES, AROUND, AROUND, values(WORD, 0))
def test_no_secret_survives(
    form: tuple[str, str], space: str, before: str, after: str, name: str
) -> None:
    shape, secret = form
    assume(not any(word in secret.lower() for word in EXAMPLES))
    assume(not any(part in name.lower() for part in OTHER_KEYS))
    raw = f"{before} {shape.format(n=name, w=space, v=secret)} {after}"
    hidden = secret[6:-4] if len(secret) >= 18 else secret
    assume(all(hidden not in other for other in (before, after, name, shape, "…redacted…")))
    for text in (raw, " ".join(raw.split())):
        assert secret not in redact(text)
        assert hidden not in redact(text)
        assert hidden not in "".join(redact(text).split())
        assert secret not in " ".join(redact(text).split())


def test_three_x_in_the_middle_of_a_value_do_not_make_it_an_example() -> None:
    assert redact("_KEY = 9z0XXx") == "_KEY = ***"
    assert redact("API_KEY = hJ3kXxX81vQ") == "API_KEY = ***"
    for example in ("xxx-1", "1_XXXX", "sk1-xxxx"):
        assert redact(f"API_KEY = {example}") == f"API_KEY = {example}"


TRICKY = st.lists(
    st.sampled_from(
        [
            *("key", "TOKEN", "=", ":", '"', "'", "\\", "`", " ", "--", "-", "…", "***", "abc"),
            *("password", "Bearer ", "authorization", "sk-", "://", "@", "a:b", "123456:"),
            *("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "\n", "api", "_"),
            *("abcdefghijklmnopqrstuvwxyz", "0", "eyJabcdefghijk.", "中", "\ud800"),
        ]
    ),
    max_size=25,
).map("".join)


@given(st.one_of(TRICKY, st.text(max_size=60)))
def test_redacting_twice_is_redacting_once(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


@given(st.text(st.characters(exclude_characters="=:-_"), max_size=200))
def test_without_the_marks_of_secrets_nothing_changes(text: str) -> None:
    assume(
        "bearer" not in text.lower() and "akia" not in text.lower() and "aiza" not in text.lower()
    )
    assert redact(text) == text


def seconds(text: str) -> float:
    tries = []
    for _ in range(3):
        before = time.process_time()
        redact(text)
        tries.append(time.process_time() - before)
    return min(tries)


UNITS = [
    *("key", "key ", "key= ", 'key="', "key='", "key=\\", 'key=\\"', 'key="\\', "key=`", "key:"),
    *("--", "-", "--a-", "--token ", "--token '", "1", "1:", "123456:", "://", "://a:", "://a:b"),
    *(
        "sk-",
        "eyJaaaaaaaaaaa.",
        "A",
        " ",
        '"',
        "\\",
        "Authorization ",
        'authorization:"',
        "bearer ",
    ),
    *("-----BEGIN PRIVATE KEY-----", "-----BEGIN ", "-----END PRIVATE KEY-----", "token :", "…"),
]


STARTS = ["key:", 'key="', "--token ", "bearer ", "-----BEGIN "]


@pytest.mark.slow
@pytest.mark.parametrize("start", ["", *STARTS])
def test_time_is_linear(start: str) -> None:
    for unit in UNITS:
        few, many = (start + unit * (count // len(unit)) for count in (3_000, 12_000))
        # Four times the text; a quadratic search would take sixteen times as long. A little is
        # added for the grain of the clock, and a busy machine may spoil one try, but not three.
        assert any(seconds(many) < 10 * seconds(few) + 0.004 for _ in range(3)), unit


@pytest.mark.parametrize(
    "text",
    [
        "密码:Xk29#mmQz81",
        "SECRET=two",
        "db_password=hello",
        "token=some",
        "password=user_password",
        "Authorization: s3cr3t9tok",
        "x-api-key: abc123def",
        "Cookie: sid=abc123def",
        "bearer:abcdefghijklmnopqr123",
        "name:DB_PASSWORD, value:Xk29",
        "das Passwort ist:Xk29#mm",
        "seed phrase=one two three four five six seven eight nine ten eleven twelve",
    ],
)
def test_wide_colons_and_equals_signs_are_like_narrow_ones(text: str) -> None:
    name, sign, value = re.split("([:=])", text, maxsplit=1)
    wide = f"{name}{'：' if sign == ':' else '＝'}{value}"
    if "value:" in wide:
        wide = wide.replace("value:", "value：").replace(",", "，")
    narrow = wide.replace("：", ":").replace("＝", "=").replace("，", ",")
    masked = redact(wide)
    assert masked.replace("：", ":").replace("＝", "=").replace("，", ",") == redact(narrow)
