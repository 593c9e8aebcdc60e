#!/usr/bin/env python3
"""Beside what the timing model issues, what ptxas really made: the main loops of a kernel's machine code.

For every chapter the tool takes the machine code and the PTX out of its object file, finds the loops in both, pairs
them by source line and counts. No GPU is needed.
"""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

CLASSES = [
    ("FFMA", r"FFMA2?$"),
    ("FMUL, FADD", r"FMUL2?$|FADD2?$"),
    ("FMNMX", r"FMNMX3?$"),
    ("F2FP", r"F2FP$"),
    ("MUFU", r"MUFU$"),
    ("FSETP", r"FSETP$"),
    ("integer", r"(IMAD|HFMA2|IADD3?|VIADD|VIMNMX3?|LEA|LOP3|SHF|ISETP|SEL|PRMT|MOV|IABS|CS2R|VOTE|PLOP3|P2R|R2P|ELECT|LDC|S2R|CS2R|FSEL)$"),
    ("uniform", r"(U(MOV|IADD3|IMAD|LEA|LOP3|SHF|ISETP|SEL|PLOP3|PRMT|P2UR|FLO|POPC|VIADD)|VOTEU|R2UR|S2UR|LDCU|UR2UP)$"),
    ("LDTM, STTM", r"LDTM|STTM"),
    ("SHFL", r"SHFL|REDUX|CREDUX"),
    ("LDS, STS", r"LDS|STS$|ATOMS|LDSM|STSM"),
    ("global", r"LDG|STG|RED|ATOM|LD$|ST$|LDL|STL"),
    ("SYNCS", r"SYNCS"),
    ("UTCMMA", r"UTC.?.?MMA|UTCBAR|UTCATOM|UTCCP"),
    ("UTMALDG", r"UTMA|UBLK"),
    ("control", r"BRA|BSSY|BSYNC|WARPSYNC|NOP|YIELD|BAR|MEMBAR|FENCE|DEPBAR|ERRBAR|CCTL|CALL|RET|EXIT|NANOSLEEP|ENDCOLLECTIVE"),
]
MODEL_CLASSES = {
    "CvtPack": "F2FP", "Mufu": "MUFU", "Xu": "MUFU", "Imad": "integer", "ImadWide": "integer", "IntAdd": "integer",
    "Vote": "integer", "Uniform": "uniform", "Shuffle": "SHFL", "Redux": "SHFL", "SharedLoad": "LDS, STS",
    "SharedStore": "LDS, STS", "GlobalLoad": "global", "GlobalStore": "global", "Local": "global", "Atomic": "global",
    "TmemLoad": "LDTM, STTM", "TmemStore": "LDTM, STTM", "Mbarrier": "SYNCS", "MbarrierWait": "SYNCS",
    "MmaIssue": "UTCMMA", "Commit": "UTCMMA", "TmaIssue": "UTMALDG", "Branch": "control", "Call": "control",
    "CtaBarrier": "control", "WarpSync": "control", "Fence": "control", "TmemWait": "control", "Sleep": "control",
    "TmemAlloc": "control", "Special": "integer", "Param": "integer", "Free": "integer", "AsyncCopy": "global",
}
# What marks a loop body as the same work on both sides, however often it was unrolled.
ANCHORS = ("MUFU", "LDTM, STTM", "UTCMMA", "UTMALDG", "LDS, STS")


class Instruction:
    def __init__(self, address, text, where, control):
        self.address, self.text, self.where = address, text, where
        words = text.split()
        self.guard = words[0] if words[0].startswith("@") else ""
        words = words[1:] if self.guard else words
        self.opcode = words[0]
        # Control bits of sm_70 and later, from bit 105 of the 128: stall, yield, write and read scoreboard, waits.
        self.stall = control & 15
        self.writes, self.waits = control >> 5 & 7, control >> 11 & 63
        target = re.search(r"`\((\.L_\w+)\)", text)
        self.target = target.group(1) if target and self.opcode.startswith("BRA") else None

    def mnemonic(self):
        return self.opcode.split(".")[0]

    def sass_class(self):
        for name, pattern in CLASSES:
            if re.match(pattern, self.mnemonic()):
                return name
        sys.exit(f"sass_table: no class for the instruction {self.text}; add it to CLASSES in {__file__}")


def parse_disassembly(text):
    """Kernels by name: instructions and labels (label -> index)."""
    kernels, current, labels, where, pending = {}, None, None, "", None
    for line in text.splitlines():
        if m := re.match(r"\s*\.section\s+\.text\.([^,\s]+)", line):
            current, labels = [], {}
            kernels[m.group(1)] = (current, labels)
        elif m := re.match(r'\s*//## File "([^"]+)", line (\d+)', line):
            where = f"{pathlib.Path(m.group(1)).name}:{m.group(2)}"
        elif m := re.match(r"\s*(\.L_\w+):", line):
            labels[m.group(1)] = len(current)
        elif m := re.match(r"\s*/\*([0-9a-f]+)\*/\s+(.*?)\s*;\s*/\* (0x[0-9a-f]+) \*/", line):
            pending = (int(m.group(1), 16), m.group(2))
        elif (m := re.match(r"\s*/\* (0x[0-9a-f]+) \*/", line)) and pending:
            current.append(Instruction(*pending, where, int(m.group(1), 16) >> 41))
            pending = None
    return kernels


def sass_loops(instructions, labels):
    """Loops as [first, last] index ranges: an address range that a dominated branch back spans. Code that ptxas moved
    out of line (a poll that failed, lanes that came apart) lies behind the range and is left out: it does not run
    when nobody waits."""
    ends = {i for i, x in enumerate(instructions) if x.target or x.mnemonic() in ("EXIT", "RET")}
    starts = sorted({0} | {labels[instructions[i].target] for i in ends if instructions[i].target} |
                    {i + 1 for i in ends if i + 1 < len(instructions)})
    block_of, blocks = {}, []
    for b, start in enumerate(starts):
        end = starts[b + 1] if b + 1 < len(starts) else len(instructions)
        blocks.append((start, end))
        block_of[start] = b
    successors = []
    for b, (start, end) in enumerate(blocks):
        last, out = instructions[end - 1], []
        if last.target:
            out.append(block_of[labels[last.target]])
        falls = not (last.target and not last.guard and last.opcode in ("BRA", "BRA.U") and
                     not re.search(r"U?P\d", last.text)) and last.mnemonic() not in ("EXIT", "RET")
        if (falls or last.guard) and b + 1 < len(blocks):
            out.append(b + 1)
        successors.append(out)
    everything = set(range(len(blocks)))
    dominators = [everything] * len(blocks)
    dominators[0] = {0}
    predecessors = collections.defaultdict(list)
    for b, out in enumerate(successors):
        for s in out:
            predecessors[s].append(b)
    changed = True
    while changed:
        changed = False
        for b in range(1, len(blocks)):
            reached = [dominators[p] for p in predecessors[b] if p == 0 or dominators[p] is not everything]
            new = (set.intersection(*reached) if reached else everything) | {b}
            if reached and new != dominators[b]:
                dominators[b], changed = new, True
    loops = {}
    for b, out in enumerate(successors):
        for s in out:
            if s in dominators[b] and dominators[b] is not everything:
                loops[blocks[s][0]] = max(loops.get(blocks[s][0], 0), blocks[b][1] - 1)
    return [(first, last) for first, last in sorted(loops.items())]


# Cycles until a scoreboard is released, as in the b200 machine description.
LATENCY = {"MUFU": 17, "LDTM": 29, "LDS": 26, "LDG": 300, "SYNCS": 13, "FENCE": 6, "SHFL": 24}
MUFU_INTERVAL = 8


def cycles_alone(instructions):
    """Cycles that a warp takes for these instructions when it has a sub-partition to itself and every wait is over:
    the stall counts of the control bits, and the scoreboards they name."""
    now, released, mufu = 0, [0] * 8, 0
    for x in instructions:
        now = max([now] + [released[k] for k in range(6) if x.waits >> k & 1])
        if x.mnemonic() == "MUFU":
            now = max(now, mufu)
            mufu = now + MUFU_INTERVAL
        if x.writes < 6:
            released[x.writes] = max(released[x.writes], now + LATENCY.get(x.mnemonic(), 20))
        now += max(x.stall, 1)
    return now


def is_wait_or_serial(body):
    """A poll of an mbarrier, or the loop ptxas puts around one instruction to issue it lane by lane."""
    return len(body) <= 12


def anchor_count(counts):
    for name in ANCHORS:
        if counts.get(name):
            return counts[name]
    return 0


class Body:
    """A loop of either side: its own counts and the loops within."""

    def __init__(self):
        self.counts, self.lines = collections.Counter(), collections.Counter()
        self.cycles = [0, 0]  # alone on a sub-partition; the model's also in the order of the PTX
        self.inner, self.span = [], ""


def nest(loops, contains, make):
    """Builds Body trees from loops given outermost first."""
    order, bodies = [], []
    for loop in loops:
        body = make(loop)
        parent = next((b for l, b in reversed(list(zip(order, bodies))) if contains(l, loop)), None)
        if parent:
            parent.inner.append(body)
        order.append(loop)
        bodies.append(body)
        body.top = parent is None
    return [b for b in bodies if b.top]


def sass_bodies(instructions, labels):
    loops = [l for l in sass_loops(instructions, labels) if not is_wait_or_serial(instructions[l[0]:l[1] + 1])]
    loops.sort(key=lambda l: l[0] - l[1])

    def make(loop):
        body = Body()
        nested = [l for l in loops if l != loop and loop[0] <= l[0] and l[1] <= loop[1]]
        for i in range(loop[0], loop[1] + 1):
            if any(l[0] <= i <= l[1] for l in nested):
                continue
            x = instructions[i]
            body.counts[x.sass_class()] += 1
            body.lines[x.where] += 1
        body.cycles = [cycles_alone([x for i, x in enumerate(instructions[loop[0]:loop[1] + 1], loop[0])
                                     if not any(l[0] <= i <= l[1] for l in nested)]), 0]
        body.span = f"{instructions[loop[0]].address:04x}..{instructions[loop[1]].address:04x}"
        return body

    return nest(loops, lambda a, b: a[0] <= b[0] and b[1] <= a[1], make)


def model_counts(x):
    counts = collections.Counter()
    name, slots = x["class"], x["slots"]
    head = x["opcode"].split(".")[0]
    if slots:
        if name in ("Fma", "FmaPacked"):
            counts["FFMA" if head == "fma" or (head in ("add", "sub") and x.get("fused")) else "FMUL, FADD"] += slots
        elif name == "Alu":
            is_float = ".f32" in x["opcode"]
            counts["FMNMX" if is_float and head in ("max", "min") else
                   "FSETP" if is_float and head == "setp" else "integer"] += slots
        else:
            counts[MODEL_CLASSES[name]] += slots
    counts["FMUL, FADD" if head in ("ex2", "lg2", "div", "rcp", "sqrt") else "integer"] += x["extra_fma"]
    counts["FSETP" if head in ("ex2", "lg2", "div", "rcp", "sqrt") else "integer"] += x["extra_alu"]
    counts["uniform"] += x["extra_uniform"]
    counts["control"] += x["extra_control"]
    return counts


def model_bodies(kernel):
    loops = [dict(l, set=set(l["blocks"])) for l in kernel["loops"] if not l["spin"]]
    loops.sort(key=lambda l: -len(l["set"]))
    mark_fused(kernel["instructions"])

    def make(loop):
        body = Body()
        nested = set().union(*[l["set"] for l in loops if l is not loop and l["set"] < loop["set"]])
        for x in kernel["instructions"]:
            if x["block"] in loop["set"] and x["block"] not in nested:
                counts = model_counts(x)
                body.counts += counts
                slots = sum(counts.values())
                if slots:
                    body.lines[f"{pathlib.Path(x.get('file', '')).name}:{x.get('line', 0)}"] += slots
        for b in loop["set"] - nested:
            body.cycles[0] += kernel["cycles"][b]
            body.cycles[1] += kernel["cycles_in_ptx_order"][b]
        return body

    return nest(loops, lambda a, b: b["set"] < a["set"], make)


def mark_fused(instructions):
    """An addition whose product costs nothing was fused with it."""
    free = set()
    for x in instructions:
        m = re.match(r"(?:@\S+\s+)?(\S+)\s+(\S+?),\s*(.*)", x["text"].rstrip(";"))
        if not m:
            continue
        opcode, target, sources = m.groups()
        if opcode.startswith("mul.") and not x["slots"]:
            free.add(target)
        elif opcode.startswith(("add.", "sub.")):
            x["fused"] = any(s.strip() in free for s in sources.split(","))


def overlap(a, b):
    """Share of the source lines that two loops have in common, weighed by how much they issue for them."""
    total = sum((all_lines(a) | all_lines(b)).values())
    return sum((all_lines(a) & all_lines(b)).values()) / total if total else 0


def all_lines(body):
    lines = collections.Counter(body.lines)
    for inner in body.inner:
        lines += all_lines(inner)
    return lines


def pair(sass, model):
    """Pairs of loops by source line, best first, each used once."""
    ranked = sorted(((overlap(s, m), i, j) for i, s in enumerate(sass) for j, m in enumerate(model)), reverse=True)
    used_s, used_m, result = set(), set(), []
    for share, i, j in ranked:
        if share > 0.05 and i not in used_s and j not in used_m:
            used_s.add(i)
            used_m.add(j)
            result.append((sass[i], model[j]))
    return result, [s for i, s in enumerate(sass) if i not in used_s], [m for j, m in enumerate(model) if j not in used_m]


def merge(sass, model):
    """Counts of one turn of the outer loop, (SASS, model) per class. An inner loop that one side unrolled more is
    scaled to the other by what it moves or computes; a loop that only one side still has counts as it stands."""
    result = {n: [sass.counts.get(n, 0), model.counts.get(n, 0)] for n, _ in CLASSES}
    lines = {w: [sass.lines.get(w, 0), model.lines.get(w, 0)] for w in set(sass.lines) | set(model.lines)}
    cycles = [sass.cycles[0], *model.cycles]
    pairs, only_sass, only_model = pair(sass.inner, model.inner)
    for s, m in pairs:
        inner, inner_lines, inner_cycles = merge(s, m)
        a, b = anchor_count({n: c[0] for n, c in inner.items()}), anchor_count({n: c[1] for n, c in inner.items()})
        scale = (max(1, b / a), max(1, a / b)) if a and b else (1, 1)
        for side in (0, 1):
            for n, c in inner.items():
                result[n][side] += c[side] * scale[side]
            for w, c in inner_lines.items():
                lines.setdefault(w, [0, 0])[side] += c[side] * scale[side]
            cycles[side] += inner_cycles[side] * scale[side]
        cycles[2] += inner_cycles[2] * scale[1]
    for side, rest in ((0, only_sass), (1, only_model)):
        for body in rest:
            for n, c in body.counts.items():
                result[n][side] += c
            for w, c in body.lines.items():
                lines.setdefault(w, [0, 0])[side] += c
            cycles[side] += body.cycles[0]
    return result, lines, cycles


def role(counts):
    names = {"MUFU": "rows", "UTCMMA": "MMA", "UTMALDG": "load"}
    found = [role for name, role in names.items() if counts[name][0]]
    return " + ".join(found) or "other"


def run(command, **arguments):
    result = subprocess.run(command, capture_output=True, text=True, check=False, **arguments)
    if result.returncode:
        sys.exit(f"sass_table: {command[0]} failed: {result.stderr.strip() or result.stdout.strip()}")
    return result.stdout


def extract(obj, tools, directory):
    """Machine code and PTX of the object file."""
    cuobjdump = tools.resolve() / "cuobjdump"
    run([str(cuobjdump), "-xelf", "all", str(obj.resolve())], cwd=directory)
    cubins = sorted(pathlib.Path(directory).glob("*.cubin"))
    if not cubins:
        sys.exit(f"sass_table: {obj} holds no machine code")
    ptx = run([str(cuobjdump), "-ptx", str(obj.resolve())])
    start = ptx.find(".version")
    if start < 0:
        sys.exit(f"sass_table: {obj} holds no PTX")
    path = pathlib.Path(directory) / "kernel.ptx"
    path.write_text(ptx[start:])
    return cubins[0], path


def analyse(obj, options):
    with tempfile.TemporaryDirectory() as directory:
        cubin, ptx = extract(obj, options.tools, directory)
        sass = parse_disassembly(run([str(options.tools / "nvdisasm"), "-g", "-c", "-hex", str(cubin)]))
        model = {k["kernel"]: k for k in json.loads(run([str(options.model), str(ptx)]))}
    tables = []
    for name, (instructions, labels) in sass.items():
        if name not in model:
            continue
        pairs, _, _ = pair(sass_bodies(instructions, labels), model_bodies(model[name]))
        for s, m in sorted(pairs, key=lambda p: p[0].span):
            counts, lines, cycles = merge(s, m)
            tables.append({"loop": role(counts), "span": s.span, "classes": counts, "lines": lines, "cycles": cycles})
    return tables


def ratio(sass, model):
    return f"{model / sass:5.2f}" if sass else ("    -" if model else " 1.00")


def print_chapter(name, tables, options):
    total = [0, 0]
    for table in tables:
        sums = [sum(c[side] for c in table["classes"].values()) for side in (0, 1)]
        total = [total[side] + sums[side] for side in (0, 1)]
        print(f"{name}, loop of {table['loop']} ({table['span']})")
        print(f"  {'class':<12}{'SASS':>7}{'model':>8}{'ratio':>8}")
        for label, (s, m) in table["classes"].items():
            if s or m:
                print(f"  {label:<12}{s:>7.0f}{m:>8.0f}{ratio(s, m):>8}")
        print(f"  {'total':<12}{sums[0]:>7.0f}{sums[1]:>8.0f}{ratio(*sums):>8}")
        sass, model, ptx_order = table["cycles"]
        print(f"  {'cycles alone':<12}{sass:>7.0f}{model:>8.0f}{ratio(sass, model):>8}   ({ptx_order:.0f} in PTX order)")
        if options.lines:
            for where, (s, m) in sorted(table["lines"].items()):
                print(f"    {where:<28}{s:>7.0f}{m:>8.0f}{'' if abs(s - m) < 3 else '  <--'}")
    print(f"{name}: {total[0]:.0f} SASS, {total[1]:.0f} model, ratio{ratio(*total)}\n")
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("objects", nargs="+", type=pathlib.Path, help="object files that nvcc -lineinfo made")
    parser.add_argument("--tools", type=pathlib.Path, required=True, help="folder of cuobjdump and nvdisasm")
    parser.add_argument("--model", type=pathlib.Path, required=True, help="the model_slots program")
    parser.add_argument("--lines", action="store_true", help="also count by source line")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--within", type=float, metavar="R", help="fail where a chapter's ratio leaves 1 +- R")
    options = parser.parse_args()
    outside, results = [], {}
    for obj in options.objects:
        name = re.sub(r"^_+|_kernel_cu.*$|\.o$", "", obj.name)
        tables = analyse(obj, options)
        results[name] = tables
        if options.json:
            continue
        total = print_chapter(name, tables, options)
        if options.within is not None and abs(total[1] / max(total[0], 1) - 1) > options.within:
            outside.append(name)
    if options.json:
        json.dump(results, sys.stdout, indent=1)
    if outside:
        sys.exit(f"sass_table: outside {options.within:.0%}: {', '.join(outside)}")


if __name__ == "__main__":
    main()
