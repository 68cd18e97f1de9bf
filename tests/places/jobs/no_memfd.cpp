// SPDX-License-Identifier: Apache-2.0
// Preloaded by agreement_test.py: a system without memfd_create, where places cannot share memory.
#include <cerrno>

extern "C" int memfd_create(const char*, unsigned) {
  errno = ENOSYS;
  return -1;
}
