#!/usr/bin/env python3
"""The ladder: what each chapter reaches, beside the published figures.

Every chapter is checked at a small shape and timed at the three benchmark shapes: on a B200 where there is one,
else on the emulator, whose times are modelled. Exit code 1 when a chapter is wrong.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))
import scores  # noqa: E402

CHECK_SHAPE = "1x2x512"
BEGIN, END = "<!-- ladder:begin -->", "<!-- ladder:end -->"


class LadderError(Exception):
    pass


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0],
                                     epilog="EMULATE=1 asks for the emulator where a B200 is present; EMU_ARGS are "
                                            "options for it, as in EMU_ARGS='--set ii_mufu=4'.")
    parser.add_argument("--build", type=Path, default=Path(sys.argv[0]).absolute().parent,
                        help="folder of the built chapters (default: where this program was called)")
    parser.add_argument("--chapter", action="append", metavar="NN", help="only this chapter (repeatable)")
    parser.add_argument("--shape", action="append", metavar="BxHxL", help="only this benchmark shape (repeatable)")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), metavar="N",
                        help="chapters emulated at a time (default: %(default)s)")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--markdown", action="store_true", help="print a Markdown table")
    form.add_argument("--json", action="store_true", help="print all figures as JSON")
    parser.add_argument("--write", type=Path, metavar="FILE",
                        help=f"put the Markdown table between {BEGIN} and {END} of FILE")
    return parser.parse_args()


def b200():
    """Index and name of the first device of compute capability 10.0, or None."""
    if os.environ.get("EMULATE") == "1":
        return None
    try:
        listed = subprocess.run(["nvidia-smi", "--query-gpu=index,compute_cap,name", "--format=csv,noheader"],
                                capture_output=True, text=True)
    except OSError:
        return None
    for line in listed.stdout.splitlines():
        index, capability, name = (field.strip() for field in line.split(",", 2))
        if capability == "10.0":
            return index, name
    return None


class Runner:
    """Runs chapters and reads the one JSON object each prints."""

    def __init__(self, build, device):
        self.build = build
        self.device = device
        self.environment = dict(os.environ)
        if device:
            self.environment.update(CUDA_DEVICE_ORDER="PCI_BUS_ID")
            self.environment.setdefault("CUDA_VISIBLE_DEVICES", device[0])

    def run(self, number, options, emulator_options=()):
        command = [str(self.build / f"ch{number}"), "--json", *options]
        if not self.device:
            command = [str(self.build / "emu"), *os.environ.get("EMU_ARGS", "").split(), *emulator_options, "--", *command]
        done = subprocess.run(command, capture_output=True, text=True, env=self.environment)
        try:
            return json.loads(done.stdout)
        except json.JSONDecodeError:
            reason = (done.stderr or done.stdout).strip().splitlines()
            return {"pass": False, "failure": f"exit code {done.returncode}: {reason[-1] if reason else 'no output'}"}


class Progress:
    """One line on a terminal, nothing in a pipe."""

    def __init__(self, weights):
        self.weights, self.done, self.spent = weights, 0, 0.0
        self.began = time.monotonic()
        self.shown = sys.stderr.isatty()

    def finished(self, task):
        self.done += 1
        self.spent += self.weights[task]
        if not self.shown:
            return
        total = sum(self.weights.values())
        left = (time.monotonic() - self.began) / self.spent * (total - self.spent)
        end = "\r\033[K" if self.done == len(self.weights) else ""
        print(f"\r\033[Kchapter {task[0]} {task[1] or 'check'}: {self.done} of {len(self.weights)} runs, about "
              f"{left:.0f} s left{end}", end="", file=sys.stderr, flush=True)


def measure(runner, numbers, shapes, jobs):
    """Chapter number -> {"title", "change", "check", "runs": {shape: report}}."""
    tasks = [(number, None) for number in numbers]
    tasks += [(number, shape) for number in numbers if number != "00" for shape in shapes]
    # Setting a shape's inputs up takes about as long as emulating 8192 keys.
    progress = Progress({task: 1 + int(task[1].split("x")[-1]) / 8192 if task[1] else 0.3 for task in tasks})

    def work(task):
        number, shape = task
        if shape:
            report = runner.run(number, ["--bench", "--shape", shape])
        else:
            small = [] if number == "00" else ["--shape", CHECK_SHAPE]
            report = runner.run(number, ["--check", *small], ["--flat"])
        progress.finished(task)
        return report

    with ThreadPoolExecutor(1 if runner.device else jobs) as pool:
        reports = dict(zip(tasks, pool.map(work, tasks)))
    return {number: {"title": reports[number, None].get("title", "?"), "change": reports[number, None].get("change", ""),
                     "check": reports[number, None],
                     "runs": {s: reports[number, s] for s in shapes if (number, s) in reports}}
            for number in numbers}


def changed_lines(before, after):
    """Lines of chapter `after`'s kernel that `before`'s does not have, and the reverse."""
    files = [next(iter((ROOT / "chapters").glob(f"{n}_*/kernel.cu")), None) for n in (before, after)]
    if None in files:
        return None
    text = subprocess.run(["diff", *map(str, files)], capture_output=True, text=True).stdout.splitlines()
    return {"removed": sum(line.startswith("<") for line in text), "added": sum(line.startswith(">") for line in text)}


def assess(chapters, published, shapes):
    """Figures per chapter and shape, and how the whole ladder compares."""
    column = {shape: i for i, shape in enumerate(published["shapes"])}
    rows = []
    for number, chapter in chapters.items():
        known = published["tflops"].get(str(int(number)))
        for shape, report in chapter["runs"].items():
            tflops, fa4 = report.get("tflops"), published["fa4_tflops"][column[shape]]
            row = {"chapter": number, "title": chapter["title"], "shape": shape, "ms": report.get("ms"), "tflops": tflops,
                   "time": report.get("time"), "share": tflops and tflops / fa4 * 100, "published_tflops": None,
                   "published_share": None, "difference": None, "error": None}
            if known:
                target = known[column[shape]]
                row["published_tflops"], row["published_share"] = target, target / fa4 * 100
                if tflops:
                    row["difference"] = row["share"] - row["published_share"]
                    row["error"] = (tflops / target - 1) * 100
            rows.append(row)
    compared = [row for row in rows if row["error"] is not None]
    result = {"rows": rows, "mean_absolute_error": None, "spearman": None, "steps": []}
    if not compared:
        return result
    result["mean_absolute_error"] = scores.mean([abs(row["error"]) for row in compared])
    by_chapter = {}
    for row in compared:
        by_chapter.setdefault(row["chapter"], []).append(row)
    whole = {n: part for n, part in by_chapter.items() if len(part) == len(shapes)}
    speeds = {n: ([r["tflops"] for r in part], [r["published_tflops"] for r in part]) for n, part in whole.items()}
    if len(speeds) > 1:
        result["spearman"] = scores.spearman([scores.mean(m) for m, _ in speeds.values()],
                                             [scores.mean(p) for _, p in speeds.values()])
    numbers = list(speeds)
    for before, after in zip(numbers, numbers[1:]):
        if int(after) != int(before) + 1:
            continue
        (m0, p0), (m1, p1) = speeds[before], speeds[after]
        result["steps"].append({"from": before, "to": after, "lines": changed_lines(before, after),
                                **scores.step(m0, m1, p0, p1)})
    return result


def number(value, form):
    return "-" if value is None else format(value, form)


def check_lines(chapters):
    lines = []
    for chapter_number, chapter in chapters.items():
        failures = [f"{name}: {report.get('failure') or 'failed'}"
                    for name, report in [("check", chapter["check"]), *chapter["runs"].items()] if not report.get("pass")]
        if failures:
            lines += [f"chapter {chapter_number} is WRONG  {failure}" for failure in failures]
    compared = [c["check"]["rel_l2"] for c in chapters.values() if c["check"].get("rel_l2") is not None]
    if not lines:
        worst = f", relative L2 error at most {max(compared):.1e}" if compared else ""
        lines.append(f"every chapter's result is right at {CHECK_SHAPE} (float64 reference{worst})")
    return lines


def summary_lines(result, kind):
    lines = []
    if result["mean_absolute_error"] is None:
        return lines
    lines.append(f"mean absolute error of the {kind} TFLOPS against the published: "
                 f"{result['mean_absolute_error']:.1f} %")
    if result["spearman"] is not None:
        lines.append(f"rank correlation (Spearman) of the chapters: {result['spearman']:.2f}")
    steps = result["steps"]
    if steps:
        held = sum(s["holds"] for s in steps)
        lines.append(f"steps of at least half and at most twice the published gain: {held} of {len(steps)}")
    return lines


def step_cells(step, kind):
    lines = step["lines"]
    return (f"{step['from']} to {step['to']}", f"{step['published']:+.1f} %", f"{step['modelled']:+.1f} %",
            "yes" if step["holds"] else "no", f"-{lines['removed']} +{lines['added']}" if lines else "-")


def plain_table(chapters, result, published, shapes, kind):
    lines = []
    for shape in shapes:
        fa4 = published["fa4_tflops"][published["shapes"].index(shape)]
        lines.append(f"{shape}   FlashAttention-4 measured: {fa4} TFLOPS")
        lines.append(f"  {'chapter':<26}{kind + ' ms':>12}{'TFLOPS':>9}{'% of FA4':>10}{'published %':>13}{'difference':>12}"
                     f"{'error':>10}")
        for row in (r for r in result["rows"] if r["shape"] == shape):
            error = "-" if row["error"] is None else f"{row['error']:+.1f} %"
            lines.append(f"  {row['chapter'] + '  ' + row['title'].lower():<26.26}{number(row['ms'], '.3f'):>12}"
                         f"{number(row['tflops'], '.0f'):>9}{number(row['share'], '.1f'):>10}"
                         f"{number(row['published_share'], '.1f'):>13}{number(row['difference'], '+.1f'):>12}{error:>10}")
        lines.append("")
    if result["steps"]:
        lines.append(f"  {'step':<12}{'published gain':>16}{kind + ' gain':>16}{'half to twice':>16}{'lines of the kernel':>22}")
        for step in result["steps"]:
            cells = step_cells(step, kind)
            lines.append(f"  {cells[0]:<12}{cells[1]:>16}{cells[2]:>16}{cells[3]:>16}{cells[4]:>22}")
        lines.append("")
    return "\n".join(lines + check_lines(chapters) + summary_lines(result, kind))


def markdown_table(chapters, result, published, shapes, kind):
    lines = ["| | " + " | ".join(f"{s} TFLOPS {kind} | % of FA4 | published %" for s in shapes) + " |",
             "|---|" + "--:|--:|--:|" * len(shapes)]
    for chapter_number, chapter in chapters.items():
        cells = []
        for row in (r for r in result["rows"] if r["chapter"] == chapter_number):
            cells += [number(row["tflops"], ".0f"), number(row["share"], ".1f"), number(row["published_share"], ".1f")]
        if cells:
            lines.append(f"| {int(chapter_number)} {chapter['title']} | " + " | ".join(cells) + " |")
    fa4 = [str(published["fa4_tflops"][published["shapes"].index(s)]) for s in shapes]
    lines.append("| FlashAttention-4, measured | " + " | ".join(f"{t} | 100 | 100" for t in fa4) + " |")
    lines.append("")
    if result["steps"]:
        lines += [f"| step | published gain | {kind} gain | half to twice | lines of the kernel |", "|---|--:|--:|:-:|--:|"]
        lines += ["| " + " | ".join(step_cells(s, kind)) + " |" for s in result["steps"]]
        lines.append("")
    notes = check_lines(chapters) + summary_lines(result, kind)
    return "\n".join(lines + [f"- {note[0].upper()}{note[1:]}." for note in notes])


def write_between_markers(path, text):
    whole = path.read_text()
    begin, end = whole.find(BEGIN), whole.find(END)
    if begin < 0 or end < begin:
        raise LadderError(f"{path} has no {BEGIN} followed by {END}: add the two lines where the table should stand")
    path.write_text(whole[:begin + len(BEGIN)] + "\n" + text + "\n" + whole[end:])


def main():
    options = arguments()
    published = json.loads((HERE / "published.json").read_text())
    shapes = options.shape or published["shapes"]
    unknown = [s for s in shapes if s not in published["shapes"]]
    if unknown:
        raise LadderError(f"no published figures for shape {unknown[0]}; there are {', '.join(published['shapes'])}")
    numbers = sorted(path.name[2:] for path in options.build.glob("ch[0-9][0-9]"))
    if options.chapter:
        missing = [n for n in options.chapter if n not in numbers]
        if missing:
            raise LadderError(f"no chapter {missing[0]} in {options.build}; built are {', '.join(numbers) or 'none'}")
        numbers = sorted(set(options.chapter))
    if not numbers:
        raise LadderError(f"no chapters in {options.build}: build them with `make run`")
    runner = Runner(options.build, b200())
    kind = "measured" if runner.device else "modelled"
    began = time.monotonic()
    chapters = measure(runner, numbers, shapes, options.jobs)
    result = assess(chapters, published, shapes)
    markdown = markdown_table(chapters, result, published, shapes, kind)
    if options.json:
        print(json.dumps({"time": kind, "fa4_tflops": dict(zip(published["shapes"], published["fa4_tflops"])),
                          "published_source": published["source"], "chapters": chapters, **result}, indent=1))
    elif options.markdown:
        print(markdown)
    else:
        where = f"measured on {runner.device[1]}, median after warm-up, L2 not flushed" if runner.device else \
            "modelled for a B200 by the emulator; large grids are sampled and the rest extrapolated"
        print(f"Times are {where}.\n")
        print(plain_table(chapters, result, published, shapes, kind))
        print(f"took {time.monotonic() - began:.0f} s")
    if options.write:
        write_between_markers(options.write, markdown)
    right = all(c["check"].get("pass") and all(r.get("pass") for r in c["runs"].values()) for c in chapters.values())
    return 0 if right else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LadderError as error:
        print(f"ladder: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
