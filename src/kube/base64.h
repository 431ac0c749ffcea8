// Base64 as kubeconfig's *-data fields use it (RFC 4648, section 4).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace berth::kube {

// Line breaks and spaces are skipped; nullopt for anything else that is not base64.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace berth::kube
