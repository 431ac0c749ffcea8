// Numbers for the racks and zones that nodes stand in, and for what their labels say of the levels of gangs.
//
// Not thread-safe: owned by the builder.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "berth/model/snapshot.h"

namespace berth::state {

class PlaceTable {
 public:
  PlaceTable();

  // The number of all that stands where the node does; give it back with leave(). Place 0 has no label at all.
  model::PlaceId enter(const model::Node& node);
  void leave(model::PlaceId place);

  [[nodiscard]] bool changed() const { return changed_; }
  void write(model::Snapshot& snapshot);

 private:
  // Dense numbers for names, each as long as somebody uses it.
  class Numbers {
   public:
    std::uint32_t enter(const std::string& name);
    void leave(std::uint32_t number);
    [[nodiscard]] std::size_t size() const { return uses_.size(); }

   private:
    struct Use {
      std::string name;
      std::uint32_t count = 0;
    };
    model::StringMap<std::uint32_t> numbers_;
    std::vector<Use> uses_;
    std::vector<std::uint32_t> free_;
  };

  [[nodiscard]] model::Place stands(const model::Node& node);

  Numbers zones_;
  std::array<Numbers, model::kMaxLevels> levels_;  // 0 in each is the absent label
  Numbers places_;
  std::vector<model::Place> known_;  // by PlaceId
  bool changed_ = true;
  std::shared_ptr<const std::vector<model::Place>> published_ = std::make_shared<const std::vector<model::Place>>();
};

}  // namespace berth::state
