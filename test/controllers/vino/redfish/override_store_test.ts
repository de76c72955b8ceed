import { expect, test } from "bun:test";
import { OverrideStore } from "../../../../lib/controllers/vino/redfish/override_store.ts";
import { loginOf, ManagementRig } from "../../../support/vino/management_rig.ts";

const { signal } = new AbortController();
const ONCE = { duration: "once", device: "network", before: ["disk"] } as const;
const SECRET = "a-boot-override";

function createStore() {
  const rig = new ManagementRig();
  const [machine] = rig.machines;
  if (machine === undefined) throw new Error("there is no machine");
  return { rig, machine, store: new OverrideStore({ client: rig.secrets }) };
}

test("OverrideStore makes a Secret for the first override, and keeps it for the next", async () => {
  const { rig, machine, store } = createStore();
  const none = await store.read(machine, signal);
  expect(await store.write(machine, none, undefined, signal)).toEqual({});
  expect(rig.secrets.version(SECRET)).toBeUndefined();
  const written = await store.write(machine, none, ONCE, signal);
  expect(written.override).toEqual(ONCE);
  const ended = await store.write(machine, written, undefined, signal);
  expect([ended.override, rig.secrets.override("a")]).toEqual([undefined, undefined]);
  await store.write(machine, ended, ONCE, signal);
  expect(store.find(machine)?.override).toEqual(ONCE);
});

test("OverrideStore never writes the Secret with the password, which metal3 watches", async () => {
  const { rig, machine, store } = createStore();
  const before = rig.secrets.version(machine.secretName);
  const written = await store.write(machine, await store.read(machine, signal), ONCE, signal);
  await store.write(machine, written, undefined, signal);
  expect(rig.secrets.version(machine.secretName)).toBe(before);
  rig.secrets.set(machine.secretName, { ...loginOf("a"), password: "new" });
  expect(rig.secrets.version(machine.secretName)).not.toBe(before);
});

test("OverrideStore writes over a change of something else, but not over another override", async () => {
  const { rig, machine, store } = createStore();
  const none = await store.read(machine, signal);
  const other = new OverrideStore({ client: rig.secrets });
  const theirs = await other.write(machine, await other.read(machine, signal), ONCE, signal);
  const refused = { kind: "alreadyExists" } as const;
  await expect(store.write(machine, none, ONCE, signal)).rejects.toMatchObject(refused);
  rig.secrets.set(SECRET, {});
  const ended = await store.write(machine, theirs, undefined, signal);
  expect(ended.override).toBeUndefined();
  const late = store.write(machine, theirs, undefined, signal);
  await expect(late).rejects.toMatchObject({ kind: "conflict" });
});

test("OverrideStore makes the Secret again after a person deleted it", async () => {
  const { rig, machine, store } = createStore();
  const ended = await store.write(
    machine,
    await store.write(machine, {}, ONCE, signal),
    undefined,
    signal,
  );
  rig.secrets.delete(SECRET);
  await store.write(machine, ended, ONCE, signal);
  expect(rig.secrets.override("a")).toBeDefined();
});

test("OverrideStore does not take over what is about another machine, or of another Vino", async () => {
  const { rig, machine, store } = createStore();
  await store.write(machine, {}, ONCE, signal);
  const next = { ...machine, id: "b" };
  expect((await store.read(next, signal)).override).toBeUndefined();
  const later = { ...machine, vino: { name: "edge", uid: "another" } };
  expect(await store.read(later, signal)).toEqual({});
  const refused = store.write(later, {}, { ...ONCE, duration: "always" }, signal);
  await expect(refused).rejects.toMatchObject({ kind: "alreadyExists" });
  expect(rig.secrets.override("a")).toContain("once");
});

test("OverrideStore reads what it does not know, once, and forgets machines that are gone", async () => {
  const { rig, machine, store } = createStore();
  await store.learn(rig.machines, signal);
  await store.learn(rig.machines, signal);
  expect([rig.secrets.reads, store.find(machine)]).toEqual([1, {}]);
  await store.learn([], signal);
  expect(store.find(machine)).toBeUndefined();
});
