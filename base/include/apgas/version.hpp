// SPDX-License-Identifier: Apache-2.0
#pragma once

// The version of the library, for programs that must build with several. This is the one place
// where it is written: the build reads it from here. Semantic versioning; see CHANGELOG.md.

#define APGAS_VERSION_MAJOR 0
#define APGAS_VERSION_MINOR 1
#define APGAS_VERSION_PATCH 0
#define APGAS_VERSION_STRING "0.1.0"

// One number to compare with: major * 1'000'000 + minor * 1'000 + patch.
#define APGAS_VERSION \
  (APGAS_VERSION_MAJOR * 1'000'000 + APGAS_VERSION_MINOR * 1'000 + APGAS_VERSION_PATCH)
