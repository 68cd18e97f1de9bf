// SPDX-License-Identifier: Apache-2.0
// A program without the library loads a module that has it, as Python does with an extension, and
// unloads it: it is there again when it is loaded again.
#include <cstdio>

#include <dlfcn.h>

int main(int argc, char** argv) {
  for (int i = 0; i < 2; ++i) {
    void* const module = dlopen(APGAS_TEST_MODULE, RTLD_NOW | RTLD_LOCAL);
    using main_function = int (*)(int, char**);
    auto* const run =
        module == nullptr ? nullptr : reinterpret_cast<main_function>(dlsym(module, "module_main"));
    if (run == nullptr) {
      std::fprintf(stderr, "%s\n", dlerror());
      return 1;
    }
    const int code = run(argc, argv);
    if (code != 0) return code;
    if (dlclose(module) != 0 || dlopen(APGAS_TEST_MODULE, RTLD_LAZY | RTLD_NOLOAD) == nullptr) {
      std::fprintf(stderr, "the module has gone\n");
      return 1;
    }
  }
  return 0;
}
