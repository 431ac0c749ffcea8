#include "fragmentation.h"

#include "berth/policy/packing.h"

namespace berth::simulate {

Fragmentation::Fragmentation(const Workload& workload, const Cluster& cluster) {
  const model::RequestMix mix = workload.mix();
  mix_ = model::MixTable(mix);
  prices_ = policy::fgd_prices(mix_, mix).prices;
  for (const std::string& name : workload.products) products_.push_back(mix_.product(name));
  nodes_.resize(cluster.size());
  for (NodeNumber number = 0; number < cluster.size(); ++number) changed(cluster, number);
}

void Fragmentation::changed(const Cluster& cluster, NodeNumber number) {
  const double now = of(cluster.node(number));
  sum_ += now - nodes_[number];
  nodes_[number] = now;
}

// Shares add up to 1 with those of classes to which nothing that is free is of use.
double Fragmentation::of(const Cluster::Node& node) const {
  model::Room room = node.room;
  room.product = products_[node.product];
  return static_cast<double>(room.free_milli()) - mix_.worth(room, policy::kFgdCounting, prices_);
}

}  // namespace berth::simulate
