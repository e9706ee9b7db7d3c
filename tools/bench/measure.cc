#include "tools/bench/measure.h"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <utility>

namespace gpubinder::bench {
namespace {

double Now(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * time.tv_nsec;
}

}  // namespace

Sample Time(Clock clock, double units, const std::function<void()>& work) {
  const double cpu = Now(CLOCK_PROCESS_CPUTIME_ID);
  const double wall = Now(CLOCK_MONOTONIC);
  work();
  const double wall_spent = Now(CLOCK_MONOTONIC) - wall;
  const double cpu_spent = Now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
  return {.seconds = (clock == Clock::kWall ? wall_spent : cpu_spent) / units,
          .cpu_seconds = cpu_spent / units};
}

Spread SpreadOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return {.median = values.size() % 2 == 1
                        ? values[middle]
                        : (values[middle - 1] + values[middle]) / 2,
          .minimum = values.front(),
          .maximum = values.back()};
}

namespace {

SideResult ResultOf(const Side& side, const std::vector<Sample>& samples) {
  std::vector<double> seconds, cpu;
  for (const Sample& sample : samples) {
    seconds.push_back(sample.seconds);
    cpu.push_back(sample.cpu_seconds);
  }
  return {.what = side.what,
          .seconds = SpreadOf(std::move(seconds)),
          .cpu_seconds = SpreadOf(std::move(cpu)).median};
}

}  // namespace

Comparison CompareCold(const Side& ours, const Side& theirs,
                       const Pairs& pairs) {
  std::vector<Sample> our_samples, their_samples;
  std::vector<double> ratios;
  for (int i = 0; i < pairs.pairs; ++i) {
    if (pairs.order == Order::kOursFirst || i % 2 == 0) {
      our_samples.push_back(ours.run());
      their_samples.push_back(theirs.run());
    } else {
      their_samples.push_back(theirs.run());
      our_samples.push_back(ours.run());
    }
    ratios.push_back(our_samples.back().seconds / their_samples.back().seconds);
  }
  return {.ours = ResultOf(ours, our_samples),
          .theirs = ResultOf(theirs, their_samples),
          .pairs = pairs.pairs,
          .ratio = SpreadOf(std::move(ratios))};
}

Comparison Compare(const Side& ours, const Side& theirs, const Pairs& pairs) {
  ours.run();
  theirs.run();
  return CompareCold(ours, theirs, pairs);
}

int64_t PeakMemoryBytes() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

int64_t MemoryBytes() {
  std::ifstream file("/proc/self/statm");
  int64_t pages = 0, resident = 0;
  file >> pages >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

double GrowthExponent(const std::vector<Point>& points) {
  double x = 0, y = 0;
  for (const Point& point : points) {
    x += std::log(point.x) / points.size();
    y += std::log(point.y) / points.size();
  }
  double both = 0, square = 0;
  for (const Point& point : points) {
    both += (std::log(point.x) - x) * (std::log(point.y) - y);
    square += (std::log(point.x) - x) * (std::log(point.x) - x);
  }
  return both / square;
}

void Keep(uint64_t value) { asm volatile("" : : "r"(value) : "memory"); }

}  // namespace gpubinder::bench
