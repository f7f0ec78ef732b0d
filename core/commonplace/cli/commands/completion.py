"""``commonplace completion``: scripts that complete command lines in bash, zsh and fish.

A script is made from the parsers and knows all commands and arguments: pressing TAB starts no
Python. It is printed again after an update, or when a plugin brings a command.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from commonplace.cli.parser import PROGRAM

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterable, Iterator

    from commonplace.cli.commands.man import Argument, Catalog, CommandFacts
    from commonplace.cli.context import Context


class CompletionCommand:
    """Prints the script of one shell."""

    name = "completion"
    summary = "Print a script that completes command lines in bash, zsh or fish"
    examples = (
        "commonplace completion bash > ~/.local/share/bash-completion/completions/commonplace",
        'commonplace completion zsh > "${fpath[1]}/_commonplace"',
        "commonplace completion fish > ~/.config/fish/completions/commonplace.fish",
    )

    def configure(self, parser: ArgumentParser) -> None:
        """Add the arguments."""
        parser.add_argument(
            "shell",
            choices=("bash", "zsh", "fish"),
            help='the shell; to try it at once: eval "$(commonplace completion bash)", or zsh; '
            "in fish: commonplace completion fish | source",
        )

    def run(self, args: Namespace, context: Context) -> int:
        """Print it; commands of plugins that do not load are left out, with a note."""
        from commonplace.cli.commands.man import catalog

        commands = catalog(context.env)
        script = {"bash": bash_script, "zsh": zsh_script, "fish": fish_script}[args.shell](commands)
        if context.json:
            context.emit({"shell": args.shell, "script": script, "missing": commands.missing})
        else:
            context.out.write(script)
            context.notes(commands.missing)
        return 0


_HEAD = """\
# Completes the arguments of commonplace in @SHELL@. Printed by `commonplace completion @SHELL@`:
# print it again after an update, or when a plugin brings a command.
"""

_SAFE = re.compile(r"[\w.:/@%+-]+")
"""What a shell takes as one plain word; other choices are not offered."""


def _words(words: Iterable[str]) -> str:
    return " ".join(word for word in words if _SAFE.fullmatch(word))


def _names(catalog: Catalog) -> str:
    return _words((*(command.name for command in catalog.commands), "help"))


def _quoted(text: str) -> str:
    """``text`` in single quotes, for bash and zsh."""
    return "'" + text.replace("'", "'\\''") + "'"


_BASH = """
_commonplace_option() {  # what option $1 of $command takes
    takes='' words=''
    case "$command $1" in
@OPTIONS@
    esac
}

_commonplace_argument() {  # what $command takes after $1 arguments
    takes='' words=''
    case "$command $1" in
@ARGUMENTS@
    esac
}

_commonplace_options() {  # the options of $command
    takes=choice
    case $command in
@NAMES@
    esac
}

_commonplace() {
    local command='' takes='' words='' word closed='' value='' number=0 at=1
    local current=${COMP_WORDS[COMP_CWORD]}
    COMPREPLY=()
    while [ "$at" -lt "$COMP_CWORD" ]; do
        word=${COMP_WORDS[at]}
        at=$((at + 1))
        case $closed$word in
            --) closed=1 ;;
            -*)
                _commonplace_option "$word"
                if [ -n "$takes" ]; then
                    # --option=value is three words to bash.
                    if [ "${COMP_WORDS[at]}" = = ]; then at=$((at + 1)); fi
                    if [ "$at" -ge "$COMP_CWORD" ]; then value=1; fi
                    if [ "$at" -gt "$COMP_CWORD" ]; then current=''; fi
                    at=$((at + 1))
                fi
                ;;
            *) if [ -z "$command" ]; then command=$word; else number=$((number + 1)); fi ;;
        esac
    done
    if [ -z "$value" ]; then
        case $closed$current in
            -*) _commonplace_options ;;
            *)
                _commonplace_argument "$number"
                if [ -z "$closed$takes$current" ]; then _commonplace_options; fi
                ;;
        esac
    fi
    case $takes in
        choice)
            while IFS= read -r word; do COMPREPLY+=("$word"); done < <(
                compgen -W "$words" -- "$current"
            )
            ;;
        file) compopt -o default 2>/dev/null ;;
        folder) compopt -o dirnames 2>/dev/null ;;
    esac
}

# The bash of macOS has no compopt: it offers files wherever nothing else is known.
if type compopt >/dev/null 2>&1; then
    complete -F _commonplace commonplace
else
    complete -o default -F _commonplace commonplace
fi
"""


def bash_script(catalog: Catalog) -> str:
    """The script for bash 3.2 and later."""
    options = [line for option in catalog.common for line in _bash_option("", option)]
    arguments = [f"        ' '*) takes=choice words='{_names(catalog)}' ;;"]
    arguments.append(f"        'help 0') takes=choice words='{_names(catalog)} exit-codes' ;;")
    names = []
    common = [name for option in catalog.common for name in option.names]
    for command in catalog.commands:
        options += [
            line for option in command.options for line in _bash_option(command.name, option)
        ]
        arguments += _bash_arguments(command)
        own = [name for option in command.options for name in option.names]
        names.append(f"        {command.name}) words='{_words((*own, *common))}' ;;")
    names.append("        help) words='' ;;")
    names.append(f"        *) words='{_words((*common, '--version'))}' ;;")
    text = _BASH.replace("@OPTIONS@", "\n".join(options))
    text = text.replace("@ARGUMENTS@", "\n".join(arguments)).replace("@NAMES@", "\n".join(names))
    return _HEAD.replace("@SHELL@", "bash") + text


def _bash_option(command: str, option: Argument) -> Iterator[str]:
    if option.takes != "nothing":
        patterns = [f"'{command} {name}'" if command else f"*' {name}'" for name in option.names]
        yield f"        {'|'.join(patterns)}) {_bash_takes(option)} ;;"


def _bash_arguments(command: CommandFacts) -> Iterator[str]:
    for place, argument in enumerate(command.positionals):
        at = f"'{command.name} '*" if argument.many else f"'{command.name} {place}'"
        yield f"        {at}) {_bash_takes(argument)} ;;"


def _bash_takes(argument: Argument) -> str:
    words = f" words='{_words(argument.choices)}'" if argument.takes == "choice" else ""
    return f"takes={argument.takes}{words}"


_ZSH = """\
#compdef commonplace
@HEAD@
_commonplace() {
    local curcontext=$curcontext state line
    typeset -A opt_args
    local -a common=(
@COMMON@
    )
    _arguments -C -S -A '-*' $common '--version[the version]' \\
        '1:command:->command' '*::argument:->argument'
    case $state in
        command)
            local -a commands=(
@COMMANDS@
            )
            _describe -t commands 'command' commands
            ;;
        argument)
            case $line[1] in
@ARGUMENTS@
            esac
            ;;
    esac
}

if [ "$funcstack[1]" = _commonplace ]; then
    _commonplace "$@"
else
    compdef _commonplace commonplace
fi
"""


def zsh_script(catalog: Catalog) -> str:
    """The script for zsh, to be read at once or from a folder of ``fpath``."""
    commands = [
        " " * 16 + _quoted(f"{command.name}:{command.summary}") for command in catalog.commands
    ]
    commands.append(" " * 16 + _quoted("help:Show the commands, or the arguments of one"))
    arguments = []
    for command in catalog.commands:
        specs = [spec for option in command.options for spec in _zsh_option(option)]
        specs += _zsh_positionals(command)
        lines = " \\\n".join(" " * 20 + spec for spec in ("_arguments -S $common", *specs))
        arguments.append(f"                {command.name})\n{lines}\n                    ;;")
    helped = f"_arguments '1:command:({_names(catalog)} exit-codes)'"
    arguments.append(f"                help) {helped} ;;")
    common = [" " * 8 + spec for option in catalog.common for spec in _zsh_option(option)]
    text = _ZSH.replace("@HEAD@", _HEAD.replace("@SHELL@", "zsh"))
    text = text.replace("@COMMON@", "\n".join(common))
    text = text.replace("@COMMANDS@", "\n".join(commands))
    return text.replace("@ARGUMENTS@", "\n".join(arguments))


def _zsh_option(option: Argument) -> Iterator[str]:
    about = re.sub(r"[\[\]\\]", r"\\\g<0>", option.about)
    others = f"({' '.join(option.names)})" if len(option.names) > 1 else ""
    for name in option.names:
        if option.takes == "nothing":
            yield _quoted(f"{others}{name}[{about}]")
        else:
            joined = "=" if name.startswith("--") else ""
            yield _quoted(f"{others}{name}{joined}[{about}]{_zsh_value(option)}")


def _zsh_positionals(command: CommandFacts) -> Iterator[str]:
    # A message that there is nothing to offer would keep zsh from inserting a lone option.
    for place, argument in enumerate(command.positionals, 1):
        yield _quoted(f"{'*' if argument.many else place}{_zsh_value(argument, '{true}')}")
    if not any(argument.many for argument in command.positionals):
        yield "'*: :{true}'"


def _zsh_value(argument: Argument, nothing: str = " ") -> str:
    action = {
        "choice": f"({_words(argument.choices)})",
        "file": "_files",
        "folder": "_files -/",
    }.get(argument.takes, nothing)
    return f":{argument.value.replace(':', ' ')}:{action}"


_FISH = """
function __commonplace_at -d 'Whether the command is $argv[1], with $argv[2] arguments so far'
    set -l words (commandline -opc)
    set -e words[1]
    set -l command ''
    set -l number 0
    set -l skip 0
    set -l closed 0
    for word in $words
        if test $skip = 1
            set skip 0
        else if test $closed = 0; and test x"$word" = x--
            set closed 1
        else if test $closed = 0; and string match -q -- '-*' $word
            switch "$command $word"
                case @VALUES@
                    set skip 1
            end
        else if test x"$command" = x
            set command $word
        else
            set number (math $number + 1)
        end
    end
    test x"$command" = x"$argv[1]"; or return 1
    test (count $argv) = 1; or test $number = $argv[2]; or test "$argv[2]" = many
end

complete -c commonplace -f
complete -c commonplace -n '__commonplace_at ""' -l version -d 'The version'
"""


def fish_script(catalog: Catalog) -> str:
    """The script for fish 3 and later."""
    values = [_fish_quoted(f"* {name}") for name in _with_values(catalog.common)]
    for command in catalog.commands:
        values += [_fish_quoted(f"{command.name} {name}") for name in _with_values(command.options)]
    text = _FISH.replace("@VALUES@", " ".join(values))
    lines = [_fish_option("", option) for option in catalog.common]
    for command in catalog.commands:
        at = _fish_at('""')
        about = _fish_quoted(command.summary)
        lines.append(f"complete -c {PROGRAM} -n {at} -a {command.name} -d {about}")
    about = _fish_quoted("Show the commands, or the arguments of one")
    at = _fish_at('""')
    lines.append(f"complete -c {PROGRAM} -n {at} -a help -d {about}")
    lines.append(f"complete -c {PROGRAM} -n {_fish_at('help 0')} -a '{_names(catalog)} exit-codes'")
    for command in catalog.commands:
        lines += [_fish_option(command.name, option) for option in command.options]
        for place, argument in enumerate(command.positionals):
            at = _fish_at(f"{command.name} {'many' if argument.many else place}")
            if takes := _fish_takes(argument):
                lines.append(f"complete -c {PROGRAM} -n {at} {takes.removeprefix('-x ')}")
    return _HEAD.replace("@SHELL@", "fish") + text + "\n".join(lines) + "\n"


def _with_values(options: Iterable[Argument]) -> Iterator[str]:
    for option in options:
        if option.takes != "nothing":
            yield from option.names


def _fish_option(command: str, option: Argument) -> str:
    parts = [f"complete -c {PROGRAM}"]
    if command:
        parts.append(f"-n {_fish_at(command)}")
    parts += [f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in option.names]
    if option.takes != "nothing":
        parts.append(_fish_takes(option) or "-x")
    parts.append(f"-d {_fish_quoted(option.about)}")
    return " ".join(parts)


def _fish_takes(argument: Argument) -> str:
    return {
        "choice": f"-x -a '{_words(argument.choices)}'",
        "file": "-r -F",
        "folder": "-x -a '(__fish_complete_directories)'",
    }.get(argument.takes, "")


def _fish_at(arguments: str) -> str:
    return _fish_quoted(f"__commonplace_at {arguments}")


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
