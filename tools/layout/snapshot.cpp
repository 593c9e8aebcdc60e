#include "layout/snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "layout/canonical.h"
#include "layout/tmem.h"

namespace layout {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

int base64_digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

// Packs digits of `bits` bits each into bytes, most significant first.
std::vector<uint8_t> unpack(const std::string& text, int bits, int (*digit)(char), const char* field) {
  std::vector<uint8_t> out;
  uint32_t held = 0;
  int have = 0;
  for (char c : text) {
    if (c == '=') break;
    const int d = digit(c);
    if (d < 0)
      throw BadInput(
          fmt::format("snapshot field \"{}\" holds '{}', which its encoding does not have", field, c));
    held = held << bits | d;
    have += bits;
    if (have >= 8) {
      have -= 8;
      out.push_back(static_cast<uint8_t>(held >> have));
    }
  }
  return out;
}

std::vector<uint8_t> bytes_of(const nlohmann::json& j, const char* field) {
  const std::string encoding = j.at("encoding"), text = j.at(field);
  if (encoding == "hex") return unpack(text, 4, hex_digit, field);
  if (encoding == "base64") return unpack(text, 6, base64_digit, field);
  throw BadInput(fmt::format("snapshot encoding \"{}\" is neither hex nor base64", encoding));
}

std::string base64(const std::vector<uint8_t>& bytes) {
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t at = 0; at < bytes.size(); at += 3) {
    const size_t have = std::min<size_t>(3, bytes.size() - at);
    uint32_t word = 0;
    for (size_t i = 0; i < 3; ++i) word = word << 8 | (i < have ? bytes[at + i] : 0);
    for (size_t i = 0; i < 4; ++i) out += i <= have ? kDigits[word >> (18 - 6 * i) & 63] : '=';
  }
  return out;
}

Snapshot read(const nlohmann::json& j) {
  if (j.at("format") != "workbook-snapshot-1")
    throw BadInput("the snapshot's \"format\" is not workbook-snapshot-1");
  const std::string kind = j.at("kind");
  if (kind != "smem" && kind != "tmem")
    throw BadInput(fmt::format("snapshot kind \"{}\" is neither smem nor tmem", kind));
  Snapshot s;
  s.kind = kind == "smem" ? Snapshot::smem : Snapshot::tmem;
  s.file = j.value("file", "");
  s.line = j.at("line");
  s.cta = j.at("cta").get<std::array<int, 3>>();
  s.cycle = j.value("cycle", int64_t{-1});
  s.base = j.at("base");
  s.bytes = bytes_of(j, "bytes");
  if (j.contains("expected")) s.expected = bytes_of(j, "expected");
  if (s.bytes.empty() || s.bytes.size() % 16 != 0) {
    throw BadInput(
        fmt::format("the snapshot holds {} bytes; a positive multiple of 16 is needed", s.bytes.size()));
  }
  if (!s.expected.empty() && s.expected.size() != s.bytes.size()) {
    throw BadInput(fmt::format("\"expected\" has {} bytes, \"bytes\" {}", s.expected.size(), s.bytes.size()));
  }
  if (s.kind == Snapshot::tmem) {
    s.columns = j.at("columns");
    if (s.columns < 1 || s.base + s.columns > static_cast<uint32_t>(kColumns) ||
        s.bytes.size() != static_cast<size_t>(s.columns) * kLanes * 4) {
      throw BadInput(
          fmt::format("{} columns from column {} need {} bytes within {} columns, the snapshot has {}",
                      s.columns, s.base, s.columns * kLanes * 4, kColumns, s.bytes.size()));
    }
  }
  return s;
}

}  // namespace

Snapshot parse_snapshot(std::string_view json) {
  try {
    return read(nlohmann::json::parse(json));
  } catch (const nlohmann::json::exception& e) {
    throw BadInput(fmt::format("not a snapshot: {}", e.what()));
  }
}

std::string write_snapshot(const Snapshot& s) {
  nlohmann::json j = {{"format", "workbook-snapshot-1"},
                      {"kind", s.kind == Snapshot::smem ? "smem" : "tmem"},
                      {"file", s.file},
                      {"line", s.line},
                      {"cta", s.cta},
                      {"cycle", s.cycle},
                      {"base", s.base},
                      {"encoding", "base64"},
                      {"bytes", base64(s.bytes)}};
  if (s.kind == Snapshot::tmem) j["columns"] = s.columns;
  if (!s.expected.empty()) j["expected"] = base64(s.expected);
  return j.dump();
}

}  // namespace layout
