"""Command line of the fuzzer: a child process runs the cases, so that one that dies or hangs costs only itself."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import click

from tests.fuzz.cases import make
from tests.fuzz.judge import judge, write

HANG = 60.0  # seconds of computing that one case may take, many times what the slowest should
_WAITING = 10  # times that long it may take on a busy machine


@dataclass
class Outcome:
    """How many cases were run, and what was wrong with some of them."""

    cases: Counter[str] = field(default_factory=Counter)
    wrong: dict[int, str] = field(default_factory=dict)


class Child:
    """A process that runs cases one after the other from a number on, and writes a line before and behind each."""

    def __init__(self, first: int) -> None:
        environment = {**os.environ, "BW_AUDIT_CACHE": "off", "BW_AUDIT_JOBS": "1", "NO_COLOR": "1"}
        environment.pop("BW_AUDIT_DEBUG", None)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.fuzz", "--child", str(first)],
            stdout=subprocess.PIPE,
            bufsize=0,  # select must see every line
            env=environment,
            start_new_session=True,
            cwd=Path(__file__).parents[2],
        )

    def read(self, seconds: float) -> str | None:
        """The next line; an empty one when the child has died, None when it ``hangs``."""
        assert self.process.stdout is not None
        return None if self.hangs(seconds) else self.process.stdout.readline().decode()

    def hangs(self, seconds: float) -> bool:
        """Whether no line comes although the child computes so long, or waits much longer."""
        assert self.process.stdout is not None
        began, spent = time.monotonic(), self._computed()
        while not select.select([self.process.stdout], [], [], min(seconds, 1))[0]:
            if self._computed() - spent > seconds or time.monotonic() - began > seconds * _WAITING:
                return True
        return False

    def _computed(self) -> float:
        """Seconds of processor time, where the system tells; else since it was started."""
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return time.monotonic()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def kill(self) -> None:
        """End it with all that it has started."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.death()

    def death(self) -> str:
        """What it died of."""
        code = self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()
        return f"died of signal {-code}" if code < 0 else f"died with exit code {code}"


def run(first: int, seconds: float, hang: float = HANG, most: int | None = None) -> Outcome:
    """Run cases from a number on until time is up, or ``most`` of them."""
    outcome = Outcome()
    end = time.monotonic() + seconds
    number = first
    child = Child(number)
    while time.monotonic() < end and (most is None or number < first + most):
        told = child.read(hang)
        if told:
            number, kind, wrong = json.loads(told)
            outcome.cases[kind] += 1
            if wrong:
                outcome.wrong[number] = wrong
        else:
            outcome.cases[make(number).kind] += 1
            outcome.wrong[number] = child.death() if told == "" else f"no end after {hang:g} seconds of computing"
            child.kill()
        number += 1
        if not told:
            child = Child(number)
    child.kill()
    return outcome


def serve(first: int) -> None:
    """The child: tells of each case that it has run."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    number = first
    while True:
        case = make(number)
        channel.write(json.dumps([number, case.kind, judge(case)]) + "\n")
        channel.flush()
        number += 1


@click.command()
@click.option("--seconds", default=60.0, show_default=True, help="How long cases are run.")
@click.option("--first", default=0, show_default=True, help="Number of the first case.")
@click.option("--case", "single", type=int, help="Run this case alone and show what comes of it.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for the files of cases that went wrong.")
@click.option("--child", type=int, hidden=True)
def command(seconds: float, first: int, single: int | None, out: Path | None, child: int | None) -> None:
    """Run the tool on damaged input; exit with 1 when it did not always end in an orderly way."""
    if child is not None:
        serve(child)
    if single is not None:
        case = make(single)
        click.echo(f"case {single}: {case.kind}: bw-audit {' '.join(case.words)}")
        keep(single, out)
        wrong = judge(case)
        click.echo(wrong or "ended in an orderly way")
        sys.exit(bool(wrong))
    outcome = run(first, seconds)
    total = sum(outcome.cases.values())
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(outcome.cases.items()))
    for number, wrong in outcome.wrong.items():
        click.echo(f"case {number} ({make(number).kind}): {wrong.strip()}\n")
        keep(number, out)
    click.echo(f"{total} cases from {first} on ({kinds}); {len(outcome.wrong)} went wrong")
    sys.exit(bool(outcome.wrong))


def keep(number: int, out: Path | None) -> None:
    """Write the files of a case for a person to look at."""
    if out is not None:
        case = make(number)
        folder = out / str(number)
        folder.mkdir(parents=True, exist_ok=True)
        write(case, folder)
        (folder / "command").write_text(" ".join(case.words) + "\n", encoding="utf-8")


if __name__ == "__main__":
    command()
