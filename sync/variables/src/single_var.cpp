// SPDX-License-Identifier: Apache-2.0
#include <apgas/single_var.hpp>

namespace apgas::inline v0::sync {

void throw_written_twice() {
  throw illegal_operation(
      "single_var::write_ef found the variable full: it is written once; use sync_var for a "
      "variable that changes");
}

}  // namespace apgas::inline v0::sync
