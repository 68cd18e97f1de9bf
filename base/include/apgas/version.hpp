// SPDX-License-Identifier: Apache-2.0
#pragma once

// The version of the library as macros, for programs that must compile with more than one version.
// It is written only here, and the build reads it from this file. It follows semantic versioning;
// see CHANGELOG.md.

// The parts of the version, and the whole of it as a string.
#define APGAS_VERSION_MAJOR 0
#define APGAS_VERSION_MINOR 1
#define APGAS_VERSION_PATCH 0
#define APGAS_VERSION_STRING "0.1.0"

// The version as one number, for comparisons: major * 1000000 + minor * 1000 + patch.
#define APGAS_VERSION \
  (APGAS_VERSION_MAJOR * 1000000 + APGAS_VERSION_MINOR * 1000 + APGAS_VERSION_PATCH)
