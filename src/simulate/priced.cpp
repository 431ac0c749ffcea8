// FGD and Berth's own policy: both ask what a placement takes from the classes of the mix, at different prices.
#include <algorithm>
#include <utility>

#include "scorers.h"

namespace berth::simulate {
namespace {

using model::MixTable;
using model::RequestMix;
using model::Room;

// Worth of each node at the prices of now, worked out when it is asked for.
class Worths {
 public:
  void restart(std::size_t nodes) { known_.assign(nodes, std::nullopt); }
  void forget(NodeNumber node) { known_[node].reset(); }
  double of(NodeNumber node, const policy::Valuation& valuation, const Room& room) {
    if (!known_[node]) known_[node] = valuation.worth(room);
    return *known_[node];
  }

 private:
  std::vector<std::optional<double>> known_;
};

std::optional<model::GpuMask> whole_gpus(const Room& room, const model::RequestClass& request, bool islands) {
  if (!request.whole() || request.gpus == 0) return std::nullopt;
  return pick_whole(room, request.gpus, islands);
}

class Fgd final : public Scorer {
 public:
  Fgd(const ChooserSettings& settings, const RequestMix& mix, Cluster& cluster) : islands_(settings.islands) {
    Fgd::learn(mix, cluster);
  }

  Rating rate(const Cluster::Node& node, NodeNumber number, const Kind& kind) override {
    const policy::Valuation valuation{mix_, prices_, policy::kFgdCounting};
    const auto placed = policy::place_fgd(valuation, node.room, worths_.of(number, valuation, node.room), kind.request);
    if (!placed) return {};
    const int score = policy::fgd_score(static_cast<double>(kind.milli()), placed->cost);
    return {static_cast<double>(score), whole_gpus(node.room, kind.request, islands_).value_or(placed->gpus)};
  }
  void changed(const Cluster::Node& /*node*/, NodeNumber number) override { worths_.forget(number); }
  bool learn(const RequestMix& mix, Cluster& cluster) override {
    mix_ = MixTable(mix);
    prices_ = policy::fgd_prices(mix_, mix).prices;
    cluster.use_products(mix_);
    worths_.restart(cluster.size());
    return true;
  }

 private:
  bool islands_;
  MixTable mix_;
  std::vector<double> prices_;
  Worths worths_;
};

class Berth final : public Scorer {
 public:
  Berth(const ChooserSettings& settings, const RequestMix& mix, Cluster& cluster)
      : settings_(settings),
        counting_(settings.knobs.cpu_weight, settings.nearly_whole),
        capacity_(static_cast<double>(cluster.capacity_milli())) {
    Berth::learn(mix, cluster);
  }

  bool begin() override {
    if (decisions_++ % static_cast<unsigned>(settings_.refresh) != 0) return false;
    policy::packing_prices(weights_, total_, settings_.knobs.floor, capacity_, prices_);
    worths_.restart(nodes_);
    return true;
  }
  Rating rate(const Cluster::Node& node, NodeNumber number, const Kind& kind) override {
    const policy::Valuation valuation{mix_, prices_, counting_};
    const double worth = worths_.of(number, valuation, node.room);
    const auto whole = whole_gpus(node.room, kind.request, settings_.islands);
    const auto placed = policy::place_cheapest(valuation, node.room, worth, kind.request, whole);
    return placed ? Rating{-placed->cost, placed->gpus} : Rating{};
  }
  void changed(const Cluster::Node& node, NodeNumber number) override {
    worths_.forget(number);
    const std::span<double> own = std::span(usable_).subspan(number * mix_.size(), mix_.size());
    for (std::size_t i = 0; i < own.size(); ++i) total_[i] -= own[i];
    mix_.usable(node.room, counting_, own);
    for (std::size_t i = 0; i < own.size(); ++i) total_[i] += own[i];
  }
  bool learn(const RequestMix& mix, Cluster& cluster) override {
    mix_ = MixTable(mix);
    weights_ = policy::packing_weights(mix_, settings_.knobs);
    cluster.use_products(mix_);
    nodes_ = cluster.size();
    usable_.assign(nodes_ * mix_.size(), 0);
    total_.assign(mix_.size(), 0);
    prices_.assign(mix_.size(), 0);
    worths_.restart(nodes_);
    for (NodeNumber number = 0; number < nodes_; ++number) Berth::changed(cluster.node(number), number);
    decisions_ = 0;
    return true;
  }

 private:
  ChooserSettings settings_;
  model::Counting counting_;
  double capacity_;
  MixTable mix_;
  std::size_t nodes_ = 0;
  std::vector<double> weights_;
  std::vector<double> usable_;  // by node and class
  std::vector<double> total_;   // by class
  std::vector<double> prices_;
  Worths worths_;
  std::uint64_t decisions_ = 0;
};

}  // namespace

std::unique_ptr<Scorer> make_priced(const ChooserSettings& settings, const RequestMix& mix, Cluster& cluster) {
  if (settings.policy == PolicyName::kFgd) return std::make_unique<Fgd>(settings, mix, cluster);
  return std::make_unique<Berth>(settings, mix, cluster);
}

}  // namespace berth::simulate
