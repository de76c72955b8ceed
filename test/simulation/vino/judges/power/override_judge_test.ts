import { expect, test } from "bun:test";
import { type Case, RightWorld, VINO } from "../right_world.ts";

const SECRET = { namespace: VINO.namespace, name: "core-worker-0-boot-override" };
const PATH = `/api/v1/namespaces/${VINO.namespace}/secrets/${SECRET.name}`;
const SET = "VM.set_HVM_boot_params";
const RECORD = { duration: "once", device: "network", before: ["disk", "cd"] };

/** Writes an override down, or removes it. */
function toPatch(record: object | null) {
  const text = record === null ? null : JSON.stringify(record);
  return { metadata: { annotations: { "landfall.dev/boot-override": text } } };
}

/** A host has a Secret for its override. */
function putSecret(right: RightWorld, record: object | null): void {
  const { world } = right;
  const annotations = { "landfall.dev/machine-id": right.vm(0).id };
  world.objects.create("secrets", { metadata: { ...SECRET, annotations } });
  world.objects.patch("secrets", SECRET, toPatch(record));
}

/** A process removes the override. */
function forget(right: RightWorld): Promise<void> {
  return right.ask("PATCH", PATH, toPatch(null));
}

/** A hypervisor gives a VM another order. */
async function order(right: RightWorld, letters: string): Promise<void> {
  const vm = right.vm(0);
  await right.call(SET, vm.id, right.toName(0), () => {
    vm["boot"] = { ...Object(vm["boot"]), order: letters };
  });
}

const CASES: readonly Case[] = [
  [
    "another order without a record",
    async (right) => {
      putSecret(right, null);
      await order(right, "ncd");
    },
    "gets another boot order, and nobody would know",
  ],
  [
    "another order with a record",
    async (right) => {
      putSecret(right, RECORD);
      await order(right, "ncd");
    },
    "",
  ],
  [
    "another order without a Secret",
    (right) => order(right, "ncd"),
    "gets another boot order, and nobody would know",
  ],
  [
    "another order after somebody deleted the Secret",
    async (right) => {
      putSecret(right, RECORD);
      right.world.objects.delete("secrets", SECRET);
      await order(right, "ncd");
    },
    "",
  ],
  [
    "the order of a VM that was never complete",
    async (right) => {
      putSecret(right, null);
      const id = await right.makeVm(right.toName(2), []);
      await right.call(SET, id, right.toName(2));
    },
    "",
  ],
  [
    "a record that goes before the old order is back",
    async (right) => {
      putSecret(right, RECORD);
      await order(right, "ncd");
      await forget(right);
    },
    "a1 forgets the old boot order",
  ],
  [
    "a record that goes after the old order is back",
    async (right) => {
      putSecret(right, RECORD);
      await order(right, "ncd");
      await order(right, "cd");
      await forget(right);
    },
    "",
  ],
  [
    "a record that goes although somebody else set an order",
    async (right) => {
      putSecret(right, RECORD);
      await order(right, "dc");
      await forget(right);
    },
    "",
  ],
  [
    "a record of the order that the VM had before",
    async (right) => {
      putSecret(right, { ...RECORD, device: "disk" });
      await forget(right);
    },
    "",
  ],
  [
    "a record that a person removes",
    async (right) => {
      putSecret(right, RECORD);
      await order(right, "ncd");
      right.world.objects.patch("secrets", SECRET, toPatch(null));
    },
    "",
  ],
];

/** A VM starts after a client was told that it boots from the network once. */
async function start(right: RightWorld, letters: string): Promise<void> {
  const { id } = right.vm(0);
  putSecret(right, RECORD);
  await order(right, letters);
  right.world.overrideJudge.notePromise(id, "network");
  await right.call("VM.start", id, right.toName(0));
}

const STARTS: readonly Case[] = [
  ["a start from what was promised", (right) => start(right, "ncd"), ""],
  ["a start from something else", (right) => start(right, "cd"), "starts from cd, and not from n"],
  [
    "a start after the one that was promised",
    async (right) => {
      await start(right, "ncd");
      await order(right, "cd");
      await right.call("VM.start", right.vm(0).id, right.toName(0));
    },
    "",
  ],
  [
    "a start from something else after a person removed the record",
    async (right) => {
      const { id } = right.vm(0);
      putSecret(right, RECORD);
      right.world.overrideJudge.notePromise(id, "network");
      right.world.objects.patch("secrets", SECRET, toPatch(null));
      await right.call("VM.start", id, right.toName(0));
    },
    "",
  ],
  [
    "a start from something else when nothing certain was said",
    async (right) => {
      const { id } = right.vm(0);
      right.world.overrideJudge.notePromise(id, "network");
      right.world.overrideJudge.notePromise(id);
      await right.call("VM.start", id, right.toName(0));
    },
    "",
  ],
];

test.each([...CASES, ...STARTS])("OverrideJudge judges %s", async (_, act, say) => {
  using right = await RightWorld.create();
  await act(right);
  const { violations } = right.world.overrideJudge;
  expect(violations).toEqual(say === "" ? [] : [expect.stringContaining(say)]);
});

test.each<readonly [what: string, act: Case[1], ...untrue: string[]]>([
  ["nothing", () => undefined],
  [
    "a record that is left",
    (right) => putSecret(right, RECORD),
    "core-worker-0-boot-override has an override: once",
  ],
  [
    "an order that is not undone",
    async (right) => {
      putSecret(right, RECORD);
      await order(right, "ncd");
      right.world.objects.patch("secrets", SECRET, toPatch({ ...RECORD, duration: "never" }));
    },
    "core-worker-0-boot-override has an override: never",
    "vino-worker-0 boots from ncd, and at first it was cd",
  ],
  [
    "an order whose record somebody deleted",
    async (right) => {
      putSecret(right, RECORD);
      await order(right, "ncd");
      right.world.objects.delete("secrets", SECRET);
    },
  ],
  [
    "an order that two processes set at once",
    async (right) => {
      putSecret(right, RECORD);
      await Promise.all([order(right, "cd"), order(right, "ncd")]);
      await forget(right);
    },
  ],
])("OverrideJudge finds %s in the end", async (_, act, ...untrue) => {
  using right = await RightWorld.create();
  await act(right);
  const prefix = right.toName(0).replace("worker-0", "");
  const found = right.world.overrideJudge.listUntrue().map((one) => one.replace(prefix, "vino-"));
  expect(found).toEqual(untrue);
});
