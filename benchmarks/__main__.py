"""All benchmarks, one after another, each in a process of its own: `python benchmarks [NAME ...]`.

Writes their figures to build/bench.json and prints them as one table. Ends with 1 if a benchmark failed or missed a
promise.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from common import ROOT, Report, machine, show

HERE = Path(__file__).resolve().parent
NAMES = (
    "pixels", "shapes", "features", "shader", "draws", "startup", "first_picture", "captures", "layouts", "textures",
    "sampling", "channel", "decode", "sass", "vertices", "output", "draws_switch", "llvmpipe", "inspect_3ds",
    "inspect_switch", "answers", "guests", "viewer", "sweep",
)  # fmt: skip
OUT = ROOT / "build" / "bench.json"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python benchmarks", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; all if none is named")
    parser.add_argument("--repeat", type=int, metavar="N", help="repetitions, instead of each benchmark's own number")
    parser.add_argument("--out", type=Path, default=OUT, metavar="FILE", help="default build/bench.json")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.names) - set(NAMES))
    if unknown:
        parser.error(f"no benchmark is called {', '.join(unknown)}; there are {', '.join(NAMES)}")
    more = [] if arguments.repeat is None else ["--repeat", str(arguments.repeat)]
    results, failed = [], []
    for name in arguments.names or NAMES:
        print(f"running {name} ...", file=sys.stderr, flush=True)
        done = subprocess.run(
            [sys.executable, str(HERE / f"{name}.py"), "--json", *more], stdout=subprocess.PIPE, text=True
        )
        if done.returncode:
            failed.append(name)
        else:
            results.append(json.loads(done.stdout))
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps({"machine": machine(), "benchmarks": results}, indent=1) + "\n")
    reports = [Report.from_json(result) for result in results]
    show(reports)
    print(f"written to {arguments.out}")
    for name in failed:
        print(f"{name} failed", file=sys.stderr)
    missed = [f"{report.name}: {figure.what}" for report in reports for figure in report.figures if figure.met is False]
    return 1 if failed or missed else 0


if __name__ == "__main__":
    sys.exit(main())
