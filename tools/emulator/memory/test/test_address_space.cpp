#include "memory/address_space.h"
#include "testing/catch.h"

using namespace emu::memory;

TEST_CASE("a CTA's shared addresses start at 1 KB and carry its cluster rank, as measured on an H200") {
  CHECK(shared_address(0, kSharedReservedBytes) == 0x00000400u);
  CHECK(shared_address(1, kSharedReservedBytes) == 0x01000400u);
  CHECK(cta_rank_of(0x01000400) == 1);
  CHECK(cta_offset_of(0x01000400) == 0x400);
  // How a template library names the even CTA's barrier: it clears bit 24.
  CHECK((shared_address(1, 0x1238) & 0xFEFFFFFFu) == shared_address(0, 0x1238));
}

TEST_CASE("a generic address names its window") {
  CHECK(classify(shared_to_generic(0x01000400)).space == Space::Shared);
  CHECK(classify(shared_to_generic(0x01000400)).offset == 0x01000400u);
  CHECK((kSharedWindow & 0xFFFFFFFFu) == 0);  // so the low half of a generic pointer is the shared address
  CHECK(classify(local_to_generic(0x20)).space == Space::Local);
  CHECK(classify(local_to_generic(0x20)).offset == 0x20u);
  CHECK(classify(0x7f0012345678).space == Space::Global);
  CHECK(classify(kHostAddressEnd).space == Space::Invalid);
  CHECK(classify(kSharedWindow + kWindowBytes).space == Space::Invalid);
  CHECK(classify(~0ull).space == Space::Invalid);
}

TEST_CASE("an address is described by its window") {
  CHECK(describe_address(shared_to_generic(0x01000400)) == "shared 0x400 of CTA rank 1");
  CHECK(describe_address(local_to_generic(16)) == "local 0x10");
  CHECK(describe_address(~0ull) == "address 0xffffffffffffffff, outside every window");
}
