// SPDX-License-Identifier: Apache-2.0
// A program that has the library loads a module which uses that one, while tasks run: closures of
// the module are known at every place that has loaded it, and are refused by name elsewhere.
#include <cstdlib>
#include <string>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "check.hpp"

namespace {

using failure_function = const char* (*)();

failure_function load_module() {
  void* const module = dlopen(APGAS_TEST_MODULE, RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) throw std::runtime_error(dlerror());  // NOLINT(concurrency-mt-unsafe)
  return reinterpret_cast<failure_function>(dlsym(module, "module_failure"));
}

TEST(plug_in, sends_its_closures_once_every_place_has_loaded_it) {
  apgas::finish(
      [] { apgas::async_at(apgas::places(), [] { test::check(load_module() != nullptr); }); });
  const char* const failure = load_module()();
  EXPECT_STREQ(failure, nullptr);
}

}  // namespace
