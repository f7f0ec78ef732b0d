"""Writes the page of the command line: ``python docs/generate/cli_page.py > docs/cli.md``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from commonplace.cli.parser import (
    BUILTIN,
    EXIT_CODES,
    FORMATS,
    PROGRAM,
    Parser,
    add_common,
    builtin_command,
)
from commonplace_evaluation.bench import BenchCommand
from commonplace_evaluation.command import EvalCommand
from commonplace_longterm.command import LtmCommand

if TYPE_CHECKING:
    from argparse import Action
    from collections.abc import Iterator

    from commonplace.cli.context import Command

__all__ = ["reference"]

_HEAD = f"""\
# The command line

<!-- Written by `python docs/generate/cli_page.py > docs/cli.md`; edit the commands instead. -->

`{PROGRAM} COMMAND [arguments]`; `{PROGRAM} COMMAND --help` lists the arguments of a command.

- Results go to standard output, everything else to standard error.
- The exit codes are the same for every command: see [below](#exit-codes).
- Commands that messages suggest have the `--workspace`, `--config` and `--agent` that were given:
  copied, they act on the same memory.
- On a terminal the output is laid out and coloured (not if `NO_COLOR` is set); in a pipe it is
  plain. Standard error shows the progress of long work: on a terminal a bar, elsewhere a line every
  15 seconds.
- Citations of `search` are links on a terminal: they open the editor that `VISUAL` or `EDITOR`
  names, or the file; `memory.links` in the configuration sets another URL, or `off`. Terminals that
  cannot show links, `NO_COLOR` and pipes get none.
- A citation is printed as `path#L3-L9` or `path#L3`; every command that takes one takes
  `path:3-9` and `path:3`, too, with or without `.md`.
- `--format plain` is the output of a pipe, `--format md` Markdown to paste (`search`, `get` and
  `status`), `--format json`, or `--json`, one object, for errors too: [json.md](json.md) lists
  every key.
- Where the configuration switches memory off, the output is `Memory search disabled.`, the exit
  code is `0`, and a note names the setting. `remember`, `correct`, `forget` and `undo` fail.
- `COMMONPLACE_DEBUG=1` shows the traceback of any failure.
- Plugins can add commands; `{PROGRAM} --help` lists them. Builtin plugins that have a page of their
  own describe theirs there: [`audit` and `why`](audit.md), [`browse`](browse.md),
  [`dream`](dream.md), [`hook`, `install` and `uninstall`](harnesses.md), [`mcp`](agents.md),
  [`qmd`](qmd.md), [`sessions`](flush.md#from-the-command-line-and-from-hooks).
"""


_EXIT_CODES = """
## Exit codes

`commonplace help exit-codes` prints them.

| code | meaning |
|---|---|
"""

_QUERIES = """
## Query syntax

Words, in any language, joined by *or*: the more of them a piece of a note has, and the rarer they
are, the higher it ranks, and of equal ones the newest note. `project OR product` is the same as
`project product`. Everything that does not match one of these forms is words, too:

- `"these words"`: only pieces with these words next to each other. If there are none, or if what
  has them has little of the four other words or more of a query (a pasted message that has quotes
  itself), the most similar pieces are shown, with a note. `"these words" OR "others"`: either will
  do. There is no `AND`: quote each word that must be there.
- `-word`, `-"these words"`: no pieces with these; a number needs the quotes, `-"8450"`. Words are
  `--flag`, `-x`, `-Xmx4g` and `-target=x`; a note says what `-race` excludes in `go test -race
  ./x`, where `"-race"` is searched for. There must be something else to search for. Put a query
  that begins with one after `--`.
- `path:memory/projects`: only that note, or the notes below that folder, with paths as in
  results, from `./` or absolute. `path:memory/**/2026-*.md`: `*` and `?` match inside a folder,
  `**` across folders. Write `path:"my notes"` for a path with blanks. `-path:drafts`: not those.
- `after:2026-10-01`, `before:2026-10`, `before:2026-Q3`: only notes with a day from the first, or
  to the last day of that time, these included. Understood are days, months, quarters, weeks
  (`2026-W45`) and years; `7d`, `2w`, `3m`, `1y` (ago); `today`, `yesterday`, `monday`,
  `last-week`, `this-month`, `last-year`, `november`, `nov-2025`; and in other languages, such as
  `gestern`, `"la semana pasada"`, `上周`, `昨日`, `3个月前`, `2026年3月`, `märz`, `"3. Dez."`,
  `1.11.2026`. A month, weekday or date without a year or week is the last one that has begun. They
  go by the time zone of the system, or that of `query.timeZone`. The day of a note is in its name
  (`daily/2026-10-01.md`, `2026_10_01 call.md`, `2026/10/01.md`), else in its front matter (`date`,
  `created`); other notes have none.
- `tag:work`, `tag:#work`: only notes with that tag, in their front matter or as `#work` in the
  text, or with one below it (`#work/port`). `-tag:work`: only notes without. Several `tag:` must
  all be there.
- `source:memory`: only that source. `-source:sessions`: not that one.

Times among the words, such as `yesterday`, `last week`, `on 3 May`, `between 3 and 9 May`, `mid
October`, `on the 23rd`, `KW 48`, `last summer`, `the third quarter`, `in 2024` or `early 2024`, in
English, German, French, Spanish, Italian, Portuguese, Russian, Chinese, Japanese, Korean and partly
in Thai, leave no note out. `On Tuesday a week ago` is seven days before the last Tuesday, `a few
days ago` two to seven days back; a quarter or month without a year is that of any year. `12/18` and
`18/12` are days, but not `12/10`, which may be of two months; so it is in notes. A day
counts as much as three words, a week as two, anything longer as half a word. What is of the time,
or names it, comes first. Notes of a day or a week that is named are shown, too, where they have
none of the other words, with a score of 0.5 at the most. Where no note of a longer time has another
word of the query, three of its notes come behind the best two that have one, and a note says so. A
question for a time alone (`what happened last week?`) shows the notes of its days, the newest
first, and behind them those that only say its date.

`Since October`, `until March`, `before May`, `after 3 August` and their like in these languages
(`seit`, `depuis`, `desde`, `dal`, `с`, `以来`, `以降`, `부터` …) are spans: to today, or up to the
time. Without a year the last one that has begun is meant; before one that begins within 31 days
also, unless you ask for what was, from today to it. `From 1 August to 20 September` is one span.

Of days that are yet to come (`tomorrow`, `next week`, `the next 5 days`, `in two weeks`,
`upcoming`), notes are found that name them: by the date in any form, or, in a log of the week
before, as `tomorrow` or by the weekday. `on Monday` means the last one and, unless you ask for what
was (`what did we …`), also the next; so does `December` where it begins within 31 days. A question
for such a month alone shows three notes that name its coming days before the logs of former years.

A question for what will be (`what are we doing on Sunday`, `was machen wir am Sonntag`,
`周日有什么安排`, `日曜の予定は`, or with `planned`, `due`, `will` …) shows all notes that name the
coming days first, of these such as have its word for a task (`due`), and lowers what is of days
gone by to four fifths. A question for more than a time must have a word as `will`, `planned` or
`comes` for it.

A question when something is next (`when is the next dentist appointment`,
`wann ist der nächste …`, `下次…是什么时候`, `次の…はいつ`) raises notes of which a line
has half of its words and names a day that is ahead, by a date or, in a log of the last week, by a
weekday. Where there are any, logs of days gone by keep four fifths. A weekday counts as the coming
one only where the log does not say in the past what was on it: `on Sunday we lost`, written on a
Monday, is the day before.

A question for a habit (`what do I usually do on Monday`, `was machen wir freitags`,
`每周六做什么`) is of no Monday: notes of which a line says `every`, `Mondays` or the like of
a weekday are raised, and logs keep four fifths.

Several `path:`, or several `source:`, are alternatives; all other forms narrow the search. A
filter that is not understood is left out, and a note says so. Where nothing is found, a note names
each `path:` and `tag:` that no note has.

## What the results say

- The score, 0 to 1, is about the share of the query's information that the piece holds, whether
  there are two notes or two thousand: rare words count more than common ones, words that no note
  has count as much as the others do in the mean, and a piece of usual length with every word once
  has 0.8. Where vectors search, too, it grows with the rank of the piece among them and with how
  much of the query its words cover ([how they become one](vectors.md)); what vectors alone found
  must have a cosine of 0.35. `--min-score`, or `query.minScore` in the configuration, leaves out
  whatever scores less, and a note says how many that were.
- A dated note loses up to a tenth of its score with age (less of one near 1), half of that in
  30 days (`query.hybrid.recency`); notes without a day lose nothing, and none does where a time is
  named. Where the query asks for what was first (`first`, `oldest`, `originally`), the newer lose.
  Where it asks for what holds now (`now`, `current`, 现在), dated notes lose more; of several
  about the same the newest loses nothing, the others more by the order of their days.
- What is struck out (`~~…~~`), or says `Status: superseded`, `deprecated` or the like of itself,
  loses three tenths of its score (`query.hybrid.validity`), unless the query asks for what held
  before, quotes, or names a time that is over.
- Dated notes whose lines with most words of the query differ in nothing but their value are shown
  as one, the newest, with `+8 more like this (before: 8402 (2026-10-02))` (`query.fold`). An older
  note with more of the query's words stays, behind the newest; where the query names days, a note
  of these days is the one shown. `--json` lists their citations in `similar`, and in `earlier` the
  values that differ from what came after. What counts as a value:
    - a number, a version, the groups of a phone number;
    - up to four words behind "=" or a colon, at the end of the line;
    - behind "is" or "are", what looks like a name: up to four words with a capital letter, a digit
      or marks of Markdown; a host or a path; or one plain word, no state, where the subject is a
      branch, a region or the like ("the deploy branch is develop", not "the server is slow");
    - the URL of an address, an endpoint, a host ("API base URL: …", not "See the plan: …");
    - in Chinese, Japanese and Korean, a name of up to 12 letters behind a colon, 是, 为 or 改为,
      between は and です or だ, or between 은 or 는 and 이다 or 입니다.
  But for numbers, the subject has two words of its own, or three letters without spaces.
- Neighbouring pieces of one passage, up to 1,000 characters together, are shown as one with the
  lines of both and the score of the better one, which stands in the snippet whole (`query.join`).
- `weak match` marks what scores less than 0.4 times the best.
- Short forms and spellings that mean the same are one word: "k8s" and "kubernetes", "config" and
  "configuration", "colour" and "color".
- Words that no note has are named, with what was searched for instead: in English a synonym
  ("mum" for "mother"), its parts, a longer word ("Heizlastberechnung" for "Heizlast"), or the
  likely word for one that is mistyped. A telephone or account number that was copied without spaces
  is found in the groups that a note has it in, "25000" as "25 000". "wifi" finds "Wi-Fi", and
  `-wifi` leaves it out.
- A snippet is valid Markdown: a block of code that is cut is closed, rows of a table have its
  header.
"""


# What tests/docs/test_blocks_run.py must know of the examples of a command; readers do not see it.
_MARKS = {
    "remember": ["run first: echo 'We keep the small server.' > decision.txt"],
    "correct": [
        r"run first: printf '# Facts\n\n- Mia drinks no coffee\n' > MEMORY.md",
        'exits 1: `commonplace correct MEMORY.md#L3 --was "Mia drinks no coffee" "Mia drinks tea"`',
    ],
    "forget": [r"run first: printf '# Facts\n\n- One\n- Two\n' > MEMORY.md"],
    "undo": ["exits 1: `commonplace undo 3f9a1c`"],
    "watch": [
        "not run: `commonplace watch --workspace ~/notes`: it runs until Ctrl-C",
        "not run: `commonplace watch --poll --json`: it runs until Ctrl-C",
    ],
    "config": ["run first: echo '{}' > commonplace.json5"],
    "plugins": ["exits 1: `commonplace plugins check ranker.short-first`"],
    "completion": [
        "run first: mkdir -p ~/.local/share/bash-completion/completions ~/.config/fish/completions",
        'not run: `commonplace completion zsh > "${fpath[1]}/_commonplace"`: fpath is of zsh',
    ],
    "man": [
        "run first: mkdir -p ~/.local/share/man/man1",
        "not run: `commonplace man | man -l -`: it needs a pager",
    ],
    "eval": ["not run: the sets are the reader's own"],
    "bench": ["not run: the files are their authors'"],
    "ltm": [
        (
            "run first: mkdir -p ~/.config/commonplace && echo '{ plugins: { slots: { memory: "
            '"memory-lancedb" } } }\' > ~/.config/commonplace/config.json5'
        ),
        # There are none, and it says so in place of deleting all.
        "exits 1: `commonplace ltm import memories.md --replace`",
        "not run: `commonplace ltm import ~/.openclaw/memory/lancedb`: it needs OpenClaw's store",
        "exits 1: `commonplace ltm forget 0b0e6c1a`",
    ],
}


class _Recorder(Parser):
    """Records the arguments that are added."""

    def __init__(self) -> None:
        self.recorded: list[Action] = []
        super().__init__(add_help=False)

    def add_argument(self, *names: Any, **facts: Any) -> Action:
        """Add an argument and record it."""
        action = super().add_argument(*names, **facts)
        self.recorded.append(action)
        return action


def reference() -> str:
    """The page as Markdown."""
    common = _Recorder()
    add_common(common, FORMATS)
    lines = [_HEAD, "Every command takes:", "", *map(_item, common.recorded)]
    for command in (*map(builtin_command, BUILTIN), EvalCommand(), BenchCommand(), LtmCommand()):
        lines += ["", *_section(command)]
    codes = "".join(f"| `{code}` | {words} |\n" for code, words in EXIT_CODES.items())
    return "\n".join(lines) + "\n" + _EXIT_CODES + codes + _QUERIES


def _section(command: Command) -> Iterator[str]:
    recorder = _Recorder()
    command.configure(recorder)
    yield f"## {PROGRAM} {command.name}"
    yield ""
    yield f"{command.summary}."
    yield ""
    if recorder.recorded:
        yield from map(_item, recorder.recorded)
        yield ""
    for mark in _MARKS.get(command.name, ()):
        yield f"<!-- {mark} -->"
    yield "```console"
    for example in command.examples:
        yield f"$ {example}"
    yield "```"


def _item(action: Action) -> str:
    value = action.metavar or ""
    if action.choices is not None:
        value = "|".join(action.choices)
    if not action.option_strings:
        return f"- `{value or action.dest}`: {action.help}"
    names = ", ".join(
        f"`{name} {value}`" if value else f"`{name}`" for name in action.option_strings
    )
    return f"- {names}: {action.help}"


if __name__ == "__main__":
    sys.stdout.write(reference())
