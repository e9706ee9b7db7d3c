#include "reconciler/model/fold.h"

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>

#include "proto/utf8.h"
#include "reconciler/model/by_hand.h"
#include "reconciler/model/fold_changes.h"
#include "reconciler/model/fold_endings.h"
#include "reconciler/model/fold_objects.h"
#include "reconciler/model/fold_refusals.h"
#include "reconciler/model/launcher.h"
#include "reconciler/model/planted.h"
#include "reconciler/model/write_rate.h"

namespace gpubinder {
namespace {

// Where a state of an object comes from: it decides which versions count.
enum class Origin { kList, kWatch, kAnswer };

template <typename T>
Change Store(Origin origin, absl::Time at, T&& object, Snapshot& snapshot) {
  Table<T>& table = std::get<Table<T>>(snapshot.tables);
  if (table.dead.contains(object.meta.uid)) return Change::kNone;
  const std::optional<Row> found =
      table.FindRow(object.meta.name_space, object.meta.name);
  if (found.has_value()) {
    const T& old = table[*found];
    const bool same = old.meta.uid == object.meta.uid;
    const bool older =
        IsOlderVersion(object.meta.resource_version, old.meta.resource_version);
    // A list may go back in time (etcd restored), but not behind an answer
    // that a write of ours has had since the list began.
    if (origin == Origin::kList) {
      table.listed.insert(*found);
      if (same && older && table.written.contains(*found)) {
        return Change::kNone;
      }
    } else if (same && older) {
      return Change::kNone;
    }
    // Compared with the old version in place: copying the object costs as much
    // as the rest of the fold.
    std::string version =
        std::exchange(object.meta.resource_version, old.meta.resource_version);
    const bool neutral = object == old;
    object.meta.resource_version = std::move(version);
    if (neutral) {
      table.Mutable(*found).meta.resource_version =
          object.meta.resource_version;
      if (origin == Origin::kAnswer) table.written.insert(*found);
      return Change::kNone;
    }
    NoteChange<T>(&old, &object, snapshot);
    if (!same) {
      table.dead.insert(old.meta.uid);
      BeforeErase<T>(*found, at, snapshot);
    }
  } else {
    NoteChange<T>(nullptr, &object, snapshot);
  }
  if constexpr (std::is_same_v<T, GpuClaimSet>) {
    NoteEndingSeen(found.has_value() ? &table[*found] : nullptr, object, at,
                   snapshot);
  }
  const Row row = table.Put(std::move(object));
  if (origin == Origin::kList) table.listed.insert(row);
  if (origin == Origin::kAnswer) table.written.insert(row);
  AfterStore<T>(row, at, snapshot);
  return Change::kMatters;
}

template <typename T>
Change Remove(const v1::ObjectEvent& event, absl::Time at, Snapshot& snapshot) {
  Table<T>& table = std::get<Table<T>>(snapshot.tables);
  table.dead.insert(event.uid());
  const std::optional<Row> row =
      table.FindRow(event.namespace_(), event.name());
  if (!row.has_value() || table[*row].meta.uid != event.uid()) {
    return Change::kNone;
  }
  NoteChange<T>(&table[*row], nullptr, snapshot);
  BeforeErase<T>(*row, at, snapshot);
  table.Erase(*row);
  return Change::kMatters;
}

// Calls visit(Table<T>&) for the table of `kind`.
template <typename Visit, size_t... I>
void WithTable(Kind kind, Snapshot& snapshot, Visit visit,
               std::index_sequence<I...>) {
  (void)((static_cast<size_t>(kind) == I
              ? (visit(std::get<I>(snapshot.tables)), true)
              : false) ||
         ...);
}
template <typename Visit>
void WithTable(Kind kind, Snapshot& snapshot, Visit visit) {
  WithTable(kind, snapshot, visit, std::make_index_sequence<kKinds>());
}

Change FoldObject(const v1::ObjectEvent& event, std::optional<Object>&& object,
                  Origin origin, absl::Time at, Snapshot& snapshot) {
  const std::optional<Kind> kind = KindByName(event.kind());
  if (!kind.has_value()) return Change::kNone;
  if (event.type() == v1::ObjectEvent::DELETED) {
    // The last state first: it may be the only one that shows a refusal.
    if (object.has_value() && KindOf(*object) == Kind::kPod) {
      NotePodRefusal(std::get<Pod>(*object), at, snapshot);
    }
    Change change = Change::kNone;
    WithTable(*kind, snapshot, [&]<typename T>(Table<T>&) {
      change = Remove<T>(event, at, snapshot);
    });
    return change;
  }
  if (!object.has_value() || KindOf(*object) != *kind) return Change::kNone;
  return std::visit(
      [&]<typename T>(T&& value) {
        return Store<std::decay_t<T>>(origin, at, std::move(value), snapshot);
      },
      *std::move(object));
}

Change FoldListBegan(const v1::ListBegan& list, Snapshot& snapshot) {
  const std::optional<Kind> kind = KindByName(list.kind());
  if (!kind.has_value()) return Change::kNone;
  snapshot.kinds[static_cast<size_t>(*kind)].listing = true;
  WithTable(*kind, snapshot, [](auto& table) {
    table.listed.clear();
    table.written.clear();
    table.dead.clear();
  });
  return Change::kNone;
}

Change FoldListEnded(const v1::ListEnded& list, absl::Time at,
                     Snapshot& snapshot) {
  const std::optional<Kind> kind = KindByName(list.kind());
  if (!kind.has_value()) return Change::kNone;
  KindState& state = snapshot.kinds[static_cast<size_t>(*kind)];
  if (!state.listing) return Change::kNone;
  Change change =
      state.listed && !state.gone ? Change::kNone : Change::kMatters;
  snapshot.changes.everything |= change == Change::kMatters;
  state.listing = false;
  state.listed = state.served = true;
  state.gone = false;
  state.resource_version = list.resource_version();
  WithTable(*kind, snapshot, [&]<typename T>(Table<T>& table) {
    for (Row row = 0; row < table.end(); ++row) {
      if (!table.Holds(row) || table.listed.contains(row) ||
          table.written.contains(row)) {
        continue;
      }
      table.dead.insert(table[row].meta.uid);
      NoteChange<T>(&table[row], nullptr, snapshot);
      BeforeErase<T>(row, at, snapshot);
      table.Erase(row);
      change = Change::kMatters;
    }
    table.listed.clear();
    table.written.clear();
  });
  if (*kind == Kind::kNode) NoteAbsentNodes(at, snapshot);
  if (*kind == Kind::kVirtualMachineInstance) ForgetForgedRefusals(snapshot);
  return change;
}

// A kind that was listed once keeps its content: an API server that starts
// answers 404 for kinds it is about to serve, and that must never read as "all
// VMIs are gone" (rule H6). Only a complete list takes objects away.
Change FoldKindServed(const v1::KindServed& served, Snapshot& snapshot) {
  const std::optional<Kind> kind = KindByName(served.kind());
  if (!kind.has_value()) return Change::kNone;
  KindState& state = snapshot.kinds[static_cast<size_t>(*kind)];
  // Until the list that follows: what is missing in it may have been made.
  if (state.listed && !served.served()) state.gone = true;
  if (state.served == served.served() || state.listed) return Change::kNone;
  state.served = served.served();
  snapshot.changes.everything = true;
  return Change::kMatters;
}

// The list is whole: a node that is not on it is back, or was lost long ago.
void FoldUnkeptNodes(const v1::Decision& decision, absl::Time at,
                     Snapshot& snapshot) {
  absl::btree_map<std::string, UnkeptNode> nodes;
  for (const v1::UnkeptNode& told : decision.unkept_nodes()) {
    UnkeptNode& node = nodes[told.name()] = {.since = at};
    auto known = snapshot.unkept_nodes.find(told.name());
    if (known != snapshot.unkept_nodes.end()) node = known->second;
    node.held = decision.mass_loss() && !node.confirmed;
    node.classes = {told.classes().begin(), told.classes().end()};
  }
  snapshot.unkept_nodes = std::move(nodes);
}

Change FoldDecision(const v1::Record& record, absl::Time at,
                    Snapshot& snapshot) {
  const v1::Decision& decision = record.decision();
  for (const v1::Explanation& explanation : decision.explanations()) {
    snapshot.explanations[explanation.key()] = explanation;
    snapshot.index.told.erase(explanation.key());
  }
  for (const std::string& gone : decision.gone_sets()) {
    snapshot.explanations.erase(gone);
    snapshot.index.told.erase(gone);
    snapshot.write_rates.erase(gone);
  }
  FoldUnkeptNodes(decision, at, snapshot);
  ForgetUsageWrites(at, snapshot);
  ForgetEndings(at, snapshot);
  // A shadow pass sends nothing, so nothing of it is assumed.
  if (record.role() != v1::LEADER) return Change::kNone;
  for (int i = 0; i < decision.effects_size(); ++i) {
    snapshot.in_flight[{record.sequence(), static_cast<uint32_t>(i)}] =
        decision.effects(i);
    NoteEnding(decision.effects(i), at, snapshot);
  }
  return Change::kNone;
}

// A conflict is decided again; any other refusal of a pin stands until the
// pod is another.
void NoteRefusedPin(const v1::Effect& effect, const v1::Outcome& outcome,
                    Snapshot& snapshot) {
  if (!effect.has_pin_pod() || outcome.kind() != v1::Outcome::REFUSED ||
      outcome.code() < 400 || outcome.code() >= 500 || outcome.code() == 409 ||
      outcome.code() == 429) {
    return;
  }
  snapshot.refused_pins[effect.target().uid()] = {
      .resource_version = effect.target().resource_version(),
      .message = Utf8Within(outcome.message(), kMostRefusalBytes)};
}

Change FoldOutcome(const v1::Record& record, std::optional<Object>&& object,
                   absl::Time at, Snapshot& snapshot) {
  const v1::Outcome& outcome = record.outcome();
  if (outcome.kind() == v1::Outcome::UNKNOWN &&
      !Planted(Bug::kRetryAfterTimeout)) {
    return Change::kNone;
  }
  auto sent = snapshot.in_flight.find({outcome.decision(), outcome.effect()});
  if (sent != snapshot.in_flight.end()) {
    NoteRefusedPin(sent->second, outcome, snapshot);
    NoteRate(sent->second, outcome, at, snapshot);
    NoteUsageWrite(sent->second, outcome, at, snapshot);
    snapshot.in_flight.erase(sent);
  }
  if (outcome.has_object()) {
    FoldObject(outcome.object(), std::move(object), Origin::kAnswer, at,
               snapshot);
  }
  // Its set is free again, so a pass may look at it.
  return Change::kMatters;
}

Change FoldLeadership(const v1::Record& record, Snapshot& snapshot) {
  snapshot.epoch = record.epoch();
  // A leader's first pass follows complete lists, which show what became of
  // whatever was in flight before.
  snapshot.in_flight.clear();
  snapshot.changes.everything = true;
  return Change::kMatters;
}

Change FoldPayload(const v1::Record& record, std::optional<Object>&& object,
                   Snapshot& snapshot) {
  const absl::Time at = absl::FromUnixNanos(record.time_unix_nanos());
  snapshot.sequence = record.sequence();
  snapshot.journal_uid = record.journal_uid();
  switch (record.payload_case()) {
    case v1::Record::kObject: {
      const Origin origin = record.object().type() == v1::ObjectEvent::LISTED
                                ? Origin::kList
                                : Origin::kWatch;
      return FoldObject(record.object(), std::move(object), origin, at,
                        snapshot);
    }
    case v1::Record::kListBegan:
      return FoldListBegan(record.list_began(), snapshot);
    case v1::Record::kListEnded:
      return FoldListEnded(record.list_ended(), at, snapshot);
    case v1::Record::kKindServed:
      return FoldKindServed(record.kind_served(), snapshot);
    case v1::Record::kTimerFired:
      return Change::kMatters;
    case v1::Record::kConfig:
      snapshot.config = ConfigOfRecord(record.config());
      for (const std::string& name : snapshot.config.extra_resource_names) {
        snapshot.names.Intern(name);
      }
      snapshot.changes.everything = true;
      return Change::kMatters;
    case v1::Record::kLeadership:
      return FoldLeadership(record, snapshot);
    case v1::Record::kDecision:
      return FoldDecision(record, at, snapshot);
    case v1::Record::kOutcome:
      return FoldOutcome(record, std::move(object), at, snapshot);
    case v1::Record::kByHand:
      return FoldByHand(record.by_hand(), snapshot);
    case v1::Record::kPassBegan:
    case v1::Record::kNote:
    case v1::Record::PAYLOAD_NOT_SET:
      return Change::kNone;
  }
  return Change::kNone;
}

}  // namespace

Change Fold(const v1::Record& record, std::optional<Object> object,
            Snapshot& snapshot) {
  const Change change = FoldPayload(record, std::move(object), snapshot);
  ForgetSettledRefusals(snapshot);
  return change;
}

bool IsOlderVersion(absl::string_view a, absl::string_view b) {
  if (a.size() != b.size()) return a.size() < b.size();
  return a < b;
}

}  // namespace gpubinder
