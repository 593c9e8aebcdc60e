#include "cuda/stream.h"

#include <algorithm>

namespace emu::cuda {

StreamTable::StreamTable() { legacy_.legacy = true; }

Stream* StreamTable::resolve(cudaStream_t handle, bool per_thread_default) {
  if (handle == nullptr) handle = per_thread_default ? cudaStreamPerThread : cudaStreamLegacy;
  if (handle == cudaStreamLegacy) return &legacy_;
  if (handle == cudaStreamPerThread) {
    std::unique_ptr<Stream>& mine = per_thread_[std::this_thread::get_id()];
    if (!mine) {
      mine = std::make_unique<Stream>();
      mine->id = next_id_++;
    }
    return mine.get();
  }
  const auto found = streams_.find(reinterpret_cast<Stream*>(handle));
  return found == streams_.end() ? nullptr : found->second.get();
}

cudaStream_t StreamTable::create(unsigned flags, int priority) {
  auto stream = std::make_unique<Stream>();
  stream->flags = flags;
  stream->priority = priority;
  stream->id = next_id_++;
  Stream* raw = stream.get();
  streams_.emplace(raw, std::move(stream));
  return reinterpret_cast<cudaStream_t>(raw);
}

bool StreamTable::destroy(cudaStream_t handle) {
  return streams_.erase(reinterpret_cast<Stream*>(handle)) != 0;
}

cudaEvent_t StreamTable::create_event(unsigned flags) {
  auto event = std::make_unique<Event>();
  event->flags = flags;
  Event* raw = event.get();
  events_.emplace(raw, std::move(event));
  return reinterpret_cast<cudaEvent_t>(raw);
}

Event* StreamTable::find_event(cudaEvent_t handle) {
  const auto found = events_.find(reinterpret_cast<Event*>(handle));
  return found == events_.end() ? nullptr : found->second.get();
}

bool StreamTable::destroy_event(cudaEvent_t handle) {
  return events_.erase(reinterpret_cast<Event*>(handle)) != 0;
}

double StreamTable::ready_ns(const Stream& stream) const {
  double ready = std::max(host_ns_, stream.clock_ns);
  if (!stream.legacy) return stream.blocking() ? std::max(ready, legacy_.clock_ns) : ready;
  for (const auto& [handle, other] : streams_) {
    if (other->blocking()) ready = std::max(ready, other->clock_ns);
  }
  for (const auto& [thread, other] : per_thread_) ready = std::max(ready, other->clock_ns);
  return ready;
}

double StreamTable::device_ns() const {
  double latest = ready_ns(legacy_);
  for (const auto& [handle, stream] : streams_) latest = std::max(latest, stream->clock_ns);
  return latest;
}

void StreamTable::host_waited(double time_ns) { host_ns_ = std::max(host_ns_, time_ns); }

void StreamTable::clear() {
  streams_.clear();
  events_.clear();
  per_thread_.clear();
  legacy_.clock_ns = 0;
  host_ns_ = 0;
}

}  // namespace emu::cuda
