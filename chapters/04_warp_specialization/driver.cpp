#include "harness/harness.h"

namespace chapter {
void launch(const harness::Problem&, const void* q, const void* k, const void* v, void* o,
            cudaStream_t stream);
}

int main(int argc, char** argv) {
  return harness::run_chapter(
      {.number = 4,
       .title = "Warp specialization",
       .change = "a load warp, an MMA warp and four row warps hand over through mbarriers",
       .launch = chapter::launch,
       .query_tile = 128,
       .key_tile = 128},
      argc, argv);
}
