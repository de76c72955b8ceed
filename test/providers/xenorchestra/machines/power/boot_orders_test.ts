import { afterEach, beforeEach, expect, test } from "bun:test";
import { systemClock } from "../../../../../lib/core/clock.ts";
import { ALONE, Fence } from "../../../../../lib/core/fence.ts";
import { JsonRpcBootOrders } from "../../../../../lib/providers/xenorchestra/machines/power/boot_orders.ts";
import { RpcError } from "../../../../../lib/providers/xenorchestra/session/rpc.ts";
import { Session } from "../../../../../lib/providers/xenorchestra/session/session.ts";
import {
  createMachineSite,
  startXenOrchestraSimulator,
  type XenOrchestraSimulator,
} from "../../../../../lib/simulator/xenorchestra/mod.ts";
import { Work } from "../../../../../lib/simulator/xenorchestra/writes/backend.ts";
import { createVm } from "../../../../../lib/simulator/xenorchestra/writes/create/create_vm.ts";
import { toDeps, toSettings } from "../../fake_server.ts";

const { signal } = new AbortController();
const leading = new Fence(ALONE);
const site = createMachineSite();
const USER = "admin@admin.net";

let xo: XenOrchestraSimulator;
let orders: JsonRpcBootOrders;
let id: string;
beforeEach(async () => {
  xo = await startXenOrchestraSimulator({ clock: systemClock, world: createMachineSite().world });
  orders = new JsonRpcBootOrders(new Session(toSettings(xo.url, { token: xo.token }), toDeps()));
  const body = { template: site.templateIds.debian, name_label: "vino-1b4e28ba-worker-0" };
  ({ id } = await createVm(new Work(xo.cloud.backend, "user"), site.poolIds.paris, body));
});
afterEach(() => xo.stop());

function readOrder(): unknown {
  return Object(xo.state.read("vms", id)?.["boot"]).order;
}

test("JsonRpcBootOrders sets the order of a VM, and sets it again", async () => {
  for (const order of ["ncd", "ncd", "cd"]) {
    await orders.set(id, order, leading, signal);
    expect(readOrder()).toBe(order);
  }
});

test("JsonRpcBootOrders names the old ACL if the user has only a role", async () => {
  xo.auth.setPrivileges(USER, [{ resource: "vm", action: "update" }]);
  const before = readOrder();
  const failed = orders.set(id, "ncd", leading, signal);
  await expect(failed).rejects.toMatchObject({ refusal: "denied" });
  await expect(failed).rejects.toThrow('the old ACL "operator" on the pool');
  expect(readOrder()).toBe(before);
  xo.auth.setPrivileges(USER, [], [site.poolIds.paris]);
  await orders.set(id, "ncd", leading, signal);
  expect(readOrder()).toBe("ncd");
});

test("JsonRpcBootOrders says that a VM does not exist", async () => {
  const failed = orders.set("cf910379-9c51-46ef-af3f-4a51129ecb9e", "ncd", leading, signal);
  await expect(failed).rejects.toMatchObject({ refusal: "notOurs" });
});

test("JsonRpcBootOrders writes nothing unless this process leads", async () => {
  const before = readOrder();
  await expect(orders.set(id, "ncd", new Fence(), signal)).rejects.toThrow("does not lead");
  expect(readOrder()).toBe(before);
});

test("JsonRpcBootOrders says that Xen Orchestra is silent", async () => {
  await xo.refuse();
  await expect(orders.set(id, "ncd", leading, signal)).rejects.toMatchObject({
    kind: "unreachable",
  });
});

test.each([
  [-32_000, "OTHER_OPERATION_IN_PROGRESS", "busy"],
  [-32_000, "OPERATION_BLOCKED", "blocked"],
  [5, undefined, "blocked"],
  [14, undefined, "unsupported"],
  [-32_601, undefined, "unsupported"],
  [10, undefined, undefined],
  [-32_000, "SOMETHING_ELSE", undefined],
])("JsonRpcBootOrders takes code %d with %s for %s", async (code, reason, refusal) => {
  const session = { callRpc: () => Promise.reject(new RpcError(code, "no", reason)) };
  const failed = new JsonRpcBootOrders(session).set(id, "ncd", leading, signal);
  const error: unknown = await failed.catch((thrown: unknown) => thrown);
  expect(Object(error).refusal).toBe(refusal);
  expect(Object(error).kind).toBe("protocol");
});
