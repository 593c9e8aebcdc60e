// Calls, returns, and the functions CUDA supplies: vprintf, __assertfail, malloc, free.
#include <fmt/format.h>

#include <bit>
#include <cstdio>
#include <cstring>

#include "gpu/loader.h"
#include "gpu/processor.h"

namespace emu::gpu {

void Processor::enter_call(Fragment& f, const Instr&, const Detail& d, LaneMask active, int32_t callee) {
  Warp& warp = *f.warp;
  const Program* program = launch_.kernel->programs[static_cast<size_t>(callee)].get();
  Frame* caller = f.frame;
  Frame* frame = new_frame(warp, program);
  frame->caller = caller;
  frame->call = &d;
  frame->lanes = active;
  frame->local_base = caller->local_base + caller->program->frame_bytes + caller->alloca_bytes;
  frame->return_pc = f.pc + 1;
  reserve_local(warp, frame->local_base + program->frame_bytes + 1);
  const ptx::Function& function = *program->function;
  if (function.params.size() != d.argument_offsets.size()) {
    throw Fault{cuda::Status::kInvalidPc,
                fmt::format("{} takes {} arguments, the call passes {}", function.name,
                            function.params.size(), d.argument_offsets.size())};
  }
  for (size_t i = 0; i < function.params.size(); ++i) {
    const ptx::Parameter& parameter = function.params[i];
    if (parameter.reg >= 0) {
      throw Fault{cuda::Status::kIllegalInstruction,
                  fmt::format("{}: .reg parameters are not supported", function.name)};
    }
    for (LaneMask rest = active; rest; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      std::memcpy(local_memory(warp, lane, frame->local_base + parameter.offset, parameter.size),
                  local_memory(warp, lane, caller->local_base + static_cast<uint64_t>(d.argument_offsets[i]),
                               d.argument_sizes[i]),
                  std::min(parameter.size, d.argument_sizes[i]));
    }
  }
  // Lanes that return at different times meet again behind the call.
  f.group = new_group(warp, f.group, frame->return_pc, caller, active);
  frame->return_group = f.group;
  f.pc = 0;
  bind(f, frame);
}

Outcome Processor::exec_call(Fragment& f, const Instr& in, LaneMask active) {
  const Detail& d = detail(f, in);
  if (active != f.mask) {  // a guarded call: the other lanes go on behind it
    split(f, f.mask & ~active, f.pc + 1, static_cast<int>(f.pc) + 1);
  }
  if (!d.flag) {
    if (d.callee < 0) return call_builtin(f, d, active);
    enter_call(f, in, d, active, d.callee);
    return Outcome::Jump;
  }
  const uint64_t* targets = f.file.at<uint64_t>(in.src[0]);
  const uint64_t target = targets[std::countr_zero(active)];
  LaneMask same = 0;
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    if (targets[std::countr_zero(rest)] == target) same |= rest & -rest;
  }
  if (same != active) split(f, active & ~same, f.pc, static_cast<int>(f.pc) + 1);
  LoadedModule& module = *launch_.kernel->module;
  const uint64_t index = (target - kCodeWindow) / 16 - 1;
  if (target < kCodeWindow || (target & 15) || index >= module.functions.size()) {
    throw Fault{cuda::Status::kInvalidPc,
                fmt::format("indirect call to 0x{:x}, which is no function's address", target)};
  }
  const auto [from, info] = module.functions[index];
  const auto found = launch_.kernel->index.find({from, info});
  if (found == launch_.kernel->index.end()) {
    throw Fault{cuda::Status::kInvalidPc,
                fmt::format("indirect call to {}, which this kernel does not reach", info->name)};
  }
  enter_call(f, in, d, same, found->second);
  return Outcome::Jump;
}

Outcome Processor::exec_ret(Fragment& f, const Instr& in, LaneMask active) {
  Frame* frame = f.frame;
  Frame* caller = frame->caller;
  if (!caller) return exec_exit(f, in, active);
  Warp& warp = *f.warp;
  if (active != f.mask) {  // the lanes that stay behind become a fragment of their own
    split(f, f.mask & ~active, f.pc + 1, -1);
  }
  const ptx::Function& function = *frame->program->function;
  const Detail& d = *frame->call;
  for (size_t i = 0; i < std::min(function.returns.size(), d.result_offsets.size()); ++i) {
    const ptx::Parameter& result = function.returns[i];
    for (LaneMask rest = active; rest; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      std::memcpy(local_memory(warp, lane, caller->local_base + static_cast<uint64_t>(d.result_offsets[i]),
                               d.result_sizes[i]),
                  local_memory(warp, lane, frame->local_base + result.offset, result.size),
                  std::min(result.size, d.result_sizes[i]));
    }
  }
  // Groups opened inside the callee are left: whoever else is in them returns on its own.
  const int outer = frame->return_group;
  const int inner = f.group;
  f.group = outer;
  f.pc = frame->return_pc;
  frame->lanes &= ~active;
  bind(f, caller);
  if (inner != outer) remove_from_groups(warp, active, inner, outer);
  if (frame->lanes == 0) warp.free_frames.push_back(frame);
  if (!arrive_at_join(f)) return Outcome::Gone;
  run_time_[f.run_index] = f.time;
  return Outcome::Jump;
}

namespace {

struct PrintArgument {
  const std::byte* bytes;
  size_t offset = 0;
  size_t limit;
  template <typename T>
  T take() {
    offset = (offset + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    T value{};
    if (offset + sizeof(T) <= limit) std::memcpy(&value, bytes + offset, sizeof(T));
    offset += sizeof(T);
    return value;
  }
};

}  // namespace

// The C format language as CUDA's printf takes it; each conversion is handed to snprintf on its own. A precision
// from an argument is not taken: the conversion is printed as it stands (seen on an H200). `conversions` receives
// how many there were.
static std::string format_device(const std::string& format, PrintArgument arguments,
                                 const std::function<std::string(uint64_t)>& read_string, int& conversions) {
  conversions = 0;
  std::string out;
  char buffer[512];
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      out += format[i];
      continue;
    }
    std::string spec = "%";
    size_t j = i + 1;
    int length = 0;  // number of 'l'
    while (j < format.size() && std::strchr("-+ #0123456789.*hlLzjt", format[j])) {
      if (format[j] == '*') {
        spec += std::to_string(arguments.take<int32_t>());
      } else if (format[j] == 'l' || format[j] == 'z' || format[j] == 'j' || format[j] == 't') {
        length += format[j] == 'l' ? 1 : 2;
      } else if (format[j] != 'h' && format[j] != 'L') {
        spec += format[j];
      }
      ++j;
    }
    if (j >= format.size()) break;
    const char conversion = format[j];
    const std::string_view written = std::string_view(format).substr(i, j + 1 - i);
    i = j;
    conversions += conversion != '%' ? 1 : 0;
    if (written.find(".*") != written.npos) {
      out += written;
      continue;
    }
    switch (conversion) {
      case '%':
        out += '%';
        continue;
      case 'd':
      case 'i':
        spec += "lld";
        std::snprintf(buffer, sizeof buffer, spec.c_str(),
                      length ? static_cast<long long>(arguments.take<int64_t>())
                             : static_cast<long long>(arguments.take<int32_t>()));
        break;
      case 'u':
      case 'x':
      case 'X':
      case 'o':
        spec += "ll";
        spec += conversion;
        std::snprintf(buffer, sizeof buffer, spec.c_str(),
                      length ? static_cast<unsigned long long>(arguments.take<uint64_t>())
                             : static_cast<unsigned long long>(arguments.take<uint32_t>()));
        break;
      case 'c':
        spec += 'c';
        std::snprintf(buffer, sizeof buffer, spec.c_str(), arguments.take<int32_t>());
        break;
      case 'p':
        std::snprintf(buffer, sizeof buffer, "0x%llx",
                      static_cast<unsigned long long>(arguments.take<uint64_t>()));
        break;
      case 's': {
        spec += 's';
        const std::string text = read_string(arguments.take<uint64_t>());
        std::string wide(text.size() + 512, '\0');
        wide.resize(static_cast<size_t>(std::snprintf(wide.data(), wide.size(), spec.c_str(), text.c_str())));
        out += wide;
        continue;
      }
      case 'f':
      case 'F':
      case 'e':
      case 'E':
      case 'g':
      case 'G':
      case 'a':
      case 'A':
        spec += conversion;
        std::snprintf(buffer, sizeof buffer, spec.c_str(), arguments.take<double>());
        break;
      default:
        out += spec + conversion;
        continue;
    }
    out += buffer;
  }
  return out;
}

Outcome Processor::call_builtin(Fragment& f, const Detail& d, LaneMask active) {
  Warp& warp = *f.warp;
  const auto argument = [&](size_t index, int lane) {
    uint64_t value = 0;
    const uint32_t size = std::min<uint32_t>(d.argument_sizes.at(index), 8);
    std::memcpy(&value,
                local_memory(warp, lane,
                             f.frame->local_base + static_cast<uint64_t>(d.argument_offsets[index]), size),
                size);
    return value;
  };
  const auto give_back = [&](int lane, uint64_t value) {
    if (d.result_offsets.empty()) return;
    const uint32_t size = std::min<uint32_t>(d.result_sizes[0], 8);
    std::memcpy(
        local_memory(warp, lane, f.frame->local_base + static_cast<uint64_t>(d.result_offsets[0]), size),
        &value, size);
  };
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const auto read_string = [&](uint64_t address) {
      std::string text;
      while (text.size() < 65536) {
        const Location at = locate(f, ptx::Space::Generic, address + text.size(), 1, lane, false, 1);
        const char c = static_cast<char>(*at.bytes);
        if (!c) break;
        text += c;
      }
      return text;
    };
    if (d.name == "vprintf") {
      const std::string format = read_string(argument(0, lane));
      const uint64_t block = argument(1, lane);
      PrintArgument arguments{nullptr, 0, 0};
      if (block) {
        const memory::Located where = memory::classify(block);
        if (where.space == memory::Space::Local) {
          arguments.bytes = local_memory(warp, lane, where.offset, 1);
          arguments.limit = warp.local_stride - where.offset;
        } else {
          arguments.bytes = reinterpret_cast<const std::byte*>(block);
          const auto* allocation = launch_.memory->find(block);
          arguments.limit = allocation ? allocation->end() - block : 0;
        }
        if (!arguments.bytes) arguments.limit = 0;
      }
      int conversions = 0;
      launch_.print(format_device(format, arguments, read_string, conversions));
      // Not the characters but the arguments (CUDA C++ Programming Guide, formatted output).
      give_back(lane, static_cast<uint64_t>(conversions));
    } else if (d.name == "__assertfail") {
      const std::string what = read_string(argument(0, lane));
      const std::string file = read_string(argument(1, lane));
      const uint64_t line = argument(2, lane);
      const std::string function = read_string(argument(3, lane));
      const Cta& cta = *warp.cta;
      const uint32_t thread = warp.index * 32 + static_cast<uint32_t>(lane);
      const cuda::Dim3& block = launch_.request->block;
      throw Fault{
          cuda::Status::kAssert,
          fmt::format("{}:{}: {}: block: [{},{},{}], thread: [{},{},{}] Assertion `{}` failed.", file,
                      static_cast<uint32_t>(line), function, cta.id.x, cta.id.y, cta.id.z, thread % block.x,
                      thread / block.x % block.y, thread / block.x / block.y, what)};
    } else if (d.name == "malloc") {
      const uint64_t bytes = argument(0, lane);
      uint64_t address = 0;
      constexpr uint64_t kHeapLimit = uint64_t{8} << 20;  // CUDA's default cudaLimitMallocHeapSize
      if (launch_.heap_bytes.fetch_add(bytes) + bytes <= kHeapLimit && bytes > 0) {
        if (launch_.memory->allocate(bytes, memory::AllocationKind::Heap, address) !=
            memory::MemoryStatus::Ok)
          address = 0;
      } else {
        launch_.heap_bytes.fetch_sub(bytes);
      }
      give_back(lane, address);
    } else if (d.name == "free") {
      const uint64_t address = argument(0, lane);
      if (!address) continue;
      const auto* allocation = launch_.memory->find(address);
      const uint64_t bytes = allocation ? allocation->bytes : 0;
      if (!allocation || allocation->begin != address || allocation->kind != memory::AllocationKind::Heap) {
        throw Fault{cuda::Status::kIllegalAddress,
                    fmt::format("device free(0x{:x}): {}", address, launch_.memory->describe(address, 1))};
      }
      launch_.memory->free(address);
      launch_.heap_bytes.fetch_sub(bytes);
    }
  }
  note_progress();
  return Outcome::Next;
}

}  // namespace emu::gpu
