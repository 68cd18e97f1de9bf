// SPDX-License-Identifier: Apache-2.0
// Memory of another place with elements that cannot be copied as bytes.
#include <string>

#include <apgas/global_ptr.hpp>

#ifdef APGAS_TEST_CONTROL
using element = long;
#else
using element = std::string;
#endif

void allocate_elements() { apgas::deallocate(apgas::allocate<element>(apgas::place(), 10)); }
