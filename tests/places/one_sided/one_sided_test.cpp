// SPDX-License-Identifier: Apache-2.0
// global_ptr, rput, rget and copy: their values, their completion, and their errors.
#include <complex>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "check.hpp"

namespace {

using apgas::allocate;
using apgas::at;
using apgas::copy;
using apgas::deallocate;
using apgas::global_ptr;
using apgas::place;
using apgas::rget;
using apgas::rput;
using test::check;

static_assert(std::is_trivially_copyable_v<global_ptr<double>>);
static_assert(sizeof(global_ptr<char>) == 24);

struct particle {
  double x = 0;
  float charge = 0;
  std::int16_t kind = 0;
  bool operator==(const particle&) const = default;
};

std::vector<int> counted(int n, int first) {
  std::vector<int> v(static_cast<std::size_t>(n));
  std::iota(v.begin(), v.end(), first);
  return v;
}

// The elements as the home reads them.
std::vector<int> at_home(global_ptr<int> p, std::size_t n) {
  return at(p.home(), [p, n] { return std::vector<int>(p.local(), p.local() + n); });
}

// The message of the exception that f throws.
template <class F>
std::string refusal(F f) {
  try {
    f();
  } catch (const apgas::illegal_operation& e) {
    return e.what();
  } catch (const apgas::multiple_exceptions& e) {
    return e.what();
  }
  return "nothing";
}
bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

TEST(global_ptr, points_into_zeroed_memory) {
  for (place p : apgas::places()) {
    auto block = allocate<int>(p, 1000);
    ASSERT_TRUE(block);
    EXPECT_EQ(block.home(), p);
    EXPECT_EQ(at_home(block, 1000), std::vector<int>(1000));
    const auto fourth = block + 4;
    EXPECT_EQ(fourth - block, 4);
    EXPECT_EQ(fourth - 4, block);
    EXPECT_NE(fourth, block);
    rput(7, fourth);
    EXPECT_EQ(rget(fourth), 7);
    EXPECT_EQ(rget(++block), 0);
    EXPECT_EQ(rget(block++ + 3), 7);
    EXPECT_EQ(rget(3 + --block), 7);
    block -= 1;
    deallocate(block);
    // The next allocation gets the same memory.
    const auto again = allocate<int>(p, 1000);
    EXPECT_EQ(at_home(again, 1000), std::vector<int>(1000));
    deallocate(again);
  }
  EXPECT_FALSE(global_ptr<int>());
  deallocate(global_ptr<int>());
}

TEST(global_ptr, is_captured_and_sent) {
  const auto sums = allocate<long>(test::last(), 3);
  for (place p : apgas::places()) {
    at(p, [sums] { rput(rget(sums) + 1, sums); });
    at(
        p, [](const std::vector<global_ptr<long>>& all) { rput(rget(all[1]) + 2, all[1]); },
        std::vector{sums, sums + 1});
  }
  EXPECT_EQ(rget(sums), apgas::num_places());
  EXPECT_EQ(rget(sums + 1), 2 * apgas::num_places());
  deallocate(sums);
}

TEST(rput, moves_a_value_of_any_trivially_copyable_type) {
  for (place p : apgas::places()) {
    const auto particles = allocate<particle>(p, 2);
    rput({1.5, -1.F, 3}, particles + 1);
    EXPECT_EQ(rget(particles), particle());
    EXPECT_EQ(rget(particles + 1), (particle{1.5, -1.F, 3}));
    const auto z = allocate<std::complex<double>>(p, 4);
    rput({1, 2}, z);
    copy(z, z + 2, 1);
    EXPECT_EQ(rget(z + 2), std::complex<double>(1, 2));
    deallocate(particles);
    deallocate(z);
  }
}

TEST(copy, moves_spans_of_any_length) {
  for (place p : test::some_places()) {
    for (const int n : {0, 1, 5, 1000, 30'000, 1'000'000 / test::slower}) {
      const auto size = static_cast<std::size_t>(n);
      const auto block = allocate<int>(p, size + 2);
      const std::vector<int> source = counted(n, 17);
      copy(source, block + 1);
      std::vector<int> seen(size);
      copy(block + 1, seen);
      EXPECT_EQ(seen, source);
      EXPECT_EQ(rget(block), 0);
      EXPECT_EQ(rget(block + n + 1), 0);
      deallocate(block);
    }
  }
}

TEST(copy, goes_between_any_two_places) {
  constexpr int n = 400'000;
  const std::vector<int> source = counted(n, 3);
  for (place p : test::some_places()) {
    for (place q : test::some_places()) {
      const auto from = allocate<int>(p, n);
      const auto to = allocate<int>(q, n);
      copy(source, from);
      copy(from + 10, to, n - 10);
      EXPECT_EQ(rget(to), 13);
      EXPECT_EQ(rget(to + n - 11), n + 2);
      EXPECT_EQ(rget(to + n - 1), 0);
      at(q, [from, to] { copy(from, to, std::size_t{n}); });
      EXPECT_EQ(at_home(to, n), source);
      deallocate(from);
      deallocate(to);
    }
  }
}

TEST(one_sided, a_finish_waits_for_asynchronous_accesses) {
  constexpr int n = 50'000;
  for (place p : apgas::places()) {
    const auto block = allocate<int>(p, 3 * n);
    const std::vector<int> source = counted(n, 1);
    std::vector<int> back(n);
    apgas::finish([&] {
      apgas::async_copy(source, block);
      for (int i = 0; i < 500; ++i) apgas::async_rput(i, block + n + i);
    });
    EXPECT_EQ(at_home(block, n), source);
    EXPECT_EQ(at_home(block + n, 500), counted(500, 0));
    apgas::finish([&] {
      apgas::async_copy(block, back);
      apgas::async_copy(block, block + 2 * n, n);
    });
    EXPECT_EQ(back, source);
    EXPECT_EQ(at_home(block + 2 * n, n), source);
    deallocate(block);
  }
}

TEST(one_sided, a_finish_of_another_place_waits_too) {
  const auto block = allocate<int>(place(), static_cast<std::size_t>(apgas::num_places()));
  apgas::finish([block] {
    for (place p : apgas::places()) {
      apgas::async_at(p, [block, p] { apgas::async_rput(p.id() + 1, block + p.id()); });
    }
  });
  EXPECT_EQ(at_home(block, static_cast<std::size_t>(apgas::num_places())),
            counted(apgas::num_places(), 1));
  deallocate(block);
}

TEST(one_sided, futures_are_set_on_completion) {
  constexpr int n = 60'000;
  for (place p : apgas::places()) {
    const auto block = allocate<int>(p, 2 * n);
    const std::vector<int> source = counted(n, 5);
    apgas::copy_future(source, block).get();
    apgas::rput_future(-1, block + 1).get();
    const apgas::future<int> one = apgas::rget_future(block + 1);
    const apgas::future<int> two = apgas::rget_future(block + 2);
    EXPECT_EQ(one.get() + two.get(), -1 + 7);
    apgas::copy_future(block, block + n, n).get();
    std::vector<int> back(n);
    apgas::copy_future(block + n, back).get();
    EXPECT_EQ(back, at_home(block, n));
    deallocate(block);
  }
}

TEST(one_sided, a_notified_task_sees_the_written_elements) {
  for (place p : apgas::places()) {
    const auto block = allocate<int>(p, 1001);
    const auto sum = allocate<long>(place(), 1);
    const std::vector<int> source = counted(1000, 0);
    apgas::finish([&] {
      apgas::copy_notify(
          source, block,
          [block, sum](long factor) {
            check(apgas::here() == block.home());
            apgas::fetch_add(sum,
                             factor * std::accumulate(block.local(), block.local() + 1000, 0L));
          },
          2L);
      apgas::rput_notify(9, block + 1000, [last = block + 1000, sum] {
        apgas::fetch_add(sum, long{*last.local()});
      });
    });
    EXPECT_EQ(rget(sum), 2 * 499'500 + 9);
    deallocate(block);
    deallocate(sum);
  }
}

TEST(one_sided, many_tasks_wait_at_a_time) {
  constexpr int tasks = 500;
  const auto block = allocate<int>(test::last(), 2 * tasks);
  apgas::finish([&] {
    for (int i = 0; i < tasks; ++i) {
      apgas::async([i, block] {
        const auto own = block + 2 * i;
        copy(std::vector<int>{i, -i}, own);
        check(rget(own) == i && rget(own + 1) == -i);
      });
    }
  });
  const std::vector<int> all = at_home(block, 2 * tasks);
  for (std::size_t i = 0; i < all.size(); i += 2) EXPECT_EQ(all[i], -all[i + 1]);
  EXPECT_EQ(all[2 * tasks - 2], tasks - 1);
  deallocate(block);
}

TEST(one_sided, rejects_accesses_out_of_range) {
  for (place p : apgas::places()) {
    const auto block = allocate<int>(p, 10);
    std::vector<int> eleven(11);
    const auto huge = std::numeric_limits<std::ptrdiff_t>::max();
    for (const auto& wrong : {block + 10, block - 1, block + huge, block - huge}) {
      EXPECT_TRUE(
          contains(refusal([&] { rput(1, wrong); }), "rput was asked to access 4 bytes at offset"));
      EXPECT_TRUE(contains(refusal([&] { rget(wrong); }), "of an allocation of 40 bytes at place"));
      EXPECT_TRUE(contains(refusal([&] { apgas::rget_future(wrong).get(); }), "rget_future was"));
      EXPECT_TRUE(
          contains(refusal([&] { apgas::finish([&] { apgas::async_rput(1, wrong); }); }), "async"));
    }
    EXPECT_TRUE(
        contains(refusal([&] { copy(eleven, block); }), "copy was asked to access 44 bytes"));
    EXPECT_TRUE(
        contains(refusal([&] { copy(block, eleven); }), "copy was asked to access 44 bytes"));
    EXPECT_TRUE(contains(refusal([&] { apgas::copy_future(eleven, block).get(); }), "copy_future"));
    EXPECT_TRUE(contains(refusal([&] { copy(block, block, -1); }), "copy was asked to access"));
    EXPECT_TRUE(contains(refusal([&] { copy(block, block, huge); }), "copy was asked to access"));
    EXPECT_TRUE(
        contains(refusal([&] { apgas::finish([&] { apgas::async_copy(block + 4, eleven); }); }),
                 "async_copy was asked to access"));
    EXPECT_EQ(at_home(block, 10), std::vector<int>(10));
    deallocate(block);
  }
}

TEST(one_sided, rejects_stale_pointers) {
  for (place p : apgas::places()) {
    const auto gone = allocate<int>(p, 10);
    deallocate(gone);
    const auto other = allocate<int>(p, 10);
    EXPECT_TRUE(contains(refusal([&] { rput(1, gone); }), "stale global_ptr"));
    EXPECT_TRUE(contains(refusal([&] { rget(gone); }), "stale global_ptr"));
    EXPECT_TRUE(contains(refusal([&] { deallocate(gone); }), "stale global_ptr"));
    EXPECT_TRUE(contains(refusal([&] { deallocate(other + 1); }), "element 1 of an allocation"));
    EXPECT_EQ(rget(other), 0);
    deallocate(other);
    if (p != apgas::here()) {
      EXPECT_THROW(gone.local(), apgas::bad_place);
    } else {
      EXPECT_THROW(gone.local(), apgas::illegal_operation);
    }
  }
  const global_ptr<int> none;
  EXPECT_TRUE(contains(refusal([&] { rput(1, none); }), "points to nothing"));
  EXPECT_TRUE(contains(refusal([&] { rget(none); }), "points to nothing"));
}

// Pointers as if from a run with more places and more memory.
TEST(one_sided, rejects_pointers_of_another_run) {
  struct fake {
    apgas::remote::allocation_name block;
    std::int64_t index = 0;
  };
  static_assert(sizeof(fake) == sizeof(global_ptr<int>));
  for (const auto& block : {apgas::remote::allocation_name{apgas::num_places(), 0, 1, 1},
                            apgas::remote::allocation_name{-1, 0, 1, 1}}) {
    const auto p = std::bit_cast<global_ptr<int>>(fake{block});
    EXPECT_TRUE(contains(refusal([&] { rput(1, p); }), "which does not exist"));
    EXPECT_TRUE(contains(refusal([&] { deallocate(p); }), "which does not exist"));
  }
  for (place home : apgas::places()) {
    for (const auto& block : {apgas::remote::allocation_name{home.id(), 1U << 31, 1, 1},
                              apgas::remote::allocation_name{home.id(), 0, 1U << 31, 1},
                              apgas::remote::allocation_name{home.id(), 0, 0, 1}}) {
      const auto p = std::bit_cast<global_ptr<int>>(fake{block});
      EXPECT_TRUE(contains(refusal([&] { rput(1, p); }), "stale global_ptr"));
      EXPECT_TRUE(contains(refusal([&] { deallocate(p); }), "stale global_ptr"));
    }
  }
}

TEST(allocate, rejects_impossible_sizes) {
  for (place p : apgas::places()) {
    EXPECT_TRUE(
        contains(refusal([&] { allocate<int>(p, std::numeric_limits<std::size_t>::max()); }),
                 "allocate was asked for 18446744073709551615 elements of 4 bytes"));
    EXPECT_TRUE(contains(refusal([&] { allocate<char>(p, std::size_t{1} << 38); }),
                         "an allocation has at most 137438953472 bytes"));
  }
  const auto nothing = allocate<int>(test::last(), 0);
  EXPECT_TRUE(nothing);
  EXPECT_THROW(rget(nothing), apgas::illegal_operation);
  deallocate(nothing);
}

TEST(one_sided, is_rejected_inside_atomic_sections) {
  const auto block = allocate<int>(test::last(), 1);
  EXPECT_THROW(apgas::atomic([&] { rput(1, block); }), apgas::illegal_operation);
  EXPECT_THROW(apgas::atomic([&] { rget(block); }), apgas::illegal_operation);
  EXPECT_THROW(apgas::atomic([&] { apgas::fetch_add(block, 1); }), apgas::illegal_operation);
  EXPECT_THROW(apgas::atomic([&] { allocate<int>(apgas::here(), 1); }), apgas::illegal_operation);
  EXPECT_EQ(rget(block), 0);
  deallocate(block);
}

}  // namespace
