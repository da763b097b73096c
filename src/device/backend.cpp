#include "device/backend.h"

#include <array>

namespace partita::device {
namespace {

struct FaultName {
  Fault fault;
  std::string_view name;
};

constexpr std::array kFaultNames = std::to_array<FaultName>({
    {Fault::kInUse, "in-use"},
    {Fault::kInsufficientResources, "insufficient-resources"},
    {Fault::kInvalidArgument, "invalid-argument"},
    {Fault::kNoPermission, "no-permission"},
    {Fault::kGpuLost, "gpu-lost"},
    {Fault::kNotSupported, "not-supported"},
    {Fault::kResetRequired, "reset-required"},
    {Fault::kDriverGone, "driver-gone"},
    {Fault::kVersionMismatch, "version-mismatch"},
    {Fault::kTimeout, "timeout"},
    {Fault::kNotFound, "not-found"},
    {Fault::kUnknown, "unknown"},
});

struct XidRow {
  int xid;
  XidClass xid_class;
};

// NVIDIA's Xid catalogue; the application ones are those NVIDIA's device plugin ignores as well.
constexpr std::array kXids = std::to_array<XidRow>({
    {13, XidClass::kApplication},   // graphics engine exception
    {31, XidClass::kApplication},   // GPU memory page fault
    {43, XidClass::kApplication},   // GPU stopped processing
    {45, XidClass::kApplication},   // preemptive clean-up
    {68, XidClass::kApplication},   // video processor exception
    {109, XidClass::kApplication},  // context switch timeout
    {48, XidClass::kUncontained},   // double bit ECC error
    {95, XidClass::kUncontained},   // uncontained ECC error
    {94, XidClass::kContained},     // contained ECC error
    {79, XidClass::kGpuLost},       // fallen off the bus
    {63, XidClass::kResetPending},  // row remapping recorded
    {64, XidClass::kResetPending},  // row remapping failed
});

}  // namespace

std::string_view name_of(Fault fault) {
  for (const FaultName& row : kFaultNames) {
    if (row.fault == fault) return row.name;
  }
  CHECK(false);
  return {};
}

std::optional<Fault> fault_of(std::string_view name) {
  for (const FaultName& row : kFaultNames) {
    if (row.name == name) return row.fault;
  }
  return {};
}

XidClass class_of_xid(int xid) {
  for (const XidRow& row : kXids) {
    if (row.xid == xid) return row.xid_class;
  }
  return XidClass::kOther;
}

mig::Layout layout_of(const std::vector<Instance>& instances) {
  mig::Layout layout;
  for (const Instance& instance : instances) layout.add(instance.placement);
  return layout;
}

}  // namespace partita::device
