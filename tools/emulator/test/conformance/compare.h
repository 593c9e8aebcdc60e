#pragma once
#include <string>

#include "record.h"
#include "table.h"

namespace conformance {

// Empty if `got` agrees with the recording, else one line: the first word that differs, expected and got. For
// approximate instructions infinities, NaN and zeros that are exact or flushed must have the recorded bits,
// and other results lie within the manual's bound of the exact function; the worst error of both machines is
// printed.
std::string find_difference(const Case& test, const Result& expected, const Result& got);

}  // namespace conformance
