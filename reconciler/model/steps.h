// The steps of a pass, in the order of spec rule "Order of the pass". Each is
// a file of its own and sees earlier steps only through the plan. Cost of
// each: O(sets it concerns), and for those that look for a place that of the
// judge (judge.h).

#ifndef RECONCILER_MODEL_STEPS_H_
#define RECONCILER_MODEL_STEPS_H_

#include "reconciler/model/plan.h"

namespace gpubinder {

// Class finalizers that are missing go on before the first binding (H1).
void ProtectClasses(Plan& plan);
// Claim finalizers that are missing are the first effects of their set, so a
// claim that is bound or started on can no longer vanish (H1).
void ProtectClaims(Plan& plan);
// Whether so many nodes stopped keeping their sets that nothing is ended or
// lost in this pass (M4's safety valve).
void JudgeMassLoss(Plan& plan);
// 1. Claims follow a VM that has migrated (C6).
void FollowMigrations(Plan& plan);
// 1. No set is left partly Lost or split (S2).
void RepairSets(Plan& plan);
// 2. Nodes that refused a pinned launcher (R1 to R4).
void SettleRefusals(Plan& plan);
// 3. Attachments (A1, A2).
void SettleAttachments(Plan& plan);
// 4. Gated launchers, oldest pod first (G).
void StartGatedPods(Plan& plan);
// 5. Sets whose node does not keep them (M): moved, or their VMI is ended.
void MoveUnkeptSets(Plan& plan);
// 6. Lost sets, oldest first (L).
void RebindLostSets(Plan& plan);
// 7. New orders, oldest first (O).
void PlaceNewOrders(Plan& plan);
// 8. Finalizers and template claims that have done their work (H1). Runs with
// the feature off too, so that no deletion hangs.
void RetireObjects(Plan& plan);
// 8. One Cozystack Workload for each Bound claim (H2). O(claims), each by
// itself: what is written follows from the claim, its class's resource and
// the record of its name.
void KeepUsageRecords(Plan& plan);
// 8. The settings that policies and other components read (H5). O(classes).
void KeepSettings(Plan& plan);
// 8. Conditions, Warnings and the memory of the sets (H3, H4).
void ReportVerdicts(Plan& plan);

// 8. Whether some node serves each class: its condition Ready.
// O(classes x nodes), for a class that is served O(nodes before that one).
void ReportClasses(Plan& plan);

}  // namespace gpubinder

#endif  // RECONCILER_MODEL_STEPS_H_
