import { expect, test } from "bun:test";
import { toClassName } from "../../../../lib/simulator/cloudstack/world/job_classes.ts";

test("toClassName() is not always the name of the command", () => {
  const packageName = "org.apache.cloudstack.api.command.user";
  expect(toClassName("associateIpAddress")).toBe(`${packageName}.address.AssociateIPAddrCmd`);
  expect(toClassName("stopVirtualMachine")).toBe(`${packageName}.vm.StopVMCmd`);
});
