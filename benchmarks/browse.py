"""How long after a key the results are on the screen, in Chromium, and the start of the command.

    python benchmarks/browse.py [--notes 10000]

Needs the extra ``browse``, Playwright, and Debian's Chromium. A key's time is from its event in the
page to the end of the frame that shows the results; the next key comes when they are there.
Beside it, in the same run: the same searches without pages, so that the ratio says what pages cost.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from commonplace import Memory

CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
QUERIES = (
    *("staging port", "spare key of the workshop", "harbour sign battery", "tide prediction"),
    *("why did we move the server", "invoice of the supplier", "meeting on thursday"),
)
WATCH = """
() => {
  window.took = [];
  window.next = (count) => took.length > count || new Promise((done) => { window.there = done; });
  let began = 0;
  const input = document.querySelector('#q');
  addEventListener('keydown', () => { began = performance.now(); }, true);
  addEventListener('commonplace:shown', () => {
    requestAnimationFrame(() => setTimeout(() => {
      took.push(performance.now() - began);
      window.there?.();
    }));
  });
}
"""


def write_notes(folder: Path, count: int) -> None:
    """Daily logs and project notes whose words are as unevenly frequent as those of a language."""
    chance = random.Random(1)  # the same notes in every run
    letters = "aeiou", "bcdfghklmnprstvw"
    made = {
        "".join(chance.choice(letters[at % 2 == 0]) for at in range(chance.randint(3, 9)))
        for _ in range(20_000)
    }
    words = [*dict.fromkeys(" ".join(QUERIES).split()), *sorted(made)]
    weights = [1 / (rank + 8) for rank in range(len(words))]
    for number in range(count):
        said = chance.choices(words, weights, k=chance.randint(60, 160))
        lines = ["- " + " ".join(said[at : at + 12]) for at in range(0, len(said), 12)]
        day = f"{2000 + number // 360}-{number // 30 % 12 + 1:02}-{number % 28 + 1:02}"
        name = f"{day}-{number}.md" if number % 2 else f"projects/note-{number}.md"
        path = folder / "memory" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# Note {number}\n\n#tag{number % 40}\n\n" + "\n".join(lines) + "\n")


def started(notes: Path, env: dict[str, str]) -> tuple[subprocess.Popen[str], str, float]:
    """A server, its address, and when it was started."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "commonplace", "browse", "--no-open"]
    server = subprocess.Popen(
        [*command, "--workspace", str(notes)], env=env, stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    found = re.search(r"http://\S+", server.stdout.readline())
    assert found is not None
    return server, found[0], began


def typed(page: Any) -> list[float]:
    """Milliseconds from each key to its results."""
    for query in QUERIES:
        page.fill("#q", "")
        page.wait_for_timeout(200)
        for letter in query:
            before = page.evaluate("took.length")
            page.keyboard.type(letter)
            if letter != " ":
                page.evaluate("count => next(count)", before)
    found: list[float] = page.evaluate("took")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--notes", type=int, default=10_000)
    count = parser.parse_args().notes
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        home = Path(folder)
        notes = home / "notes"
        write_notes(notes, count)
        folders = {"COMMONPLACE_STATE_DIR": "state", "COMMONPLACE_CACHE_DIR": "cache"}
        env = {**os.environ, **{name: str(home / at) for name, at in folders.items()}}
        with Memory.open(workspace=notes, env=env) as memory:
            began = time.perf_counter()
            memory.sync()
            print(f"{count:,} notes indexed in {time.perf_counter() - began:.1f} s")
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        starts = []
        for last in (False, True):
            server, address, began = started(notes, env)
            page = browser.new_page()
            page.goto(address)
            page.wait_for_selector("#q")
            starts.append(time.perf_counter() - began)
            if not last:
                server.terminate()
                server.wait()
        print(f"start to visible page: {min(starts):.2f} s at best, {median(starts):.2f} s median")
        page.wait_for_timeout(3000)  # the first sync of the new server
        page.evaluate(WATCH)
        typed(page)
        page.evaluate("took.length = 0")
        keys = typed(page)
        server.terminate()
        server.wait()
        browser.close()
        bare = []
        config = {"memory": {"search": {"sync": {"onSearch": False}}}}  # as a server that watches
        with Memory.open(workspace=notes, env=env, config=config) as memory:
            memory.sync()
            for query in (text[:end] for text in QUERIES for end in range(1, len(text) + 1)):
                began = time.perf_counter()
                memory.search(query, max_results=30)
                bare.append((time.perf_counter() - began) * 1000)
        for name, times in (("key to results in Chromium", keys), ("the search alone", bare)):
            p95 = quantiles(times, n=20)[-1]
            print(f"{name}: {median(times):.1f} ms median, {p95:.1f} ms p95, {len(times)} times")
        print(f"ratio of medians: {median(keys) / median(bare):.1f}")


if __name__ == "__main__":
    main()
