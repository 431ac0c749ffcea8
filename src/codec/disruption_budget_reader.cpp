#include "disruption_budget_reader.h"

#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace berth::codec {
namespace {

using std::string_view;
using Operator = model::SelectorTerm::Operator;

std::optional<Operator> parse_operator(string_view name) {
  if (name == "In") return Operator::kIn;
  if (name == "NotIn") return Operator::kNotIn;
  if (name == "Exists") return Operator::kExists;
  if (name == "DoesNotExist") return Operator::kDoesNotExist;
  return std::nullopt;
}

void read_labels(model::DisruptionBudget& budget, const Field& labels, Reading& reading) {
  const auto fields = object(labels, reading);
  if (!fields) return;
  const Reading::Step step(reading, labels.name);
  for (const auto& [key, value] : *fields) {
    string_view written;
    if (value.get(written) != simdjson::SUCCESS) reading.fail(wrong_type("a string", value), key);
    budget.selector.push_back({std::string(key), Operator::kIn, {std::string(written)}});
  }
}

void read_values(model::SelectorTerm& term, const Field& values, Reading& reading) {
  const auto items = array(values, reading);
  if (!items) return;
  const Reading::Step in_list(reading, values.name);
  for (const simdjson::dom::element item : *items) {
    const Reading::Step in_item(reading, term.values.size());
    string_view value;
    if (item.get(value) != simdjson::SUCCESS) reading.fail(wrong_type("a string", item));
    term.values.emplace_back(value);
  }
}

void read_expressions(model::DisruptionBudget& budget, const Field& expressions, Reading& reading) {
  const auto items = array(expressions, reading);
  if (!items) return;
  const Reading::Step in_list(reading, expressions.name);
  std::size_t index = 0;
  for (const simdjson::dom::element item : *items) {
    const Reading::Step in_item(reading, index++);
    const auto fields = item_object(item, reading);
    if (!fields) return;
    const auto [key, op, values] = pick<3>(*fields, {string_view("key"), "operator", "values"}, reading);
    model::SelectorTerm& term = budget.selector.emplace_back();
    term.key = text(key, reading);
    const auto known = parse_operator(text(op, reading));
    if (!known) reading.fail("is none of In, NotIn, Exists, DoesNotExist", op.name);
    term.op = known.value_or(Operator::kIn);
    read_values(term, values, reading);
  }
}

void read_selector(model::DisruptionBudget& budget, const Field& spec, Reading& reading) {
  budget.selects = false;
  const auto fields = object(spec, reading);
  if (!fields) return;
  const Reading::Step in_spec(reading, spec.name);
  const auto [selector] = pick<1>(*fields, {string_view("selector")}, reading);
  const auto terms = object(selector, reading);
  if (!terms) return;
  const Reading::Step in_selector(reading, selector.name);
  budget.selects = true;
  const auto [labels, expressions] = pick<2>(*terms, {string_view("matchLabels"), "matchExpressions"}, reading);
  read_labels(budget, labels, reading);
  read_expressions(budget, expressions, reading);
}

void read_status(model::DisruptionBudget& budget, const Field& status, Reading& reading) {
  const auto fields = object(status, reading);
  if (!fields) return;
  const Reading::Step step(reading, status.name);
  const auto [allowed, disrupted] = pick<2>(*fields, {string_view("disruptionsAllowed"), "disruptedPods"}, reading);
  budget.allowed = static_cast<std::int32_t>(number(allowed, 0, std::numeric_limits<std::int32_t>::max(), reading));
  if (const auto pods = object(disrupted, reading)) {
    for (const auto& [name, since] : *pods) budget.disrupted.emplace_back(name);
  }
}

}  // namespace

void read_into(model::DisruptionBudget& budget, simdjson::dom::object json, Reading& reading) {
  const auto [metadata, spec, status] = pick<3>(json, {string_view("metadata"), "spec", "status"}, reading);
  if (const auto fields = object(metadata, reading)) {
    const Reading::Step step(reading, metadata.name);
    const auto [name, ns] = pick<2>(*fields, {string_view("name"), "namespace"}, reading);
    budget.name = text(name, reading);
    budget.ns = text(ns, reading);
  }
  read_selector(budget, spec, reading);
  read_status(budget, status, reading);
}

}  // namespace berth::codec
