#include "layout/tmem.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <sstream>

namespace layout {
namespace {

struct ShapeFacts {
  Shape shape;
  std::string_view name;
  int registers, columns, max_n;  // per .x1
};
constexpr std::array<ShapeFacts, 5> kShapes = {{
    {Shape::s32x32b, "32x32b", 1, 1, 128},
    {Shape::s16x64b, "16x64b", 1, 2, 128},
    {Shape::s16x128b, "16x128b", 2, 4, 64},
    {Shape::s16x256b, "16x256b", 4, 8, 32},
    {Shape::s16x32bx2, "16x32bx2", 1, 1, 128},
}};

const ShapeFacts& facts(Shape shape) { return kShapes[static_cast<int>(shape)]; }

void check_n(Shape shape, int n) {
  if (n < 1 || n > facts(shape).max_n || (n & (n - 1)) != 0) {
    throw BadInput(fmt::format("{}.x{}: N must be a power of two from 1 to {}", facts(shape).name, n,
                               facts(shape).max_n));
  }
}

int number_in(std::string_view part, std::string_view whole) {
  int value = 0;
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
  if (error != std::errc() || end != part.data() + part.size()) {
    throw BadInput(fmt::format("region '{}': '{}' is not a number; write NAME:FIRST:COUNT", whole, part));
  }
  return value;
}

}  // namespace

std::vector<Region> parse_regions(std::string_view spec) {
  std::vector<Region> regions;
  std::istringstream in{std::string(spec)};
  for (std::string word; in >> word;) {
    const size_t a = word.find(':'), b = a == std::string::npos ? a : word.find(':', a + 1);
    if (b == std::string::npos || a == 0)
      throw BadInput(fmt::format("region '{}' is not NAME:FIRST:COUNT", word));
    const std::string_view view(word);
    Region r{word.substr(0, a), number_in(view.substr(a + 1, b - a - 1), word),
             number_in(view.substr(b + 1), word)};
    if (r.first < 0 || r.count < 1 || r.first + r.count > kColumns) {
      throw BadInput(fmt::format("region '{}' leaves tensor memory: columns are 0..{}", word, kColumns - 1));
    }
    regions.push_back(std::move(r));
  }
  if (regions.empty()) throw BadInput("no region given; write for example --columns \"S:0:128 O:128:128\"");
  return regions;
}

std::vector<std::pair<int, int>> aliases(const std::vector<Region>& regions) {
  std::vector<std::pair<int, int>> pairs;
  for (size_t i = 0; i < regions.size(); ++i) {
    for (size_t j = i + 1; j < regions.size(); ++j) {
      const Region &a = regions[i], &b = regions[j];
      if (a.first < b.first + b.count && b.first < a.first + a.count) pairs.emplace_back(i, j);
    }
  }
  return pairs;
}

Shape shape_named(std::string_view name) {
  for (const ShapeFacts& f : kShapes) {
    if (f.name == name) return f.shape;
  }
  throw BadInput(fmt::format("shape '{}' is not one of 32x32b, 16x64b, 16x128b, 16x256b, 16x32bx2", name));
}

std::string_view name_of(Shape shape) { return facts(shape).name; }

int registers_of(Shape shape, int n) {
  check_n(shape, n);
  return facts(shape).registers * n;
}

int columns_of(Shape shape, int n) {
  check_n(shape, n);
  return facts(shape).columns * n;
}

Cell cell_of(Shape shape, int t, int r, int second_half) {
  switch (shape) {
    case Shape::s32x32b:
      return {t, r};
    case Shape::s16x64b:
      return {t / 4 + 8 * (t % 2), t / 2 % 2 + 2 * r};
    case Shape::s16x128b:
      return {t / 4 + 8 * (r % 2), t % 4 + 4 * (r / 2)};
    case Shape::s16x256b:
      return {t / 4 + 8 * (r / 2 % 2), 2 * (t % 4) + r % 2 + 8 * (r / 4)};
    case Shape::s16x32bx2:
      return {t % 16, r + (t >= 16 ? second_half : 0)};
  }
  return {};
}

}  // namespace layout
