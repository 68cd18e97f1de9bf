// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstddef>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/errors.hpp>
#include <apgas/exceptions.hpp>
#include <apgas/parallel.hpp>

#include "algorithm_data.hpp"
#include "support/message_of.hpp"

// Wrong arguments and wrong callers, and functions and elements that throw.
namespace apgas::test {
namespace {

using named_call = std::pair<std::string, std::function<void()>>;
const std::function<int(int)> same = std::identity();

// A call of every algorithm. `f` is called for at least one element and returns it.
std::vector<named_call> calls(std::vector<int>& v, std::vector<int>& to,
                              const std::function<int(int)>& f) {
  const auto odd = [&f](int x) { return f(x) % 2 != 0; };
  const auto less = [&f](int a, int b) { return f(a) < f(b); };
  const auto add = [&f](int a, int b) { return f(a) + b; };
  const auto key = [&f](int x) { return f(x) & 7; };
  return {
      {"parallel::for_each", [&] { parallel::for_each(v, f); }},
      {"parallel::transform", [&] { parallel::transform(v, to.begin(), f); }},
      {"parallel::reduce", [&v, add] { parallel::reduce(v, 0, add); }},
      {"parallel::transform_reduce", [&] { parallel::transform_reduce(v, 0, std::plus<>(), f); }},
      {"parallel::inclusive_scan",
       [&v, &to, add] { parallel::inclusive_scan(v, to.begin(), add); }},
      {"parallel::exclusive_scan",
       [&v, &to, add] { parallel::exclusive_scan(v, to.begin(), 0, add); }},
      {"parallel::copy_if", [&v, &to, odd] { parallel::copy_if(v, to.begin(), odd); }},
      {"parallel::filter", [&v, odd] { static_cast<void>(parallel::filter(v, odd)); }},
      {"parallel::partition", [&v, odd] { parallel::partition(v, odd); }},
      {"parallel::stable_partition", [&v, odd] { parallel::stable_partition(v, odd); }},
      {"parallel::find_if",
       [&v, &f] { static_cast<void>(parallel::find_if(v, [&f](int x) { return f(x) < 0; })); }},
      {"parallel::min_element", [&v, less] { static_cast<void>(parallel::min_element(v, less)); }},
      {"parallel::max_element", [&v, less] { static_cast<void>(parallel::max_element(v, less)); }},
      {"parallel::sort", [&v, less] { parallel::sort(v, less); }},
      {"parallel::stable_sort", [&v, less] { parallel::stable_sort(v, less); }},
      {"parallel::merge",
       [&v, &to, less] {
         const auto half = v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2);
         parallel::merge(v.begin(), half, half, v.end(), to.begin(), less);
       }},
      {"parallel::integer_sort", [&v, key] { parallel::integer_sort(v, key); }},
      {"parallel::histogram", [&v, key] { parallel::histogram(v, 8, key); }},
      {"parallel::collect_reduce",
       [&v, key] { parallel::collect_reduce(v, key, std::identity(), std::plus<>()); }},
      {"parallel::group_by", [&v, key] { parallel::group_by(v, key); }},
      {"parallel::pack", [&v] { static_cast<void>(parallel::pack(v, v)); }},
  };
}

TEST(AlgorithmErrors, ACallOutsideATaskNamesTheAlgorithm) {
  std::vector<int> v(10);
  std::vector<int> to(10);
  for (const auto& [name, call] : calls(v, to, same)) {
    EXPECT_TRUE(
        message_of<illegal_operation>(call).starts_with(name + " was called outside a task"))
        << name << ": " << message_of<illegal_operation>(call);
  }
}

TEST(AlgorithmErrors, NoAlgorithmMayRunInACriticalSection) {
  run_tasks(1, [] {
    std::vector<int> v;  // also if there is nothing to do
    std::vector<int> to;
    for (const auto& [name, call] : calls(v, to, same)) {
      as_if_atomic([&, &algorithm = name, &f = call] {
        const std::string message = message_of<illegal_operation>(f);
        EXPECT_TRUE(message.starts_with(algorithm + " ")) << message;
      });
    }
  });
}

// Every algorithm, with a function that throws for some call, early or late.
TEST_P(Algorithms, ThrowWhatTheirFunctionsThrow) {
  run([] {
    const auto plain = random_ints(5000, 0, 1'000'000, 30);
    for (const long after : {0L, 1L, 63L, 64L, 500L, 2000L}) {
      std::atomic<long> left{after};
      const std::function<int(int)> f = [&left](int x) {
        if (left.fetch_sub(1) == 0) throw std::out_of_range("a function");
        return x;
      };
      std::vector<int> v;
      std::vector<int> to(plain.size());
      for (const auto& [name, call] : calls(v, to, f)) {
        if (name == "parallel::pack") continue;  // takes no function
        left = after;
        v = plain;
        if (name == "parallel::merge") {
          std::sort(v.begin(), v.begin() + 2500);
          std::sort(v.begin() + 2500, v.end());
        }
        const std::string message = message_of<multiple_exceptions>(call);
        EXPECT_NE(message.find("a function"), std::string::npos)
            << name << " after " << after << ": " << message;
        EXPECT_NE(message.find("algorithm_errors_test.cpp"), std::string::npos) << message;
      }
    }
  });
}

TEST_P(Algorithms, ForEachVisitsAllOtherElementsIfSomeThrow) {
  run([] {
    std::vector<int> v(10'000);
    std::iota(v.begin(), v.end(), 0);
    std::atomic<int> visits{0};
    try {
      parallel::for_each(v, [&](int x) {
        ++visits;
        if (x % 1000 == 0) throw std::out_of_range("a thousand");
      });
      ADD_FAILURE() << "nothing was thrown";
    } catch (const multiple_exceptions& e) {
      EXPECT_EQ(e.size(), 10U);
    }
    EXPECT_EQ(visits, 10'000);
  });
}

TEST_P(Algorithms, SortLosesNoElementIfTheOrderThrows) {
  run([] {
    const std::vector<int> x = random_ints(20'000, 0, 1'000'000, 31);
    const long sum = std::accumulate(x.begin(), x.end(), 0L);
    for (const long after : {10L, 20'050L, 21'000L, 90'000L, 200'000L}) {
      std::atomic<long> left{after};
      std::vector<move_only> v = made_of<move_only>(x);
      EXPECT_THROW(parallel::sort(v,
                                  [&](const move_only& a, const move_only& b) {
                                    if (left.fetch_sub(1) == 0) throw std::length_error("order");
                                    return a < b;
                                  }),
                   multiple_exceptions);
      EXPECT_EQ(parallel::transform_reduce(v, 0L, std::plus<>(), &move_only::value), sum);
    }
  });
}

template <class F>
void with_throwing_elements(const char* name, F f) {
  int thrown = 0;
  for (long after = 0; after < 30'000; after = after * 3 / 2 + 7) {
    {
      std::vector<counted> v = made_of<counted>(random_ints(3000, 0, 1000, 32));
      counted::left = after;
      try {
        f(v);
      } catch (const multiple_exceptions&) {
        ++thrown;
      } catch (const std::length_error&) {  // by a move of an argument
        ++thrown;
      }
      counted::left = -1;
    }
    EXPECT_EQ(counted::alive, 0) << name << ": elements leaked or destroyed twice after " << after;
  }
  EXPECT_GT(thrown, 5) << name;
}

// Copies and moves of elements throw at various points.
TEST_P(Algorithms, LeakNoElementIfAnElementThrows) {
  run([] {
    const auto small = [](const counted& c) { return c.value < 400; };
    const auto add = [](const counted& a, const counted& b) { return counted(a.value + b.value); };
    const auto key = [](const counted& c) { return c.value % 10; };
    using elements = std::vector<counted>;
    with_throwing_elements("sort", [](elements& v) { parallel::sort(v); });
    with_throwing_elements("stable_sort", [](elements& v) { parallel::stable_sort(v); });
    with_throwing_elements("integer_sort", [=](elements& v) { parallel::integer_sort(v, key); });
    with_throwing_elements("partition", [=](elements& v) { parallel::partition(v, small); });
    with_throwing_elements("stable_partition",
                           [=](elements& v) { parallel::stable_partition(v, small); });
    with_throwing_elements("filter", [=](elements& v) { parallel::filter(v, small); });
    with_throwing_elements("inclusive_scan",
                           [=](elements& v) { parallel::inclusive_scan(v, v.begin(), add); });
    with_throwing_elements("exclusive_scan", [=](elements& v) {
      parallel::exclusive_scan(v, v.begin(), counted(0), add);
    });
    with_throwing_elements("group_by", [=](elements& v) { parallel::group_by(v, key); });
    const auto first = [](const counted& a, const counted&) { return a; };
    with_throwing_elements(
        "reduce", [=](elements& v) { static_cast<void>(parallel::reduce(v, counted(0), first)); });
    with_throwing_elements("collect_reduce", [=](elements& v) {
      parallel::collect_reduce(v, key, std::identity(), first);
    });
  });
}

TEST_P(Algorithms, RefuseADestinationThatOverlapsTheSource) {
  run([] {
    std::vector<int> v(1000, 1);
    const auto refuse = [](const char* algorithm, auto f) {
      const std::string message = message_of<illegal_operation>(f);
      EXPECT_TRUE(message.starts_with(std::string(algorithm) +
                                      " was called with a destination that "
                                      "overlaps its source"))
          << message;
    };
    const auto at = [&v](int i) { return v.begin() + i; };
    const auto one = [](int x) { return x == 1; };
    refuse("parallel::transform", [&] { parallel::transform(at(0), at(10), at(1), one); });
    refuse("parallel::transform", [&] { parallel::transform(at(1), at(10), at(0), one); });
    refuse("parallel::transform",
           [&] { parallel::transform(at(500), at(510), at(1), at(2), std::plus<>()); });
    refuse("parallel::transform", [&] {
      parallel::transform(v, reinterpret_cast<char*>(v.data()), one);  // other elements
    });
    refuse("parallel::inclusive_scan", [&] { parallel::inclusive_scan(at(0), at(10), at(9)); });
    refuse("parallel::exclusive_scan", [&] { parallel::exclusive_scan(at(9), at(19), at(0), 0); });
    refuse("parallel::copy_if", [&] { parallel::copy_if(v, at(0), one); });
    refuse("parallel::copy_if", [&] { parallel::copy_if(at(10), at(20), at(5), one); });
    refuse("parallel::merge", [&] { parallel::merge(at(0), at(10), at(500), at(510), at(509)); });
    refuse("parallel::merge", [&] { parallel::merge(at(0), at(10), at(500), at(510), at(0)); });
    EXPECT_EQ(v, std::vector<int>(1000, 1));
    // Next to each other is allowed, and so is a destination of which nothing is written.
    parallel::transform(at(0), at(10), at(10), one);
    parallel::merge(at(0), at(10), at(30), at(40), at(10));
    parallel::copy_if(at(10), at(20), at(0), one);
    parallel::copy_if(v, at(0), [](int) { return false; });
  });
}

TEST_P(Algorithms, RefuseRangesOfDifferentSizes) {
  run([] {
    std::vector<int> v(10);
    std::vector<int> w(11);
    EXPECT_EQ(
        message_of<illegal_operation>([&] { static_cast<void>(parallel::pack(v, w)); }),
        "parallel::pack was called with ranges of 10 and 11 elements; give both the same size");
    EXPECT_THROW(parallel::transform(v, w, v.begin(), std::plus<>()), illegal_operation);
    EXPECT_THROW(parallel::transform_reduce(v, w, 0), illegal_operation);
  });
}

TEST_P(Algorithms, HistogramRefusesAKeyThatIsNoBucket) {
  run([] {
    const auto message = [](std::vector<int> v, std::size_t buckets) {
      return message_of<multiple_exceptions>([&] { parallel::histogram(v, buckets); });
    };
    EXPECT_NE(message({0, 1, 4}, 4)
                  .find("the key function of parallel::histogram returned 4, but "
                        "there are 4 buckets; return a bucket from 0 to 3"),
              std::string::npos)
        << message({0, 1, 4}, 4);
    EXPECT_NE(message({0, -7}, 4).find("returned a negative number, but"), std::string::npos);
    EXPECT_NE(message({0}, 0).find("there are 0 buckets; give"), std::string::npos)
        << message({0}, 0);
  });
}

}  // namespace
}  // namespace apgas::test
