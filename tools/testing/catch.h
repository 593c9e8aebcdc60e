// One include for the Catch2 of Debian 12 (2.13) and of Ubuntu 24.04 (3.x).
#pragma once
#if WORKBOOK_CATCH2_MAJOR >= 3
#include <catch2/catch_all.hpp>
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
namespace Catch::Matchers {
// Version 2's name for it; in version 3 Contains speaks of ranges.
inline auto Contains(const char* text) { return ContainsSubstring(text); }
inline auto Contains(std::string text) { return ContainsSubstring(text); }
}  // namespace Catch::Matchers
#else
#include <catch2/catch.hpp>
inline auto ContainsSubstring(const std::string& text) { return Catch::Contains(text); }
#endif
