// Shared-memory bank conflicts of one warp's access: 32 banks of 4 bytes.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

namespace layout {

struct Access {
  std::vector<uint32_t> addresses;  // one a lane, at most 32
  int width = 4;                    // bytes a lane: 1, 2, 4, 8 or 16
};

struct Wavefront {
  int first_lane = 0, lanes = 0;  // the lanes served together before conflicts
  int cycles = 0;                 // wavefronts this group needs
};

struct BankReport {
  std::vector<Wavefront> groups;
  int wavefronts = 0;                   // total
  int ideal = 0;                        // with no conflict
  std::array<int, 32> words_in_bank{};  // the most distinct words that one group asks of each bank
};

// A wavefront moves at most one 4-byte word of each bank. Lanes of up to 4 bytes are served 32 at a time, of
// 8 bytes 16 at a time, of 16 bytes 8 at a time; lanes reading the same word share it. Throws BadInput for a
// width that is not 1, 2, 4, 8 or 16, more than 32 lanes, or a misaligned address.
BankReport count_wavefronts(const Access& access);

}  // namespace layout
