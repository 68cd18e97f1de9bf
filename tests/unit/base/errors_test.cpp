// SPDX-License-Identifier: Apache-2.0
// The exception classes (base class and texts), and the version macros.
#include <apgas/errors.hpp>

#include <stdexcept>
#include <string>
#include <type_traits>

#include <gtest/gtest.h>

#include <apgas/version.hpp>

template <class Error>
class EveryError : public testing::Test {};

using errors =
    testing::Types<apgas::illegal_operation, apgas::bad_place, apgas::serialization_error,
                   apgas::launch_error, apgas::broken_promise, apgas::dead_place_error,
                   apgas::clock_use_error, apgas::phaser_use_error>;
TYPED_TEST_SUITE(EveryError, errors);

TYPED_TEST(EveryError, IsAnApgasErrorConstructedFromItsText) {
  static_assert(std::is_base_of_v<apgas::error, TypeParam>);
  static_assert(std::is_nothrow_copy_constructible_v<TypeParam>);
  try {
    throw TypeParam("what and why");
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "what and why");
  }
}

TEST(RemoteException, ReportsPlaceTypeAndText) {
  const apgas::remote_exception e(3, "my::failure", "out of luck");
  EXPECT_EQ(e.place_id(), 3);
  EXPECT_EQ(e.type_name(), "my::failure");
  EXPECT_EQ(e.remote_what(), "out of luck");
  EXPECT_STREQ(e.what(), "place 3 threw my::failure: out of luck");
}

TEST(Version, TheStringAgreesWithTheNumbers) {
  EXPECT_EQ(std::to_string(APGAS_VERSION_MAJOR) + "." + std::to_string(APGAS_VERSION_MINOR) + "." +
                std::to_string(APGAS_VERSION_PATCH),
            APGAS_VERSION_STRING);
  static_assert(APGAS_VERSION >= 1'000);
}
