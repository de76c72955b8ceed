import { afterEach, beforeEach, expect, test } from "bun:test";
import { CloudError } from "../../../../../lib/cloud/errors.ts";
import type { Finding } from "../../../../../lib/cloud/inspection.ts";
import { inspectBootOrders } from "../../../../../lib/providers/xenorchestra/machines/power/boot_order_inspection.ts";
import { RpcError } from "../../../../../lib/providers/xenorchestra/session/rpc.ts";
import { Rig, ROLE, USER } from "../rig.ts";

const { signal } = new AbortController();
const LACK = 'it lacks the old ACL "operator" there';
const POOLS = [
  { id: "p1", name_label: "paris" },
  { id: "p2", name_label: "" },
];

async function inspect(callRpc: () => unknown): Promise<readonly Finding[]> {
  const api = { list: async () => ({ objects: POOLS, undecodable: new Map() }) } as never;
  return await inspectBootOrders({ api, session: { callRpc: async () => callRpc() } }, signal);
}

let rig: Rig;
beforeEach(async () => {
  rig = await Rig.start(ROLE);
});
afterEach(() => rig.simulator.stop());

async function check(isManaged = true): Promise<readonly Finding[]> {
  const all = (await rig.machines.inspect?.(isManaged, signal)) ?? [];
  return all.filter(({ code }) => code === "machines.bootOrder");
}

test("inspectBootOrders() names each pool where the user with only the role lacks the ACL", async () => {
  const found = await check();
  const { paris, lyon } = rig.site.poolIds;
  expect(found.map(({ level, message }) => `${level} ${message}`).toSorted()).toEqual(
    [`lyon (${lyon})`, `paris (${paris})`].map(
      (pool) =>
        `warning Machines: the user has no right to set the boot order of VMs in pool ${pool}: ${LACK}`,
    ),
  );
  expect(found[0]?.advice).toContain("machines with boot: Network still try the network first");
  expect(await check(false)).toEqual([]);
});

test("inspectBootOrders() finds what was right after the ACL was given, and changes nothing", async () => {
  const { paris, lyon } = rig.site.poolIds;
  rig.simulator.auth.setPrivileges(USER.username, ROLE, [paris]);
  expect((await check()).map(({ message }) => message.includes(`lyon (${lyon})`))).toEqual([true]);
  rig.simulator.auth.setPrivileges(USER.username, ROLE, [paris, lyon]);
  expect((await check()).map(({ level }) => level)).toEqual(["ok"]);
});

test("inspectBootOrders() is content with an ACL for more than an operator, and not with one for less", async () => {
  const found = await inspect(() => ({
    p1: { view: 1, operate: 1, administrate: 1 },
    p2: { view: 1 },
  }));
  expect(found.map(({ message }) => message)).toEqual([
    `Machines: the user has no right to set the boot order of VMs in pool p2: ${LACK}`,
  ]);
});

test.each<[string, () => unknown, string]>([
  [
    "of a version without that method",
    () => {
      throw new RpcError(-32_601, "method not found", undefined);
    },
    "method not found",
  ],
  [
    "behind a proxy without WebSockets",
    () => {
      throw new CloudError("unreachable", "no WebSocket");
    },
    "no WebSocket",
  ],
  ["that answers otherwise", () => ["p1"], "it answers in another form"],
])(
  "inspectBootOrders() says that it cannot find out, of a cloud %s",
  async (_what, callRpc, why) => {
    const [found, ...more] = await inspect(callRpc);
    expect(more).toEqual([]);
    expect(found).toMatchObject({ level: "warning", code: "machines.bootOrder" });
    expect(found?.message).toEndWith(`may set the boot order of VMs: ${why}`);
    expect(found?.advice).toContain('the old ACL "operator" on the pool');
  },
);

test("inspectBootOrders() does not hide an error of the program", async () => {
  const asked = inspect(() => {
    throw new TypeError("bug");
  });
  await expect(asked).rejects.toThrow("bug");
});
