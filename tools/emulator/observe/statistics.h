// What the warps and the units did with their time: emu --stats.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "observe/events.h"

namespace emu::observe {

// Collects one launch and hands `print` the report when it ends. Warps with the same index in every CTA are
// counted together; those that execute the same code (at least half of their instructions in common) form a
// role.
class Statistics final : public Listener {
 public:
  explicit Statistics(std::function<void(const std::string&)> print) : print_(std::move(print)) {}

  void launch_begins(std::string_view kernel, double clock_ghz, bool modelled) override;
  void host_worked(uint64_t warp_instructions, double seconds) override;
  void launch_ends(double cycles) override;
  void cta_begins(const Place&, double time, uint32_t warps) override;
  void cta_ends(const Place&, double time) override;
  void issued(const Place&, double time, uint32_t slots, uint8_t cost_class, const PipeCycles&) override;
  void stalled(const Place&, Stall, double begin, double end, uint64_t object, uint64_t phase) override;
  void operation(const Place&, Unit, double issue, double start, double end, double visible, uint64_t bytes,
                 std::string_view label, uint64_t target, int64_t source) override;

 private:
  struct Warp {
    uint64_t instructions = 0;
    double slots = 0;
    double resident = 0;  // cycles, summed over CTAs
    std::array<double, kStalls> stalls{};
    std::map<const Site*, uint64_t> sites;
  };
  struct Role {
    std::vector<size_t> warps;
    std::string name;
    Warp total;
  };
  struct SmTime {
    double first = 0, last = 0;
    bool any = false;
  };
  struct Busy {
    std::string name;
    double share = 0;
  };

  std::vector<Role> roles() const;
  std::vector<Busy> units() const;
  std::string waits(const std::vector<Role>& roles) const;
  std::string longest_wait(const std::vector<Role>& roles) const;
  std::string report(double cycles) const;
  std::string host_line() const;
  double sm_cycles() const;

  std::function<void(const std::string&)> print_;
  std::string kernel_;
  double clock_ghz_ = 1;
  bool modelled_ = true;
  uint64_t ctas_ = 0;
  uint64_t host_instructions_ = 0;
  double host_seconds_ = 0;
  std::vector<Warp> warps_;
  std::map<uint64_t, double> cta_began_;
  std::map<uint64_t, uint32_t> cta_warps_;
  std::map<uint32_t, SmTime> sms_;
  double slots_ = 0;
  PipeCycles pipes_{};
  std::array<double, static_cast<size_t>(Unit::Count)> unit_cycles_{};
  std::map<std::pair<const Site*, Stall>, double> places_;
};

}  // namespace emu::observe
