/* SPDX-License-Identifier: Apache-2.0 */
#ifndef APGAS_HEADER_EXAMPLES_C_H
#define APGAS_HEADER_EXAMPLES_C_H

/* What the examples in the comments of <apgas/c.h> take for granted (header_examples.py). */

#include <apgas/c.h>

#include <assert.h>
#include <stdio.h>

static inline void work(void) {}

#endif
