// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

// A library that computes in parallel. Its users need not know how: nothing of apgas is here.
namespace fractal {

// For each of width * height points of the plane, row by row, how many steps of z = z * z + c from
// 0 it takes until |z| > 2: at most `most_steps`, which points of the Mandelbrot set reach. The
// plane is [-2, 1] x [-1, 1]. May be called from any thread, by several at once.
std::vector<int> mandelbrot(int width, int height, int most_steps);

}  // namespace fractal
