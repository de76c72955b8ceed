import { expect, test } from "bun:test";
import { findCommand, isRead } from "../../../../lib/simulator/cloudstack/commands/mod.ts";

test.each([
  ["listVirtualMachines", "list", true],
  ["listCapabilities", "answer", true],
  ["queryAsyncJobResult", "answer", true],
  ["startVirtualMachine", "job", false],
  ["recoverVirtualMachine", "answer", false],
])("findCommand() and isRead() of %s: %s, %p", (name, kind, read) => {
  expect([findCommand(name)?.kind, isRead(name)]).toEqual([kind as never, read]);
});

test("findCommand() compares names as they are", () => {
  expect(findCommand("listvirtualmachines")).toBeUndefined();
  expect(findCommand("toString")).toBeUndefined();
});
