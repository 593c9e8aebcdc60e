#include "harness/harness.h"

namespace chapter {
void launch(const harness::Problem&, const void* q, const void* k, const void* v, void* o,
            cudaStream_t stream);
}

int main(int argc, char** argv) {
  return harness::run_chapter({.number = 5,
                               .title = "Two Q tiles",
                               .change = "two query tiles a CTA share every K and V tile",
                               .launch = chapter::launch,
                               .query_tile = 256,
                               .key_tile = 128},
                              argc, argv);
}
