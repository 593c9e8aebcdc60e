// wmma.load and wmma.store: fragments from and to a matrix in memory.
#include <bit>
#include <cstring>

#include "gpu/processor.h"

namespace emu::gpu {

namespace {

// The bit at which an element begins, counted from the matrix's address.
int64_t bit_of(const WmmaFragment& fragment, isa::WmmaPlace place, uint32_t pitch) {
  const int64_t major = fragment.row_major ? place.row : place.column,
                minor = fragment.row_major ? place.column : place.row;
  return (major * pitch + minor) * fragment.type.bits;
}

// Elements between rows, or columns of a matrix that is stored by columns.
uint32_t tight_pitch(const WmmaFragment& fragment) {
  const int rows = fragment.operand == isa::WmmaOperand::B ? fragment.shape.k : fragment.shape.m;
  const int columns = fragment.operand == isa::WmmaOperand::A ? fragment.shape.k : fragment.shape.n;
  return static_cast<uint32_t>(fragment.row_major ? columns : rows);
}

}  // namespace

// Elements of at least a byte go one by one; smaller ones lie along K in a register as in memory, so that
// registers go whole.
Outcome Processor::exec_wmma_load(Fragment& f, const Instr& in, LaneMask active) {
  const Detail& d = detail(f, in);
  if (!gather(f, f.warp->live)) return Outcome::Retry;
  const uint64_t base = uniform_address(f, d.address, active);
  const int step = d.wmma.type.bits < 8 ? d.wmma.type.per_register() : 1,
            per_register = d.wmma.type.per_register();
  const auto bytes = static_cast<uint32_t>(step * d.wmma.type.bits / 8);
  for (int lane = 0; lane < 32; ++lane) {
    const uint32_t pitch = d.has_extra ? f.file.at<uint32_t>(d.extra)[lane] : tight_pitch(d.wmma);
    for (int r = 0; r < d.count; ++r) {
      uint64_t word = 0;
      for (int i = 0; i < per_register; i += step) {
        const isa::WmmaPlace place =
            isa::wmma_place(d.wmma.operand, d.wmma.shape, d.wmma.type, lane, r * per_register + i);
        const uint64_t address = base + static_cast<uint64_t>(bit_of(d.wmma, place, pitch) / 8);
        const Location at = locate(f, d.space, address, bytes, lane, false, bytes);
        uint64_t element = 0;
        std::memcpy(&element, at.bytes, bytes);
        word |= element << (d.wmma.type.bits * i);
      }
      if (d.data_width[r] == 8) f.file.at<uint64_t>(d.data[r])[lane] = word;
      if (d.data_width[r] == 4) f.file.at<uint32_t>(d.data[r])[lane] = static_cast<uint32_t>(word);
    }
  }
  return Outcome::Next;
}

Outcome Processor::exec_wmma_store(Fragment& f, const Instr& in, LaneMask active) {
  const Detail& d = detail(f, in);
  if (!gather(f, f.warp->live)) return Outcome::Retry;
  const uint64_t base = uniform_address(f, d.address, active);
  const int per_register = d.wmma.type.per_register();
  const auto bytes = static_cast<uint32_t>(d.wmma.type.bits / 8);
  for (int lane = 0; lane < 32; ++lane) {
    const uint32_t pitch = d.has_extra ? f.file.at<uint32_t>(d.extra)[lane] : tight_pitch(d.wmma);
    for (int r = 0; r < d.count; ++r) {
      const uint64_t word =
          d.data_width[r] == 8 ? f.file.at<uint64_t>(d.data[r])[lane] : f.file.at<uint32_t>(d.data[r])[lane];
      for (int i = 0; i < per_register; ++i) {
        const isa::WmmaPlace place =
            isa::wmma_place(d.wmma.operand, d.wmma.shape, d.wmma.type, lane, r * per_register + i);
        const uint64_t address = base + static_cast<uint64_t>(bit_of(d.wmma, place, pitch) / 8);
        const Location at = locate(f, d.space, address, bytes, lane, true, bytes);
        const uint64_t element = word >> (d.wmma.type.bits * i);
        std::memcpy(at.bytes, &element, bytes);
        if (at.cta) note_shared_write(f, at, bytes, lane, in);
      }
    }
  }
  note_progress();
  return Outcome::Next;
}

}  // namespace emu::gpu
