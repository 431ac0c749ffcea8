// Every node of a query judged and scored, before anything is ranked or narrowed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "berth/policy/decide.h"
#include "berth/policy/ledger_credit.h"

namespace berth::policy {

struct Evaluated {
  std::uint32_t name = 0;  // index into Query::names
  model::Slot slot = model::kNoSlot;
  std::uint32_t rank = ~std::uint32_t{0};  // of its name; the greatest for a node that the snapshot doesn't know
  std::uint8_t fit = 2;                    // 2: enough unpromised GPUs, 1: enough unused, 0: too few by our count
  bool holds_all = true;                   // as NodeView has it
  std::int32_t used = 0;                   // GPUs taken, promises counted in
  std::int32_t gpus_free = -1;
  model::GpuMask gpu_set = 0;
  double coverage = 0;
  double load_seconds = 0;
  double saved_seconds = 0;
  double steps_behind = 0;  // scores.h; 0 for a pod without data
  bool refused = false;     // twice lately, to pods of this one's owner
  model::ScoreParts parts;
};

struct Evaluation {
  std::vector<Evaluated> fitting;  // in the order of the request
  std::vector<Rejected> rejected;
  std::optional<LedgerCredit> ledger;  // that the views came from; none if all were rejected alike
  bool by_gang = false;                // nodes differ by the pod's gang
};

Evaluation evaluate(const Query& query, const Settings& settings);

// The documented order of candidates (decide.h): true if `a` comes before `b`.
class Better {
 public:
  explicit Better(const Query& query) : query_(query) {}
  bool operator()(const Evaluated& a, const Evaluated& b) const;

 private:
  const Query& query_;
};

// The part of a decision that Filter and Prioritize share. `ranked`: candidates, best first.
model::Decision describe(const Query& query, model::Verb verb, std::span<const Evaluated> ranked,
                         std::size_t candidate_count, std::span<const Rejected> rejected);
// Puts exact placements into the decision of describe(): of the winner, and of shares and partitions on all candidates.
void show_placements(model::Decision& decision, const Query& query, std::span<const Evaluated> ranked,
                     const std::optional<LedgerCredit>& ledger);

}  // namespace berth::policy
