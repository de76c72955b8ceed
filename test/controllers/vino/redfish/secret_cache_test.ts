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
  await secrets.learn(rig.machines, signal);
  const [a] = rig.machines;
  if (a === undefined) throw new Error("there is no machine");
  expect(secrets.find(a)).toBeDefined();
  await secrets.learn(rig.machines.slice(1), signal);
  expect(secrets.find(a)).toBeUndefined();
});

test("SecretCache writes an override over a change of something else, but not over another override", async () => {
  const { rig, secrets } = createBook(["a"]);
  const [a] = rig.machines;
  if (a === undefined) throw new Error("there is no machine");
  const entry = await secrets.read(a, signal);
  const once = { duration: "once", device: "network", before: ["disk"] } as const;
  rig.secrets.set(SECRET, { username: "u", password: "p" });
  const written = await secrets.write(a, entry, once, signal);
  expect(written.override).toEqual(once);
  await expect(secrets.write(a, entry, undefined, signal)).rejects.toMatchObject({
    kind: "conflict",
  });
  expect(rig.secrets.override(SECRET)).toBeDefined();
  await secrets.write(a, written, undefined, signal);
  expect(rig.secrets.override(SECRET)).toBeUndefined();
});
