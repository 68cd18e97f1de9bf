/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STAND_IN_CHPLRT_H
#define STAND_IN_CHPLRT_H

#include "chpltypes.h"

#endif
