#include "machine_probe.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "berth/codec/nvidia_smi.h"
#include "berth/codec/topology_text.h"

namespace berth::agent {
namespace {

using core::ErrorCode;

std::vector<codec::GpuRow> silent(const std::vector<codec::GpuRow>& rows) {
  std::vector<codec::GpuRow> found;
  std::ranges::copy_if(rows, std::back_inserter(found), [](const codec::GpuRow& row) { return !row.answers; });
  return found;
}

}  // namespace

core::Result<CommandOutput> MachineProbe::run(const std::vector<std::string>& arguments,
                                              const net::Cancellation& cancellation) {
  auto output = command_.run(arguments, cancellation);
  if (output) return output;
  std::string command = name_;
  for (const std::string& argument : arguments) command += " " + argument;
  return core::fail(output.error().code, output.error().message, std::move(command));
}

// The exit status tells less than the output: a warning about one GPU makes it other than 0, too.
template <class T>
core::Result<T> MachineProbe::ask(const std::vector<std::string>& arguments,
                                  core::Result<T> (*reader)(std::string_view), const net::Cancellation& cancellation) {
  const auto output = run(arguments, cancellation);
  if (!output) return tl::unexpected(output.error());
  auto read = reader(output->out);
  if (read || read.error().code == ErrorCode::kNotFound) return read;
  std::string command = name_;
  for (const std::string& argument : arguments) command += " " + argument;
  std::string why = "can't be read: " + read.error().to_string();
  if (output->exit_status != 0) why += " (" + output->summary() + ")";
  return core::fail(read.error().code, std::move(why), std::move(command));
}

core::Result<ProbeResult> MachineProbe::read(const net::Cancellation& cancellation) {
  const auto rows = ask({"--query-gpu=" + std::string(codec::kGpuFields), "--format=csv,noheader,nounits"},
                        &codec::read_gpu_rows, cancellation);
  if (!rows) return tl::unexpected(rows.error());
  if (rows->size() > model::kMaxGpus) {
    return core::fail(ErrorCode::kTooLarge, "this machine has " + std::to_string(rows->size()) +
                                                " GPUs, and Berth tells no more than " +
                                                std::to_string(model::kMaxGpus) + " apart");
  }
  const auto lost = silent(*rows);
  const auto otherwise = [&](const core::Error& why) -> core::Result<ProbeResult> {
    if (!lost.empty() && last_) {
      if (auto reading = without(*last_, lost)) return ProbeResult{*std::move(reading), why};
    }
    return tl::unexpected(why);
  };
  if (lost.size() == rows->size()) return otherwise({ErrorCode::kUnavailable, "no GPU answers", name_});
  const auto details = ask({"-q"}, &codec::read_gpu_details, cancellation);
  if (!details) return otherwise(details.error());

  ProbeResult result;
  MigLists mig;
  if (std::ranges::any_of(*details, &codec::GpuDetails::mig)) {
    auto names = ask({"-L"}, &codec::read_mig_names, cancellation);
    if (!names) return otherwise(names.error());
    mig.names = *std::move(names);
    auto instances = ask({"mig", "-lgi"}, &codec::read_gpu_instances, cancellation);
    if (instances) {
      mig.instances = *std::move(instances);
    } else {
      result.partial = instances.error();
    }
  }
  result.reading = join(*rows, *details, mig, [&](const std::string& bus_id) { return pci_place(sysfs_, bus_id); });
  read_links(result, cancellation);
  if (cancellation.cancelled()) return core::fail(ErrorCode::kCancelled, "stopping");
  last_ = result.reading;
  return result;
}

void MachineProbe::read_links(ProbeResult& result, const net::Cancellation& cancellation) {
  model::Machine& machine = result.reading.machine;
  const auto take = [&](const model::Machine& from) {
    machine.links = from.links;
    machine.nics = from.nics;
    for (std::size_t i = 0; i < machine.gpus.size(); ++i) {
      if (from.gpus[i].numa >= 0) machine.gpus[i].numa = from.gpus[i].numa;
    }
  };
  const bool as_many = last_ && last_->machine.links && last_->machine.gpus.size() == machine.gpus.size();
  if (as_many && last_->bus_ids == result.reading.bus_ids) return take(last_->machine);
  auto told = ask({"topo", "-m"}, &codec::read_topology_text, cancellation);
  if (told && told->gpus.size() != machine.gpus.size()) {
    told = core::fail(
        ErrorCode::kInvalid,
        "tells of " + std::to_string(told->gpus.size()) + " GPUs, and there are " + std::to_string(machine.gpus.size()),
        name_ + " topo -m");
  }
  if (told) return take(*told);
  result.partial = told.error();
  if (as_many) take(last_->machine);
}

}  // namespace berth::agent
