#include "gpu/snapshot.h"

#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "gpu/cta.h"
#include "gpu/program.h"

namespace emu::gpu {

namespace {

template <typename Bytes>
std::string hex(const Bytes* bytes, size_t count) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text(count * 2, '0');
  for (size_t i = 0; i < count; ++i) {
    const auto value = static_cast<unsigned>(bytes[i]);
    text[2 * i] = kDigits[value >> 4 & 15];
    text[2 * i + 1] = kDigits[value & 15];
  }
  return text;
}

bool number(std::string_view text, uint32_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value > 0;
}

}  // namespace

SnapshotRequest parse_snapshot_request(const std::string& text) {
  SnapshotRequest request;
  std::string_view rest = text;
  const auto fail = [&] {
    return std::invalid_argument(fmt::format(
        "snapshot '{}' is not understood: smem@LINE or tmem@LINE, as in smem@212 or tmem@kernel.cu:212#3",
        text));
  };
  if (rest.starts_with("tmem@")) {
    request.tensor_memory = true;
  } else if (!rest.starts_with("smem@")) {
    throw fail();
  }
  rest.remove_prefix(5);
  if (const size_t hash = rest.find('#'); hash != std::string_view::npos) {
    if (!number(rest.substr(hash + 1), request.occurrence)) throw fail();
    rest = rest.substr(0, hash);
  }
  if (const size_t colon = rest.rfind(':'); colon != std::string_view::npos) {
    request.file = rest.substr(0, colon);
    rest.remove_prefix(colon + 1);
  }
  if (!number(rest, request.line)) throw fail();
  return request;
}

uint32_t watch_line(Kernel& kernel, const SnapshotRequest& request) {
  uint32_t found = 0;
  for (auto& program : kernel.programs) {
    const ptx::Function& function = *program->function;
    for (Instr& in : program->code) {
      const ptx::Instruction& instruction = function.instructions[in.source];
      if (instruction.location < 0) continue;
      const ptx::SourceLocation& location = function.locations[static_cast<size_t>(instruction.location)];
      if (location.line != request.line) continue;
      const auto& files = program->module->files();
      const auto file = files.find(location.file);
      if (!request.file.empty() && (file == files.end() || !file->second.ends_with(request.file))) continue;
      in.watch = true;
      ++found;
    }
  }
  return found;
}

std::string write_snapshot(const SnapshotRequest& request, const Cta& cta, double cycle) {
  nlohmann::json root;
  root["format"] = "workbook-snapshot-1";
  root["kind"] = request.tensor_memory ? "tmem" : "smem";
  if (!request.file.empty()) root["file"] = request.file;
  root["line"] = request.line;
  root["cta"] = {cta.id.x, cta.id.y, cta.id.z};
  root["cycle"] = static_cast<int64_t>(cycle);
  root["encoding"] = "hex";
  if (request.tensor_memory) {
    std::vector<uint32_t> cells(static_cast<size_t>(units::kTmemLanes) * units::kTmemColumns);
    for (int column = 0; column < units::kTmemColumns; ++column) {
      for (int lane = 0; lane < units::kTmemLanes; ++lane) {
        cells[static_cast<size_t>(lane) * units::kTmemColumns + static_cast<size_t>(column)] =
            cta.sm->tmem.at(lane, column);
      }
    }
    root["base"] = 0;
    root["columns"] = units::kTmemColumns;
    root["bytes"] = hex(reinterpret_cast<const unsigned char*>(cells.data()), cells.size() * 4);
  } else {
    const memory::SharedMemory& shared = *cta.shared;
    root["base"] = shared.begin();
    root["bytes"] = hex(shared.generic() + shared.begin(), (shared.end() - shared.begin()) & ~15u);
  }
  const std::string name =
      fmt::format("snapshot_{}_{}.json", request.tensor_memory ? "tmem" : "smem", request.line);
  std::ofstream out(name);
  out << root.dump() << '\n';
  if (!out) throw std::runtime_error(fmt::format("{} could not be written", name));
  return name;
}

}  // namespace emu::gpu
