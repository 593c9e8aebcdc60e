// Runs cases in a child process, so that one that faults or hangs does not end the others.
#pragma once
#include <functional>

#include "record.h"
#include "table.h"

namespace conformance {

// Calls `done` with each case's result, in order. A child that ends or is silent for `timeout_s` seconds is
// replaced by a new one, which begins after the case that it was running.
void run_cases(const std::vector<const Case*>& cases, int timeout_s,
               const std::function<void(const Case&, const Result&)>& done);

// Line one of a recording: device, driver, runtime, date and clock, read in a child process too.
std::string describe_device();

}  // namespace conformance
