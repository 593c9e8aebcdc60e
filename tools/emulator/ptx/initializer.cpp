#include "ptx/initializer.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "ptx/constant.h"

namespace emu::ptx {
namespace {

constexpr uint64_t kMaxInitializedBytes = 1ull << 28;

class Initializer {
 public:
  Initializer(Cursor& cursor, const InitializerShape& shape, Variable& variable)
      : cursor_(cursor),
        shape_(shape),
        variable_(variable),
        limit_(shape.open ? kMaxInitializedBytes : variable.size) {}

  void parse() {
    variable_.has_initializer = true;
    if (shape_.dimensions.empty())
      scalar(0);
    else
      list(0, 0, limit_);
    if (!shape_.open) return;
    const uint64_t row = stride(0);
    variable_.size = (variable_.initial_bytes.size() + row - 1) / row * row;
  }

 private:
  // Bytes between neighbouring elements of dimension `depth`.
  uint64_t stride(size_t depth) const {
    uint64_t bytes = shape_.type.bytes;
    for (size_t i = depth + 1; i < shape_.dimensions.size(); ++i)
      bytes *= static_cast<uint64_t>(shape_.dimensions[i]);
    return bytes;
  }

  void list(size_t depth, uint64_t begin, uint64_t end) {
    cursor_.expect('{', "before an array's initial values");
    if (cursor_.accept('}')) return;
    const uint64_t row = stride(depth);
    uint64_t offset = begin;
    do {
      if (cursor_.peek() == '{') {
        if (depth + 1 >= shape_.dimensions.size())
          cursor_.fail("a value: braces nest deeper than the array's dimensions");
        if (offset + row > end) cursor_.fail("no more values than the array holds");
        list(depth + 1, offset, offset + row);
        offset += row;
      } else {
        if (offset + shape_.type.bytes > end) cursor_.fail("no more values than the array holds");
        scalar(offset);
        offset += shape_.type.bytes;
      }
    } while (cursor_.accept(','));
    cursor_.expect('}', "after an array's initial values");
  }

  void scalar(uint64_t offset) {
    if (!starts_constant(cursor_)) {
      symbol(offset, ~0ull);
      return;
    }
    const Constant value = parse_constant(cursor_);
    if (value.kind == Constant::Kind::Int && cursor_.accept('(')) {
      const auto mask = static_cast<uint64_t>(value.bits);
      if (mask == 0) cursor_.fail("a mask with a bit set before this");
      symbol(offset, mask);
      cursor_.expect(')', "after a masked address");
      return;
    }
    store(offset, element_bits(value));
  }

  // symbol, generic(symbol), either with "+ constant".
  void symbol(uint64_t offset, uint64_t mask) {
    Relocation relocation;
    relocation.offset = offset;
    relocation.bytes = shape_.type.bytes;
    relocation.mask = mask;
    relocation.shift = mask == ~0ull ? 0 : static_cast<uint32_t>(std::countr_zero(mask));
    std::string_view name = cursor_.word("a constant or the name of a variable or function");
    if (name == "generic" && cursor_.accept('(')) {
      relocation.generic = true;
      name = cursor_.word("the name of a variable");
      if (cursor_.peek() == '+' || cursor_.peek() == '-') relocation.addend = addend();
      cursor_.expect(')', "after generic(");
    }
    if (cursor_.peek() == '+' || cursor_.peek() == '-') relocation.addend += addend();
    relocation.symbol = name;
    store(offset, 0);
    variable_.relocations.push_back(std::move(relocation));
  }

  int64_t addend() { return parse_integer(cursor_, -(1ll << 40), 1ll << 40, "an address offset"); }

  uint64_t element_bits(const Constant& value) {
    using Kind = Constant::Kind;
    const uint32_t bytes = shape_.type.bytes;
    if (!shape_.type.is_float || value.kind == Kind::Int) {
      // Integers initialise float variables by value; raw bits come as 0f or 0d.
      if (!shape_.type.is_float) {
        if (value.kind == Kind::F64 && bytes != 8) cursor_.fail("an 8-byte variable for this f64 constant");
        return static_cast<uint64_t>(value.bits);
      }
      if (bytes == 4) return std::bit_cast<uint32_t>(static_cast<float>(value.bits));
      if (bytes == 8) return std::bit_cast<uint64_t>(static_cast<double>(value.bits));
      return static_cast<uint64_t>(value.bits);
    }
    if (bytes == 4 && value.kind == Kind::F64)
      return std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(value.bits)));
    if (bytes == 8 && value.kind == Kind::F32)
      return std::bit_cast<uint64_t>(
          static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(value.bits))));
    if (bytes == 2) cursor_.fail("an integer bit pattern for a 16-bit float before this");
    return static_cast<uint64_t>(value.bits);
  }

  void store(uint64_t offset, uint64_t bits) {
    const uint32_t bytes = shape_.type.bytes;
    if (offset + bytes > kMaxInitializedBytes) cursor_.fail("initial values within 2^28 bytes");
    auto& data = variable_.initial_bytes;
    if (data.size() < offset + bytes) data.resize(offset + bytes);
    std::memcpy(data.data() + offset, &bits, std::min<uint32_t>(bytes, 8));
  }

  Cursor& cursor_;
  const InitializerShape& shape_;
  Variable& variable_;
  uint64_t limit_;
};

}  // namespace

void parse_initializer(Cursor& cursor, const InitializerShape& shape, Variable& variable) {
  Initializer(cursor, shape, variable).parse();
}

}  // namespace emu::ptx
