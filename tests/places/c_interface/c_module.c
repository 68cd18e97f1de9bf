// SPDX-License-Identifier: Apache-2.0
// A module with a function that is sent to places which have not loaded the module.
#include <stddef.h>

void c_module_function(const void* arg, size_t bytes);
void c_module_function(const void* arg, size_t bytes) {
  (void)arg;
  (void)bytes;
}
