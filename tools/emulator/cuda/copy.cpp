#include "cuda/copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace emu::cuda {
namespace {

using memory::Allocation;
using memory::AllocationKind;

// Nominal rates, no measurement: PCIe 5.0 x16 between host and device, half of 8 TB/s for a copy inside the
// device.
constexpr double kLinkBytesPerNs = 55.0;
constexpr double kDeviceBytesPerNs = 4000.0;
constexpr double kStartNs = 2000.0;

enum class Side { kHost, kDevice };

bool host_accessible(const Allocation* allocation) {
  return !allocation || allocation->kind == AllocationKind::PinnedHost ||
         allocation->kind == AllocationKind::Managed || allocation->kind == AllocationKind::Adopted;
}

bool is_device_memory(const Allocation* allocation) {
  return allocation && allocation->kind != AllocationKind::PinnedHost &&
         allocation->kind != AllocationKind::Adopted;
}

const Allocation* allocation_of(Runtime& runtime, const void* pointer) {
  return runtime.memory().find(reinterpret_cast<uint64_t>(pointer));
}

// Checks one side of a copy. Host memory that CUDA does not know cannot be checked; everything else must lie
// in one allocation from end to end.
cudaError_t check_side(Runtime& runtime, std::string_view name, const void* pointer, size_t extent,
                       Side side) {
  if (!pointer) return cudaErrorInvalidValue;
  const Allocation* allocation = allocation_of(runtime, pointer);
  if (side == Side::kHost && !host_accessible(allocation)) return cudaErrorInvalidValue;
  if (side == Side::kDevice && !allocation) {
    report(fmt::format("{}: {} is no device pointer", name, pointer));
    return cudaErrorInvalidValue;
  }
  if (allocation && !runtime.memory().contains(reinterpret_cast<uint64_t>(pointer), extent)) {
    report(
        fmt::format("{}: {}", name, runtime.memory().describe(reinterpret_cast<uint64_t>(pointer), extent)));
    return cudaErrorInvalidValue;
  }
  return cudaSuccess;
}

cudaError_t sides_of(Runtime& runtime, const void* dst, const void* src, cudaMemcpyKind kind, Side* to,
                     Side* from) {
  switch (kind) {
    case cudaMemcpyHostToHost:
      *to = Side::kHost, *from = Side::kHost;
      return cudaSuccess;
    case cudaMemcpyHostToDevice:
      *to = Side::kDevice, *from = Side::kHost;
      return cudaSuccess;
    case cudaMemcpyDeviceToHost:
      *to = Side::kHost, *from = Side::kDevice;
      return cudaSuccess;
    case cudaMemcpyDeviceToDevice:
      *to = Side::kDevice, *from = Side::kDevice;
      return cudaSuccess;
    case cudaMemcpyDefault:
      *to = allocation_of(runtime, dst) ? Side::kDevice : Side::kHost;
      *from = allocation_of(runtime, src) ? Side::kDevice : Side::kHost;
      return cudaSuccess;
  }
  return cudaErrorInvalidMemcpyDirection;
}

void spend(Runtime& runtime, Stream& stream, double bytes, bool inside_device, bool wait) {
  const double ns = kStartNs + bytes / (inside_device ? kDeviceBytesPerNs : kLinkBytesPerNs);
  const double end = runtime.streams().ready_ns(stream) + ns;
  runtime.streams().finish(stream, end);
  if (wait) runtime.streams().host_waited(end);
}

// Bytes from the first to the last that a strided region touches.
size_t extent(size_t width, size_t height, size_t depth, size_t pitch, size_t slice) {
  return (depth - 1) * slice + (height - 1) * pitch + width;
}

cudaError_t check_fill(Runtime& runtime, std::string_view name, void* dst, size_t extent) {
  if (!dst) return cudaErrorInvalidValue;
  return check_side(runtime, name, dst, extent, Side::kDevice);
}

}  // namespace

cudaError_t copy_linear(Runtime& runtime, Stream& stream, std::string_view name, void* dst, const void* src,
                        size_t bytes, cudaMemcpyKind kind, bool wait) {
  CopyRegion region;
  region.dst = dst;
  region.src = src;
  region.width = bytes;
  region.dst_pitch = region.src_pitch = bytes;
  return copy_region(runtime, stream, name, region, kind, wait);
}

cudaError_t copy_region(Runtime& runtime, Stream& stream, std::string_view name, const CopyRegion& r,
                        cudaMemcpyKind kind, bool wait) {
  Side to{}, from{};
  if (const cudaError_t error = sides_of(runtime, r.dst, r.src, kind, &to, &from)) return error;
  if (r.width == 0 || r.height == 0 || r.depth == 0) return cudaSuccess;
  if (r.height * r.depth > 1 && (r.width > r.dst_pitch || r.width > r.src_pitch))
    return cudaErrorInvalidPitchValue;
  const size_t dst_extent = extent(r.width, r.height, r.depth, r.dst_pitch, r.dst_slice);
  const size_t src_extent = extent(r.width, r.height, r.depth, r.src_pitch, r.src_slice);
  if (const cudaError_t error = check_side(runtime, name, r.dst, dst_extent, to)) return error;
  if (const cudaError_t error = check_side(runtime, name, r.src, src_extent, from)) return error;
  const bool inside_device =
      is_device_memory(allocation_of(runtime, r.dst)) && is_device_memory(allocation_of(runtime, r.src));
  for (size_t z = 0; z < r.depth; ++z) {
    for (size_t y = 0; y < r.height; ++y) {
      std::memmove(static_cast<char*>(r.dst) + z * r.dst_slice + y * r.dst_pitch,
                   static_cast<const char*>(r.src) + z * r.src_slice + y * r.src_pitch, r.width);
    }
  }
  spend(runtime, stream, static_cast<double>(r.width) * r.height * r.depth, inside_device, wait);
  return cudaSuccess;
}

cudaError_t fill_region(Runtime& runtime, Stream& stream, std::string_view name, void* dst, size_t pitch,
                        int value, size_t width, size_t height, bool wait) {
  if (width == 0 || height == 0) return cudaSuccess;
  if (height > 1 && width > pitch) return cudaErrorInvalidValue;
  if (const cudaError_t error = check_fill(runtime, name, dst, extent(width, height, 1, pitch, 0)))
    return error;
  for (size_t y = 0; y < height; ++y) std::memset(static_cast<char*>(dst) + y * pitch, value, width);
  spend(runtime, stream, static_cast<double>(width) * height, true, wait);
  return cudaSuccess;
}

cudaError_t fill_pattern(Runtime& runtime, Stream& stream, std::string_view name, void* dst, uint32_t value,
                         unsigned element_bytes, size_t count, bool wait) {
  if (count == 0) return cudaSuccess;
  if (reinterpret_cast<uint64_t>(dst) % element_bytes) return cudaErrorInvalidValue;
  if (const cudaError_t error = check_fill(runtime, name, dst, count * element_bytes)) return error;
  for (size_t i = 0; i < count; ++i)
    std::memcpy(static_cast<char*>(dst) + i * element_bytes, &value, element_bytes);
  spend(runtime, stream, static_cast<double>(count) * element_bytes, true, wait);
  return cudaSuccess;
}

cudaError_t find_symbol(Runtime& runtime, const void* symbol, uint64_t* address, size_t* size) {
  if (Variable* variable = runtime.registry().find_variable(symbol)) {
    const VariableInfo& info = runtime.info(*variable);
    *address = info.address;
    *size = info.size;
    return cudaSuccess;
  }
  // A managed variable is an ordinary object to the host, so its own address arrives here.
  const Allocation* allocation = symbol ? allocation_of(runtime, symbol) : nullptr;
  if (!allocation ||
      (allocation->kind != AllocationKind::Module && allocation->kind != AllocationKind::Managed)) {
    return cudaErrorInvalidSymbol;
  }
  *address = reinterpret_cast<uint64_t>(symbol);
  *size = allocation->end() - *address;
  return cudaSuccess;
}

}  // namespace emu::cuda
