// Two sides of a comparison, timed in turn in one process.
//
//   const Comparison c = Compare(ours, theirs, {.pairs = 7});
//
// Runs go A B B A, nothing is thrown away, and the ratio is the median of the
// ratios of the pairs, so that a slow minute of the machine hits both sides.

#ifndef TOOLS_BENCH_MEASURE_H_
#define TOOLS_BENCH_MEASURE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gpubinder::bench {

// What one run took, per unit of work.
struct Sample {
  double seconds = 0;      // by the clock that the row is about
  double cpu_seconds = 0;  // of the whole process, all threads
};

// The wall where waiting is the subject, else the process's CPU time.
enum class Clock { kWall, kCpu };

// Times `work` and divides by `units`.
Sample Time(Clock clock, double units, const std::function<void()>& work);

struct Side {
  std::string what;
  // One run; what need not be timed happens outside of Time.
  std::function<Sample()> run;
};

struct Spread {
  double median = 0, minimum = 0, maximum = 0;
};
// Of one value at least.
Spread SpreadOf(std::vector<double> values);

struct SideResult {
  std::string what;
  Spread seconds;          // per unit
  double cpu_seconds = 0;  // per unit, the median
};

struct Comparison {
  SideResult ours, theirs;
  int pairs = 0;
  Spread ratio;  // of the pairs' ratios
};

// kAlternating is A B B A. kOursFirst is A B A B, for a first side that
// changes what the second one sees.
enum class Order { kAlternating, kOursFirst };

struct Pairs {
  int pairs = 7;
  Order order = Order::kAlternating;
};

// Runs each side once untimed, then the pairs.
Comparison Compare(const Side& ours, const Side& theirs, const Pairs& pairs);
// The same without the untimed runs, for sides that cannot be repeated.
Comparison CompareCold(const Side& ours, const Side& theirs,
                       const Pairs& pairs);

// The highest resident size of this process so far.
int64_t PeakMemoryBytes();
// The resident size now.
int64_t MemoryBytes();

// The exponent b of y = a x^b by least squares over the logarithms; at least
// two points, all positive.
struct Point {
  double x = 0, y = 0;
};
double GrowthExponent(const std::vector<Point>& points);

// Makes the compiler believe that the value is used.
void Keep(uint64_t value);

}  // namespace gpubinder::bench

#endif  // TOOLS_BENCH_MEASURE_H_
