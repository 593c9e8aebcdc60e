// A thread's bulk groups (cp.async.bulk.commit_group / wait_group), and likewise its cp.async groups.
#pragma once
#include <cstdint>
#include <vector>

namespace emu::units {

// Groups are numbered from 0 in the order a thread commits them. An operation that is issued joins the group
// that the next commit closes; it reports first that its sources have been read, then that its writes are
// done. Non-bulk cp.async groups are the same with done() alone. An idle thread's object holds no heap
// memory.
class BulkGroups {
 public:
  // An operation was issued; keep the number for read_done and done.
  std::uint64_t issue();
  // Closes the open group, empty or not.
  void commit();
  void read_done(std::uint64_t group);
  // Implies read_done if that was not reported.
  void done(std::uint64_t group);

  // wait_group N: all but the newest N committed groups are complete (reads: their sources have been read).
  bool wait_satisfied(std::uint32_t newest, bool reads_only) const;
  // cp.async.wait_all: nothing issued is outstanding, committed or not.
  bool idle() const;
  // Committed groups that are not complete.
  std::uint32_t pending(bool reads_only) const;
  bool ever_committed() const { return next_ > 0; }

 private:
  struct Group {
    std::uint32_t reads = 0;
    std::uint32_t writes = 0;
  };
  Group& group(std::uint64_t number);
  void drop_complete();
  std::uint64_t first_ = 0;  // number of groups_[0]
  std::uint64_t next_ = 0;   // number of the open group
  std::vector<Group> groups_;
};

}  // namespace emu::units
