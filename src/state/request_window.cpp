#include "request_window.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "berth/model/packing_view.h"

namespace berth::state {
namespace {

using model::RequestClass;
using model::RequestShare;

double distance(double a, double b) { return std::abs(std::log2(std::max(a, 1.0)) - std::log2(std::max(b, 1.0))); }

// How unlike they are; infinite where one can't stand for the other.
double unlike(const RequestClass& a, const RequestClass& b) {
  if (a.gpus != b.gpus || a.mig != b.mig || a.whole() != b.whole()) return std::numeric_limits<double>::infinity();
  const auto of = [](auto value) { return static_cast<double>(value); };
  return (a.products != b.products ? 1 : 0) + distance(of(a.cpu_milli), of(b.cpu_milli)) +
         distance(of(a.milli), of(b.milli)) + distance(of(a.mib), of(b.mib)) +
         distance(a.memory_percent, b.memory_percent);
}

// The most frequent ones; the shares of the others go to the nearest of these.
std::vector<RequestShare> fold(std::vector<RequestShare> classes, std::size_t most) {
  std::ranges::sort(classes, [](const RequestShare& a, const RequestShare& b) {
    return a.share != b.share ? a.share > b.share : a.request < b.request;
  });
  for (std::size_t i = most; i < classes.size(); ++i) {
    const auto kept = std::span(classes).first(most);
    const auto nearest = std::ranges::min_element(
        kept, {}, [&](const RequestShare& one) { return unlike(classes[i].request, one.request); });
    if (std::isfinite(unlike(classes[i].request, nearest->request))) nearest->share += classes[i].share;
  }
  if (classes.size() > most) classes.resize(most);
  return classes;
}

double sum_of(std::span<const RequestShare> classes) {
  double sum = 0;
  for (const RequestShare& one : classes) sum += one.share;
  return sum;
}

// To two digits, or three after a leading 1, towards 0.
std::int64_t rounded(std::int64_t value) {
  std::int64_t unit = 1;
  while (value / unit >= 200) unit *= 10;
  return value / unit * unit;
}

RequestClass rounded(RequestClass request) {
  request.cpu_milli = rounded(request.cpu_milli);
  request.mib = rounded(request.mib);
  return request;
}

// Makes shares of counts: `sum` in all.
void scale(std::vector<RequestShare>& classes, double sum) {
  const double counted = sum_of(classes);
  for (RequestShare& one : classes) one.share *= counted > 0 ? sum / counted : 0;
}

// Raises the declared classes, which come first, to their shares, as long as what is left for the others makes one of
// them fall below.
void raise(std::vector<RequestShare>& classes, std::span<const RequestShare> declared) {
  std::vector<bool> fixed(classes.size());
  for (bool again = true; again;) {
    again = false;
    double taken = 0;
    double others = 0;
    for (std::size_t i = 0; i < classes.size(); ++i) {
      if (!fixed[i] && i < declared.size() && classes[i].share < declared[i].share) {
        fixed[i] = again = true;
        classes[i].share = declared[i].share;
      }
      (fixed[i] ? taken : others) += classes[i].share;
    }
    for (std::size_t i = 0; i < classes.size(); ++i) {
      if (!fixed[i] && others > 0) classes[i].share *= std::max(0.0, 1 - taken) / others;
    }
  }
}

}  // namespace

void RequestWindow::Sliding::add(RequestClass request, std::size_t most) {
  const auto at = counts.try_emplace(std::move(request), 0).first;
  ++at->second;
  window.push_back(at);
  while (window.size() > most) {
    const auto oldest = window.front();
    window.pop_front();
    if (--oldest->second == 0) counts.erase(oldest);
  }
}

RequestWindow::RequestWindow(MixOptions options) : options_(std::move(options)) {
  for (RequestShare& one : options_.declared) one.request = rounded(std::move(one.request));
}

void RequestWindow::add(RequestClass request) {
  ++seen_;
  Sliding& window = request.gpus > 0 ? with_gpus_ : without_;
  window.add(rounded(std::move(request)), options_.window);
}

model::RequestMix RequestWindow::mix() const {
  const std::vector<RequestShare>& declared = options_.declared;
  std::vector<RequestShare> prior = declared.empty() ? model::default_mix().classes : declared;
  scale(prior, kPrior);
  std::vector<RequestShare> named = declared;
  for (RequestShare& one : named) one.share = 0;
  std::vector<RequestShare> with;
  std::vector<RequestShare> without;
  const auto count = [&](const RequestClass& request, double pods) {
    for (std::vector<RequestShare>* of : {&named, request.gpus > 0 ? &with : &without}) {
      const auto found = std::ranges::find(*of, request, &RequestShare::request);
      if (found == of->end()) continue;
      found->share += pods;
      return;
    }
    (request.gpus > 0 ? with : without).push_back({request, pods});
  };
  for (const RequestShare& one : prior) count(one.request, one.share);
  for (const Sliding* window : {&with_gpus_, &without_}) {
    for (const auto& [request, pods] : window->counts) count(request, static_cast<double>(pods));
  }
  with = fold(std::move(with), kMostClasses);
  without = fold(std::move(without), kMostClassesWithout);
  const double all = sum_of(named) + sum_of(with) + sum_of(without);
  const double bare = std::min(sum_of(without) / all, kMostWithoutGpus);
  scale(without, bare);
  model::RequestMix mix{.classes = std::move(named)};
  mix.classes.insert(mix.classes.end(), with.begin(), with.end());
  scale(mix.classes, 1 - bare);
  mix.classes.insert(mix.classes.end(), without.begin(), without.end());
  raise(mix.classes, declared);
  return mix;
}

}  // namespace berth::state
