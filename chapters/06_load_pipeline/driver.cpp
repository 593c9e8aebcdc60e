#include "harness/harness.h"

namespace chapter {
void launch(const harness::Problem&, const void* q, const void* k, const void* v, void* o,
            cudaStream_t stream);
}

int main(int argc, char** argv) {
  return harness::run_chapter({.number = 6,
                               .title = "Load pipeline",
                               .change = "K and V as separate tokens through a ring of three slots",
                               .launch = chapter::launch,
                               .query_tile = 256,
                               .key_tile = 128},
                              argc, argv);
}
