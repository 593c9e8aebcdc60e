// What is wrong with an asynchronous copy, in the terms in which a launch fails.
#pragma once
#include <cstdint>
#include <string>
#include <utility>

namespace emu::units {

enum class BulkFaultKind : std::uint8_t {
  None,
  IllegalInstruction,  // cudaErrorIllegalInstruction
  MisalignedAddress,   // cudaErrorMisalignedAddress
  IllegalAddress,      // cudaErrorIllegalAddress
  LaunchFailure,       // cudaErrorLaunchFailure
  Unsupported          // legal, but not implemented here: fail closed
};

struct BulkFault {
  BulkFaultKind kind = BulkFaultKind::None;
  std::string text;
  explicit operator bool() const { return kind != BulkFaultKind::None; }
};

}  // namespace emu::units
