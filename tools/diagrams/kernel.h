// Reads the facts that pictures need out of a chapter's kernel.cu: its constants, its shared memory, the
// arguments of its descriptors. So a picture follows the code; a change of the kernel changes the picture or
// stops the generator.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "layout/canonical.h"

namespace diagrams {

struct Member {
  std::string name, type;
  std::vector<int64_t> extents;
  uint32_t offset = 0, bytes = 0;  // within SharedStorage
};

class Kernel {
 public:
  // Throws std::runtime_error when the file cannot be read or a constant cannot be evaluated.
  explicit Kernel(const std::string& path);

  // Value of `constexpr ... name = expression;`. Throws std::runtime_error naming the file and the constant.
  int64_t operator[](const std::string& name) const;
  int value(const std::string& name) const { return static_cast<int>((*this)[name]); }

  // Members of SharedStorage in order, laid out by the C++ rules; the size of the whole.
  const std::vector<Member>& shared() const { return shared_; }
  uint32_t shared_bytes() const { return shared_bytes_; }
  const Member& member(const std::string& name) const;

  // Layout that matrix_descriptor(...) in function `name` describes, as far as its arguments say.
  layout::Canonical descriptor_in(const std::string& function, layout::Major major) const;
  // Does the text hold this? For facts that have no constant: throws std::runtime_error when not.
  void require(const std::string& text) const;

 private:
  std::optional<int64_t> look_up(const std::string& name) const;
  int64_t evaluate(const std::string& expression) const;
  void read_constants();
  void read_shared();

  std::string path_, text_;
  std::map<std::string, std::string> constants_;  // name to expression; evaluated when asked for
  std::vector<Member> shared_;
  uint32_t shared_bytes_ = 0;
};

// All chapters' kernels, read when first asked for.
class Kernels {
 public:
  explicit Kernels(std::string chapters) : chapters_(std::move(chapters)) {}
  const Kernel& operator[](int chapter) const;

 private:
  std::string chapters_;
  mutable std::map<int, Kernel> loaded_;
};

}  // namespace diagrams
