// SPDX-License-Identifier: Apache-2.0
// Exceptions that leave tasks at any place: none is lost, and types are kept where possible.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <gtest/gtest.h>

#include "check.hpp"

namespace {

using apgas::at;
using apgas::place;
using test::check;

struct parse_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct unknown_here : std::runtime_error {
  using std::runtime_error::runtime_error;
};
const apgas::exception_types<parse_error> sent_as_themselves;

template <class E>
std::string what_of(const apgas::task_exception& e) {
  try {
    std::rethrow_exception(e.exception());
  } catch (const E& caught) {
    return caught.what();
  } catch (...) {
    return "of another type";
  }
}

TEST(exceptions, at_rethrows_with_the_type) {
  for (place p : apgas::places()) {
    EXPECT_THROW(at(p, [] { throw std::out_of_range("x"); }), std::out_of_range);
    EXPECT_THROW(at(p, []() -> int { throw std::bad_alloc(); }), std::bad_alloc);
    EXPECT_THROW(at(p, [] { throw apgas::bad_place("x"); }), apgas::bad_place);
    EXPECT_THROW(at(p, [] { static_cast<void>(place(1000)); }), apgas::bad_place);
    try {
      at(p, [] { throw parse_error("line 7"); });
      FAIL();
    } catch (const parse_error& e) {
      EXPECT_STREQ(e.what(), "line 7");
    }
  }
}

TEST(exceptions, at_names_a_type_that_it_cannot_recreate) {
  if (apgas::num_places() == 1) return;  // no exception leaves its place
  try {
    at(test::last(), [] { throw unknown_here("deep"); });
    FAIL();
  } catch (const apgas::remote_exception& e) {
    EXPECT_EQ(e.place_id(), test::last().id());
    EXPECT_NE(e.type_name().find("unknown_here"), std::string::npos) << e.type_name();
    EXPECT_EQ(e.remote_what(), "deep");
  }
  try {  // the same after two hops
    at(test::last(), [] { at(test::next(apgas::here()), [] { throw 42; }); });
    FAIL();
  } catch (const apgas::remote_exception& e) {
    EXPECT_EQ(e.place_id(), 0);
    EXPECT_EQ(e.type_name(), "int");
  } catch (int) {
    FAIL() << "an int came back as itself";
  }
}

TEST(exceptions, at_rethrows_the_exceptions_of_a_finish) {
  for (place p : apgas::places()) {
    try {
      at(p, [] {
        apgas::finish([] {
          for (int i = 0; i < 5; ++i) apgas::async([i] { throw parse_error(std::to_string(i)); });
        });
      });
      FAIL();
    } catch (const apgas::multiple_exceptions& several) {
      EXPECT_EQ(several.size(), 5U);
      for (const auto& e : several) {
        EXPECT_EQ(e.place_id(), p.id());
        EXPECT_NE(what_of<parse_error>(e), "of another type");
      }
    }
  }
}

TEST(exceptions, a_finish_collects_from_all_places) {
  const int each = 10;
  try {
    apgas::finish([] {
      for (place p : apgas::places()) {
        for (int i = 0; i < each; ++i) {
          apgas::async_at(
              p, [](int k) { apgas::async([k] { throw parse_error(std::to_string(k)); }); }, i);
        }
      }
      throw std::logic_error("the body");
    });
    FAIL();
  } catch (const apgas::multiple_exceptions& several) {
    EXPECT_EQ(several.size(), static_cast<std::size_t>(each * apgas::num_places() + 1));
    std::vector<int> by_place(static_cast<std::size_t>(apgas::num_places()));
    int bodies = 0;
    for (const auto& e : several) {
      if (what_of<std::logic_error>(e) == "the body") {
        ++bodies;
        EXPECT_EQ(e.place_id(), 0);
        continue;
      }
      ++by_place[static_cast<std::size_t>(e.place_id())];
      EXPECT_NE(what_of<parse_error>(e), "of another type");
      EXPECT_NE(e.site().file.find("exceptions_test.cpp"), std::string::npos) << e.describe();
      EXPECT_GT(e.site().line, 0U);
    }
    EXPECT_EQ(bodies, 1);
    for (int n : by_place) EXPECT_EQ(n, each);
  }
}

TEST(exceptions, nested_finishes_are_flattened) {
  try {
    apgas::finish([] {
      for (place p : apgas::places()) {
        apgas::async_at(p, [] {
          apgas::finish([] {
            for (place q : apgas::places()) {
              apgas::async_at(q, [] { throw std::range_error("inner"); });
            }
          });
          check(false);  // not reached
        });
      }
    });
    FAIL();
  } catch (const apgas::multiple_exceptions& several) {
    const auto n = static_cast<std::size_t>(apgas::num_places());
    EXPECT_EQ(several.size(), n * n);
    for (const auto& e : several) EXPECT_EQ(what_of<std::range_error>(e), "inner");
  }
}

TEST(exceptions, the_spawn_site_of_an_async_at_is_kept) {
  const unsigned line = __LINE__ + 2;
  try {
    apgas::finish([] { apgas::async_at(test::last(), [] { throw std::runtime_error("x"); }); });
    FAIL();
  } catch (const apgas::multiple_exceptions& several) {
    ASSERT_EQ(several.size(), 1U);
    EXPECT_EQ(several[0].site().line, line);
    EXPECT_EQ(several[0].place_id(), test::last().id());
    const std::string text = several.what();
    EXPECT_NE(text.find("std::runtime_error: x"), std::string::npos) << text;
    EXPECT_NE(text.find("place " + std::to_string(test::last().id())), std::string::npos) << text;
  }
}

TEST(exceptions, a_finish_that_failed_has_waited_for_all) {
  static std::atomic<int> ended{0};
  for (place p : apgas::places()) at(p, [] { ended = 0; });
  EXPECT_THROW(apgas::finish([] {
                 for (place p : apgas::places()) {
                   apgas::async_at(p, [] { throw std::runtime_error("early"); });
                   apgas::async_at(p, [] {
                     for (int i = 0; i < 20; ++i) apgas::yield();
                     ++ended;
                   });
                 }
               }),
               apgas::multiple_exceptions);
  int sum = 0;
  for (place p : apgas::places()) sum += at(p, [] { return ended.exchange(0); });
  EXPECT_EQ(sum, apgas::num_places());
}

struct thrown_while_loaded {
  int x = 1;
  template <class Archive>
  void save(Archive& archive) const {
    archive(x);
  }
  template <class Archive>
  void load(Archive& archive) {
    archive(x);
    throw parse_error("cannot be loaded");
  }
};
struct thrown_while_saved {
  int x = 1;
  template <class Archive>
  void save(Archive&) const {
    throw parse_error("cannot be saved");
  }
  template <class Archive>
  void load(Archive&) {}
};

TEST(exceptions, serialisation_errors_arrive) {
  for (place p : apgas::places()) {
    EXPECT_THROW(at(p, [](const thrown_while_saved&) {}, thrown_while_saved{}), parse_error);
    EXPECT_THROW(at(p, [](const thrown_while_loaded&) {}, thrown_while_loaded{}), parse_error);
    EXPECT_THROW(at(p, [] { return thrown_while_saved{}; }), parse_error);
    EXPECT_THROW(at(p, [] { return thrown_while_loaded{}; }), parse_error);
    EXPECT_THROW(apgas::finish([&] {
                   apgas::async_at(p, [](const thrown_while_loaded&) {}, thrown_while_loaded{});
                 }),
                 apgas::multiple_exceptions);
    EXPECT_THROW(
        apgas::async_at(p, [](const thrown_while_saved&) {}, thrown_while_saved{}), parse_error);
  }
}

}  // namespace
