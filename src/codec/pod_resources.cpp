#include "pod_resources.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

namespace berth::codec {
namespace {

using model::kMostAsked;
using model::ScalarAmount;

void add_up_to_most(std::int64_t& sum, std::int64_t more) {
  sum = std::min(kMostAsked, std::min(sum, kMostAsked) + std::min(more, kMostAsked));
}

}  // namespace

PodResources::PodResources(Reading& reading)
    : reading_(reading),
      asked_(CountResources{&reading}),
      allotted_(CountResources{&reading}),
      actual_(CountResources{&reading}) {}

std::int64_t* PodResources::CountResources::scalar(Sum& sum, std::string_view name) const {
  const auto found = std::ranges::find(sum.scalars, name, &NamedAmount::name);
  if (found != sum.scalars.end()) return &found->amount;
  if (sum.scalars.size() < kMostScalars) return &sum.scalars.emplace_back(NamedAmount{name, 0}).amount;
  reading->fail("asks for more than " + std::to_string(kMostScalars) + " different resources");
  return nullptr;
}

void PodResources::CountResources::add(Sum& sum, const Sum& more) const {
  add_up_to_most(sum.basic.cpu_milli, more.basic.cpu_milli);
  add_up_to_most(sum.basic.memory_bytes, more.basic.memory_bytes);
  add_up_to_most(sum.basic.ephemeral_storage_bytes, more.basic.ephemeral_storage_bytes);
  for (const NamedAmount& one : more.scalars) {
    if (std::int64_t* const amount = scalar(sum, one.name)) add_up_to_most(*amount, one.amount);
  }
}

void PodResources::CountResources::raise(Sum& sum, const Sum& to) const {
  sum.basic.cpu_milli = std::max(sum.basic.cpu_milli, to.basic.cpu_milli);
  sum.basic.memory_bytes = std::max(sum.basic.memory_bytes, to.basic.memory_bytes);
  sum.basic.ephemeral_storage_bytes = std::max(sum.basic.ephemeral_storage_bytes, to.basic.ephemeral_storage_bytes);
  for (const NamedAmount& one : to.scalars) {
    if (std::int64_t* const amount = scalar(sum, one.name)) *amount = std::max(*amount, one.amount);
  }
}

PodResources::Sum PodResources::sum_of(const Amounts& amounts) {
  Sum sum;
  sum.basic.cpu_milli = amounts.cpu_milli.value_or(0);
  sum.basic.memory_bytes = amounts.memory_bytes.value_or(0);
  sum.basic.ephemeral_storage_bytes = amounts.ephemeral_storage_bytes.value_or(0);
  sum.scalars = amounts.scalars;
  return sum;
}

std::optional<Amounts> PodResources::requests_in(const Field& resources) {
  const auto fields = object(resources, reading_);
  if (!fields) return std::nullopt;
  const Reading::Step in_resources(reading_, resources.name);
  const auto [requests] = pick<1>(*fields, {std::string_view("requests")}, reading_);
  return requests.given ? std::optional(read_amounts(requests, reading_)) : std::nullopt;
}

void PodResources::read_pod_status(const Field& allotted, const Field& resources) {
  if (allotted.given) pod_allotted_ = read_amounts(allotted, reading_);
  pod_actual_ = requests_in(resources);
  pod_resources_told_ = resources.given;
}

void PodResources::read_container_statuses(const Field& statuses) {
  const auto items = array(statuses, reading_);
  if (!items) return;
  const Reading::Step in_list(reading_, statuses.name);
  std::size_t index = 0;
  for (const simdjson::dom::element item : *items) {
    const Reading::Step in_item(reading_, index++);
    const auto status = item_object(item, reading_);
    if (!status) return;
    const auto [name, allotted, resources] =
        pick<3>(*status, {std::string_view("name"), "allocatedResources", "resources"}, reading_);
    ContainerStatus read{text(name, reading_), index, {}, {}};
    if (allotted.given) read.allotted = read_amounts(allotted, reading_);
    read.actual = requests_in(resources);
    if (read.allotted || read.actual) statuses_.push_back(std::move(read));
  }
  std::ranges::sort(statuses_, {}, [](const ContainerStatus& one) { return std::tie(one.name, one.index); });
}

void PodResources::add(const Container& container, bool init) {
  const auto count = [&](Count& sum, const Amounts& amounts) {
    if (init) {
      sum.add_init_container(sum_of(amounts), container.restarts);
    } else {
      sum.add_container(sum_of(amounts));
    }
  };
  count(asked_, container.requests);
  if (statuses_.empty() && !infeasible_) return;
  static const Amounts kNone;
  const auto found = std::ranges::lower_bound(statuses_, container.name, {}, &ContainerStatus::name);
  const bool known = found != statuses_.end() && found->name == container.name;
  const Amounts& spec = infeasible_ ? kNone : container.requests;
  const Amounts& allotted = known && found->allotted ? *found->allotted : spec;
  count(allotted_, allotted);
  count(actual_, known && found->actual ? *found->actual : allotted);
}

model::Resources PodResources::total(const Field& pod_level, const Field& overhead) {
  const CountResources ops{&reading_};
  Sum sum = infeasible_ ? Sum{} : asked_.total();
  if (pod_allotted_ && pod_actual_) {
    ops.raise(sum, sum_of(*pod_allotted_));
    ops.raise(sum, sum_of(*pod_actual_));
  } else {
    ops.raise(sum, allotted_.total());
    ops.raise(sum, actual_.total());
  }
  apply_pod_level(sum, pod_level);
  ops.add(sum, sum_of(read_amounts(overhead, reading_)));

  model::Resources total{sum.basic, {}};
  for (const NamedAmount& one : sum.scalars) {
    if (one.amount > 0) total.scalars.push_back({std::string(one.name), one.amount});
  }
  std::ranges::sort(total.scalars, {}, &ScalarAmount::name);
  return within_bounds(std::move(total), kMostAsked);
}

void PodResources::apply_pod_level(Sum& sum, const Field& pod_level) {
  const auto fields = object(pod_level, reading_);
  if (!fields) return;
  const Reading::Step in_resources(reading_, pod_level.name);
  const auto [requests, limits] = pick<2>(*fields, {std::string_view("requests"), "limits"}, reading_);
  const auto covered = [this](const Field& field) {
    Amounts amounts = read_amounts(field, reading_);
    amounts.ephemeral_storage_bytes = std::nullopt;
    std::erase_if(amounts.scalars, [](const NamedAmount& one) { return !one.name.starts_with("hugepages-"); });
    return amounts;
  };
  Amounts asked = covered(requests);
  // As defaultPodRequests of pkg/apis/core/v1/defaults.go: what containers ask for comes before the pod's limit.
  Amounts limited = covered(limits);
  if (sum.basic.cpu_milli > 0) limited.cpu_milli = std::nullopt;
  if (sum.basic.memory_bytes > 0) limited.memory_bytes = std::nullopt;
  fill_in(asked, limited);
  if (!asked.cpu_milli && !asked.memory_bytes && asked.scalars.empty()) return;

  const CountResources ops{&reading_};
  if (pod_resources_told_ && infeasible_) asked = {};
  Sum whole = sum_of(asked);
  for (const auto* const status : {&pod_actual_, &pod_allotted_}) {
    if (!pod_resources_told_ || !*status) continue;
    ops.raise(whole, sum_of(**status));
    fill_in(asked, **status);
  }
  if (asked.cpu_milli) sum.basic.cpu_milli = whole.basic.cpu_milli;
  if (asked.memory_bytes) sum.basic.memory_bytes = whole.basic.memory_bytes;
  for (const NamedAmount& one : asked.scalars) {
    if (!one.name.starts_with("hugepages-")) continue;
    std::int64_t* const into = ops.scalar(sum, one.name);
    const std::int64_t* const from = ops.scalar(whole, one.name);
    if (into != nullptr && from != nullptr) *into = *from;
  }
}

}  // namespace berth::codec
