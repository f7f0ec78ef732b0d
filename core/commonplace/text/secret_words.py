"""The words by which secrets are known: names before them, and the beginnings of vendors' keys."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# Names of secrets, by their last word.
PASSWORDS = (
    *("password", "passwd", "passphrase", "passcode", "passwort", "kennwort", "pwd", "psk"),
    *("mot de passe", "mot_de_passe", "motdepasse", "contraseña", "contrasena", "contrasenya"),
    *("senha", "palavra-passe", "wachtwoord", "hasło", "haslo", "heslo", "lösenord", "losenord"),
    *("adgangskode", "passord", "salasana", "şifre", "sifre", "parola", "parolă", "jelszó"),
    *("пароль", "пароля", "лозинка", "парола", "κωδικός", "κωδικος", "סיסמה", "סיסמא"),
    *("密码", "密碼", "口令", "パスワード", "暗証番号", "비밀번호", "암호", "패스워드"),
    *("كلمة المرور", "كلمة السر", "पासवर्ड", "รหัสผ่าน", "mật khẩu", "kata sandi", "kata laluan"),
)
# Names of other things, too, in their languages.
_FOREIGN_KEYS = (
    *("密钥", "密鑰", "金鑰", "令牌", "秘密鍵", "トークン", "シークレット", "apiキー"),
    *("토큰", "비밀키", "시크릿", "ключ", "токен", "секрет", "schlüssel", "geheimnis"),
    *("clave", "clé", "cle_api", "jeton", "chave"),
)
PLAIN_WORDS = frozenset({"key", "token", "secret", "credential", "credentials"})
WEAK_WORDS = frozenset(
    {*_FOREIGN_KEYS, "credential", "credentials"} - {"apiキー", "秘密鍵", "cle_api"}
)
KEYS = (*sorted(PLAIN_WORDS), "apikey", "client_secret", *_FOREIGN_KEYS)
# Names whose value is a secret where it looks random.
RANDOM_NAMES = (
    *("session", "sessionid", "session_id", "session-id", "sessid", "_sid", ".sid", "-sid"),
    *("signature", "_auth", "authtoken", "auth", "cookie", "salt", "otp", "totp", "mfa"),
    *("jwt", "hmac", "webhook", "access_id", "_hash", "seed", "csrf", "xsrf", "pin", "bearer"),
    *("accountkey", "sharedaccesskey", "keydata", "key-data", "key_data", "token-data"),
    "accesskeyid",
)

# What stands for a secret in code and documentation.
LITERALS = frozenset(
    (
        *("bearer", "basic", "none", "null", "nil", "true", "false", "yes", "no", "on", "off"),
        *("undefined", "str", "string", "int", "integer", "bool", "boolean", "float", "bytes"),
        *("object", "array", "list", "dict", "any", "type", "required", "optional", "empty"),
        "unset",
        *("redacted", "hidden", "masked", "secret", "password", "pass", "passwd", "token", "key"),
        *("value", "default", "self", "this", "len", "name", "text"),
    )
)
# Parts of the names of keys: of secret ones, and of others.
SECRET_KEYS = (
    *("api", "access", "secret", "private", "auth", "encrypt", "sign", "master", "account"),
    "server",
    *("license", "licence", "sas", "storage", "deploy", "service", "ssh", "client", "consumer"),
    *("webhook", "shared", "subscription", "app", "hmac", "integration", "ingest", "rsa", "jwt"),
    *("admin", "jwk"),
)
OTHER_KEYS = (
    "primary",
    "foreign",
    "public",
    "sort",
    "partition",
    "cache",
    "idempot",
    "index",
    "lookup",
)

# Beginnings of vendors' keys, and what follows them (\w and ranges without regard to case).
_PREFIXES = r"""
# clouds
akia asia abia acca aroa aida agpa anpa anva aipa      [a-z0-9]{16}(?![a-z0-9])
absk                                                   [a-z0-9+/=]{40,}
aiza ya29. 1//0                                        [\w-]{16,}
gocspx- hrku- tskey-                                   [\w-]{16,}
ltai                                                   [a-z0-9]{12,30}(?![a-z0-9])
akid                                                   [a-z0-9]{28,40}(?![a-z0-9])
aklt aqvn y0_ t1.9eu railway_                          [\w=.-]{24,}
dop_v1_ doo_v1_ dor_v1_                                [a-f0-9]{40,}
v1.0-                                                  [a-f0-9]{20,}[\w-]*
nfp_ vcp_ rnd_ napi_ ngrok_ pcsk_                      \w{20,}
fo1_ fm1r_ fm2_ fm1a_                                  [\w+/=,-]{20,}
sbp_ sb_secret_ pscale_tkn_ pscale_pw_ pscale_oauth_   [\w.-]{20,}
dapi                                                   [a-f0-9]{32}(?:-[0-9])?
# code, packages, builds
ghp_ gho_ ghu_ ghs_ ghr_                               [a-z0-9]{20,}
github_pat_ ccipat_                                    \w{20,}
glpat- gldt- glrt- glcbt- glsoat- glft- glimt- glagent- glptt- gloas- [\w.-]{16,}
atatt3x atctt3x atbb atoa                              [\w=-]{20,}
npm_                                                   [a-z0-9]{10,}
pypi-                                                  [\w-]{40,}
rubygems_ sqp_ squ_ sqa_ pul- bkua_ bkaj_ bkct_        [a-f0-9]{20,}
cio                                                    [a-z0-9]{32}(?![a-z0-9])
oy2                                                    [a-z0-9]{43}(?![a-z0-9])
dckr_pat_ dckr_oat_ hvs. hvb. hvr. pnu_                [\w-]{16,}
akcp cmvmdgtu                                          [a-z0-9]{20,}
dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.         [\w.-]{20,}
ops_eyj                                                [\w-]{20,}
pmak-                                                  [a-f0-9-]{20,}
# models
sk-                                                    [\w*-]{8,}
gsk_ pplx-                                             [\w-]{10,}
hf_ api_org_ r8_ jina_ fw_                             [a-z0-9]{20,}
xai- nvapi- tgp_v1_ tvly- csk-                         [\w-]{16,}
lsv2_ ls__ wandb_v1_                                   \w{20,}
fc-                                                    [a-f0-9]{28,}
pa- al-                                                [\w-]{30,}
# messages, watching, mail
xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe. xapp- [\w%./+-]{10,}
sg.                                                    [\w-]{16,32}\.[\w-]{16,}
xkeysib- xsmtpsib-                                     [\w-]{20,}
key-                                                   [a-f0-9]{32}(?![a-z0-9])
sk ac                                                  [a-f0-9]{32}(?![a-z0-9])
re_                                                    [a-z0-9]{8,}_[a-z0-9]{16,}
oauth:                                                 [a-z0-9]{30}(?![a-z0-9])
mlsn. syt_                                             \w{16,}
glsa_ glc_ sntrys_ sntryu_ sntryi_                     [\w+/=-]{20,}
dt0c01. dt0s16.                                        [\w.]{20,}
nrak- nraa- nral- nrii- nrjs- nriq- pdus+              [\w-]{16,}
# money, shops
sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ pk_live_ whsec_ rzp_live_ rzp_test_ [\w+/=]{10,}
sq0atp- sq0csp- sq0idp- flwseck                        [\w-]{16,}
eaaa eaac eaab igqv aqed                               [\w-]{40,}
shpat_ shpca_ shppa_ shpss_ shpua_ shippo_live_ shippo_test_ [a-f0-9]{16,}
access_token$                                          (?:production|sandbox)\$[\w$]{16,}
ezak eztk                                              [a-z0-9]{40,}
duffel_                                                (?:live|test)_[\w-]{20,}
amzn.                                                  mws\.[a-f0-9-]{20,}
atza| atzr|                                            [\w-]{20,}
xprv zprv                                              [a-z0-9]{50,}
ico- fio-u- dnkey-                                     [\w-]{24,}
clojars_                                               [a-f0-9]{40,}
access-  (?:sandbox|development|production)-[a-f0-9-]{30,}
live_                                                  [\w-]{36,}(?![\w-])
eyjrijoi                                               [a-z0-9]{60,}=*
# work
lin_api_ lin_oauth_ ntn_ rdme_ p8e- phx_ esecret_      \w{16,}
secret_                                                [a-z0-9]{32,}
figd_ figo_ figu_ cfpat- tfp_ tk-us-                   [\w-]{20,}
pat-                                                   (?:na|eu)[0-9]-[a-f0-9-]{20,}
sdk- api- mob-                                         [a-f0-9]{8}-[a-f0-9-]{27}(?![a-z0-9])
00d                                                    [a-z0-9]{12,15}![\w.]{40,}
aaaaaaaaaaaaaaaaaaaaa                                  [a-z0-9%+/=]{30,}
sl.                                                    [\w-]{60,}
# tokens that any server signs or encrypts
eyj  [\w-]{6,}\.(?:[\w-]*\.[\w-]{6,}\.[\w-]{6,}\.[\w-]{6,}|[\w-]{6,}\.[\w-]*)
"""


class Pattern:
    """A regular expression that is compiled when it is first used.

    All of them take 40 ms, and the words that most need are in few texts.
    """

    def __init__(self, source: str, flags: re.RegexFlag = re.NOFLAG) -> None:
        self._source = source
        self._flags = flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._source, self._flags)

    def match(self, text: str, start: int) -> re.Match[str] | None:
        """The match that begins at ``start``, if there is one."""
        return self._compiled.match(text, start)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """All matches."""
        return self._compiled.finditer(text)


def _vendor_keys() -> tuple[tuple[tuple[str, ...], Pattern], ...]:
    """The beginnings that the same characters follow, with the pattern of the whole keys."""
    found = []
    for line in _PREFIXES.strip().splitlines():
        if not line.startswith("#"):
            *starts, tail = line.split()
            words = "|".join(map(re.escape, starts))
            # Letters of other scripts may stand before it: 口令是sk-….
            key = rf"(?<![a-z0-9_])(?P<plain>(?:{words}){tail})"
            found.append((tuple(starts), Pattern(key, re.IGNORECASE)))
    return tuple(found)


VENDOR_KEYS = _vendor_keys()
# Keys that have their mark within.
WHOLE = Pattern(
    r"""(?x) (?<![\w.~-]) (?P<plain>
      [A-Za-z0-9]{14}\.atlasv1\.[\w=-]{30,}
    | [A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}
    | [\w-]{8,24}:APA91b[\w-]{60,}
    | [a-f0-9]{32}-us[0-9]{1,2}
    | [MNO][A-Za-z0-9_-]{22,28}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{25,40}
    | [ps]k\.eyJ[\w-]{20,}\.[\w-]{16,}
    ) (?![\w.])"""
)
