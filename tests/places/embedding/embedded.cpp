// SPDX-License-Identifier: Apache-2.0
// A program with a main of its own, which starts and ends in a way of your choice:
// embedded <what> [number]. See embedding_test.py.
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>

#include <apgas/apgas.hpp>

namespace {

void greet() {
  apgas::finish([] {
    apgas::async_at(apgas::places(),
                    [] { std::printf("hello from place %d\n", apgas::here().id()); });
  });
  std::printf("%d places\n", apgas::num_places());
}

void exit_at(int place) {
  apgas::at(
      apgas::place(place), [](int code) { std::exit(code); }, 3 + place);  // NOLINT(*-mt-unsafe)
}

void fail_at(int place) {
  apgas::uncounted_async_at(apgas::place(place), [] { throw std::out_of_range("row 7"); });
}

// Place 0 runs `main`; the code of the runtime at every place.
int run_in(apgas::runtime& runtime, const std::function<void()>& main, int code = 0) {
  if (runtime.place_id() != 0) return runtime.serve();
  runtime.run(main);
  return runtime.stop(code);
}

// A runtime that a library starts at its first use, and that ends with the process.
apgas::runtime& runtime_of_library() {
  static apgas::runtime runtime({.serve_and_exit = true});
  return runtime;
}

int embed(int argc, char** argv, const std::string& what, int number) {
  if (what == "no_arguments") {
    apgas::runtime runtime;
    return run_in(runtime, greet);
  }
  if (what == "serve_and_exit") {
    apgas::runtime runtime(argc, argv, {.serve_and_exit = true});
    std::printf("place %d goes on\n", runtime.place_id());
    return run_in(runtime, greet, number);
  }
  if (what == "library") {
    runtime_of_library().run(greet);
    std::printf("place %d goes on\n", runtime_of_library().place_id());
    return 0;
  }
  if (what == "library_exit") {
    runtime_of_library().run([number] { exit_at(number); });
    return 0;
  }
  if (what == "run_exit") return apgas::run(argc, argv, [number] { exit_at(number); });
  apgas::runtime runtime(argc, argv);
  if (what == "hello") return run_in(runtime, greet);
  if (what == "code") return run_in(runtime, [] {}, number);
  if (what == "exit") return run_in(runtime, [number] { exit_at(number); });
  if (what == "fail") return run_in(runtime, [number] { fail_at(number); });
  return 4;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return embed(argc, argv, argc > 1 ? argv[1] : "hello", argc > 2 ? std::atoi(argv[2]) : 0);
  } catch (const apgas::launch_error& failure) {
    std::fprintf(stderr, "not started: %s\n", failure.what());
    return 5;
  }
}
