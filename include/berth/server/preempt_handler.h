// Answers kube-scheduler's Preempt calls from the newest snapshot.
//
// Thread-safe: the handler runs on many threads at once. It does no I/O and tells nobody of its answer: whom the
// scheduler evicts shows in the pods that it deletes and the node that it nominates.
#pragma once

#include "berth/server/extender_handlers.h"
#include "berth/server/http_server.h"

namespace berth::server {

// Adds POST /preempt. `context` must outlive the server.
void add_preempt_route(HttpServer& server, const ExtenderContext& context);

}  // namespace berth::server
