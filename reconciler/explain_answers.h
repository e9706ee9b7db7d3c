// The answers of Placement from one published pass: pure functions, also for
// a pass that was run offline.
//
// Every answer is bounded, whatever the cluster's size: kMostAnswerBytes, and
// pages. Page tokens are places in the order, so a page goes on in a newer
// pass where the last one ended in an older; what moved meanwhile may be
// missed or come twice. Errors: kNotFound, kInvalidArgument.

#ifndef RECONCILER_EXPLAIN_ANSWERS_H_
#define RECONCILER_EXPLAIN_ANSWERS_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "proto/explain.pb.h"
#include "reconciler/pass_board.h"

namespace gpubinder {

// Below gRPC's own default of 4 MiB for what a client takes.
inline constexpr size_t kMostAnswerBytes = size_t{3} << 20;
inline constexpr int kMostSetsInPage = 500;
inline constexpr int kMostUnitsInPage = 5000;

// Of the VM or VMI of that name, else of the claim. Rows, when asked for, are
// in the order of their nodes' names. O(nodes x log).
absl::StatusOr<v1::ExplainResponse> AnswerExplain(
    const PublishedPass& pass, const v1::ExplainRequest& request);

// Oldest first: waiting sets are in the order of the queue. Page size 0: 100.
// O(namespaces x log + sets of the page + sets that are passed over because
// they do not wait, in namespaces where some do).
absl::StatusOr<v1::ListSetsResponse> AnswerListSets(
    const PublishedPass& pass, const v1::ListSetsRequest& request);

// By node, then resource. Page size 0: 1000.
absl::StatusOr<v1::ListNodesResponse> AnswerListNodes(
    const PublishedPass& pass, const v1::ListNodesRequest& request);

}  // namespace gpubinder

#endif  // RECONCILER_EXPLAIN_ANSWERS_H_
