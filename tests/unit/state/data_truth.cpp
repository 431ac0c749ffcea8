#include "unit/state/data_truth.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "../src/state/coverage.h"

namespace berth::state {

namespace {

bool placeable(const model::Pod& pod) { return pod.node.empty() && !pod.ended() && !pod.deleting; }

bool in_cache(const model::Pod& pod) { return pod.cache && !pod.node.empty() && !pod.ended() && !pod.deleting; }

// The names of the datasets of "ns" that the pod names or mounts, reachable or not.
std::set<std::string> wanted(const model::Pod& pod, const DataTruth& truth) {
  std::set<std::string> names;
  const model::PodRequest request = model::make_request(pod, {});
  for (const model::WantedDataset& one : request.datasets) names.insert(one.ref.name);
  for (const std::string& claim : pod.claims) {
    const auto found = truth.claims.find(claim);
    if (found != truth.claims.end() && !found->second.dataset.name.empty()) names.insert(found->second.dataset.name);
  }
  return names;
}

bool is_label_of(const std::string& label, const model::Dataset& dataset) {
  return label == model::worker_label(dataset.ref, dataset.uid) ||
         (!dataset.runtime.empty() && label == model::runtime_label(dataset.ref, dataset.uid, dataset.runtime));
}

CoverageInputs inputs_of(const model::Snapshot& got, const DataTruth& truth, const DataTruth::Object& object,
                         const CoverageOptions& options, core::SteadyTime now) {
  const std::string& name = object.dataset.ref.name;
  CoverageInputs in;
  in.bound = object.dataset.bound();
  in.total_bytes = object.dataset.total_bytes;
  in.cached = object.dataset.cached;
  in.cached_at = object.changed;
  in.measured_at = object.measured_at;
  in.assumed = options.assumed;
  if (const auto runtime = truth.runtimes.find(name); runtime != truth.runtimes.end()) {
    in.worker_bytes = runtime->second.worker_bytes;
  }
  for (const auto& [pod, part] : truth.parts) {
    if (part.pod.dataset != name || part.pod.role == model::CacheRole::kMaster) continue;
    CoverageInputs::Pod made;
    made.slot = got.find(part.node);
    made.ready = part.pod.ready;
    made.own_cache = part.pod.own_cache;
    made.late = !part.from_the_start && (part.ready_step == 0 || part.ready_step > object.cached_step);
    made.bytes = part.bytes;
    made.changed = part.changed;
    (part.pod.role == model::CacheRole::kWorker ? in.workers : in.fuses).push_back(made);
  }
  for (const auto& [where, since] : truth.unattended) {
    if (where.first != name || now - since.steady >= options.label_grace) continue;
    in.worker_labels.push_back({got.find(where.second), since.wall});
  }
  for (const auto& [where, since] : truth.labelled) {
    if (where.first != model::fuse_label(object.dataset.ref, object.dataset.uid)) continue;
    in.fuse_labels.push_back({got.find(where.second), since});
  }
  return in;
}

std::string text(const std::vector<model::DatasetPlacement::Holder>& holders) {
  std::string all;
  for (const auto& one : holders) {
    all += std::to_string(one.slot) + " " + std::to_string(one.coverage) + " " + std::string(to_string(one.source)) +
           (one.holds ? " holds " : " ") + (one.worker ? "worker " : "") +
           std::to_string(one.observed.time_since_epoch().count()) + " " + std::to_string(one.bytes) + "; ";
  }
  return all;
}

void expect_datasets(const model::Snapshot& got, const DataTruth& truth, const CoverageOptions& options,
                     core::SteadyTime now) {
  std::set<std::string> names;
  for (const auto& [name, object] : truth.datasets) {
    if (!truth.served) break;
    names.insert("ns/" + name);
    const std::string meaning = truth.meaning(name);
    const auto* const placement = got.placement({"ns", name});
    ASSERT_NE(placement, nullptr) << name;
    EXPECT_EQ(placement->ref.name, meaning);
    EXPECT_EQ(placement, got.placement({"ns", meaning}));
    if (meaning != name) continue;
    EXPECT_EQ(placement->phase, object.dataset.phase);
    EXPECT_EQ(placement->total_bytes, object.dataset.total_bytes);
    EXPECT_EQ(placement->loading, std::ranges::any_of(truth.loads, [&](const auto& one) {
                return one.second.running && one.second.dataset.name == name;
              }));
    const auto in = inputs_of(got, truth, object, options, now);
    EXPECT_EQ(placement->ready_workers, std::ranges::count_if(in.workers, &CoverageInputs::Pod::ready)) << name;
    EXPECT_EQ(placement->own_caches, std::ranges::any_of(in.workers, &CoverageInputs::Pod::own_cache) ||
                                         std::ranges::any_of(in.fuses, &CoverageInputs::Pod::own_cache))
        << name;
    const auto want =
        object.dataset.physical.name.empty() ? merge_coverage(in) : std::vector<model::DatasetPlacement::Holder>();
    EXPECT_EQ(text(placement->holders), text(want)) << name;
  }
  std::map<std::string, std::string> by_label;  // nodes
  for (const auto& [where, since] : truth.labelled) {
    if (!truth.served && where.first.starts_with("fluid.io/s-")) by_label[where.first] += where.second + " ";
  }
  for (const auto& [label, nodes] : by_label) {
    names.insert(label);
    ASSERT_TRUE(got.dataset_names->contains(label)) << label;
    std::set<std::string> holders;
    for (const auto& holder : got.datasets[got.dataset_names->at(label)]->holders) {
      EXPECT_TRUE(holder.holds);
      EXPECT_EQ(holder.observed, truth.labelled.at({label, got.index->name(holder.slot)}));
      holders.insert(got.index->name(holder.slot));
    }
    std::string joined;
    for (const std::string& holder : holders) joined += holder + " ";
    EXPECT_EQ(joined, nodes) << label;
  }
  EXPECT_EQ(got.dataset_names->size(), names.size());
  std::set<model::DatasetId> used;
  for (const auto& [name, id] : *got.dataset_names) used.insert(id);
  EXPECT_EQ(got.readers.size(), got.datasets.size());
  for (model::DatasetId id = 0; id < got.datasets.size(); ++id) {
    EXPECT_EQ(got.datasets[id] != nullptr, used.contains(id)) << id;
    EXPECT_TRUE(got.readers[id] == nullptr || used.contains(id)) << id;
  }
}

void expect_readers(const model::Snapshot& got, const DataTruth& truth) {
  std::map<std::pair<model::DatasetId, std::string>, int> want;
  std::size_t entries = truth.promises.size();
  for (const auto& [name, pod] : truth.pods) {
    const bool firm = truth.has_firm(pod);
    if (firm && truth.nodes.contains(pod.nominated_node)) ++entries;
    const auto promise = truth.promises.find(pod.uid);
    std::string node;
    if (!pod.node.empty()) {
      if (!pod.ended()) node = pod.node;
    } else if (firm) {
      node = pod.nominated_node;
    } else if (promise != truth.promises.end() && !pod.ended()) {
      node = promise->second.node;
    }
    if (!truth.nodes.contains(node)) continue;
    std::set<model::DatasetId> ids;
    for (const std::string& dataset : wanted(pod, truth)) ids.insert(got.dataset_id({"ns", dataset}));
    ids.erase(model::kNoDataset);
    for (const model::DatasetId id : ids) ++want[{id, node}];
  }
  std::map<std::pair<model::DatasetId, std::string>, int> counted;
  for (model::DatasetId id = 0; id < got.readers.size(); ++id) {
    if (!got.readers[id]) continue;
    for (const auto& [slot, pods] : got.readers[id]->counts) counted[{id, got.index->name(slot)}] = pods;
  }
  EXPECT_EQ(counted, want);
  EXPECT_EQ(got.ledger->size(), entries);
}

void expect_nodes(const model::Snapshot& got, const DataTruth& truth) {
  std::map<std::uint64_t, std::pair<std::set<model::Slot>, std::int64_t>> images;
  std::map<std::string, model::PlaceId> places;
  for (const auto& [name, node] : truth.nodes) {
    const model::Slot slot = got.find(name);
    for (const auto& [id, bytes] : node.images) {
      images[id].first.insert(slot);
      images[id].second = std::max(images[id].second, bytes);
    }
    const model::PlaceId place = got.at(slot).place;
    ASSERT_LT(place, got.places->size());
    EXPECT_EQ(places.try_emplace(node.zone + "/" + node.rack, place).first->second, place);
    EXPECT_EQ((*got.places)[place].rack, !node.rack.empty());
    for (const auto& [other_name, other] : truth.nodes) {
      const bool same = (*got.places)[place].zone == (*got.places)[got.at(got.find(other_name)).place].zone;
      EXPECT_EQ(same, node.zone == other.zone) << name << " " << other_name;
    }
  }
  std::set<model::PlaceId> apart;
  for (const auto& [name, place] : places) apart.insert(place);
  EXPECT_EQ(apart.size(), places.size());
  std::size_t found = 0;
  for (const auto& shard : got.images.shards) found += shard ? shard->size() : 0;
  EXPECT_EQ(found, images.size());
  for (const auto& [id, want] : images) {
    ASSERT_NE(got.images.find(id), nullptr);
    EXPECT_EQ(got.images.find(id)->bytes, want.second);
    EXPECT_EQ(got.images.find(id)->holders, std::vector<model::Slot>(want.first.begin(), want.first.end()));
  }
}

}  // namespace

void DataTruth::set_dataset(const model::Dataset& dataset, const Moment& now) {
  const auto known = datasets.find(dataset.ref.name);
  if (known != datasets.end() && known->second.dataset == dataset) return;
  if (known != datasets.end() && known->second.dataset.uid != dataset.uid) drop_dataset(dataset.ref.name);
  const bool comes = !datasets.contains(dataset.ref.name);
  Object& object = datasets[dataset.ref.name];
  if (!comes && object.dataset.runtime != dataset.runtime) {
    object.measured_at.reset();
    forget_bytes(dataset.ref.name);
  }
  if (comes || object.dataset.cached != dataset.cached) object.cached_step = step + 1;
  object.changed = now.wall;
  object.dataset = dataset;
}

void DataTruth::drop_dataset(const std::string& name) {
  if (datasets.erase(name) == 0) return;
  forget_bytes(name);
  std::erase_if(unattended, [&](const auto& one) { return one.first.first == name; });
}

void DataTruth::forget_bytes(const std::string& dataset) {
  for (auto& [pod, part] : parts) {
    if (part.pod.dataset == dataset) part.bytes.reset();
  }
}

void DataTruth::measure(const model::Measured& measured) {
  const auto found = datasets.find(measured.dataset.name);
  if (found == datasets.end()) return;
  if (found->second.measured_at && measured.at < *found->second.measured_at) return;
  found->second.measured_at = measured.at;
  for (auto& [pod, part] : parts) {
    if (part.pod.dataset != measured.dataset.name || part.pod.role != model::CacheRole::kWorker) continue;
    part.bytes.reset();
    if (part.pod.started > measured.at) continue;
    // In these histories every worker has a pod IP of its own, and masters tell those.
    for (const model::WorkerBytes& told : measured.workers) {
      if (told.host == part.pod.pod_ip) part.bytes = part.bytes.value_or(0) + told.bytes;
    }
  }
}

bool DataTruth::has_label(const model::Node& node, const model::Dataset& dataset) const {
  return std::ranges::any_of(node.fluid_labels, [&](const auto& label) { return is_label_of(label, dataset); });
}

bool DataTruth::has_worker(const std::string& node, const std::string& dataset) const {
  return std::ranges::any_of(parts, [&](const auto& one) {
    const Part& part = one.second;
    return part.node == node && part.pod.dataset == dataset && part.pod.role == model::CacheRole::kWorker;
  });
}

void DataTruth::settle(const Moment& now) {
  ++step;
  std::erase_if(parts, [&](const auto& one) {
    const auto pod = pods.find(one.first);
    return pod == pods.end() || !in_cache(pod->second) || pod->second.uid != one.second.uid ||
           pod->second.node != one.second.node || pod->second.cache->dataset != one.second.pod.dataset ||
           pod->second.cache->role != one.second.pod.role;
  });
  for (const auto& [name, pod] : pods) {
    if (!in_cache(pod)) continue;
    const auto [at, comes] = parts.try_emplace(name);
    Part& part = at->second;
    if (!comes && part.pod == *pod.cache) continue;
    if (comes) part.from_the_start = !pods_listed;
    part.uid = pod.uid;
    part.node = pod.node;
    part.pod = *pod.cache;
    part.changed = now.wall;
    if (part.pod.ready && part.ready_step == 0) part.ready_step = step;
  }
  std::erase_if(labelled, [&](const auto& one) {
    const auto node = nodes.find(one.first.second);
    return node == nodes.end() ||
           std::ranges::find(node->second.fluid_labels, one.first.first) == node->second.fluid_labels.end();
  });
  for (const auto& [name, node] : nodes) {
    for (const std::string& label : node.fluid_labels) labelled.try_emplace({label, name}, now.wall);
  }
  std::erase_if(unattended, [&](const auto& one) {
    const auto& [dataset, node] = one.first;
    return !served || !datasets.contains(dataset) || !nodes.contains(node) || has_worker(node, dataset) ||
           !has_label(nodes.at(node), datasets.at(dataset).dataset);
  });
  for (const auto& [name, object] : datasets) {
    for (const auto& [node_name, node] : nodes) {
      if (served && has_label(node, object.dataset) && !has_worker(node_name, name))
        unattended.try_emplace({name, node_name}, now);
    }
  }
  std::erase_if(promises, [&](const auto& one) {
    const model::Pod* const pod = by_uid(one.first);
    return !nodes.contains(one.second.node) || one.second.until <= now.steady ||
           (pod != nullptr && (!placeable(*pod) || has_firm(*pod)));
  });
}

bool DataTruth::wants_data(const model::Pod& pod) const { return !pod.ended() && !wanted(pod, *this).empty(); }

bool DataTruth::has_firm(const model::Pod& pod) const {
  return placeable(pod) && !pod.nominated_node.empty() && (pod.gpus > 0 || wants_data(pod));
}

const model::Pod* DataTruth::by_uid(const std::string& uid) const {
  for (const auto& [name, pod] : pods) {
    if (pod.uid == uid) return &pod;
  }
  return nullptr;
}

std::string DataTruth::meaning(const std::string& name) const {
  const auto found = datasets.find(name);
  if (found == datasets.end()) return {};
  const auto physical = datasets.find(found->second.dataset.physical.name);
  const bool stands = physical != datasets.end() && physical->second.dataset.physical.name.empty();
  return stands ? physical->first : name;
}

void expect_same(const model::Snapshot& got, const DataTruth& truth, const CoverageOptions& options,
                 core::SteadyTime now) {
  ASSERT_EQ(got.index->nodes(), truth.nodes.size());
  expect_datasets(got, truth, options, now);
  expect_readers(got, truth);
  expect_nodes(got, truth);
}

}  // namespace berth::state
