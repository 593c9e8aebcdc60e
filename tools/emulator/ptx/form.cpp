// The process-wide table of opcode texts.
#include <deque>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <unordered_map>

#include "ptx/instruction.h"

namespace emu::ptx {
namespace {

struct FormTable {
  std::shared_mutex mutex;
  std::deque<std::string> texts;  // a deque keeps the views valid while it grows
  std::unordered_map<std::string_view, uint32_t> ids;
};

FormTable& table() {
  static FormTable* const forms = new FormTable;  // never destroyed: views outlive every static
  return *forms;
}

}  // namespace

Form intern_form(std::string_view opcode) {
  FormTable& forms = table();
  {
    const std::shared_lock lock(forms.mutex);
    if (const auto it = forms.ids.find(opcode); it != forms.ids.end()) return {it->second, it->first};
  }
  const std::unique_lock lock(forms.mutex);
  if (const auto it = forms.ids.find(opcode); it != forms.ids.end()) return {it->second, it->first};
  const auto id = static_cast<uint32_t>(forms.texts.size());
  const std::string_view text = forms.texts.emplace_back(opcode);
  forms.ids.emplace(text, id);
  return {id, text};
}

std::string_view form_text(uint32_t id) {
  FormTable& forms = table();
  const std::shared_lock lock(forms.mutex);
  if (id >= forms.texts.size()) throw std::out_of_range("form_text: no form of that number");
  return forms.texts[id];
}

uint32_t form_count() {
  FormTable& forms = table();
  const std::shared_lock lock(forms.mutex);
  return static_cast<uint32_t>(forms.texts.size());
}

}  // namespace emu::ptx
