import { expect, test } from "bun:test";
import { CloudError } from "../../../../lib/cloud/errors.ts";
import { inspectMachines } from "../../../../lib/providers/xenorchestra/machines/inspection.ts";
import {
  formatPrivilege,
  PRIVILEGES,
} from "../../../../lib/providers/xenorchestra/machines/privileges.ts";
import type { MachinesApi } from "../../../../lib/providers/xenorchestra/machines/wire/machines_api.ts";

const signal = new AbortController().signal;
const ALL = PRIVILEGES;

/** Nothing in these tests may ask JSON-RPC unless it says so. */
const session = {
  callRpc: (): Promise<unknown> => Promise.reject(new Error("asked by JSON-RPC")),
};

async function inspect(over: object, isManaged = false): Promise<string[]> {
  const api = {
    list: async () => ({ objects: [{ id: "x" }], undecodable: new Map() }),
    readUserId: async () => "u",
    readRights: async () => ALL,
    ...over,
  } as unknown as MachinesApi;
  const findings = await inspectMachines({ api, session, isManaged }, signal);
  return findings
    .filter(({ level }) => level !== "ok")
    .map(({ level, code }) => `${level} ${code}`);
}

const less = ALL.filter((one) => formatPrivilege(one) !== "vif create");
const denied = async (): Promise<never> => {
  throw new CloudError("denied", "no", { status: 403 });
};

test.each<[string, object, readonly string[]]>([
  ["nothing wrong", {}, []],
  ["nothing wrong for an administrator", { readRights: async () => "all" }, []],
  ["a missing privilege", { readRights: async () => less }, ["failure machines.rights"]],
  ["rights that are not known", { readRights: async () => "unknown" }, ["warning machines.rights"]],
  ["an unknown user", { readUserId: async () => undefined }, ["warning machines.rights"]],
  [
    "empty lists",
    { list: async () => ({ objects: [] }) },
    ["failure machines.vm-templates", "failure machines.srs", "failure machines.networks"],
  ],
  [
    "refused lists",
    { list: denied },
    ["failure machines.vm-templates", "failure machines.srs", "failure machines.networks"],
  ],
])("inspectMachines() finds %s", async (_what, over, found) => {
  expect(await inspect(over)).toEqual([...found]);
});

test("inspectMachines() names the privilege that is missing", async () => {
  const api = {
    list: async () => ({ objects: [{ id: "x" }] }),
    readUserId: async () => "u",
    readRights: async () => less,
  } as unknown as MachinesApi;
  const findings = await inspectMachines({ api, session, isManaged: false }, signal);
  expect(findings.at(-1)?.message).toBe(
    "Machines: the user lacks the privilege vif create, to connect VMs to networks",
  );
});

test("inspectMachines() says once that a user has no right at all, and which role it needs", async () => {
  const api = {
    list: async () => ({ objects: [{ id: "x" }] }),
    readUserId: async () => "u",
    readRights: async () => [],
  } as unknown as MachinesApi;
  const findings = await inspectMachines({ api, session, isManaged: false }, signal);
  expect(findings.filter(({ level }) => level === "failure")).toEqual([
    {
      level: "failure",
      code: "machines.rights",
      message: "Machines: the user has none of the privileges that making VMs needs",
      advice: "give it the role of deploy/xenorchestra/vino-role.json",
    },
  ]);
});

test("inspectMachines() asks about boot orders only if clients manage machines, and of no administrator", async () => {
  await expect(inspect({}, true)).rejects.toThrow("asked by JSON-RPC");
  expect(await inspect({})).toEqual([]);
  expect(await inspect({ readRights: async () => "all" }, true)).toEqual([]);
});

test("inspectMachines() says that a privilege to read has a selector", async () => {
  const narrow = ALL.map((one) =>
    formatPrivilege(one) === "vm read" ? { ...one, selector: "tags:x" } : one,
  );
  const api = {
    list: async () => ({ objects: [{ id: "x" }] }),
    readUserId: async () => "u",
    readRights: async () => narrow,
  } as unknown as MachinesApi;
  expect((await inspectMachines({ api, session, isManaged: false }, signal)).at(-1)).toMatchObject({
    level: "failure",
    message:
      "Machines: the user lacks the privilege vm read for all objects: it has a selector, to see which VMs exist",
    advice: 'remove the selector "tags:x" from this privilege of the role of the user',
  });
});
