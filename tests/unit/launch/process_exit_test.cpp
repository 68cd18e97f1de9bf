// SPDX-License-Identifier: Apache-2.0
// A process that exits, or is forked, while a program of one place is active.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <apgas/apgas.hpp>
#include <apgas/base/sanitizer.hpp>

#include "support/message_of.hpp"

namespace {

using namespace std::chrono_literals;
using apgas::test::message_of;

// NOLINTBEGIN(concurrency-mt-unsafe): exits of several threads are what is tested

class process_exit_death : public testing::Test {
 protected:
  // Each death test in a new process of this program, which has no threads yet.
  process_exit_death() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

constexpr const char* silently = "^$";

void run_two_workers(const std::function<void()>& main) {
  apgas::run(0, nullptr, {.workers = 2}, main);
}

TEST_F(process_exit_death, a_task_of_run_ends_the_process_with_its_code) {
  EXPECT_EXIT(run_two_workers([] { std::exit(3); }), testing::ExitedWithCode(3), silently);
  EXPECT_EXIT(run_two_workers([] { apgas::async([] { std::exit(0); }); }),
              testing::ExitedWithCode(0), silently);
  EXPECT_EXIT(run_two_workers([] { std::quick_exit(4); }), testing::ExitedWithCode(4), silently);
  EXPECT_EXIT(run_two_workers([] { apgas::blocking([] { std::exit(5); }); }),
              testing::ExitedWithCode(5), silently);
}

void run_in_static_runtime(const std::function<void()>& main) {
  static apgas::runtime r({.workers = 2});
  r.run(main);
}

TEST_F(process_exit_death, so_does_a_task_of_a_static_runtime) {
  EXPECT_EXIT(run_in_static_runtime([] { std::exit(3); }), testing::ExitedWithCode(3), silently);
  EXPECT_EXIT(run_in_static_runtime([] { std::quick_exit(4); }), testing::ExitedWithCode(4),
              silently);
  EXPECT_EXIT(run_in_static_runtime([] { apgas::blocking([] { std::exit(5); }); }),
              testing::ExitedWithCode(5), silently);
}

TEST_F(process_exit_death, an_exit_outside_tasks_ends_a_static_runtime_in_order) {
  const auto exit_while_a_task_sleeps = [] {
    run_in_static_runtime([] {
      apgas::uncounted_async_at(apgas::here(), [] {
        apgas::sleep_for(200ms);
        std::fputs("the task has ended", stderr);
      });
    });
    std::exit(6);
  };
  EXPECT_EXIT(exit_while_a_task_sleeps(), testing::ExitedWithCode(6), "^the task has ended$");
}

TEST_F(process_exit_death, an_exit_outside_tasks_leaves_other_runtimes) {
  const auto exit_with_a_runtime = [] {
    apgas::runtime r;
    auto never = r.submit([] { apgas::sleep_for(100s); });
    std::exit(7);
  };
  EXPECT_EXIT(exit_with_a_runtime(), testing::ExitedWithCode(7), silently);
}

// A static object that tasks of all workers use for as long as they run.
struct used_by_tasks {
  std::atomic<bool> alive{true};

  ~used_by_tasks() {
    alive = false;
    std::this_thread::sleep_for(50ms);  // whoever still runs sees it
  }
  void use() const {
    if (alive) return;
    std::fputs("used after its end", stderr);
    std::_Exit(1);
  }
};

void exit_while_others_use_static_objects() {
  apgas::run(0, nullptr, {.workers = 4}, [] {
    static used_by_tasks object;  // made last, so it is the first to go
    std::atomic<int> begun{0};
    for (int i = 0; i < 3; ++i) {
      apgas::async([&begun] {
        ++begun;
        while (true) {
          object.use();
          apgas::finish([] { apgas::async([] { object.use(); }); });
          apgas::yield();
        }
      });
    }
    while (begun < 3) apgas::yield();
    apgas::async([] { std::exit(8); });
  });
}

TEST_F(process_exit_death, the_workers_have_stopped_when_static_objects_go) {
  for (int i = 0; i < 5; ++i) {
    EXPECT_EXIT(exit_while_others_use_static_objects(), testing::ExitedWithCode(8), silently);
  }
}

TEST_F(process_exit_death, a_task_that_computes_delays_the_exit_but_little) {
  const auto exit_beside_a_long_task = [] {
    run_two_workers([] {
      std::atomic<bool> begun{false};
      apgas::async([&begun] {
        begun = true;
        const auto end = std::chrono::steady_clock::now() + 100s;
        while (std::chrono::steady_clock::now() < end) {
        }
      });
      while (!begun) apgas::yield();
      std::exit(9);
    });
  };
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EXIT(exit_beside_a_long_task(), testing::ExitedWithCode(9), silently);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 50s);
}

TEST_F(process_exit_death, handlers_of_exit_may_use_tasks) {
  const auto exit_with_a_handler = [] {
    run_two_workers([] {
      std::atexit([] {
        int sum = 0;
        apgas::finish([&] {
          apgas::async([&] {
            apgas::yield();
            sum = 1;
          });
        });
        std::fprintf(stderr, "sum %d", sum);
      });
      std::exit(10);
    });
  };
  EXPECT_EXIT(exit_with_a_handler(), testing::ExitedWithCode(10), "^sum 1$");
}

TEST_F(process_exit_death, several_places_end_with_a_line) {
  const auto exit_at = [](bool in_runtime, int place) {
    const auto main = [place] { apgas::at(apgas::place(place), [] { std::exit(0); }); };
    const apgas::config two{.places = 2, .transport = "local"};
    if (in_runtime) apgas::runtime(two).run(main);
    apgas::run(0, nullptr, two, main);
  };
  for (const int place : {0, 1}) {
    EXPECT_EXIT(exit_at(false, place), testing::ExitedWithCode(1),
                "the process exits while a run is active; this ends the job");
    EXPECT_EXIT(exit_at(true, place), testing::ExitedWithCode(1),
                "the process exits while an apgas::runtime is active; this ends the job");
  }
}

TEST_F(process_exit_death, a_runtime_destroyed_by_a_task) {
  const auto destroy_in_a_task = [] {
    auto* const r = new apgas::runtime;
    r->run([r] { delete r; });
  };
  EXPECT_EXIT(destroy_in_a_task(), testing::ExitedWithCode(1),
              "an apgas::runtime was destroyed by a task, which its end would wait for; destroy it "
              "on the thread that made it");
}

TEST_F(process_exit_death, a_start_without_memory_throws) {
#if !APGAS_SANITIZED  // which reserve more address space than any limit leaves
  const auto start_without_memory = [] {
    const rlimit little{.rlim_cur = 1'000'000'000, .rlim_max = 1'000'000'000};
    setrlimit(RLIMIT_AS, &little);
    const std::string text =
        message_of<apgas::launch_error>([] { apgas::runtime r({.stack_bytes = 64U << 20U}); });
    std::_Exit(text.find("ulimit -v") != std::string::npos ? 11 : 1);
  };
  EXPECT_EXIT(start_without_memory(), testing::ExitedWithCode(11), silently);
#endif
}

// Runs `body` in a forked process and returns its code and what it wrote.
std::pair<int, std::string> in_a_fork(const std::function<void(std::FILE*)>& body) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return {-1, "no pipe"};
  const pid_t child = fork();
  if (child == 0) {
    std::FILE* const out = fdopen(ends[1], "w");
    body(out);
    std::fflush(out);
    _exit(12);
  }
  close(ends[1]);
  std::string text;
  std::array<char, 1024> bytes{};
  for (ssize_t n = 0; (n = read(ends[0], bytes.data(), bytes.size())) > 0;) {
    text.append(bytes.data(), static_cast<std::size_t>(n));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status), text};
}

std::string refused_in_a_fork(const std::string& function) {
  return "runtime::" + function +
         " was called in a process that was forked from the one with the runtime, whose threads it "
         "does not have; make the runtime after the fork, or start a new program with exec\n";
}

std::string no_start_in_a_fork(const std::string& what) {
  return what +
         " was started in a process that was forked while apgas::runtime was active in its parent, "
         "whose threads it does not have; fork before the start, or start a new program with "
         "exec\n";
}

TEST(forked_process, cannot_use_the_runtime_of_its_parent) {
  auto r = std::make_unique<apgas::runtime>();
  const auto [code, text] = in_a_fork([&](std::FILE* out) {
    const auto print = [out](const auto& f) {
      std::fprintf(out, "%s\n", message_of<apgas::illegal_operation>(f).c_str());
    };
    print([&] { r->run([] {}); });
    print([&] { r->submit([] {}); });
    print([&] { r->serve(); });
    print([&] { r->stop(); });
    print([] { apgas::runtime second; });
    print([] { apgas::run(0, nullptr, [] {}); });
    std::fprintf(out, "%d\n", static_cast<int>(apgas::runtime::active()));
    r.reset();
  });
  EXPECT_EQ(code, 12);
  EXPECT_EQ(text, refused_in_a_fork("run") + refused_in_a_fork("submit") +
                      refused_in_a_fork("serve") + refused_in_a_fork("stop") +
                      no_start_in_a_fork("apgas::runtime") + no_start_in_a_fork("apgas::run") +
                      "0\n");
  EXPECT_TRUE(apgas::runtime::active());  // the parent goes on
  EXPECT_EQ(r->run([] { return 1; }), 1);
}

TEST(forked_process, exits_as_usual) {
  const apgas::runtime r;
#if !APGAS_ADDRESS_SANITIZER  // which takes what belongs to the parent's threads for lost
  const auto [code, text] = in_a_fork([&](std::FILE* out) {
    dup2(fileno(out), STDERR_FILENO);
    std::exit(13);
  });
  EXPECT_EQ(code, 13);
  EXPECT_EQ(text, "");
#endif
}

TEST(forked_process, has_its_own_runtime_after_that_of_its_parent) {
  {
    const apgas::runtime r;
  }
#if !APGAS_THREAD_SANITIZER  // which refuses new threads in a process that was forked
  const auto [code, text] = in_a_fork([&](std::FILE* out) {
    apgas::runtime r;
    std::fprintf(out, "%d", r.run([] { return 14; }));
  });
  EXPECT_EQ(code, 12);
  EXPECT_EQ(text, "14");
#endif
}

// NOLINTEND(concurrency-mt-unsafe)

}  // namespace
