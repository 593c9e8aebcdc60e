#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "layout/draw.h"

namespace layout {
namespace {

float bf16_at(const std::vector<uint8_t>& b, size_t at) {
  return std::bit_cast<float>(static_cast<uint32_t>(b[at] | b[at + 1] << 8) << 16);
}
float f32_at(const std::vector<uint8_t>& b, size_t at) {
  return std::bit_cast<float>(static_cast<uint32_t>(b[at] | b[at + 1] << 8 | b[at + 2] << 16) |
                              static_cast<uint32_t>(b[at + 3]) << 24);
}

// Counts in 16-bit halves.
struct Damage {
  size_t halves = 0, poisoned = 0, wrong = 0;
};
Damage damage(const Snapshot& s, size_t first, size_t last) {
  Damage d;
  for (size_t at = first; at < last; at += 2) {
    ++d.halves;
    d.poisoned += s.poisoned(at);
    d.wrong += !s.poisoned(at) && s.wrong(at);
  }
  return d;
}

std::string tip(const Snapshot& s, size_t first, size_t last, const std::string& where) {
  std::string values;
  for (size_t at = first; at < last; at += s.kind == Snapshot::smem ? 2 : 4) {
    values += s.kind == Snapshot::smem ? fmt::format(" {:.4g}", bf16_at(s.bytes, at))
                                       : fmt::format(" {:.6g}", f32_at(s.bytes, at));
  }
  return where + ":" + values;
}

const char* fill_of(const Damage& d, bool all_zero) {
  if (d.poisoned) return "bad e";
  if (d.wrong) return "bad e";
  return all_zero ? "n1 e" : "n2 e";
}

bool all_zero(const Snapshot& s, size_t first, size_t last) {
  return std::all_of(s.bytes.begin() + first, s.bytes.begin() + last, [](uint8_t b) { return b == 0; });
}

void draw_smem(svg::Canvas& c, const Snapshot& s, uint32_t first, uint32_t count, double y) {
  const double left = 96, wide = (svg::kWidth - svg::kMargin - left) / 8, high = 18;
  const uint32_t chunks = static_cast<uint32_t>(s.bytes.size() / 16), last = std::min(chunks, first + count);
  for (uint32_t chunk = first / 8 * 8; chunk < last; ++chunk) {
    const uint32_t address = s.base + chunk * 16;
    const double top = y + (chunk - first / 8 * 8) / 8 * high;
    if (chunk % 8 == 0) {
      c.text({left - 6, top + 13}, fmt::format("0x{:X}", address),
             {.size = 9.5, .anchor = svg::Anchor::end, .cls = "m"});
    }
    const size_t at = size_t{chunk} * 16;
    const Damage d = damage(s, at, at + 16);
    const std::string shown =
        d.poisoned ? fmt::format("poison x{}", d.poisoned)
        : d.wrong  ? fmt::format("wrong x{}", d.wrong)
                   : fmt::format("{:.3g} {:.3g} …", bf16_at(s.bytes, at), bf16_at(s.bytes, at + 2));
    c.block({left + chunk % 8 * wide, top, wide, high}, fill_of(d, all_zero(s, at, at + 16)), shown,
            {.size = 9.5}, tip(s, at, at + 16, fmt::format("0x{:X}", address)));
  }
}

// Tensor memory: one block for 8 lanes x 8 columns, so that the whole map fits a page.
void draw_cells(svg::Canvas& c, const Snapshot& s, uint32_t first, uint32_t count, double y) {
  const uint32_t last = std::min<uint32_t>(s.columns, first + count), blocks = (last - first + 7) / 8;
  const double left = 70, wide = std::min(40.0, (svg::kWidth - svg::kMargin - left) / blocks), high = 16;
  for (uint32_t b = 0; b < blocks; ++b) {
    if (b % 2 == 0) {
      c.text({left + b * wide, y}, fmt::format("{}", s.base + first + b * 8), {.size = 9, .cls = "m"});
    }
    for (uint32_t group = 0; group < kLanes / 8; ++group) {
      Damage d;
      bool zero = true;
      const uint32_t from = first + b * 8, to = std::min(last, from + 8);
      for (uint32_t lane = group * 8; lane < group * 8 + 8; ++lane) {
        const size_t at = (size_t{lane} * s.columns + from) * 4, end = (size_t{lane} * s.columns + to) * 4;
        const Damage here = damage(s, at, end);
        d.halves += here.halves;
        d.poisoned += here.poisoned;
        d.wrong += here.wrong;
        zero = zero && all_zero(s, at, end);
      }
      const size_t corner = (size_t{group} * 8 * s.columns + from) * 4;
      c.rect({left + b * wide, y + 4 + group * high, wide, high}, fill_of(d, zero),
             fmt::format("lanes {}-{}, columns {}-{}: {} of {} halves poisoned, {} wrong; first cell {:.6g}",
                         group * 8, group * 8 + 7, s.base + from, s.base + to - 1, d.poisoned, d.halves,
                         d.wrong, f32_at(s.bytes, corner)));
    }
  }
  for (uint32_t group = 0; group < kLanes / 8; group += 2) {
    c.text({left - 6, y + 16 + group * high}, fmt::format("lane {}", group * 8),
           {.size = 9, .anchor = svg::Anchor::end, .cls = "m"});
  }
}

}  // namespace

svg::Canvas draw_snapshot(const Snapshot& s, uint32_t first, uint32_t count) {
  const Damage all = damage(s, 0, s.bytes.size());
  const char* what = s.kind == Snapshot::smem ? "Shared memory" : "Tensor memory";
  svg::Canvas c(
      fmt::format("{} at {}:{}", what, s.file.empty() ? "line" : s.file, s.line),
      fmt::format("CTA ({}, {}, {}){}; {} bytes from {} {}; {} of {} 16-bit halves poisoned, {} wrong",
                  s.cta[0], s.cta[1], s.cta[2], s.cycle >= 0 ? fmt::format(", cycle {}", s.cycle) : "",
                  s.bytes.size(), s.kind == Snapshot::smem ? "address" : "column",
                  s.kind == Snapshot::smem ? fmt::format("0x{:X}", s.base) : fmt::format("{}", s.base),
                  all.poisoned, all.halves, all.wrong),
      "What memory held when the line was reached; never-written and wrong elements are red.");
  const double y = c.top() + 6;
  if (s.kind == Snapshot::smem) {
    draw_smem(c, s, first, count, y);
  } else {
    draw_cells(c, s, first, count, y + 8);
  }
  c.legend(
      {svg::kMargin, c.bottom() + 14},
      {{"n2 e", "written"}, {"n1 e", "all zero"}, {"bad e", "poisoned (0xFFFA, never written) or wrong"}});
  return c;
}

}  // namespace layout
