#include "diagrams/kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <regex>
#include <sstream>
#include <stdexcept>

namespace diagrams {
namespace {

// Integer expressions with + - * / ( ), names and sizeof(__nv_bfloat16); nothing else appears in the
// constants.
class Expression {
 public:
  using Lookup = std::function<std::optional<int64_t>(const std::string&)>;
  Expression(const std::string& text, Lookup lookup) : text_(text), lookup_(std::move(lookup)) {}

  std::optional<int64_t> value() {
    const std::optional<int64_t> v = sum();
    skip();
    return at_ == text_.size() ? v : std::nullopt;
  }

 private:
  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::optional<int64_t> sum() {
    auto v = product();
    while (v) {
      if (take('+')) {
        const auto r = product();
        v = r ? std::optional(*v + *r) : std::nullopt;
      } else if (take('-')) {
        const auto r = product();
        v = r ? std::optional(*v - *r) : std::nullopt;
      } else {
        break;
      }
    }
    return v;
  }
  std::optional<int64_t> product() {
    auto v = atom();
    while (v) {
      if (take('*')) {
        const auto r = atom();
        v = r ? std::optional(*v * *r) : std::nullopt;
      } else if (take('/')) {
        const auto r = atom();
        v = r && *r != 0 ? std::optional(*v / *r) : std::nullopt;
      } else {
        break;
      }
    }
    return v;
  }
  std::optional<int64_t> atom() {
    if (take('(')) {
      const auto v = sum();
      return take(')') ? v : std::nullopt;
    }
    skip();
    size_t end = at_;
    while (end < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[end])) || text_[end] == '_'))
      ++end;
    const std::string word = text_.substr(at_, end - at_);
    at_ = end;
    if (word.empty()) return std::nullopt;
    if (word == "sizeof") {
      const size_t close = text_.find(')', at_);
      if (at_ >= text_.size() || text_[at_] != '(' || close == std::string::npos) return std::nullopt;
      const std::string type = text_.substr(at_ + 1, close - at_ - 1);
      at_ = close + 1;
      return lookup_("sizeof " + type);
    }
    if (std::isdigit(static_cast<unsigned char>(word[0]))) return std::stoll(word, nullptr, 0);
    return lookup_(word);
  }

  const std::string& text_;
  Lookup lookup_;
  size_t at_ = 0;
};

uint32_t size_of(const std::string& type) {
  if (type == "__nv_bfloat16") return 2;
  if (type == "uint32_t" || type == "float") return 4;
  if (type == "uint64_t") return 8;
  return 0;
}

uint32_t round_up(uint32_t value, uint32_t to) { return (value + to - 1) / to * to; }

}  // namespace

Kernel::Kernel(const std::string& path) : path_(path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error(fmt::format("cannot read {}", path));
  std::ostringstream all;
  all << in.rdbuf();
  text_ = all.str();
  read_constants();
  read_shared();
}

void Kernel::read_constants() {
  static const std::regex kPattern(R"(constexpr\s+(?:int|uint32_t)\s+(\w+)\s*=\s*([^;]+);)");
  for (std::sregex_iterator it(text_.begin(), text_.end(), kPattern), end; it != end; ++it) {
    constants_[(*it)[1]] = (*it)[2];
  }
}

std::optional<int64_t> Kernel::look_up(const std::string& name) const {
  if (name == "sizeof __nv_bfloat16") return 2;
  if (name == "sizeof SharedStorage") return shared_bytes_;
  const auto found = constants_.find(name);
  if (found == constants_.end()) return std::nullopt;
  return Expression(found->second, [this](const std::string& n) { return look_up(n); }).value();
}

int64_t Kernel::evaluate(const std::string& expression) const {
  const auto v = Expression(expression, [this](const std::string& n) { return look_up(n); }).value();
  if (!v) throw std::runtime_error(fmt::format("{}: cannot evaluate '{}'", path_, expression));
  return *v;
}

void Kernel::read_shared() {
  static const std::regex kStruct(R"(struct SharedStorage \{([^}]*)\})");
  static const std::regex kMember(R"((?:alignas\((\d+)\)\s+)?(\w+)\s+(\w+)((?:\[[^\]]+\])*);)");
  static const std::regex kExtent(R"(\[([^\]]+)\])");
  std::smatch body;
  if (!std::regex_search(text_, body, kStruct)) throw std::runtime_error(path_ + ": no struct SharedStorage");
  const std::string members = body[1];
  uint32_t at = 0, alignment = 1;
  for (std::sregex_iterator it(members.begin(), members.end(), kMember), end; it != end; ++it) {
    Member m;
    m.type = (*it)[2];
    m.name = (*it)[3];
    const uint32_t element = size_of(m.type);
    if (element == 0) throw std::runtime_error(fmt::format("{}: size of {} not known", path_, m.type));
    const uint32_t align = (*it)[1].matched ? static_cast<uint32_t>(std::stoul((*it)[1])) : element;
    m.bytes = element;
    const std::string extents = (*it)[4];
    for (std::sregex_iterator e(extents.begin(), extents.end(), kExtent), last; e != last; ++e) {
      m.extents.push_back(evaluate((*e)[1]));
      m.bytes *= static_cast<uint32_t>(m.extents.back());
    }
    at = round_up(at, align);
    alignment = std::max(alignment, align);
    m.offset = at;
    at += m.bytes;
    shared_.push_back(std::move(m));
  }
  shared_bytes_ = round_up(at, alignment);
}

int64_t Kernel::operator[](const std::string& name) const {
  const auto found = constants_.find(name);
  if (found == constants_.end()) throw std::runtime_error(fmt::format("{}: no constant {}", path_, name));
  return evaluate(found->second);
}

const Member& Kernel::member(const std::string& name) const {
  for (const Member& m : shared_) {
    if (m.name == name) return m;
  }
  throw std::runtime_error(fmt::format("{}: SharedStorage has no {}", path_, name));
}

layout::Canonical Kernel::descriptor_in(const std::string& function, layout::Major major) const {
  const size_t from = text_.find(" " + function + "(");
  const size_t call = from == std::string::npos ? from : text_.find("matrix_descriptor(", from);
  if (call == std::string::npos)
    throw std::runtime_error(fmt::format("{}: no matrix_descriptor in {}", path_, function));
  const std::string tail = text_.substr(call, 200);
  static const std::regex kCall(
      R"(matrix_descriptor\(shared_address\(\w+\),\s*([^,]+),\s*([^,]+),\s*Swizzle::k(\w+)\))");
  std::smatch m;
  if (!std::regex_search(tail, m, kCall))
    throw std::runtime_error(fmt::format("{}: {} not understood", path_, tail));
  layout::Canonical c;
  c.major = major;
  c.lbo = static_cast<uint32_t>(evaluate(m[1]));
  c.sbo = static_cast<uint32_t>(evaluate(m[2]));
  const std::string mode = m[3];
  c.mode = mode == "None" ? layout::Swizzle::none : layout::swizzle_mode(mode.substr(0, mode.size() - 1));
  return c;
}

void Kernel::require(const std::string& text) const {
  // Formatting is free to change; only the signs count.
  auto signs = [](const std::string& s) {
    std::string out;
    std::copy_if(s.begin(), s.end(), std::back_inserter(out),
                 [](unsigned char c) { return !std::isspace(c); });
    return out;
  };
  if (signs(text_).find(signs(text)) == std::string::npos) {
    throw std::runtime_error(fmt::format("{} no longer says '{}': a picture relies on it", path_, text));
  }
}

const Kernel& Kernels::operator[](int chapter) const {
  const auto found = loaded_.find(chapter);
  if (found != loaded_.end()) return found->second;
  const std::string prefix = fmt::format("{:02}_", chapter);
  for (const auto& entry : std::filesystem::directory_iterator(chapters_)) {
    if (entry.is_directory() && entry.path().filename().string().rfind(prefix, 0) == 0) {
      return loaded_.emplace(chapter, Kernel((entry.path() / "kernel.cu").string())).first->second;
    }
  }
  throw std::runtime_error(fmt::format("{} has no chapter {:02}", chapters_, chapter));
}

}  // namespace diagrams
