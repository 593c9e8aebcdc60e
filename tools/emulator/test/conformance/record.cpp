#include "record.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

namespace conformance {
namespace {

std::string encode(const std::vector<uint32_t>& words) {
  std::string text;
  char item[32];
  for (size_t i = 0; i < words.size();) {
    size_t end = i + 1;
    while (end < words.size() && words[end] == words[i]) ++end;
    if (end - i > 1) {
      std::snprintf(item, sizeof item, "%x*%zu ", words[i], end - i);
    } else {
      std::snprintf(item, sizeof item, "%x ", words[i]);
    }
    text += item, i = end;
  }
  if (!text.empty()) text.pop_back();
  return text;
}
std::vector<uint32_t> decode(const std::string& text) {
  std::vector<uint32_t> words;
  std::istringstream in(text);
  for (std::string item; in >> item;) {
    const size_t star = item.find('*');
    const size_t times = star == std::string::npos ? 1 : std::stoul(item.substr(star + 1));
    words.insert(words.end(), times, static_cast<uint32_t>(std::stoul(item.substr(0, star), nullptr, 16)));
  }
  return words;
}

}  // namespace

std::string to_line(const std::string& name, const Result& result) {
  nlohmann::ordered_json line{{"name", name}};
  if (!result.error.empty()) {
    line["error"] = result.error;
  } else if (!result.text.empty()) {
    line["text"] = result.text;
  } else {
    line["words"] = encode(result.words);
  }
  return line.dump();
}

std::map<std::string, Result> read_results(const std::string& path, std::string* device_line) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot open " + path);
  std::map<std::string, Result> results;
  std::string line;
  std::getline(file, *device_line);
  for (int number = 2; std::getline(file, line); ++number) {
    try {
      const auto json = nlohmann::json::parse(line);
      Result result;
      result.words = decode(json.value("words", ""));
      result.text = json.value("text", "");
      result.error = json.value("error", "");
      results[json.at("name")] = result;
    } catch (const std::exception& error) {
      throw std::runtime_error(path + ":" + std::to_string(number) + ": " + error.what());
    }
  }
  return results;
}

}  // namespace conformance
