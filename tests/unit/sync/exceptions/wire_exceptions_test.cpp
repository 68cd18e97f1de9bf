// SPDX-License-Identifier: Apache-2.0

// Exceptions as bytes: they stay the same over any number of places, and malformed bytes are
// refused.

#include <ios>
#include <string>
#include <system_error>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/errors.hpp>
#include <apgas/sync/remote_call.hpp>

#include "finish_details.hpp"
#include "finish_results.hpp"
#include "wire_exceptions.hpp"

namespace {

using namespace apgas;

std::string refusal(auto read) {
  try {
    read();
  } catch (const serialization_error& e) {
    return e.what();
  }
  return "accepted";
}

template <class E>
std::string what_after_three_places(const E& thrown) {
  std::vector<task_exception> exceptions{{std::make_exception_ptr(thrown), 1, {}}};
  for (int place = 0; place < 3; ++place) {
    comm::out_archive out;
    sync::save_exceptions(out, exceptions);
    comm::in_archive in(out.bytes());
    exceptions.clear();
    sync::load_exceptions(in, exceptions);
  }
  try {
    std::rethrow_exception(exceptions.at(0));
  } catch (const E& e) {
    EXPECT_EQ(e.code(), thrown.code());
    return e.what();
  }
}

TEST(wire_exceptions, the_text_of_a_code_does_not_grow) {
  const std::ios_base::failure stream("cannot read");
  EXPECT_EQ(what_after_three_places(stream), stream.what());
  const std::system_error code(std::make_error_code(std::errc::timed_out), "cannot wait");
  EXPECT_EQ(what_after_three_places(code), code.what());
}

TEST(wire_exceptions, a_failed_reply_without_an_exception_is_refused) {
  comm::out_archive out;
  out(false, std::size_t{0});
  EXPECT_NE(refusal([&] { sync::exception_from_reply(out.bytes()); }).find("holds 0 exceptions"),
            std::string::npos);
}

TEST(wire_exceptions, an_impossible_place_is_refused) {
  comm::out_archive out;
  sync::save_exceptions(out, {{std::make_exception_ptr(1), -5, {}}});
  std::vector<task_exception> exceptions;
  comm::in_archive in(out.bytes());
  EXPECT_NE(refusal([&] { sync::load_exceptions(in, exceptions); }).find("from place -5"),
            std::string::npos);
}

TEST(wire_exceptions, offers_for_a_finish_that_collects_none_are_refused) {
  comm::out_archive out;
  out(std::size_t{0}, true, true, 5L);
  const sync::place_state place;
  sync::finish_details details(place);
  EXPECT_NE(refusal([&] { sync::load_results(out.bytes(), details); }).find("collects none"),
            std::string::npos);
}

}  // namespace
