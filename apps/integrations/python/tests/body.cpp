// SPDX-License-Identifier: Apache-2.0
// Compiled loop bodies for apgas_test.py, which opens this file by ctypes.
#include <cstdint>

extern "C" {

void square(std::int64_t i, void* data) { static_cast<double*>(data)[i] *= static_cast<double>(i); }

}  // extern "C"
