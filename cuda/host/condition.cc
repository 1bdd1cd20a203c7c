#include "cuda/host/condition.h"

namespace weft::hostcuda {

std::shared_ptr<Condition> Condition::Create(ConditionTable& table, AtLaunch at_launch,
                                             uint32_t default_value) {
  auto condition = std::make_shared<Condition>(table, at_launch, default_value);
  condition->handle_ = table.Insert(std::make_shared<ConditionSlot>(ConditionSlot{condition}));
  return condition;
}

std::shared_ptr<Condition> Condition::Find(const ConditionTable& table, uint64_t handle) {
  const std::shared_ptr<ConditionSlot> slot = table.Find(handle);
  return slot == nullptr ? nullptr : slot->condition.lock();
}

}  // namespace weft::hostcuda
