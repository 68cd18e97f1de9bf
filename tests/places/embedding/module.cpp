// SPDX-License-Identifier: Apache-2.0
// A module that is loaded by dlopen, with closures of its own that are sent to other places.
#include <atomic>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <apgas/apgas.hpp>

namespace {

std::atomic<int> uncounted{0};

void require(bool condition, const char* what) {
  if (!condition) throw std::runtime_error(what);
}

void send_everything() {
  const int places = apgas::num_places();
  const apgas::place last(places - 1);
  const int captured = 5;
  require(apgas::at(last, [captured] { return captured + apgas::here().id(); }) == 4 + places,
          "a closure of the module with a capture");
  require(apgas::at(
              last, [](const std::vector<int>& v, const std::string& s) { return s + s[v[1]]; },
              std::vector<int>{0, 1}, std::string("ab")) == "abb",
          "arguments and results");
  const int sum = apgas::finish_reduce(
      0, std::plus<int>(), [] { apgas::async_at(apgas::places(), [] { apgas::offer(1); }); });
  require(sum == places, "a reduction of the module");
  try {
    apgas::finish(
        [last] { apgas::async_at(last, [] { throw std::out_of_range("thrown in the module"); }); });
    require(false, "an exception of the module");
  } catch (const apgas::multiple_exceptions& several) {
    require(std::string(several.what()).find("thrown in the module") != std::string::npos,
            "the text of an exception of the module");
  }
  const auto ref = apgas::make_global<int>(3);
  require(apgas::at(last, [ref] { return apgas::at(ref.home(), [ref] { return *ref; }); }) == 3,
          "a global_ref of the module");
}

}  // namespace

// Tasks of the module at all places. Context: task.
extern "C" const char* module_failure() {
  static std::string failure;
  try {
    send_everything();
    return nullptr;
  } catch (const std::exception& e) {
    failure = e.what();
    return failure.c_str();
  }
}

// The same in a runtime of the module's own; the code of the process.
extern "C" int module_main(int argc, char** argv) {
  apgas::runtime runtime(argc, argv);
  if (runtime.place_id() != 0) return runtime.serve();
  runtime.run([] {
    apgas::uncounted_async_at(apgas::place(apgas::num_places() - 1), [] { ++uncounted; });
    if (const char* const failure = module_failure()) throw std::runtime_error(failure);
  });
  return runtime.stop();
}
