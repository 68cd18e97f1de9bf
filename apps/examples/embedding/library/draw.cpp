// SPDX-License-Identifier: Apache-2.0

// A program that uses the library and knows nothing of tasks and places. Several of its threads
// call the library.

#include <cmath>
#include <cstddef>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "fractal.hpp"

namespace {

constexpr int width = 72;
constexpr int height = 24;
constexpr int most_steps = 200;

// Whether two threads that draw at once get the same picture.
bool others_draw_the_same(const std::vector<int>& picture) {
  std::vector<std::vector<int>> others(2);
  {
    std::vector<std::jthread> threads;
    threads.reserve(others.size());
    for (std::vector<int>& each : others) {
      threads.emplace_back([&each] { each = fractal::mandelbrot(width, height, most_steps); });
    }
  }
  return others[0] == picture && others[1] == picture;
}

}  // namespace

int main() {
  const std::vector<int> picture = fractal::mandelbrot(width, height, most_steps);
  int inside = 0;
  for (std::size_t y = 0; y < height; ++y) {
    std::string line;
    for (std::size_t x = 0; x < width; ++x) {
      const int steps = picture[y * width + x];
      inside += steps == most_steps ? 1 : 0;
      line += steps == most_steps ? '#' : " .:-=+*"[steps % 7];
    }
    std::cout << line << '\n';
  }
  constexpr double area_of_the_set = 1.5066;
  const double area = 6.0 * inside / (width * height);
  std::cout << "area " << area << ", published " << area_of_the_set << '\n';
  const bool verified = std::abs(area - area_of_the_set) < 0.1 && others_draw_the_same(picture);
  return verified ? 0 : 1;
}
