// One row per instruction form: how it is written, what it does, what it costs.
//
// Opcode patterns: "(.a,.b)" stands for exactly one of the alternatives, "{.a,.b}" for one or none. The
// alternatives chosen give a number, the first group counting most and "none" counting as 0; a row has either
// one routine for all of them or one per number, and Instr::modifiers holds the number.
//
// Operand shapes: destinations, '=', sources, separated by commas.
//   h 16-bit register   w 32-bit   l 64-bit   q 128-bit   f 32-bit float   d 64-bit float   p predicate
//   x|p  a destination that may be followed by a predicate destination   {..} vector of the letters inside
//   H 16 bits in a 16-bit or a 32-bit register (conversions; PTX ISA 9.4.1)
//   D destination and S source of any integer width: Instr::aux = destination bits | source bits << 8
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "isa/program.h"

namespace emu::isa {

struct AluForm {
  template <size_t N>
  constexpr AluForm(const char* opcode, const char* operands, timing::Cost cost, const AluFn (&functions)[N],
                    Kind kind = Kind::Alu, int member_source = -1)
      : opcode(opcode),
        operands(operands),
        cost(cost),
        functions(functions),
        function_count(N),
        kind(kind),
        member_source(static_cast<int8_t>(member_source)) {}

  const char* opcode;
  const char* operands;
  timing::Cost cost;
  const AluFn* functions;
  uint32_t function_count;
  Kind kind;
  int8_t member_source;
};

struct FormTable {
  const AluForm* forms;
  size_t count;
};

// A row's routines when one serves all alternatives.
template <AluFn F>
inline constexpr AluFn kOne[] = {F};
template <AluFn... F>
inline constexpr AluFn kEach[] = {F...};

// A row's routines when alternative number n has the routine make<n>().
template <typename Make, typename Sequence>
struct Numbered;
template <typename Make, size_t... I>
struct Numbered<Make, std::index_sequence<I...>> {
  static constexpr AluFn kFunctions[] = {Make{}.template operator()<I>()...};
};
template <size_t N, auto make>
inline constexpr const AluFn (&kNumbered)[N] =
    Numbered<decltype(make), std::make_index_sequence<N>>::kFunctions;

namespace cost {
using timing::Cost;
using timing::CostClass;
inline constexpr Cost kFree{CostClass::Free};
inline constexpr Cost kFma{CostClass::Fma};
inline constexpr Cost kFmaPacked{CostClass::FmaPacked};
inline constexpr Cost kImad{CostClass::Imad};
inline constexpr Cost kImadWide{CostClass::ImadWide};
inline constexpr Cost kIntAdd{CostClass::IntAdd};
inline constexpr Cost kAlu{CostClass::Alu};
inline constexpr Cost kAlu2{CostClass::Alu, 2};
inline constexpr Cost kCvtPack{CostClass::CvtPack};
inline constexpr Cost kMufu{CostClass::Mufu};
inline constexpr Cost kXu{CostClass::Xu};
inline constexpr Cost kFp64{CostClass::Fp64};
inline constexpr Cost kVote{CostClass::Vote};
inline constexpr Cost kShuffle{CostClass::Shuffle};
inline constexpr Cost kRedux{CostClass::Redux};
}  // namespace cost

}  // namespace emu::isa
