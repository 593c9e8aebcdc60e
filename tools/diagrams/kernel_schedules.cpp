#include "diagrams/kernel_schedules.h"

#include <fmt/format.h>

namespace diagrams {
namespace {

const Units kUnits;
enum Row { kTma, kTensor, kRows0, kRows1 };

// State of a two-tile kernel while its schedule is laid out.
struct TwoTiles {
  KernelSchedule k{Schedule({"TMA", "tensor core", "row warps 0", "row warps 1"}), {}, kTensor};
  std::vector<int> token_load;   // operation that loads token 2 i (K) or 2 i + 1 (V)
  std::vector<int> token_freed;  // last MMA that reads the token
  int softmax_done[2] = {-1, -1}, pv_done[2] = {-1, -1};

  int load(int token, std::vector<int> after) {
    const int i = token / 2;
    token_load.push_back(k.schedule.add(fmt::format("{}{}", token % 2 ? "V" : "K", i), kTma, kUnits.load,
                                        std::move(after), token % 2 ? "V" : "K"));
    return token_load.back();
  }
  void free(int token, int by) {
    if (static_cast<int>(token_freed.size()) <= token) token_freed.resize(token + 1, -1);
    token_freed[token] = by;
  }
  void qk(int q, int i, bool wait_for_pv) {
    std::vector<int> after = {token_load.at(2 * i)};
    if (softmax_done[q] >= 0) after.push_back(softmax_done[q]);
    if (wait_for_pv && pv_done[q] >= 0) after.push_back(pv_done[q]);
    const int mma = k.schedule.add(fmt::format("Q{}K{}", q, i), kTensor, kUnits.mma, after, "S");
    std::vector<int> softmax_after = {mma};
    if (pv_done[q] >= 0)
      softmax_after.push_back(pv_done[q]);  // O is rescaled only when the last PV has finished
    const int softmax =
        k.schedule.add(fmt::format("softmax {}", i), kRows0 + q, kUnits.softmax, softmax_after, "P");
    k.handoffs.insert(k.handoffs.end(), {{token_load.at(2 * i), mma}, {mma, softmax}});
    softmax_done[q] = softmax;
    if (q == 1) free(2 * i, mma);
  }
  void pv(int q, int i) {
    const int mma = k.schedule.add(fmt::format("P{}V{}", q, i), kTensor, kUnits.mma,
                                   {softmax_done[q], token_load.at(2 * i + 1)}, "O");
    k.handoffs.emplace_back(softmax_done[q], mma);
    pv_done[q] = mma;
    if (q == 1) free(2 * i + 1, mma);
  }
  // Loads every token whose slot is free by now, as the load warp would.
  void refill(int tokens, int slots) {
    while (static_cast<int>(token_load.size()) < tokens) {
      const int token = static_cast<int>(token_load.size());
      if (token < slots) {
        load(token, {});
        continue;
      }
      const int before = token - slots;
      if (before >= static_cast<int>(token_freed.size()) || token_freed[before] < 0) return;
      const int l = load(token, {token_freed[before]});
      k.handoffs.emplace_back(token_freed[before], l);
    }
  }
};

}  // namespace

KernelSchedule one_tile_schedule(int tiles, const std::vector<std::string>& rows) {
  KernelSchedule k{Schedule(rows), {}, 1};
  int previous = -1;
  for (int i = 0; i < tiles; ++i) {
    const std::vector<int> after = previous < 0 ? std::vector<int>{} : std::vector<int>{previous};
    const int key = k.schedule.add(fmt::format("K{}", i), 0, kUnits.load, after, "K");
    const int value = k.schedule.add(fmt::format("V{}", i), 0, kUnits.load, {}, "V");
    const int qk = k.schedule.add(fmt::format("QK{}", i), 1, kUnits.mma, {key, value}, "S");
    const int softmax = k.schedule.add(fmt::format("softmax {}", i), 2, kUnits.softmax, {qk}, "P");
    const int pv = k.schedule.add(fmt::format("PV{}", i), 1, kUnits.mma, {softmax}, "O");
    if (previous >= 0) k.handoffs.emplace_back(previous, key);
    k.handoffs.insert(k.handoffs.end(), {{value, qk}, {qk, softmax}, {softmax, pv}});
    previous = pv;
  }
  return k;
}

KernelSchedule two_tiles_schedule(int tiles) {
  TwoTiles t;
  for (int i = 0; i < tiles; ++i) {
    const std::vector<int> after = i == 0 ? std::vector<int>{} : std::vector<int>{t.pv_done[1]};
    const int key = t.load(2 * i, after);
    const int value = t.load(2 * i + 1, {});
    if (i > 0) t.k.handoffs.emplace_back(t.pv_done[1], key);
    t.token_load[2 * i] = value;  // kv_ready covers both
    for (int q = 0; q < 2; ++q) t.qk(q, i, false);
    for (int q = 0; q < 2; ++q) t.pv(q, i);
  }
  return t.k;
}

KernelSchedule ring_schedule(int tiles, int slots) {
  TwoTiles t;
  for (int i = 0; i < tiles; ++i) {
    t.refill(2 * tiles, slots);
    for (int q = 0; q < 2; ++q) t.qk(q, i, true);
    t.refill(2 * tiles, slots);
    for (int q = 0; q < 2; ++q) t.pv(q, i);
  }
  return t.k;
}

KernelSchedule pipelined_schedule(int tiles, int slots) {
  TwoTiles t;
  t.refill(2 * tiles, slots);
  for (int q = 0; q < 2; ++q) t.qk(q, 0, false);
  for (int i = 0; i < tiles; ++i) {
    for (int q = 0; q < 2; ++q) {
      t.refill(2 * tiles, slots);
      t.pv(q, i);
      t.refill(2 * tiles, slots);
      if (i + 1 < tiles) t.qk(q, i + 1, false);
    }
  }
  return t.k;
}

}  // namespace diagrams
