// SPDX-License-Identifier: Apache-2.0
#pragma once

// Macros that say which sanitizer the code is compiled for; each is 0 or 1. g++ announces a
// sanitizer by a predefined macro, clang by __has_feature.

#if defined(__has_feature)
#define APGAS_HAS_FEATURE(name) __has_feature(name)
#else
#define APGAS_HAS_FEATURE(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || APGAS_HAS_FEATURE(address_sanitizer)
#define APGAS_ADDRESS_SANITIZER 1
#else
#define APGAS_ADDRESS_SANITIZER 0
#endif

#if defined(__SANITIZE_THREAD__) || APGAS_HAS_FEATURE(thread_sanitizer)
#define APGAS_THREAD_SANITIZER 1
#else
#define APGAS_THREAD_SANITIZER 0
#endif

#define APGAS_SANITIZED (APGAS_ADDRESS_SANITIZER || APGAS_THREAD_SANITIZER)
