// Keeps two annotations of one Node object as they should be: berth.io/topology and berth.io/gpu-holders.
//
// An annotation is written only when it says something else than what is there: a write of a Node goes to all who watch
// nodes. What is there is read at the first time, after a failure, and every `check_every`, because a Node that is
// deleted and made anew has none. Neither is written twice within `write_gap`.
//
// Not thread-safe.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "berth/codec/kubernetes_objects.h"
#include "berth/core/clock.h"
#include "berth/kube/api_client.h"
#include "berth/kube/backoff.h"
#include "berth/model/machine.h"
#include "berth/net/cancellation.h"
#include "trouble.h"

namespace berth::agent {

struct PublisherOptions {
  std::string node;
  std::chrono::milliseconds write_gap{5'000};
  std::chrono::milliseconds check_every{600'000};
  std::chrono::milliseconds backoff_min{1'000};
  std::chrono::milliseconds backoff_max{60'000};
  std::function<double()> random;  // in [0, 1): spreads what many nodes do
};

class Publisher {
 public:
  // `client` null: what would be written is printed, and nothing is read. Both must outlive it.
  Publisher(PublisherOptions options, kube::ApiClient* client, const core::Clock& clock);

  // What the annotations should say; `at` is set when it is written. kTooLarge if it is more than an annotation should
  // hold; then what is there stays.
  core::Result<void> set_machine(const model::Machine& machine);
  core::Result<void> set_holders(const model::GpuHolders& holders);

  // Writes what should be written now. False if it could not.
  bool step(const net::Cancellation& cancellation);
  // When step() has something to do.
  [[nodiscard]] core::SteadyTime due() const;

 private:
  template <class T>
  struct Annotation {
    std::optional<T> wanted;  // nullopt: as it is
    std::optional<T> there;   // nullopt: is absent or can't be read
    core::SteadyTime not_before{};
    [[nodiscard]] bool differs() const { return wanted && wanted != there; }
  };
  bool read_node(const net::Cancellation& cancellation);
  template <class T>
  bool write(std::string_view key, Annotation<T>& annotation, const net::Cancellation& cancellation);
  bool failed(const kube::ApiError& error);

  const PublisherOptions options_;
  kube::ApiClient* const client_;
  const core::Clock& clock_;
  codec::ObjectReader reader_;
  kube::Backoff backoff_;
  Trouble trouble_{"API server"};
  std::string uid_;  // of the Node; empty: what is there is not known
  Annotation<model::Machine> machine_;
  Annotation<model::GpuHolders> holders_;
  core::SteadyTime check_at_{};
  core::SteadyTime retry_at_{};
};

}  // namespace berth::agent
