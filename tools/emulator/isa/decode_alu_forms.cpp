// Collects the tables of one instruction set and writes their patterns out.
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <stdexcept>

#include <fmt/format.h>

#include "isa/alu_form_index.h"
#include "isa/decode_alu.h"

namespace emu::isa {

#define EMU_ISA_TABLES(declare)                                                                         \
  declare(kIntegerForms) declare(kMultiplyForms) declare(kCarryForms) declare(kBitForms)                \
      declare(kCompareForms) declare(kFloatForms) declare(kHalfForms) declare(kConvertForms)            \
          declare(kSmallConvertForms) declare(kMoveForms) declare(kApproxForms) declare(kExchangeForms) \
              declare(kMatrixForms) declare(kMatrixShapeForms) declare(kMatrixSparseForms) declare(kWmmaForms)
#define EMU_DECLARE(name) extern const FormTable name;
#define EMU_LIST(name) &name,

namespace avx512 {
EMU_ISA_TABLES(EMU_DECLARE)
const FormTable* const kAll[] = {EMU_ISA_TABLES(EMU_LIST)};
}  // namespace avx512
namespace avx2 {
EMU_ISA_TABLES(EMU_DECLARE)
const FormTable* const kAll[] = {EMU_ISA_TABLES(EMU_LIST)};
}  // namespace avx2

namespace {
bool use_avx512() {
  const char* forced = std::getenv("EMU_ISA");
  if (forced != nullptr && std::string_view(forced) == "avx2") return false;
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512cd");
}

bool is_type(std::string_view token) {
  return token == "pred" || token.starts_with("bf16") || token.starts_with("tf32") ||
         (token.size() > 1 && std::string_view("usbfe").find(token[0]) != std::string_view::npos &&
          std::isdigit(static_cast<unsigned char>(token[1])));
}

// First word and sorted qualifiers; empty when the opcode has several types, whose order tells them apart.
std::string qualifier_key(std::string_view opcode) {
  std::vector<std::string_view> tokens;
  for (size_t from = 0; from <= opcode.size();) {
    const size_t to = std::min(opcode.find('.', from), opcode.size());
    tokens.push_back(opcode.substr(from, to - from));
    from = to + 1;
  }
  if (std::count_if(tokens.begin() + 1, tokens.end(), is_type) > 1) return {};
  std::sort(tokens.begin() + 1, tokens.end());
  std::string key;
  for (std::string_view token : tokens) key.append(token).append(".");
  return key;
}

[[noreturn]] void malformed(std::string_view text) {
  throw std::logic_error(fmt::format("malformed row '{}' in an instruction table", text));
}
}  // namespace

std::vector<std::string> expand_pattern(std::string_view pattern) {
  std::vector<std::string> texts{""};
  for (size_t i = 0; i < pattern.size();) {
    if (pattern[i] != '(' && pattern[i] != '{') {
      for (auto& text : texts) text += pattern[i];
      ++i;
      continue;
    }
    const size_t end = pattern.find(pattern[i] == '(' ? ')' : '}', i);
    if (end == std::string_view::npos) malformed(pattern);
    std::vector<std::string> alternatives;
    if (pattern[i] == '{') alternatives.emplace_back();
    for (size_t from = i + 1; from <= end;) {
      const size_t to = std::min(pattern.find(',', from), end);
      alternatives.emplace_back(pattern.substr(from, to - from));
      from = to + 1;
    }
    std::vector<std::string> longer;
    for (const auto& text : texts)
      for (const auto& alternative : alternatives) longer.push_back(text + alternative);
    texts = std::move(longer);
    i = end + 1;
  }
  return texts;
}

Shape parse_shape(std::string_view text) {
  Shape shape;
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) malformed(text);
  auto parse_side = [&](std::string_view side, std::vector<ShapeOperand>& out) {
    for (size_t i = 0; i < side.size(); ++i) {
      ShapeOperand operand;
      if (side[i] == '{') {
        operand.is_vector = true;
        for (++i; i < side.size() && side[i] != '}'; ++i)
          if (side[i] != ',') operand.letters += side[i];
      } else {
        operand.letters = side[i];
        if (i + 2 < side.size() && side[i + 1] == '|') operand.second = side[i + 2], i += 2;
      }
      out.push_back(operand);
      if (i + 1 < side.size() && side[++i] != ',') malformed(text);
    }
  };
  parse_side(text.substr(0, equals), shape.destinations);
  parse_side(text.substr(equals + 1), shape.sources);
  return shape;
}

FormIndex::FormIndex(bool wide) {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi2"))
    throw std::runtime_error("the emulator needs a processor with AVX2, FMA and BMI2");
  instruction_set_ = wide ? "avx512" : "avx2";
  const std::span<const FormTable* const> tables = wide ? std::span(avx512::kAll) : std::span(avx2::kAll);
  size_t count = 0;
  for (const FormTable* table : tables) count += table->count;
  rows_.reserve(count);  // candidates point into it
  for (const FormTable* table : tables) {
    for (size_t i = 0; i < table->count; ++i) {
      const AluForm& form = table->forms[i];
      const Row& row = rows_.emplace_back(Row{&form, parse_shape(form.operands)});
      std::vector<std::string> opcodes = expand_pattern(form.opcode);
      if (form.function_count != 1 && form.function_count != opcodes.size()) malformed(form.opcode);
      words_.insert(opcodes.front().substr(0, opcodes.front().find('.')));
      for (size_t n = 0; n < opcodes.size(); ++n) {
        auto& candidates = by_opcode_[opcodes[n]];
        // A row for a common form comes before the general one that also covers it.
        const bool shadowed =
            std::any_of(candidates.begin(), candidates.end(), [&](const Candidate& earlier) {
              return std::string_view(earlier.row->form->operands) == form.operands;
            });
        if (shadowed) continue;
        if (const std::string key = qualifier_key(opcodes[n]); !key.empty())
          by_qualifiers_.try_emplace(key, opcodes[n]);
        candidates.push_back({&row, static_cast<uint16_t>(n)});
        listing_.push_back({std::move(opcodes[n]), &row});
      }
    }
  }
}

const FormIndex& FormIndex::instance() {
  static const FormIndex index(use_avx512());
  return index;
}

const std::vector<Candidate>* FormIndex::find(std::string_view opcode) const {
  auto found = by_opcode_.find(opcode);
  if (found == by_opcode_.end()) {
    const auto reordered = by_qualifiers_.find(qualifier_key(opcode));
    if (reordered != by_qualifiers_.end()) found = by_opcode_.find(reordered->second);
  }
  return found == by_opcode_.end() ? nullptr : &found->second;
}

std::string_view alu_instruction_set() { return FormIndex::instance().instruction_set(); }

std::vector<FormInfo> supported_alu_forms() {
  std::vector<FormInfo> forms;
  for (const auto& listed : FormIndex::instance().listing())
    forms.push_back(
        {listed.opcode, listed.row->form->operands, listed.row->form->kind, listed.row->form->cost});
  return forms;
}

}  // namespace emu::isa
