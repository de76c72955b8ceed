import { expect, test } from "bun:test";
import { toVm } from "../../../../lib/simulator/xenorchestra/records.ts";
import { applyPower, plug } from "../../../../lib/simulator/xenorchestra/world/power_state.ts";

test("applyPower() and plug() change what follows from the power", () => {
  const vm = toVm({ name: "a", poolId: "p", power: "Halted" });
  const vif = { id: "v", $VM: vm.id, attached: false };
  const vbd = { id: "b", VM: vm.id, attached: false };
  applyPower(vm, { power: "Running", hostId: "h", hasTools: false });
  plug(vm, [vif], [vbd]);
  expect(vm).toMatchObject({ power_state: "Running", $container: "h", xenTools: false });
  expect([vif.attached, vbd.attached]).toEqual([true, true]);
  applyPower(vm, { power: "Halted", hostId: undefined, hasTools: false });
  plug(vm, [vif], [vbd]);
  expect(vm).toMatchObject({ $container: "p", addresses: {} });
  expect(vm).not.toHaveProperty("startTime");
  expect([vif.attached, vbd.attached]).toEqual([false, false]);
});
