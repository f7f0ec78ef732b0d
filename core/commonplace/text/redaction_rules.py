"""The forms in which a secret stands in a text, by category.

A rule has the plain words that a match begins with, in lower case, the pattern that is matched
there, and how sure a match is. The groups of ``VALUE_KINDS`` hold the secret; ``word`` is the
name's last word and ``sign`` what stands between the name and the value. Sources: the vendors'
pages on their keys, and the lists of gitleaks and detect-secrets, read for the forms and not
copied.
"""

from __future__ import annotations

import enum
import re
from typing import NamedTuple

from commonplace.text.secret_words import (
    KEYS,
    PASSWORDS,
    RANDOM_NAMES,
    VENDOR_KEYS,
    WHOLE,
    Pattern,
)

LONGEST_VALUE = (
    500  # characters of a value that a pattern takes: it may have to look again within it
)
VALUE_KINDS = ("plain", "quotes", "apostrophes", "escaped")


class Sure(enum.Enum):
    """How sure a match is that it holds a secret."""

    FORM = enum.auto()  # nothing else has this form
    NAME = enum.auto()  # a name of secrets stands before it: code and prose have these too
    RANDOM = enum.auto()  # a secret only if it looks random


class Rule(NamedTuple):
    """One category of secrets."""

    starts: tuple[str, ...]
    pattern: Pattern
    sure: Sure = Sure.FORM
    anywhere: bool = False  # a match begins before its plain word, and is searched for


_VALUE = r"""
    (?: "(?P<quotes>(?:[^"\\]|\\.){1,500})"
    | '(?P<apostrophes>(?:[^'\\]|\\.){1,500})'
    | \\+["'](?P<escaped>[^"'\\]{1,500})(?=\\)
    | [\\"'`]{0,8}(?P<plain>[^\s"'`\\](?:[^\s"\\]|\\[^\s"'nrt]|\\\r?\n[ \t]*){0,499})
    )
"""

_AFTER = (
    r"(?:_(?:value|base|id|[0-9]{1,2}|prod|production|staging|dev|test|live|old|new|primary"
    r"|secondary|backup))?"
)
_SIGN = r"""\\* ["'`*\])]{0,3} \s* (?P<sign>[:=：＝]{1,3}>?|->|<-) \s*
    (?:(?:bearer|basic|token)\s+(?=\S{8}))? """


def _any(words: tuple[str, ...]) -> str:
    return "|".join(
        re.escape(word).replace(r"\ ", "[ _-]") for word in sorted(words, key=len, reverse=True)
    )


def _verbose(pattern: str, flags: re.RegexFlag = re.IGNORECASE | re.VERBOSE) -> Pattern:
    return Pattern(pattern, flags)


_NAMED = _verbose(
    rf"(?P<word>{_any(PASSWORDS + KEYS)}){_AFTER}(?![a-z0-9_]){_SIGN}{_VALUE}",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_PASS = _verbose(
    rf"(?<=[_-])(?P<word>pass)(?![a-z0-9_]){_SIGN}{_VALUE}", re.IGNORECASE | re.VERBOSE | re.DOTALL
)
_NAMED_RANDOM = _verbose(
    rf"(?P<word>{_any(RANDOM_NAMES)})(?![a-z0-9_]){_SIGN}(?=\S{{12}}){_VALUE}",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_SAID = _verbose(
    rf"""(?P<word>{
        _any((*PASSWORDS, "token", "secret", "key", "pin", "密钥", "令牌", "clave"))
    })(?![a-z0-9_])
    (?: \s+ (?:for|of|to|on|für|de|del|du|pour|para|от|для|do|voor|per|til)
      (?:\s+[\w.'-]+){{1,4}}? (?=\s*[:：]\s*(?P<sign>)|\s) )?
    \s* (?: (?(sign)[:：]\s*|(?!)) |
      \b(?:is|was|are|lautet|ist|war|est|es|è|é|jest|är|er|set\s+to|changed\s+to) (?:\s+now)?
      (?:\s|[:：])+
          | (?:现在|目前)?(?:是|为|為) \s*[:：]?\s* | \s?(?:は|が) \s* | (?:는|은|가)\s+ | — | – )
    {_VALUE}"""
)
_BLOCK = _verbose(  # a YAML block scalar: the lines below, farther in
    rf"""(?P<word>{_any(PASSWORDS + KEYS)}){_AFTER}(?![a-z0-9_]) ["']? [ \t]* : [ \t]*
      [|>][-+0-9]{{0,2}} [ \t]*
    \r?\n (?P<plain>[ \t]+ [^\s][^\n]* (?:\r?\n[ \t]+[^\s][^\n]*)* )"""
)
_NEXT_LINE = _verbose(
    rf"""(?P<word>{_any(PASSWORDS)})(?![a-z0-9_]) ["'*]* [ \t]* [:：] ["'*]* [ \t]* \r?\n [ \t]*
      (?P<plain>[^\s-][^\s]{{0,499}}) [ \t]* (?=\r?\n|\Z)"""
)
_PAIRED = _verbose(  # name: DB_PASSWORD, value: …
    rf"""(?:name|key)["']?\s*[:=：＝]\s*["']? [\w.-]{{0,60}}? (?P<word>{
        _any(("password", "passwd", "pwd", "pass", "secret", "token", "key"))
    }) ["']?
    [\s,;/，；]* (?:-\s*)? ["']?value["']?\s*[:=：＝]\s*{_VALUE}"""
)
_ELEMENT = _verbose(
    rf"""(?P<word>{_any((*PASSWORDS, "key", "token", "secret", "apikey"))})
      (?:\s[^<>]{{0,100}})? > \s* (?P<plain>[^\s<>][^<>\n]{{0,500}}) </"""
)
_OPTION = _verbose(
    rf"""(?<![\w-]) --? (?: [a-z0-9_-]{{0,40}}? [_-] )?
    (?P<word> api[_-]?key | access[_-]?key | secret[_-]?key | token | secret | passw(?:or)?d |
      passphrase | pwd | pass
      | storepass | keypass | auth[_-]?key | license[_-]?key | requirepass )
    (?![a-z0-9_-]) (?: \s+ (?!-) | = ) {_VALUE}"""
)
_SWITCH = _verbose(  # commands whose short options take one
    r"""(?<![\w-]) (?: (?:curl|wget|http|httpie|xh) \b [^\n|;&]{0,200}?
      \s(?:-u|--user|-a|--auth)[ =]* ["']? [^\s:"']{1,100} : (?P<plain>[^\s"']+)
    | (?:mysql|mysqldump|mysqladmin|mariadb) \b [^\n|;&]{0,200}? \s-p (?P<quotes>[^\s"'-][^\s"']*)
    | (?:sshpass|(?:docker|podman|registry)\s+login|redis-cli|ldapsearch|ldapadd|smbclient|7z|zip
      |unzip|htpasswd|mosquitto_pub|mosquitto_sub|mongo|mongosh|sqlcmd|rclone)
      \b [^\n|;&]{0,200}? \s-[paPw] [ ]* ["']? (?P<apostrophes>[^\s"'-][^\s"']*)
    )"""
)
_STATEMENT = _verbose(  # SQL, netrc, Dockerfile, redis.conf, Cisco, Windows
    r"""(?<![\w-]) (?:
      (?: identified \s+ (?:with \s+ \S{1,60} \s+)? by (?:\s+password)? | (?:encrypted\s+)?
      password (?:\s+for\s+\S{1,60}\s+)? | with\s+password\s*=? ) \s+ '(?P<quotes>[^'\n]{1,500})'
    | (?: requirepass | masterauth | masteruser\s+\S+\s+masterauth | passin\s+pass: |
      passout\s+pass: | -passin\s+pass: ) \s* (?P<plain>[^\s"'#:]\S{2,})
    | convertto-securestring \s+ (?:-string\s+)? ["'](?P<apostrophes>[^"'\n]{1,500})["']
    | (?: login | user(?:name)? | account ) \s+ [^\s:]{1,100} \s+ (?: password | pass(?:wd)? |
      secret ) \s+ (?:[0-9]\s+)? (?P<escaped>[^\s"']{3,500})
    )"""
)
_SETTING = _verbose(  # ENV DB_PASSWORD hunter2
    r"""(?<![\w-]) (?:env|arg|setenv|set|export|setx) \s+
      (?P<word>[A-Z][A-Z0-9_]*(?:_|\b)(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASS|PWD|PASSPHRASE))
      \s+ (?P<plain>[^\s=:"'][^\s]{1,499})"""
)
_SCHEMES = (
    "bearer|basic|token|digest|negotiate|apikey|api-key|ssws|splunk|bot|hmac|dpop|genie-?key"
    "|sharedkey|sso-key|aws4-hmac-sha256"
)
_HEADER = _verbose(
    rf"""(?<![a-z0-9_])(?P<word>(?:proxy-)?authorization) \\* ["'`]? \s* (?P<sign>[:=：＝]) \s* \\*
      ["'`]?
    (?: (?:{_SCHEMES}) \s+ )? (?! (?:{_SCHEMES}) \b) (?P<plain>[^\s"'`\\,;]{{1,500}})"""
)
_HEADERS = (
    *("x-api-", "x-auth-", "x-access-", "x-goog-", "x-amz-", "x-vault-", "x-figma-", "x-shopify-"),
    *("x-hub-", "x-csrf-", "x-xsrf-", "x-session-", "x-rapidapi-", "x-functions-", "x-gitlab-"),
    *("x-token", "x-secret", "x-key", "x-cron-", "x-webhook-", "x-client-", "x-master-"),
    "x-admin-",
    *("x-user-", "x-appwrite-", "x-airtable-", "x-rundeck-", "rundeck-", "private-token"),
    *("job-token", "deploy-token", "dd-api", "dd-app", "apca-", "ocp-apim-", "circle-token"),
    "fastly-key",
)
_HEADER_OWN = _verbose(
    r"""(?<![a-z0-9_])[a-z]+-(?:[a-z]{1,20}-){0,4}?(?:key(?:-id)?|token|secret
      |signature(?:-256)?|password)
    \\* ["'`]? \s*[:=：＝]\s* \\* ["'`]? (?:(?:bearer|basic)\s+)? (?P<plain>[^\s"'`\\,;]{3,500})"""
)
_COOKIE = _verbose(
    r"""(?<![a-z0-9_])(?:set-)?cookie["']?\s*[:=：＝]\s*["']? (?P<plain>[\w.%!~*-]+=[^\s;,"']+
      (?:;[ ]?[\w.%!~*-]+(?:=[^\s;,"']+)?)*)"""
)
_BEARER = _verbose(r"(?<![a-z0-9_])bearer[\s:：]+(?P<plain>[a-z0-9._~+/=-]{18,})")
_ADDRESS = _verbose(
    r"://(?: [^\s/:@\"'<>]{0,200}:(?P<plain>[^\s/@\"'<>]{1,500}) | (?P<quotes>[a-z0-9_.~-]{16,}) )@"
)
_DRIVER = _verbose(r"(?<=[a-z0-9_.-]):(?P<plain>[^\s:@/()\"'<>]{3,200})@(?:tcp|unix|udp)\(")
_QUERY = _verbose(
    r"""(?<=[?&;]) (?P<word>
      (?:(?:access|id|refresh|auth|session|csrf|x-[a-z]{2,4}-security)[_-]?)?token
    | (?:api|access|secret|subscription|client|function)[_-]?key | sig | signature | q-signature
    | x-(?:amz|goog|oss|cos|tos|ms|obs)-(?:signature|credential) | awsaccesskeyid | ossaccesskeyid
    | googleaccessid | passw(?:or)?d | pwd | secret | client_secret | jwt | upload_?id )
    = (?P<plain>[^\s&"'<>\#;`)\]]{4,500})"""
)
_QUERY_RANDOM = _verbose(
    r"""(?<=[?&;]) (?: key | code | auth | sid | session(?:id)? | sas | hmac | hash |
      oauth_\w{4,12} | pass
    | key-pair-id | policy | state | nonce )
    = (?P<plain>[^\s&"'<>\#;`)\]]{8,500})"""
)
_HOOK = _verbose(
    r"""(?: hooks\.slack\.com/(?:services|workflows|triggers)/ (?P<plain>[\w/+-]{20,})
    | discord(?:app)?\.com/api/(?:v[0-9]+/)?webhooks/[0-9]{5,25}/ (?P<quotes>[\w-]{20,})
    | (?: webhook\.office\.com/webhookb2 | outlook\.office\.com/webhook |
      chat\.googleapis\.com/v1/spaces | hooks\.zapier\.com/hooks/catch |
      maker\.ifttt\.com/trigger | api\.telegram\.org/(?:file/)?bot |
      open\.feishu\.cn/open-apis/bot/v2/hook | open\.larksuite\.com/open-apis/bot/v2/hook |
      qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key= | hc-ping\.com | ntfy\.sh/tk_ |
      hook\.(?:eu1?|us1?)\.make\.com ) [/]? (?P<apostrophes>[\w/@?=&.:%-]{12,})
    )"""
)
_WIFI = _verbose(r"wifi:(?:[a-z]:[^;\n]{0,100};){0,4}p:(?P<plain>[^;\n]{1,100});")
_PHRASE = _verbose(
    r"""(?: seed | recovery | mnemonic | backup | secret ) [ _-]?
    (?:phrase|words|mnemonic|seed|codes?)? ['"]? \s* (?:[:=：＝]|is|are) \s* ['"]?
    (?P<plain> [a-z0-9-]{3,12} (?:[ ,]+[a-z0-9-]{3,12}){7,23} )"""
)
_AGE = _verbose(r"(?P<plain>age-secret-key-1[0-9a-z]{20,})")
_PUTTY = _verbose(r"private-lines:\s*[0-9]+\s+(?P<plain>[a-z0-9+/=]{16,}(?:\s+[a-z0-9+/=]{16,})*)")
_PUTTY_MAC = _verbose(r"private-mac:\s*(?P<plain>[0-9a-f]{20,})")
_HASHED = _verbose(
    r"""(?P<plain>\$(?:2[abxy]?|5|6|y|7|1|apr1|argon2(?:id|i|d)|pbkdf2(?:-sha(?:256|512))?|scrypt)\$
      [a-z0-9./+$=,-]{16,})"""
)
_OTP = _verbose(r"otpauth://[^\s\"']{0,200}?secret=(?P<plain>[a-z2-7]{8,})")
_TELEGRAM = Pattern(r"(?<![A-Za-z0-9_])(?:bot)?(?P<plain>[0-9]{6,}:[A-Za-z0-9_-]{20,})")
_PGPASS = _verbose(
    r"""(?<=[a-z0-9_.*-]):(?:[0-9]{2,5}|\*):[^\s:/]{1,64}:[^\s:/]{1,64}:
      (?P<plain>[^\s:/]{3,200})(?=\s|\Z)"""
)

_HOOKS = (
    *("hooks.", "hook.", "discord", "webhook.office", "outlook.office", "chat.googleapis"),
    *("maker.ifttt", "api.telegram", "open.feishu", "open.larksuite", "qyapi.", "hc-ping"),
    "ntfy.sh",
)
_QUERY_STARTS = (
    *("access", "id", "refresh", "auth", "session", "csrf", "x-", "token", "api", "secret", "sub"),
    *("client", "function", "key", "sig", "q-sig", "aws", "oss", "google", "pass", "pwd", "jwt"),
    *("sas", "hmac", "hash", "code", "sid", "oauth_", "upload", "policy", "state", "nonce"),
)
_PHRASES = ("seed", "recovery", "mnemonic", "backup", "secret")
_SAID_WORDS = (*PASSWORDS, "token", "secret", "key", "pin", "密钥", "令牌", "clave")
_COMMANDS = (
    *("curl", "wget", "http", "xh", "mysql", "mariadb", "sshpass", "docker", "podman", "helm"),
    *("redis-cli", "ldap", "smbclient", "7z", "zip", "unzip", "htpasswd", "mosquitto", "mongo"),
    *("sqlcmd", "rclone"),
)
_STATEMENTS = (
    *("identified", "encrypted", "password", "with", "requirepass", "masterauth", "passin"),
    *("passout", "-passin", "-passout", "convertto-securestring", "login", "user", "account"),
)

_DIGITS = tuple(f"{digit}:" for digit in range(10))
_NAMES = (*PASSWORDS, *KEYS)

RULES = (
    Rule(("age-secret-key-1",), _AGE),
    Rule(("private-lines",), _PUTTY),
    Rule(("private-mac",), _PUTTY_MAC),
    Rule(("otpauth://",), _OTP),
    Rule(_HOOKS, _HOOK),
    Rule(_DIGITS, _TELEGRAM, anywhere=True),
    Rule(("wifi:",), _WIFI),
    Rule(("authorization", "proxy-authorization"), _HEADER, Sure.NAME),
    Rule(_HEADERS, _HEADER_OWN, Sure.RANDOM),
    Rule(("cookie", "set-cookie"), _COOKIE),
    Rule(("://",), _ADDRESS, Sure.NAME),
    Rule((":",), _DRIVER),
    Rule((":",), _PGPASS),
    Rule(_QUERY_STARTS, _QUERY, Sure.NAME),
    Rule(_QUERY_STARTS, _QUERY_RANDOM, Sure.RANDOM),
    Rule(_PHRASES, _PHRASE),
    Rule(_NAMES, _BLOCK),
    Rule(("name", "key"), _PAIRED, Sure.NAME),
    Rule(_NAMES, _ELEMENT, Sure.NAME),
    Rule(_NAMES, _NAMED, Sure.NAME),
    Rule(PASSWORDS, _NEXT_LINE, Sure.RANDOM),
    Rule(("pass",), _PASS, Sure.NAME),
    Rule(RANDOM_NAMES, _NAMED_RANDOM, Sure.RANDOM),
    Rule(_SAID_WORDS, _SAID, Sure.RANDOM),
    Rule(("-",), _OPTION, Sure.NAME),
    Rule(_COMMANDS, _SWITCH),
    Rule(_STATEMENTS, _STATEMENT),
    Rule(("env", "arg", "set", "export"), _SETTING, Sure.NAME),
    Rule(("bearer",), _BEARER),
    Rule(("$",), _HASHED),
    *(Rule(starts, pattern) for starts, pattern in VENDOR_KEYS),
    Rule((".", "q~", ":apa91b", "-us"), WHOLE, anywhere=True),
)
