// The listeners that a user asks for.
#pragma once

#include <memory>
#include <string>

#include "observe/events.h"

namespace emu::observe {

// Statistics on stderr after every launch when `stats`, a trace in the file `trace` unless that is empty;
// null when neither is asked for. Throws std::runtime_error when the file cannot be written.
std::unique_ptr<Listener> make_listener(bool stats, const std::string& trace);

}  // namespace emu::observe
