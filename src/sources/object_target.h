// Turns what a reflector gets into updates of the model.
#pragma once

#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "berth/codec/kubernetes_objects.h"
#include "berth/kube/reflector.h"
#include "berth/model/cluster_update.h"

namespace berth::sources {

// Called around the push of a whole list; either may be empty.
struct ListHooks {
  std::function<void()> before = {};
  std::function<void()> after = {};
};

// `Kind` (object_kinds.h) makes updates of objects of one kind; it may make none of one.
template <class Kind>
class ObjectTarget final : public kube::ReflectorTarget {
 public:
  ObjectTarget(Kind kind, model::ResourceNames resources, model::UpdateSink& sink, ListHooks hooks = {})
      : kind_(std::move(kind)), reader_(std::move(resources)), sink_(sink), hooks_(std::move(hooks)) {}

  void begin_list() override { items_.clear(); }

  core::Result<kube::PageInfo> take_page(std::string& body) override {
    auto page = reader_.read_list<typename Kind::Object>(body);
    if (!page) return tl::unexpected(std::move(page.error()));
    items_.insert(items_.end(), std::move_iterator(page->items.begin()), std::move_iterator(page->items.end()));
    return kube::PageInfo{std::move(page->resource_version), std::move(page->continue_token), page->broken,
                          std::move(page->first_broken_why)};
  }

  void finish_list() override {
    if (hooks_.before) hooks_.before();
    sink_.push(kind_.all(std::exchange(items_, {})));
    if (hooks_.after) hooks_.after();
  }

  core::Result<kube::EventInfo> take_event(std::string& line) override {
    auto event = reader_.read_event<typename Kind::Object>(line);
    if (!event) return tl::unexpected(std::move(event.error()));
    using enum codec::WatchEventType;
    if (event->type == kAdded || event->type == kModified) tell(kind_.set(std::move(event->object)));
    if (event->type == kDeleted) tell(kind_.gone(std::move(event->object)));
    return kube::EventInfo{event->type, std::move(event->resource_version), event->status_code,
                           std::move(event->message), std::move(event->broken_why)};
  }

 private:
  void tell(std::optional<model::ClusterUpdate> update) {
    if (update) sink_.push(*std::move(update));
  }

  Kind kind_;
  codec::ObjectReader reader_;
  model::UpdateSink& sink_;
  ListHooks hooks_;
  std::vector<typename Kind::Object> items_;
};

}  // namespace berth::sources
