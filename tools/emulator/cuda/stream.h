#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <thread>

// Streams and events. Work runs at the call that issues it, so host order is execution order and every wait
// is already satisfied; what is kept here is modelled time, and it obeys stream order.
namespace emu::cuda {

struct Stream {
  unsigned flags = cudaStreamDefault;
  int priority = 0;
  uint64_t id = 0;
  double clock_ns = 0;                            // modelled time at which everything issued so far has ended
  bool legacy = false;                            // the default stream that blocking streams synchronise with
  std::map<int, cudaStreamAttrValue> attributes;  // that were set: hints, which nothing here has a use for
  bool blocking() const { return !(flags & cudaStreamNonBlocking); }
};

struct Event {
  unsigned flags = cudaEventDefault;
  bool recorded = false;
  double time_ns = 0;
  bool timed() const { return !(flags & cudaEventDisableTiming); }
};

class StreamTable {
 public:
  StreamTable();

  // The stream a handle names, or null if there is none. 0 is the legacy default stream, or the calling
  // thread's when the call was compiled for per-thread default streams; 1 and 2 name them explicitly.
  Stream* resolve(cudaStream_t handle, bool per_thread_default);
  cudaStream_t create(unsigned flags, int priority);
  bool destroy(cudaStream_t handle);  // false for the default streams and unknown handles

  cudaEvent_t create_event(unsigned flags);
  Event* find_event(cudaEvent_t handle);
  bool destroy_event(cudaEvent_t handle);

  // Modelled time at which work issued now on this stream may begin (legacy default stream rules included),
  // and the note that it ends at `end_ns`.
  double ready_ns(const Stream& stream) const;
  void finish(Stream& stream, double end_ns) { stream.clock_ns = end_ns; }

  // Modelled time at which all streams are done.
  double device_ns() const;
  // The host has waited until `time_ns`: what it issues from now on cannot begin earlier.
  void host_waited(double time_ns);

  // Forgets every stream and event (cudaDeviceReset).
  void clear();

 private:
  std::map<Stream*, std::unique_ptr<Stream>> streams_;
  std::map<Event*, std::unique_ptr<Event>> events_;
  std::map<std::thread::id, std::unique_ptr<Stream>> per_thread_;
  Stream legacy_;
  uint64_t next_id_ = 1;
  double host_ns_ = 0;
};

}  // namespace emu::cuda
