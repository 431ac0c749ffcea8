// Turns what a reflector gets into updates of the model.
#pragma once

#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "berth/codec/kubernetes_objects.h"
#include "berth/kube/reflector.h"
#include "berth/model/cluster_update.h"

namespace berth::sources {

struct NodeKind {
  using Object = model::Node;
  static model::ClusterUpdate all(std::vector<Object> nodes) { return model::AllNodes{std::move(nodes)}; }
  static model::ClusterUpdate set(Object node) { return model::NodeSet{std::move(node)}; }
  static model::ClusterUpdate gone(Object node) { return model::NodeGone{std::move(node.name)}; }
};

struct PodKind {
  using Object = model::Pod;
  static model::ClusterUpdate all(std::vector<Object> pods) { return model::AllPods{std::move(pods)}; }
  static model::ClusterUpdate set(Object pod) { return model::PodSet{std::move(pod)}; }
  static model::ClusterUpdate gone(Object pod) {
    return model::PodGone{std::move(pod.ns), std::move(pod.name), std::move(pod.uid)};
  }
};

template <class Kind>
class ObjectTarget final : public kube::ReflectorTarget {
 public:
  ObjectTarget(model::ResourceNames resources, model::UpdateSink& sink) : reader_(std::move(resources)), sink_(sink) {}

  void begin_list() override { items_.clear(); }

  core::Result<kube::PageInfo> take_page(std::string& body) override {
    auto page = reader_.read_list<typename Kind::Object>(body);
    if (!page) return tl::unexpected(std::move(page.error()));
    items_.insert(items_.end(), std::move_iterator(page->items.begin()), std::move_iterator(page->items.end()));
    return kube::PageInfo{std::move(page->resource_version), std::move(page->continue_token), page->broken,
                          std::move(page->first_broken_why)};
  }

  void finish_list() override { sink_.push(Kind::all(std::exchange(items_, {}))); }

  core::Result<kube::EventInfo> take_event(std::string& line) override {
    auto event = reader_.read_event<typename Kind::Object>(line);
    if (!event) return tl::unexpected(std::move(event.error()));
    using enum codec::WatchEventType;
    if (event->type == kAdded || event->type == kModified) sink_.push(Kind::set(std::move(event->object)));
    if (event->type == kDeleted) sink_.push(Kind::gone(std::move(event->object)));
    return kube::EventInfo{event->type, std::move(event->resource_version), event->status_code,
                           std::move(event->message)};
  }

 private:
  codec::ObjectReader reader_;
  model::UpdateSink& sink_;
  std::vector<typename Kind::Object> items_;
};

}  // namespace berth::sources
