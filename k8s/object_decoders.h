// One function per kind that reads what is not metadata. Inside the codec
// only; see object_codec.h.

#ifndef K8S_OBJECT_DECODERS_H_
#define K8S_OBJECT_DECODERS_H_

#include <optional>
#include <vector>

#include "k8s/field_reader.h"
#include "reconciler/model/objects.h"

namespace gpubinder {

// object_codec_core.cc: Kubernetes' own kinds, and Cozystack's.
void ReadFields(const FieldReader& root, Node* node);
void ReadFields(const FieldReader& root, Pod* pod);
void ReadFields(const FieldReader& root, Namespace* name_space);
void ReadFields(const FieldReader& root, ResourceQuota* quota);
void ReadFields(const FieldReader& root, PersistentVolumeClaim* claim);
void ReadFields(const FieldReader& root, PersistentVolume* volume);
void ReadFields(const FieldReader& root, SchedulingClass* scheduling_class);
void ReadFields(const FieldReader& root, Workload* record);
void ReadFields(const FieldReader& root, ConfigMap* map);

// object_codec_gpu.cc: our own.
void ReadFields(const FieldReader& root, GpuClass* gpu_class);
void ReadFields(const FieldReader& root, GpuClaim* claim);
void ReadFields(const FieldReader& root, GpuClaimSet* set);

// object_codec_kubevirt.cc
void ReadFields(const FieldReader& root, VirtualMachine* vm);
void ReadFields(const FieldReader& root, VirtualMachineInstance* vmi);

// object_codec_parts.cc: what several kinds have.
void ReadMeta(const FieldReader& root, ObjectMeta* meta);
// The list `conditions` of `status`.
void ReadConditions(const FieldReader& status, std::vector<Condition>* out);
// The list `tolerations` of `spec`.
void ReadTolerations(const FieldReader& spec, std::vector<Toleration>* out);
// A core/v1 NodeSelector; `selector` may be absent.
void ReadNodeSelector(const FieldReader& selector,
                      std::optional<NodeSelector>* out);

}  // namespace gpubinder

#endif  // K8S_OBJECT_DECODERS_H_
