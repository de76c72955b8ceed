import { expect, test } from "bun:test";
import { SecretCache } from "../../../../lib/controllers/vino/redfish/secret_cache.ts";
import { KubeError } from "../../../../lib/kube/api/errors.ts";
import { MachinePowerDouble, makeMachine } from "../../../support/cloud/machine_power_double.ts";
import { loginOf, ManagementRig } from "../../../support/vino/management_rig.ts";

const { signal } = new AbortController();
const SECRET = "a-bmc-credentials";

function createBook(ids = ["a", "b"]): {
  readonly rig: ManagementRig;
  readonly secrets: SecretCache;
} {
  const rig = new ManagementRig(new MachinePowerDouble(ids.map((id) => makeMachine(id))));
  return { rig, secrets: new SecretCache({ client: rig.secrets, clock: rig.clock }) };
}

test("SecretCache finds every machine with a user and password, and no other", async () => {
  const { rig, secrets } = createBook(["a", "b", "c"]);
  rig.secrets.set("c-bmc-credentials", loginOf("a"));
  const { machines } = rig;
  expect(await secrets.findMachines(machines, loginOf("a"), signal)).toEqual(["a", "c"]);
  const mixed = { username: loginOf("a").username, password: loginOf("b").password };
  expect(await secrets.findMachines(machines, mixed, signal)).toEqual([]);
});

test.each<[title: string, texts: Record<string, string> | undefined]>([
  ["does not exist", undefined],
  ["is empty", {}],
  ["has no password", { username: "u" }],
  ["has an empty password", { username: "u", password: "" }],
])("SecretCache lets nobody in if the Secret %s", async (_title, texts) => {
  const { rig, secrets } = createBook(["a"]);
  if (texts === undefined) rig.secrets.delete(SECRET);
  else rig.secrets.set(SECRET, texts);
  for (const login of [
    { username: "u", password: "" },
    { username: "", password: "" },
  ]) {
    expect(await secrets.findMachines(rig.machines, login, signal)).toEqual([]);
  }
});

test("SecretCache reads each Secret once, and again only after five minutes of use", async () => {
  const { rig, secrets } = createBook();
  for (let at = 0; at < 5; at += 1) await secrets.findMachines(rig.machines, loginOf("a"), signal);
  expect(rig.secrets.reads).toBe(2);
  await rig.clock.advance(300_000);
  await secrets.findMachines(rig.machines, loginOf("a"), signal);
  expect(rig.secrets.reads).toBe(3);
});

test("SecretCache notices a new password after half a minute, and an old one within five", async () => {
  const { rig, secrets } = createBook(["a"]);
  const fresh = { ...loginOf("a"), password: "new" };
  expect(await secrets.findMachines(rig.machines, loginOf("a"), signal)).toEqual(["a"]);
  rig.secrets.set(SECRET, fresh);
  expect(await secrets.findMachines(rig.machines, fresh, signal)).toEqual([]);
  await rig.clock.advance(30_000);
  expect(await secrets.findMachines(rig.machines, fresh, signal)).toEqual(["a"]);
  expect(await secrets.findMachines(rig.machines, loginOf("a"), signal)).toEqual([]);
  rig.secrets.set(SECRET, loginOf("a"));
  await rig.clock.advance(300_000);
  expect(await secrets.findMachines(rig.machines, fresh, signal)).toEqual([]);
});

test("SecretCache knows nobody if a Secret cannot be read", async () => {
  const { rig, secrets } = createBook();
  rig.secrets.onCall = (call) => {
    if (call === "get b-bmc-credentials") throw new KubeError("forbidden", "no");
  };
  await expect(secrets.findMachines(rig.machines, loginOf("a"), signal)).rejects.toThrow(KubeError);
});

test("SecretCache forgets machines that are gone", async () => {
  const { rig, secrets } = createBook();
  await secrets.findMachines(rig.machines, loginOf("a"), signal);
  await secrets.findMachines(rig.machines.slice(1), loginOf("b"), signal);
  const { reads } = rig.secrets;
  await secrets.findMachines(rig.machines, loginOf("a"), signal);
  expect(rig.secrets.reads).toBe(reads + 1);
});

test("SecretCache reads the Secret of the machine that is asked for again before it leaves it out", async () => {
  const { rig, secrets } = createBook();
  const shared = { username: "admin", password: "shared" };
  const find = (id: string) => secrets.findMachines(rig.machines, shared, signal, id);
  expect(await find("a")).toEqual([]);
  rig.secrets.set(SECRET, shared);
  expect(await find("a")).toEqual(["a"]);
  rig.secrets.set("b-bmc-credentials", shared);
  expect(await find("a")).toEqual(["a"]);
  expect(await find("b")).toEqual(["a", "b"]);
  const { reads } = rig.secrets;
  expect(await find("b")).toEqual(["a", "b"]);
  expect(rig.secrets.reads).toBe(reads);
});
