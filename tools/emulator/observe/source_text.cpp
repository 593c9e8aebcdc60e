#include "observe/source_text.h"

#include <fstream>

namespace emu::observe {

const std::string& SourceText::line(const std::string& file, uint32_t number) {
  static const std::string kNone;
  auto [entry, fresh] = files_.try_emplace(file);
  if (fresh) {
    std::ifstream in(file);
    for (std::string text; std::getline(in, text);) {
      const size_t comment = text.find("//");
      if (comment != std::string::npos) text.resize(comment);
      const size_t first = text.find_first_not_of(" \t");
      const size_t last = text.find_last_not_of(" \t\r");
      entry->second.push_back(first == std::string::npos ? "" : text.substr(first, last - first + 1));
    }
  }
  return number >= 1 && number <= entry->second.size() ? entry->second[number - 1] : kNone;
}

}  // namespace emu::observe
