#!/usr/bin/env python3
"""Writes the resource cards and tables of mbarriers of chapters/*/README.md and the table of chapters/README.md,
each between its markers: <!-- card:begin --> and <!-- card:end -->, `barriers`, `cards`.

Everything in a card is read from the chapter's kernel.cu (its constants, its SharedStorage, its mbarrier::init
calls, the table in its head comment) and from ptxas' report on that file. A kernel that lacks one of these stops
the program, which names what it missed.

  cards.py            rewrite the cards
  cards.py --check    change nothing; exit 1 where a card is out of date
"""

import argparse
import ast
import re
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# NVIDIA B200, compute capability 10.0: CUDA C++ Programming Guide, "Compute Capabilities"; PTX ISA 9.7.16.1.
REGISTERS_PER_SM = 65536
SHARED_BYTES_PER_CTA = 227 * 1024
TMEM_COLUMNS = 512
# A warp gets registers in units of 256, a thread hence in units of 8.
REGISTER_UNIT = 8


class CardError(Exception):
    pass


def evaluate(expression, names):
    """Value of an integer constant expression of C++; names holds the constants before it."""
    text = re.sub(r"sizeof\(__nv_bfloat16\)", "2", expression).replace("/", "//")
    tree = ast.parse(text.strip(), mode="eval")
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Expression, ast.BinOp, ast.Constant, ast.Name, ast.operator, ast.expr_context)):
            raise CardError(f"cannot evaluate `{expression}`")
    return eval(compile(tree, "constant", "eval"), {"__builtins__": {}}, dict(names))


class Kernel:
    """What one kernel.cu says about itself."""

    def __init__(self, path):
        self.path = path
        self.text = path.read_text()
        self.number = path.parent.name[:2]
        self.constants = self.read_constants()
        self.shared = self.read_shared()
        self.inits = self.read_inits()
        self.threads = self["kThreads"]
        self.q_tiles = self.constants.get("kQTiles", 1)
        self.has_values = "v_map" in self.text
        self.slots = self.constants.get("kKvSlots", 0)
        self.boxes = self["HEAD_DIM"] // self["kSliceWidth"]
        self.shared_asked = self.constants.get("kSharedBytes") or self.shared_used()
        self.registers, self.spilled = self.ptxas()

    def __getitem__(self, name):
        if name not in self.constants:
            raise CardError(f"{self.path}: no constant {name}")
        return self.constants[name]

    def read_constants(self):
        constants = {}
        for name, value in re.findall(r"^constexpr (?:int|uint32_t) (\w+) = ([^;]+);", self.text, re.M):
            if value == "sizeof(SharedStorage)" or value.startswith("instruction_descriptor"):
                continue
            constants[name] = evaluate(value, constants)
        return constants

    def read_shared(self):
        """[(name, count, offset, bytes)] of SharedStorage, in order."""
        body = re.search(r"struct SharedStorage \{\n(.*?)\n\};", self.text, re.S)
        if not body:
            raise CardError(f"{self.path}: no struct SharedStorage")
        sizes = {"__nv_bfloat16": 2, "uint64_t": 8, "uint32_t": 4, "float": 4}
        offset, members = 0, []
        for line in body.group(1).splitlines():
            member = re.match(r"\s*(?:alignas\((\d+)\) )?(\w+) (\w+)((?:\[\w+\])*);", line)
            if not member or member.group(2) not in sizes:
                raise CardError(f"{self.path}: cannot read `{line.strip()}` of SharedStorage")
            alignment, kind, name, bounds = member.groups()
            alignment = int(alignment or sizes[kind])
            count = 1
            extents = [evaluate(bound, self.constants) for bound in re.findall(r"\[(\w+)\]", bounds)]
            for extent in extents:
                count *= extent
            offset = -(-offset // alignment) * alignment
            members.append((name, extents, offset, count * sizes[kind]))
            offset += count * sizes[kind]
        return members

    def shared_used(self):
        _, _, offset, size = self.shared[-1]
        return -(-(offset + size) // 1024) * 1024  # the struct is as aligned as its tiles

    def read_inits(self):
        """Arrivals a phase of every mbarrier, by name."""
        calls = re.findall(r"mbarrier::init\(&shared\.(\w+)(?:\[\w+\])*, ([^)]+)\);", self.text)
        if not calls:
            raise CardError(f"{self.path}: no mbarrier::init")
        return {name: evaluate(count, self.constants) for name, count in calls}

    def ptxas(self):
        """Registers a thread, as allocated, and bytes spilled. ptxas' own count may differ by one from run to run of
        the same source, so a card that quoted it would never stay up to date."""
        nvcc = subprocess.run([ROOT / "tools/setup/find_nvcc.sh"], capture_output=True, text=True, check=True)
        command = [ROOT / "tools/setup/nvcc_report.sh", "--allow-spills", "--", nvcc.stdout.strip(), "-arch=sm_100a",
                   "-std=c++20", "-O3", "-lineinfo", "--ptxas-options=-v", f"-I{ROOT / 'common'}", "-cubin", "-o",
                   "/dev/null", self.path]
        report = subprocess.run(command, capture_output=True, text=True)
        found = re.findall(r"(\d+) registers, (\d+) bytes spilled", report.stdout)
        if report.returncode != 0 or len(found) != 1:
            raise CardError(f"{self.path}: ptxas reported {len(found)} kernels, not 1:\n{report.stdout}{report.stderr}")
        return -(-int(found[0][0]) // REGISTER_UNIT) * REGISTER_UNIT, int(found[0][1])

    def barrier_table(self):
        """The rows of the head comment's table, and the sentences under it."""
        lines = [line[2:].removeprefix(" ") for line in self.text.splitlines() if line.startswith("//")]
        start = next((i for i, line in enumerate(lines) if line.startswith("mbarrier ")), None)
        if start is None:
            raise CardError(f"{self.path}: no table of mbarriers in the head comment")
        edges = [match.start() for match in re.finditer(r"(?<!\S)(?=\S)(?:mbarrier|phases|arrivals a phase|who waits)",
                                                        lines[start])]
        rows, notes = [], []
        for line in lines[start + 1:]:
            if not line.strip():
                break
            name = line.split()[0].split("[")[0]
            if name not in self.inits:
                notes.append(line.strip())
                continue
            cells = [line[a:b].strip() for a, b in zip(edges, edges[1:] + [None])]
            rows.append((name, cells))
        return rows, " ".join(notes)

    def tensor_memory(self):
        """[(first column, last column, [content after QK, after softmax, after PV])]"""
        score_columns = self["BLOCK_N"]
        packed = "kTmemP" in self.constants
        regions = []
        for q in range(self.q_tiles):
            mark = str(q) if self.q_tiles > 1 else ""
            s = self["kTmemS"] + q * self.constants.get("kTmemQTile", 0)
            if not self.has_values:
                regions.append((s, s + score_columns - 1, [f"S{mark}"]))
                continue
            if packed:
                if self["kTmemP"] != self["kTmemS"]:
                    raise CardError(f"{self.path}: P does not start where S does; teach cards.py that layout")
                half = score_columns // 2
                regions.append((s, s + half - 1, [f"S{mark}(i)", f"P{mark}(i), BF16", "free"]))
                regions.append((s + half, s + score_columns - 1, [f"S{mark}(i)", "scores already read", "free"]))
            else:
                regions.append((s, s + score_columns - 1, [f"S{mark}(i)", "scores already read", "free"]))
            o = self["kTmemO"] + q * self.constants.get("kTmemQTile", 0)
            regions.append((o, o + self["HEAD_DIM"] - 1,
                            [f"O{mark} of tiles before i", f"O{mark} of tiles before i, rescaled", f"O{mark} of tiles up to i"]))
        return sorted(regions)

    def roles(self):
        warps = self.threads // 32
        if "kMmaWarp" not in self.constants:
            return f"{warps} warps, all row warps; one thread of warp 0 also issues every copy and MMA"
        groups = [f"row warps {q * self['kRowWarps']} to {(q + 1) * self['kRowWarps'] - 1}"
                  + (f" (query tile {q})" if self.q_tiles > 1 else "") for q in range(self.q_tiles)]
        return f"{warps} warps: " + ", ".join(groups + [f"load warp {self['kLoadWarp']}", f"MMA warp {self['kMmaWarp']}"])

    def diff_against(self, before):
        result = subprocess.run(["diff", before.path, self.path], capture_output=True, text=True)
        lines = result.stdout.splitlines()
        return sum(line.startswith("<") for line in lines), sum(line.startswith(">") for line in lines)


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows])


def grouped(number):
    return f"{number:,}".replace(",", " ")


def resources(kernel, before):
    tile = kernel["kTileBytes"]
    box = f"boxes of {kernel['kSliceWidth']} x 128 elements"
    box_rows = kernel.boxes * 128
    q_loads = kernel.q_tiles
    rows = [("Warps", kernel.roles()),
            ("Registers", f"{kernel.registers} a thread (allocated in units of {REGISTER_UNIT}) x {kernel.threads} threads = "
                          f"{grouped(kernel.registers * kernel.threads)} of {grouped(REGISTERS_PER_SM)}; "
                          f"{kernel.spilled} bytes spilled"),
            ("Shared memory", f"{grouped(kernel.shared_asked)} bytes asked for, of {grouped(SHARED_BYTES_PER_CTA)} "
                              "a CTA may have"),
            ("Tensor memory", f"{kernel['kTmemColumns']} of {TMEM_COLUMNS} columns")]
    if kernel.has_values:
        steps = kernel["HEAD_DIM"] // kernel["MMA_K"] * q_loads
        pv_source = "A from tensor memory" if "tcgen05::mma_ts" in kernel.text else "A from shared memory"
        rows += [("TMA, once", f"Q: {q_loads * kernel.boxes} {box}, {grouped(q_loads * tile)} bytes"),
                 ("TMA, a key tile", f"K and V: {2 * kernel.boxes} {box}, {grouped(2 * tile)} bytes in "
                                     f"{grouped(2 * box_rows)} box rows"),
                 ("Bytes, a key tile and query tile", grouped(2 * tile // q_loads)),
                 ("MMAs, a key tile", f"{steps} for QK, {kernel['BLOCK_N'] // kernel['MMA_K'] * q_loads} for PV "
                                      f"({pv_source})")]
    else:
        rows += [("TMA", f"Q and K: {2 * kernel.boxes} {box}, {grouped(2 * tile)} bytes in {grouped(2 * box_rows)} box rows"),
                 ("MMAs", f"{kernel['HEAD_DIM'] // kernel['MMA_K']} for QK")]
    if before:
        gone, come = kernel.diff_against(before)
        rows.append((f"Against chapter {int(before.number)}", f"{gone} lines removed, {come} added (`make diff-{kernel.number}`)"))
    return table(["Resource", "This kernel"], rows)


def shared_map(kernel):
    rows = []
    for name, extents, offset, size in kernel.shared:
        subscript = "".join(f"[{extent}]" for extent in extents if extent != kernel["kTileElements"])
        rows.append((f"{offset:#07x}", grouped(size), f"`{name}{subscript}`"))
    return table(["Shared memory at", "bytes", "holds"], rows)


def tensor_map(kernel):
    regions = kernel.tensor_memory()
    header = ["Tensor memory, columns"] + (["after QK(i)", "after softmax(i)", "after PV(i)"] if kernel.has_values
                                           else ["after QK"])
    rows = [(f"{first}-{last}", *content) for first, last, content in regions]
    rest = regions[-1][1] + 1
    if rest < kernel["kTmemColumns"]:
        rows.append((f"{rest}-{kernel['kTmemColumns'] - 1}", *["unused"] * (len(header) - 1)))
    return table(header, rows)


def barriers(kernel):
    rows, notes = kernel.barrier_table()
    missing = set(kernel.inits) - {name for name, _ in rows}
    if missing:
        raise CardError(f"{kernel.path}: {', '.join(sorted(missing))} not in the head comment's table of mbarriers")
    lines = table(["mbarrier", "phases", "count", "who arrives", "who waits, parity it waits for first"],
                  [(f"`{cells[0]}`", cells[1], kernel.inits[name] if cells[1] else "", *cells[2:]) for name, cells in rows])
    return lines + ("\n\n" + textwrap.fill(notes, 120) if notes else "")


def card(kernel, before):
    parts = [resources(kernel, before), shared_map(kernel), tensor_map(kernel)]
    return "\n\n".join(parts)


def summary(kernels):
    rows = []
    for kernel in kernels:
        per_tile = grouped(2 * kernel["kTileBytes"] // kernel.q_tiles) if kernel.has_values else "-"
        boxes = 2 * kernel.boxes if kernel.has_values else "-"
        rows.append((int(kernel.number), kernel.threads // 32, kernel.registers, grouped(kernel.shared_asked),
                     kernel["kTmemColumns"], sum(max(1, extents[0] if extents else 1) for name, extents, _, _ in kernel.shared
                                                 if name in kernel.inits), boxes, per_tile))
    return table(["Chapter", "warps", "registers a thread, allocated", "shared memory, bytes", "TMEM columns", "mbarriers",
                  "TMA boxes a key tile", "K, V bytes a query tile and key tile"], rows)


def replace(path, word, content, check):
    """Puts content between the markers of path; returns whether that changes it."""
    text = path.read_text()
    marked = re.compile(rf"(<!-- {word}:begin -->\n).*?(<!-- {word}:end -->)", re.S)
    if not marked.search(text):
        raise CardError(f"{path}: no <!-- {word}:begin --> ... <!-- {word}:end -->")
    new = marked.sub(lambda match: match.group(1) + content + "\n" + match.group(2), text)
    if new != text and not check:
        path.write_text(new)
    return new != text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 where a card is out of date")
    check = parser.parse_args().check
    chapters = [path for path in sorted((ROOT / "chapters").glob("[0-9][0-9]_*/kernel.cu"))
                if (path.parent / "README.md").exists()]
    kernels = [Kernel(path) for path in chapters]
    stale = []
    for i, kernel in enumerate(kernels):
        readme = kernel.path.parent / "README.md"
        changes = [replace(readme, "card", card(kernel, kernels[i - 1] if i else None), check),
                   replace(readme, "barriers", barriers(kernel), check)]
        if any(changes):
            stale.append(readme)
    index = ROOT / "chapters/README.md"
    if index.exists() and replace(index, "cards", summary(kernels), check):
        stale.append(index)
    for path in stale:
        print(f"{'out of date' if check else 'rewritten'}: {path.relative_to(ROOT)}")
    if check and stale:
        print("way out: make cards")
        return 1
    if not stale:
        print(f"{len(kernels)} cards are up to date")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (CardError, OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"cards: {error}")
