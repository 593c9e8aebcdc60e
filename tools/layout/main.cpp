// layout: draws and checks any operand layout, descriptor, tensor map, tensor-memory map or bank pattern.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <fstream>
#include <functional>
#include <iostream>
#include <sstream>

#include "layout/draw.h"

namespace {

using namespace layout;

std::vector<int> sizes(const std::string& text, const char* option) {
  std::vector<int> out;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, 'x');) {
    int value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc() || end != part.data() + part.size() || value < 1) {
      throw BadInput(fmt::format("{} '{}' is not positive numbers joined by x, like 128x64", option, text));
    }
    out.push_back(value);
  }
  if (out.empty()) throw BadInput(fmt::format("{} is empty", option));
  return out;
}

// Decimal, or hexadecimal with 0x.
uint64_t word(const std::string& text, int bits, const char* what) {
  const bool hex = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  uint64_t value = 0;
  const char *first = text.data() + (hex ? 2 : 0), *last = text.data() + text.size();
  const auto [end, error] = std::from_chars(first, last, value, hex ? 16 : 10);
  if (error != std::errc() || end != last)
    throw BadInput(fmt::format("{} '{}' is not a number (decimal, or 0x and hexadecimal)", what, text));
  if (bits < 64 && value >> bits) throw BadInput(fmt::format("{} {} does not fit {} bits", what, text, bits));
  return value;
}

void save(const svg::Canvas& picture, const std::string& path) {
  if (path.empty()) return;
  std::ofstream out(path, std::ios::binary);
  out << picture.str();
  if (!out.flush()) throw BadInput(fmt::format("cannot write '{}'", path));
  fmt::print("wrote {}\n", path);
}

std::string whole_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw BadInput(fmt::format("cannot read '{}'", path));
  std::ostringstream all;
  all << in.rdbuf();
  return all.str();
}

// What smem and tensormap share: a tile and how it is laid.
struct TileOptions {
  std::string tile = "128x64", type = "bf16", major = "k", swizzle = "128", start = "0x1000", lbo, sbo, box;

  void add(CLI::App& app) {
    app.add_option("--tile", tile, "MN x K elements: rows of the operand by contraction")
        ->capture_default_str();
    app.add_option("--type", type, "bf16 f16 tf32 f32 e4m3 e5m2 u8 s8")->capture_default_str();
    app.add_option("--major", major, "k or mn: which index is contiguous")->capture_default_str();
    app.add_option("--swizzle", swizzle, "none 32 64 128 128a32")->capture_default_str();
    app.add_option("--start", start, "shared address of the tile")->capture_default_str();
    app.add_option("--lbo", lbo, "leading-dimension byte offset (default: that of the packed tile)");
    app.add_option("--sbo", sbo, "stride-dimension byte offset (default: that of the packed tile)");
    app.add_option("--box", box, "TMA box, innermost first, like 64x128 (default: one span by all rows)");
  }

  Tile make_tile() const {
    const std::vector<int> size = sizes(tile, "--tile");
    if (size.size() != 2) throw BadInput(fmt::format("--tile '{}' needs two sizes, MN x K", tile));
    if (major != "k" && major != "mn") throw BadInput(fmt::format("--major '{}' is neither k nor mn", major));
    const ElementType element = element_type(type);
    const int unit = 16 / element.bytes;
    const int contiguous = major == "k" ? size[1] : size[0];
    if (contiguous % unit != 0 || size[1] % (32 / element.bytes) != 0) {
      throw BadInput(fmt::format("--tile {}: K must be a multiple of {} and the contiguous side of {}", tile,
                                 32 / element.bytes, unit));
    }
    if (size[0] > 256 || size[1] > 512) throw BadInput(fmt::format("--tile {}: at most 256 x 512", tile));
    Tile t = packed_tile(major == "k" ? Major::k : Major::mn, swizzle_mode(swizzle), element.bytes, size[0],
                         size[1], static_cast<uint32_t>(word(start, 18, "--start")));
    if (t.start % repeat_bytes(t.form.mode) != 0) {
      throw BadInput(fmt::format("--start {} is not a multiple of {}, where the pattern of {} begins", start,
                                 repeat_bytes(t.form.mode), name_of(t.form.mode)));
    }
    if (!lbo.empty()) t.form.lbo = static_cast<uint32_t>(word(lbo, 18, "--lbo"));
    if (!sbo.empty()) t.form.sbo = static_cast<uint32_t>(word(sbo, 18, "--sbo"));
    t.form.validate();
    return t;
  }

  Filling make_filling(const Tile& t) const {
    if (box.empty()) return natural_filling(t);
    Filling f;
    f.box = {sizes(box, "--box"), t.form.element_bytes, t.form.mode};
    f.box.validate();
    const int contiguous = t.form.major == Major::k ? t.k : t.mn;
    f.boxes = std::max<int>(1, t.mn * t.k / (f.box.rows() * f.box.box[0]));
    if (contiguous % f.box.box[0] != 0 || (t.mn * t.k) % (f.box.rows() * f.box.box[0]) != 0) {
      throw BadInput(fmt::format("boxes of {} do not fill a tile of {}", box, tile));
    }
    f.box_stride = f.box.rows() * f.box.row_pitch();
    return f;
  }
};

void print_agreement(const Tile& t, const Filling& f) {
  const Agreement a = compare(t, f);
  fmt::print("boxes     {} of {} x {}, {} bytes each, {} bytes apart\n", f.boxes, f.box.box[0], f.box.rows(),
             f.box.bytes(), f.box_stride);
  if (a.wrong == 0) {
    fmt::print("agree     yes: all {} elements lie where the descriptors read them\n", a.elements);
  } else {
    fmt::print("agree     NO: {} of {} elements; ({}, {}) is written to 0x{:X} and read from 0x{:X}\n",
               a.wrong, a.elements, a.first->mn, a.first->k, a.first->written, a.first->read);
  }
}

void print_tile(const Tile& t, int step) {
  const Canonical& f = t.form;
  fmt::print("layout    {}, {}, {} x {} elements of {} B, {} bytes from 0x{:X}\n", name_of(f.major),
             name_of(f.mode), t.mn, t.k, f.element_bytes, t.bytes(), t.start);
  fmt::print("LBO       {} B: {}\nSBO       {} B: {}\n", f.lbo, f.lbo_meaning(), f.sbo, f.sbo_meaning());
  if (f.major == Major::k && f.mode != Swizzle::none && t.slab_bytes &&
      t.k * f.element_bytes > static_cast<int>(span_bytes(f.mode))) {
    fmt::print("slabs     {} bytes wide, {} bytes apart\n", span_bytes(f.mode), t.slab_bytes);
  }
  const int steps = t.k / f.mma_k();
  std::string offsets;
  for (int i = 0; i < steps; ++i) offsets += fmt::format(" +{}", t.step_offset(i));
  fmt::print("steps     {} instructions of K = {}; descriptor starts at{}\n", steps, f.mma_k(), offsets);
  static constexpr uint64_t kCode[] = {0, 6, 4, 2, 1};
  const uint64_t descriptor = ((t.start + t.step_offset(step)) & 0x3FFFF) >> 4 | uint64_t{f.lbo >> 4} << 16 |
                              uint64_t{f.sbo >> 4} << 32 | uint64_t{1} << 46 |
                              kCode[static_cast<int>(f.mode)] << 61;
  fmt::print("descriptor of instruction {}: 0x{:016x}\n", step, descriptor);
}

void add_smem(CLI::App& app, std::function<int()>& action) {
  auto* sub = app.add_subcommand(
      "smem", "an operand tile in shared memory: logical and physical order, atoms, offsets, boxes");
  static TileOptions o;
  static int step = 0, rows = 16;
  static std::string operand = "Q", out;
  o.add(*sub);
  sub->add_option("--mma-k", step, "instruction whose micro-tile is filled in")->capture_default_str();
  sub->add_option("--rows", rows, "logical rows drawn")->capture_default_str()->check(CLI::Range(1, 128));
  sub->add_option("--operand", operand, "colour: Q K V P")
      ->capture_default_str()
      ->check(CLI::IsMember({"Q", "K", "V", "P"}));
  sub->add_option("-o,--svg", out, "write the picture here");
  sub->callback([&action] {
    action = [] {
      const Tile t = o.make_tile();
      if (step < 0 || step >= t.k / t.form.mma_k()) {
        throw BadInput(fmt::format("--mma-k {} is outside 0..{}", step, t.k / t.form.mma_k() - 1));
      }
      const Filling f = o.make_filling(t);
      print_tile(t, step);
      print_agreement(t, f);
      save(draw_tile(t, f, operand, step, rows), out);
      return 0;
    };
  });
}

void add_descriptors(CLI::App& app, std::function<int()>& action) {
  static std::string text, out, kind = "f16";
  static int group = 1;
  auto* matrix = app.add_subcommand("descriptor", "decode a 64-bit shared-memory matrix descriptor");
  matrix->add_option("word", text, "the descriptor, like 0x4000404000010100")->required();
  matrix->add_option("-o,--svg", out, "write the picture here");
  matrix->callback([&action] {
    action = [] {
      const MatrixDescriptor d = decode_matrix_descriptor(word(text, 64, "descriptor"));
      fmt::print("{}", to_text(d, "matrix descriptor"));
      save(draw_word(d, "Matrix descriptor"), out);
      return d.problems.empty() ? 0 : 1;
    };
  });
  auto* instruction = app.add_subcommand("idesc", "decode a 32-bit instruction descriptor");
  instruction->add_option("word", text, "the descriptor, like 0x08200490")->required();
  instruction->add_option("--kind", kind, "f16 tf32 f8f6f4 i8")->capture_default_str();
  instruction->add_option("--cta-group", group, "1 or 2")->capture_default_str();
  instruction->add_option("-o,--svg", out, "write the picture here");
  instruction->callback([&action] {
    action = [] {
      const InstructionDescriptor d =
          decode_instruction_descriptor(static_cast<uint32_t>(word(text, 32, "idesc")), kind, group);
      fmt::print("{}", to_text(d, "instruction descriptor"));
      fmt::print("  D[{0} x {1}] += A[{0} x {2}] B[{2} x {1}], A {3}, B {4}\n", d.m, d.n, d.k,
                 d.a_major == Major::k ? "K-major" : "M-major",
                 d.b_major == Major::k ? "K-major" : "N-major");
      save(draw_word(d, "Instruction descriptor"), out);
      return d.problems.empty() ? 0 : 1;
    };
  });
}

void add_tensormap(CLI::App& app, std::function<int()>& action) {
  auto* sub = app.add_subcommand(
      "tensormap", "a TMA box and swizzle against a matrix descriptor: do they agree? exit 1 if not");
  static TileOptions o;
  static std::string descriptor, map_swizzle;
  o.add(*sub);
  sub->add_option("--map-swizzle", map_swizzle, "swizzle of the tensor map, when not --swizzle");
  sub->add_option("--descriptor", descriptor, "take start, LBO, SBO and swizzle from this matrix descriptor");
  sub->callback([&action] {
    action = [] {
      Tile t = o.make_tile();
      Filling f = o.make_filling(t);
      if (!map_swizzle.empty()) f.box.mode = swizzle_mode(map_swizzle);
      f.box.validate();
      if (!descriptor.empty()) {
        const MatrixDescriptor d = decode_matrix_descriptor(word(descriptor, 64, "descriptor"));
        fmt::print("{}", to_text(d, "matrix descriptor"));
        if (!d.problems.empty()) return 1;
        t.form.mode = d.mode;
        t.form.lbo = d.lbo;
        t.form.sbo = d.sbo;
        t.start = d.start;
      }
      print_tile(t, 0);
      print_agreement(t, f);
      return compare(t, f).wrong == 0 ? 0 : 1;
    };
  });
}

void add_tmem(CLI::App& app, std::function<int()>& action) {
  auto* sub = app.add_subcommand("tmem", "tensor memory: regions, warps' lanes, registers of tcgen05.ld/st");
  static std::string columns = "S:0:128 O:128:128", shape, out;
  static int n = 8;
  sub->add_option("--columns", columns, "regions NAME:FIRST:COUNT, separated by spaces")
      ->capture_default_str();
  sub->add_option("--shape", shape, "also map a tcgen05.ld/st shape: 32x32b 16x64b 16x128b 16x256b 16x32bx2");
  sub->add_option("-n,--count", n, "its .xN")->capture_default_str();
  sub->add_option("-o,--svg", out, "write the picture here");
  sub->callback([&action] {
    action = [] {
      const auto regions = parse_regions(columns);
      std::optional<Shape> chosen;
      if (!shape.empty()) {
        chosen = shape_named(shape);
        registers_of(*chosen, n);  // refuses a bad n before anything is printed
      }
      for (const Region& r : regions) {
        fmt::print("{:<6} columns {:>3}-{:<3} {:>5} KB  bf16 pairs: {} columns hold {} elements a lane\n",
                   r.name, r.first, r.first + r.count - 1, r.count / 2.0, r.count, r.count * 2);
      }
      for (const auto& [i, j] : aliases(regions))
        fmt::print("{} and {} share columns\n", regions[i].name, regions[j].name);
      for (int w = 0; w < 4; ++w)
        fmt::print("warp {} mod 4: lanes {}-{}, address bits 31-16 = {}\n", w, first_lane(w),
                   first_lane(w) + 31, first_lane(w));
      if (chosen) {
        fmt::print("{}.x{}: {} registers, {} columns\n", shape, n, registers_of(*chosen, n),
                   columns_of(*chosen, n));
      }
      save(draw_tmem(regions, chosen, n), out);
      return 0;
    };
  });
}

void add_banks(CLI::App& app, std::function<int()>& action) {
  auto* sub = app.add_subcommand("banks", "bank conflicts of one warp's access to shared memory");
  static std::string addresses, stride = "4", swizzle = "none", base = "0", out;
  static int width = 4, lanes = 32;
  sub->add_option("--addresses", addresses, "byte address of each lane, separated by commas");
  sub->add_option("--base", base, "address of lane 0")->capture_default_str();
  sub->add_option("--stride", stride, "bytes from lane to lane")->capture_default_str();
  sub->add_option("--lanes", lanes, "lanes that take part")->capture_default_str();
  sub->add_option("--width", width, "bytes a lane: 1 2 4 8 16")->capture_default_str();
  sub->add_option("--swizzle", swizzle, "swizzle applied to every address")->capture_default_str();
  sub->add_option("-o,--svg", out, "write the picture here");
  sub->callback([&action] {
    action = [] {
      Access a;
      a.width = width;
      if (!addresses.empty()) {
        std::istringstream in(addresses);
        for (std::string one; std::getline(in, one, ',');)
          a.addresses.push_back(static_cast<uint32_t>(word(one, 18, "address")));
      } else {
        if (lanes < 1 || lanes > 32) throw BadInput(fmt::format("--lanes {} is outside 1..32", lanes));
        const uint64_t from = word(base, 18, "--base"), step = word(stride, 18, "--stride");
        for (int i = 0; i < lanes; ++i) a.addresses.push_back(static_cast<uint32_t>(from + i * step));
      }
      for (uint32_t& address : a.addresses) address = swizzled(address, swizzle_mode(swizzle));
      const BankReport r = count_wavefronts(a);
      for (const Wavefront& g : r.groups)
        fmt::print("lanes {:>2}-{:<2} {} wavefronts\n", g.first_lane, g.first_lane + g.lanes - 1, g.cycles);
      fmt::print("total {} wavefronts, {} without conflicts\n", r.wavefronts, r.ideal);
      save(draw_banks(a, r), out);
      return 0;
    };
  });
}

void add_snapshot(CLI::App& app, std::function<int()>& action) {
  auto* sub = app.add_subcommand("snapshot",
                                 "draw what `emu --snapshot` wrote: memory at a source line, poison in red");
  static std::string in, out;
  static uint32_t first = 0, count = 512;
  sub->add_option("file", in, "the snapshot, JSON")->required();
  sub->add_option("--first", first, "first 16-byte chunk, or first column counted from the snapshot's own")
      ->capture_default_str();
  sub->add_option("--count", count, "chunks or columns drawn")
      ->capture_default_str()
      ->check(CLI::Range(1, 4096));
  sub->add_option("-o,--svg", out, "write the picture here");
  sub->callback([&action] {
    action = [] {
      const Snapshot s = parse_snapshot(whole_file(in));
      const uint32_t have = s.kind == Snapshot::smem ? static_cast<uint32_t>(s.bytes.size() / 16) : s.columns;
      if (first >= have)
        throw BadInput(fmt::format("--first {} is past the snapshot's {} {}", first, have,
                                   s.kind == Snapshot::smem ? "chunks" : "columns"));
      size_t poisoned = 0, wrong = 0;
      for (size_t at = 0; at < s.bytes.size(); at += 2) {
        poisoned += s.poisoned(at);
        wrong += !s.poisoned(at) && s.wrong(at);
      }
      fmt::print("{} bytes, {} of {} halves poisoned, {} wrong\n", s.bytes.size(), poisoned,
                 s.bytes.size() / 2, wrong);
      save(draw_snapshot(s, first, count), out);
      return 0;
    };
  });
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Layouts of Blackwell's tensor core, drawn and checked: shared memory, descriptors, tensor maps, "
      "tensor memory, banks.\n"
      "Exit 0: fine; 1: illegal word, or box and descriptor disagree; 2: bad input.");
  app.require_subcommand(1);
  std::function<int()> action;
  add_smem(app, action);
  add_descriptors(app, action);
  add_tensormap(app, action);
  add_tmem(app, action);
  add_banks(app, action);
  add_snapshot(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    std::cerr << "layout: " << e.what() << '\n';
    return 2;
  }
  try {
    return action();
  } catch (const layout::BadInput& e) {
    std::cerr << "layout: " << e.what() << '\n';
    return 2;
  } catch (const std::length_error& e) {
    std::cerr << "layout: cannot draw this: " << e.what() << '\n';
    return 2;
  }
}
