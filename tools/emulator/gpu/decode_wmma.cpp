// wmma.load and wmma.store: PTX ISA 9.7.14.4.3 and 9.7.14.4.4. wmma.mma is a register-to-register
// instruction.
#include <fmt/format.h>

#include <cstdlib>

#include "gpu/decode.h"

namespace emu::gpu {

namespace {

using timing::CostClass;

struct ShapeName {
  std::string_view name;
  isa::WmmaShape shape;
};
constexpr ShapeName kShapes[] = {{"m16n16k16", {16, 16, 16}}, {"m32n8k16", {32, 8, 16}},
                                 {"m8n32k16", {8, 32, 16}},   {"m16n16k8", {16, 16, 8}},
                                 {"m8n8k4", {8, 8, 4}},       {"m8n8k32", {8, 8, 32}},
                                 {"m8n8k128", {8, 8, 128}}};

// Element types of A and B, of C, and of D, and the shapes that have them.
struct TypeName {
  std::string_view name;
  int bits;
  bool accumulator;
  std::string_view shapes;
};
constexpr std::string_view kWide = "m16n16k16 m32n8k16 m8n32k16";
constexpr TypeName kTypes[] = {{"f16", 16, false, kWide},
                               {"bf16", 16, false, kWide},
                               {"u8", 8, false, kWide},
                               {"s8", 8, false, kWide},
                               {"tf32", 32, false, "m16n16k8"},
                               {"f64", 64, false, "m8n8k4"},
                               {"u4", 4, false, "m8n8k32"},
                               {"s4", 4, false, "m8n8k32"},
                               {"b1", 1, false, "m8n8k128"},
                               {"f16", 16, true, kWide},
                               {"f32", 32, true, "m16n16k16 m32n8k16 m8n32k16 m16n16k8"},
                               {"f64", 64, true, "m8n8k4"},
                               {"s32", 32, true, "m16n16k16 m32n8k16 m8n32k16 m8n8k32 m8n8k128"}};

}  // namespace

bool decode_wmma(DecodeContext& c) {
  if (c.head() != "wmma" || c.take("mma")) return false;
  const bool load = c.take("load");
  if (!load && !c.take("store")) throw DecodeError{"wmma without .load, .store or .mma"};
  c.set(load ? Op::WmmaLoad : Op::WmmaStore, load ? CostClass::GlobalLoad : CostClass::GlobalStore);
  Detail& d = c.detail();
  c.take("sync");
  c.take("aligned");
  const std::string_view operand = load ? c.take_any({"a", "b", "c"}) : c.take_any({"d"});
  if (operand.empty()) throw DecodeError{"the fragment's kind is missing"};
  d.wmma.operand = operand == "a"   ? isa::WmmaOperand::A
                   : operand == "b" ? isa::WmmaOperand::B
                                    : isa::WmmaOperand::Accumulator;
  const std::string_view layout = c.take_any({"row", "col"});
  if (layout.empty()) throw DecodeError{"the layout is missing"};
  d.wmma.row_major = layout == "row";
  std::string_view shape_name;
  for (const ShapeName& shape : kShapes) {
    if (c.take(shape.name)) d.wmma.shape = shape.shape, shape_name = shape.name;
  }
  if (c.take("global")) {
    d.space = ptx::Space::Global;
  } else if (c.take_any({"shared", "shared::cta"}) != "") {
    d.space = ptx::Space::Shared;
    c.out.cost.pipe = load ? CostClass::SharedLoad : CostClass::SharedStore;
  }
  const std::string_view type =
      c.take_any({"f16", "bf16", "tf32", "f32", "f64", "s8", "u8", "s4", "u4", "b1", "s32"});
  c.finish();
  const bool accumulator = d.wmma.operand == isa::WmmaOperand::Accumulator;
  for (const TypeName& known : kTypes) {
    if (known.name == type && known.accumulator == accumulator &&
        known.shapes.find(shape_name) != std::string_view::npos && !shape_name.empty())
      d.wmma.type.bits = known.bits;
  }
  if (d.wmma.type.bits == 0) throw DecodeError{fmt::format("no such fragment of {} in this shape", type)};
  // Elements of less than a byte lie along K.
  if (d.wmma.type.bits < 8 && d.wmma.row_major != (d.wmma.operand == isa::WmmaOperand::A))
    throw DecodeError{fmt::format("{} takes A by rows and B by columns", type)};
  d.address = c.address(load ? 1 : 0, d.space);
  c.data(load ? 0 : 1, d, load, d.wmma.type.bits == 64 ? isa::OperandType::B64 : isa::OperandType::B32);
  d.count = static_cast<uint8_t>(d.data.size());
  const int wanted = isa::wmma_registers(d.wmma.operand, d.wmma.shape, type, d.wmma.type);
  if (d.count != wanted)
    throw DecodeError{fmt::format("the fragment has {} registers, {} given", wanted, d.count)};
  if (c.operand_count() > 2) {
    d.extra = c.source(2, isa::OperandType::B32);
    d.has_extra = true;
  }
  c.out.cost.slots = d.count;
  return true;
}

}  // namespace emu::gpu
