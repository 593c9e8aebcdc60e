// Independent thread scheduling: a warp that diverges becomes fragments, which meet again at post-dominators
// and at the instructions that name the lanes they need.
#include <algorithm>
#include <bit>

#include "gpu/processor.h"
#include "memory/poison.h"

namespace emu::gpu {

Frame* Processor::new_frame(Warp& warp, const Program* program) {
  Frame* frame = nullptr;
  if (!warp.free_frames.empty()) {
    frame = warp.free_frames.back();
    warp.free_frames.pop_back();
  } else {
    frame = warp.frames.emplace_back(std::make_unique<Frame>()).get();
  }
  const size_t words = static_cast<size_t>(program->num_slots) * isa::kLanes;
  if (frame->storage_words < words) {
    frame->storage = std::make_unique_for_overwrite<uint32_t[]>(words + 16);
    frame->storage_words = words;
    auto address = reinterpret_cast<uintptr_t>(frame->storage.get());
    frame->registers = reinterpret_cast<uint32_t*>((address + 63) & ~uintptr_t{63});
  }
  std::fill_n(frame->registers, words, memory::kPoison32);
  frame->predicates.assign(program->num_predicates, 0);
  frame->predicates[isa::kTruePredicate] = ~0u;
  frame->program = program;
  frame->caller = nullptr;
  frame->alloca_bytes = 0;
  frame->call = nullptr;
  frame->return_group = -1;
  if (timed_) {
    frame->slot_ready.assign(program->num_slots, 0);
    frame->slot_pipe.assign(program->num_slots, 0);
    frame->predicate_ready.assign(program->num_predicates, 0);
    frame->guard_ready.assign(program->num_predicates, 0);
  }
  return frame;
}

void Processor::bind(Fragment& f, Frame* frame) {
  f.frame = frame;
  f.file.base[static_cast<size_t>(isa::Base::Registers)] = reinterpret_cast<std::byte*>(frame->registers);
  f.file.base[static_cast<size_t>(isa::Base::Constants)] =
      const_cast<std::byte*>(frame->program->constants.data());
  f.file.base[static_cast<size_t>(isa::Base::Special)] = reinterpret_cast<std::byte*>(f.warp->special.data());
  f.file.predicates = frame->predicates.data();
}

Fragment& Processor::new_fragment(Warp& warp, Frame* frame, LaneMask mask, uint32_t pc, int group,
                                  Time time) {
  Fragment* f = nullptr;
  if (!free_fragments_.empty()) {
    f = free_fragments_.back();
    free_fragments_.pop_back();
  } else {
    f = &fragment_pool_.emplace_back();
  }
  const uint64_t serial = f->serial + 1;
  *f = Fragment{};
  f->serial = serial;
  f->warp = &warp;
  f->mask = mask;
  f->pc = pc;
  f->group = group;
  f->time = time;
  bind(*f, frame);
  warp.fragments.push_back(f);
  enter(*f);
  return *f;
}

void Processor::free_fragment(Fragment& f) {
  leave(f);
  std::erase(f.warp->fragments, &f);
  f.state = Fragment::State::Free;
  ++f.serial;
  free_fragments_.push_back(&f);
}

int Processor::new_group(Warp& warp, int parent, uint32_t pc, Frame* frame, LaneMask members) {
  size_t index = 0;
  while (index < warp.groups.size() && warp.groups[index].used) ++index;
  if (index == warp.groups.size()) warp.groups.emplace_back();
  warp.groups[index] = {parent, pc, frame, members, 0, 0, true};
  return static_cast<int>(index);
}

void Processor::split(Fragment& f, LaneMask taken, uint32_t target, int reconverge) {
  Warp& warp = *f.warp;
  int group = f.group;
  if (reconverge >= 0) {
    const auto pc = static_cast<uint32_t>(reconverge);
    const bool same = group >= 0 && warp.groups[static_cast<size_t>(group)].pc == pc &&
                      warp.groups[static_cast<size_t>(group)].frame == f.frame;
    if (!same) group = new_group(warp, group, pc, f.frame, f.mask);
  }
  Fragment& other = new_fragment(warp, f.frame, taken, target, group, f.time);
  (void)other;
  f.mask &= ~taken;
  f.group = group;
  f.steps_since_split = 0;
}

// The fragment stands at its group's reconvergence point. Either it is the last one and takes the others'
// lanes along, or it parks: its lanes are noted in the group and it ceases to exist.
bool Processor::arrive_at_join(Fragment& f) {
  Warp& warp = *f.warp;
  while (f.group >= 0) {
    Group& group = warp.groups[static_cast<size_t>(f.group)];
    if (group.pc != f.pc || group.frame != f.frame) return true;
    group.arrived |= f.mask;
    group.latest = std::max(group.latest, f.time);
    if (group.arrived != group.members) {
      free_fragment(f);
      return false;
    }
    f.mask = group.arrived;
    f.time = group.latest;
    if (f.state == Fragment::State::Runnable) run_time_[f.run_index] = f.time;
    f.group = group.parent;
    group.used = false;
    group.arrived = 0;
  }
  return true;
}

// Lanes leave the groups from `from` up to but not including `until` (they exited, or went on without the
// others).
void Processor::remove_from_groups(Warp& warp, LaneMask lanes, int from, int until) {
  while (from >= 0 && from != until) {
    Group& group = warp.groups[static_cast<size_t>(from)];
    const int parent = group.parent;
    group.members &= ~lanes;
    group.arrived &= ~lanes;
    group_changed(warp, from);
    from = parent;
  }
}

// Members left a group: perhaps everyone who remains has arrived.
void Processor::group_changed(Warp& warp, int index) {
  Group& group = warp.groups[static_cast<size_t>(index)];
  if (!group.used || group.arrived != group.members) return;
  group.used = false;
  if (group.members == 0) return;
  Fragment& f = new_fragment(warp, group.frame, group.arrived, group.pc, group.parent, group.latest);
  group.arrived = 0;
  arrive_at_join(f);
}

void Processor::release_parked(Warp& warp) {
  for (size_t i = 0; i < warp.groups.size(); ++i) {
    Group& group = warp.groups[i];
    if (!group.used || !group.arrived) continue;
    const LaneMask lanes = group.arrived;
    const int parent = group.parent;
    group.members &= ~lanes;
    group.arrived = 0;
    if (group.members == 0) group.used = false;
    new_fragment(warp, group.frame, lanes, group.pc, parent, group.latest);
  }
}

void Processor::merge(Fragment& into, Fragment& from) {
  Warp& warp = *into.warp;
  // The deepest group both belong to.
  int common = into.group;
  const auto contains = [&](int inner, int group) {
    for (int g = inner; g >= 0; g = warp.groups[static_cast<size_t>(g)].parent) {
      if (g == group) return true;
    }
    return group < 0;
  };
  while (!contains(from.group, common)) common = warp.groups[static_cast<size_t>(common)].parent;
  const int from_group = from.group;
  const LaneMask from_mask = from.mask;
  into.time = std::max(into.time, from.time);
  if (into.state == Fragment::State::Runnable) run_time_[into.run_index] = into.time;
  free_fragment(from);
  const LaneMask into_mask = into.mask;
  const int into_group = into.group;
  into.mask |= from_mask;
  into.group = common;
  remove_from_groups(warp, from_mask, from_group, common);
  remove_from_groups(warp, into_mask, into_group, common);
}

// Makes the fragment hold every live lane of `needed`, taking in fragments that wait at the same instruction.
// Blocks it and returns false while lanes are missing.
bool Processor::gather(Fragment& f, LaneMask needed) {
  Warp& warp = *f.warp;
  if ((needed & warp.live & ~f.mask) == 0) return true;
  for (size_t i = 0; i < warp.fragments.size();) {
    Fragment* other = warp.fragments[i];
    if (other != &f && other->state == Fragment::State::Blocked && other->stall == observe::Stall::Gather &&
        other->pc == f.pc && other->frame == f.frame) {
      merge(f, *other);
      i = 0;
      continue;
    }
    ++i;
  }
  if ((needed & warp.live & ~f.mask) == 0) return true;
  block(f, observe::Stall::Gather, needed);
  return false;
}

void Processor::retry_gatherers(Warp& warp, Time now) {
  for (size_t i = 0; i < warp.fragments.size(); ++i) {
    Fragment* f = warp.fragments[i];
    if (f->state == Fragment::State::Blocked && f->stall == observe::Stall::Gather) wake(*f, now);
  }
}

}  // namespace emu::gpu
