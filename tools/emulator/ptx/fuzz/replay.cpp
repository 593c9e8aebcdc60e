// Stands in for libFuzzer's main where the compiler has none: runs the target on files and on damaged copies
// of them. usage: fuzz_ptx ROUNDS FILE...
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

void run(const std::string& text) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(text.data()), text.size());
}

// One edit: cut, overwrite, erase, splice from another file, or repeat a piece.
void damage(std::string& text, const std::vector<std::string>& corpus, std::mt19937& random) {
  if (text.empty()) return;
  const size_t at = random() % text.size();
  const size_t length = 1 + random() % 24;
  switch (random() % 5) {
    case 0:
      text.resize(at);
      break;
    case 1:
      text[at] = static_cast<char>(random());
      break;
    case 2:
      text.erase(at, length);
      break;
    case 3: {
      const std::string& other = corpus[random() % corpus.size()];
      if (!other.empty()) text.insert(at, other.substr(random() % other.size(), length));
      break;
    }
    default:
      text.insert(at, text.substr(at, length));
      break;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: {} ROUNDS FILE...\n", argv[0]);
    return 2;
  }
  std::vector<std::string> corpus;
  for (int i = 2; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    if (!file) {
      fmt::print(stderr, "{}: cannot read {}\n", argv[0], argv[i]);
      return 2;
    }
    corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    run(corpus.back());
  }
  std::mt19937 random(1);
  const int rounds = std::atoi(argv[1]);
  for (int round = 0; round < rounds; ++round) {
    std::string text = corpus[random() % corpus.size()];
    for (uint32_t edits = 1 + random() % 4; edits > 0; --edits) damage(text, corpus, random);
    run(text);
  }
  fmt::print("{} files and {} damaged copies: no crash\n", corpus.size(), rounds);
}
