"""Retrieval with the default configuration, beside the figures of the prototype it must match.

    COMMONPLACE_EVAL_DIR=../shared/eval python benchmarks/retrieval.py

One configuration for all sets; every folder with a queries.jsonl is an index of its own. Exits 1 if
a set lies more than 0.01 below the prototype, or the mean lies below it.

    python benchmarks/retrieval.py --backend inmemory
    python benchmarks/retrieval.py --config qmd.json5 eslint locomo-notes

measure another backend or configuration on all sets or some, and exit 0.

    python benchmarks/retrieval.py --documents

measures something else, on conversations: which share of the documents that hold evidence is among
10 and 40 hits, by kind of question, with the default chain of rankers and with `spread` behind it.

    python benchmarks/retrieval.py --together 80

puts all sets of a language into one index, in chunks of so many tokens at the most: a large index,
in which most of the notes are about other things than a query.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import fmean

from commonplace import Memory

# nDCG@10, and recall within 4,000 characters where it was published.
PROTOTYPE: dict[str, tuple[float, float | None]] = {
    "eslint": (0.847, 0.916),
    "openclaw-docs-en": (0.677, 0.781),
    "openclaw-docs-zh": (0.730, 0.864),
    "openclaw-docs-ja": (0.729, 0.822),
    "openclaw-docs-th": (0.692, 0.799),
    "locomo-notes": (0.639, 0.773),
    "locomo-log": (0.686, 0.774),
    "locomo-sessions": (0.702, 0.719),
    "madial-zh": (0.365, None),
    "madial-en": (0.327, None),
    "cmrc2018-zh": (0.989, None),
    "jsquad-ja": (0.967, None),
    "xquad-th": (0.963, None),
    "xquad-en": (0.979, None),
    "xquad-zh": (0.979, None),
}
SLACK = 0.01
# Transcripts are searched where both keys ask for it; these lie in the workspace's own folder.
SEARCH = {"sources": ["memory", "sessions"], "experimental": {"sessionMemory": True}}


def measure(tree: Path, *, backend: str | None, config: str | None) -> dict[str, float]:
    """All metrics of one set, as ``commonplace eval --json`` gives them."""
    with tempfile.TemporaryDirectory() as scratch:
        env = {
            **os.environ,
            "COMMONPLACE_STATE_DIR": f"{scratch}/state",
            "COMMONPLACE_CACHE_DIR": f"{scratch}/cache",
            "HOME": scratch,
        }
        if config is None:
            config = f"{scratch}/config.json"
            memory = {"search": SEARCH} | ({"backend": [backend]} if backend else {})
            Path(config).write_text(json.dumps({"memory": memory}), encoding="utf-8")
        command = [sys.executable, "-m", "commonplace", "eval", str(tree)]
        command += ["--config", os.path.abspath(config)]
        done = subprocess.run(
            [*command, "--budget", "4000", "--json"],
            env=env,
            check=True,
            capture_output=True,
            text=True,
        )
    found: dict[str, float] = json.loads(done.stdout)["all"]
    return found


CONVERSATIONS = ["locomo-notes", "locomo-log", "locomo-sessions"]
DEPTHS = (10, 40)
USUAL = ["evidence", "recency", "validity"]
CHAINS = {"default": USUAL, "with spread": [*USUAL, "spread"]}


def documents(tree: Path, chain: list[str]) -> dict[str, list[tuple[float, ...]]]:
    """By kind of question, the share of the evidence's documents among as many hits as DEPTHS."""
    found: dict[str, list[tuple[float, ...]]] = {}
    for file in sorted(tree.rglob("queries.jsonl")):
        with tempfile.TemporaryDirectory() as scratch:
            env = {"HOME": scratch}
            env |= {f"COMMONPLACE_{name}_DIR": f"{scratch}/{name}" for name in ("STATE", "CACHE")}
            config = {"memory": {"search": {**SEARCH, "ranking": {"chain": chain}}}}
            workspace = file.parent / "workspace"
            with Memory.open(workspace=workspace, config=config, env=env) as memory:
                memory.sync()
                for line in file.read_text(encoding="utf-8").splitlines():
                    query = json.loads(line)
                    wanted = {one["path"] for one in query["relevant"]}
                    hits = [memory.search(query["query"], max_results=k).hits for k in DEPTHS]
                    met = [{hit.path for hit in some} & wanted for some in hits]
                    shares = tuple(len(some) / len(wanted) for some in met)
                    found.setdefault(query["category"], []).append(shares)
    return found


def show_documents(root: Path, sets: list[str]) -> None:
    """Print recall of documents as a table in Markdown."""
    print("| set | kind | questions | " + " | ".join(f"{k} hits" for k in DEPTHS) + " |")
    print("|---|---|---|" + "---|" * len(DEPTHS))
    for name in sets:
        found = [documents(root / name, chain) for chain in CHAINS.values()]
        for kind in sorted(found[0]):
            rows = [one[kind] for one in found]
            cells = [
                " / ".join(f"{fmean(row[at] for row in some):.3f}" for some in rows)
                for at in range(len(DEPTHS))
            ]
            print(f"| {name} | {kind} | {len(rows[0])} | {' | '.join(cells)} |", flush=True)


TOGETHER = {
    "en": ["eslint", "openclaw-docs-en", "locomo-notes", "madial-en", "xquad-en"],
    "zh": ["openclaw-docs-zh", "cmrc2018-zh", "madial-zh", "xquad-zh"],
    "ja": ["openclaw-docs-ja", "jsquad-ja"],
    "th": ["openclaw-docs-th", "xquad-th"],
}


def put_together(root: Path, sets: list[str], into: Path) -> None:
    """All notes and queries of ``sets`` as one: each in a folder of its own."""
    queries = []
    for file in sorted(file for name in sets for file in (root / name).rglob("queries.jsonl")):
        name = str(file.parent.relative_to(root)).replace(os.sep, "-")
        shutil.copytree(file.parent / "workspace", into / "workspace" / name)
        for line in file.read_text(encoding="utf-8").splitlines():
            query = json.loads(line)
            for lines in query["relevant"]:
                lines["path"] = f"{name}/{lines['path']}"
            queries.append(json.dumps(query))
    (into / "queries.jsonl").write_text("\n".join(queries) + "\n", encoding="utf-8")


def show_together(root: Path, tokens: int, languages: list[str]) -> None:
    """Print nDCG and recall of large indexes."""
    chunking = {"tokens": tokens, "overlap": tokens // 5}
    for language in languages:
        with tempfile.TemporaryDirectory() as scratch:
            put_together(root, TOGETHER[language], Path(scratch))
            config = Path(scratch, "config.json")
            memory = {"search": {**SEARCH, "chunking": chunking}}
            config.write_text(json.dumps({"memory": memory}), encoding="utf-8")
            found = measure(Path(scratch), backend=None, config=str(config))
        print(f"{language} {found['ndcg@10']:.4f} {found['recall@10']:.4f}", flush=True)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "sets", nargs="*", help="names of sets, or of languages; all if none is given"
    )
    parser.add_argument("--backend", help="id of the backend, without a fallback")
    parser.add_argument("--config", help="configuration file")
    parser.add_argument("--documents", action="store_true", help="recall of whole documents")
    parser.add_argument(
        "--together", type=int, metavar="TOKENS", help="the sets of a language as one"
    )
    args = parser.parse_args()
    root = Path(os.environ.get("COMMONPLACE_EVAL_DIR", "../shared/eval")) / "dev"
    if not root.is_dir():
        print(f"no evaluation data at {root}: set COMMONPLACE_EVAL_DIR")
        return 2
    if args.documents:
        show_documents(root, args.sets or CONVERSATIONS)
        return 0
    if args.together:
        show_together(root, args.together, args.sets or [*TOGETHER])
        return 0
    proto = f"{'(proto)':>8} {'diff':>7}"
    print(f"{'set':18} {'ndcg@10':>8} {proto}   {'budget':>7} {proto}")
    differences: list[float] = []
    for name in args.sets or PROTOTYPE:
        ndcg, budget = PROTOTYPE[name]
        found = measure(root / name, backend=args.backend, config=args.config)
        differences.append(found["ndcg@10"] - ndcg)
        line = f"{name:18} {found['ndcg@10']:8.3f} {ndcg:8.3f} {differences[-1]:+7.3f}"
        line += f"   {found['budget']:7.3f}"
        if budget is not None:
            differences.append(found["budget"] - budget)
            line += f" {budget:8.3f} {differences[-1]:+7.3f}"
        print(line, flush=True)
    mean = sum(differences) / len(differences)
    worst = min(differences)
    print(f"mean difference {mean:+.4f}, worst {worst:+.4f}")
    default = args.backend is None and args.config is None
    return 0 if not default or (worst >= -SLACK and mean >= 0) else 1


if __name__ == "__main__":
    sys.exit(main())
