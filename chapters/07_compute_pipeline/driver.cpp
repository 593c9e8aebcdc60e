#include "harness/harness.h"

namespace chapter {
void launch(const harness::Problem&, const void* q, const void* k, const void* v, void* o,
            cudaStream_t stream);
}

int main(int argc, char** argv) {
  return harness::run_chapter({.number = 7,
                               .title = "Compute pipeline",
                               .change = "Q K(i+1) is issued right behind P V(i)",
                               .launch = chapter::launch,
                               .query_tile = 256,
                               .key_tile = 128},
                              argc, argv);
}
