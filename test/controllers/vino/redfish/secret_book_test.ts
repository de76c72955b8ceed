import { expect, test } from "bun:test";
import { SecretBook } from "../../../../lib/controllers/vino/redfish/secret_book.ts";
import { KubeError } from "../../../../lib/kube/api/errors.ts";
import { MachinePowerDouble, makeMachine } from "../../../support/cloud/machine_power_double.ts";
import { loginOf, ManagementRig } from "../../../support/vino/management_rig.ts";

const { signal } = new AbortController();
const SECRET = "a-bmc-credentials";

function createBook(ids = ["a", "b"]): { readonly rig: ManagementRig; readonly book: SecretBook } {
  const rig = new ManagementRig(new MachinePowerDouble(ids.map((id) => makeMachine(id))));
  return { rig, book: new SecretBook({ client: rig.secrets, clock: rig.clock }) };
}

test("SecretBook finds every machine with a user and password, and no other", async () => {
  const { rig, book } = createBook(["a", "b", "c"]);
  rig.secrets.set("c-bmc-credentials", loginOf("a"));
  const { machines } = rig;
  expect(await book.findMachines(machines, loginOf("a"), signal)).toEqual(["a", "c"]);
  const mixed = { username: loginOf("a").username, password: loginOf("b").password };
  expect(await book.findMachines(machines, mixed, signal)).toEqual([]);
});

test.each<[title: string, texts: Record<string, string> | undefined]>([
  ["does not exist", undefined],
  ["is empty", {}],
  ["has no password", { username: "u" }],
  ["has an empty password", { username: "u", password: "" }],
])("SecretBook lets nobody in if the Secret %s", async (_title, texts) => {
  const { rig, book } = createBook(["a"]);
  if (texts === undefined) rig.secrets.delete(SECRET);
  else rig.secrets.set(SECRET, texts);
  for (const login of [
    { username: "u", password: "" },
    { username: "", password: "" },
  ]) {
    expect(await book.findMachines(rig.machines, login, signal)).toEqual([]);
  }
});

test("SecretBook reads each Secret once, and again only after five minutes of use", async () => {
  const { rig, book } = createBook();
  for (let at = 0; at < 5; at += 1) await book.findMachines(rig.machines, loginOf("a"), signal);
  expect(rig.secrets.reads).toBe(2);
  await rig.clock.advance(300_000);
  await book.findMachines(rig.machines, loginOf("a"), signal);
  expect(rig.secrets.reads).toBe(3);
});

test("SecretBook notices a new password after half a minute, and an old one within five", async () => {
  const { rig, book } = createBook(["a"]);
  const fresh = { ...loginOf("a"), password: "new" };
  expect(await book.findMachines(rig.machines, loginOf("a"), signal)).toEqual(["a"]);
  rig.secrets.set(SECRET, fresh);
  expect(await book.findMachines(rig.machines, fresh, signal)).toEqual([]);
  await rig.clock.advance(30_000);
  expect(await book.findMachines(rig.machines, fresh, signal)).toEqual(["a"]);
  expect(await book.findMachines(rig.machines, loginOf("a"), signal)).toEqual([]);
  rig.secrets.set(SECRET, loginOf("a"));
  await rig.clock.advance(300_000);
  expect(await book.findMachines(rig.machines, fresh, signal)).toEqual([]);
});

test("SecretBook knows nobody if a Secret cannot be read", async () => {
  const { rig, book } = createBook();
  rig.secrets.onCall = (call) => {
    if (call === "get b-bmc-credentials") throw new KubeError("forbidden", "no");
  };
  await expect(book.findMachines(rig.machines, loginOf("a"), signal)).rejects.toThrow(KubeError);
});

test("SecretBook forgets machines that are gone", async () => {
  const { rig, book } = createBook();
  await book.learn(rig.machines, signal);
  const [a] = rig.machines;
  if (a === undefined) throw new Error("there is no machine");
  expect(book.find(a)).toBeDefined();
  await book.learn(rig.machines.slice(1), signal);
  expect(book.find(a)).toBeUndefined();
});

test("SecretBook writes an override over a change of something else, but not over another override", async () => {
  const { rig, book } = createBook(["a"]);
  const [a] = rig.machines;
  if (a === undefined) throw new Error("there is no machine");
  const entry = await book.read(a, signal);
  const once = { duration: "once", device: "network", before: ["disk"] } as const;
  rig.secrets.set(SECRET, { username: "u", password: "p" });
  const written = await book.write(a, entry, once, signal);
  expect(written.override).toEqual(once);
  await expect(book.write(a, entry, undefined, signal)).rejects.toMatchObject({ kind: "conflict" });
  expect(rig.secrets.override(SECRET)).toBeDefined();
  await book.write(a, written, undefined, signal);
  expect(rig.secrets.override(SECRET)).toBeUndefined();
});
