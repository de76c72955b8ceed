import { type Act, call, type Case, testCases, VINO } from "./right_world.ts";
import { expect } from "bun:test";
import { type Override, waitsForStart } from "./override_judge.ts";
import { longTest } from "../../../support/long_tests.ts";

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
function put(record: object | null): Act {
  return (right) => {
    const annotations = { "landfall.dev/machine-id": right.vm(0).id };
    right.world.objects.create("secrets", { metadata: { ...SECRET, annotations } });
    right.world.objects.patch("secrets", SECRET, toPatch(record));
  };
}

/** A hypervisor gives a VM another order. */
function order(letters: string): Act {
  return (right) => {
    const vm = right.vm(0);
    return right.call(SET, vm.id, right.toName(0), () => {
      vm["boot"] = { ...Object(vm["boot"]), order: letters };
    });
  };
}

/** A person changes the record. */
function edit(record: object | null): Act {
  return ({ world }) => world.objects.patch("secrets", SECRET, toPatch(record));
}

/** A client was told what a VM boots from next, as far as that is certain. */
function promise(device?: string): Act {
  return (right) => right.world.overrideJudge.notePromise(right.vm(0).id, device);
}

/** A process removes the record. */
const forget: Act = (right) => right.ask("PATCH", PATH, toPatch(null));
const deleteSecret: Act = ({ world }) => world.objects.delete("secrets", SECRET);
const orderUnfinished: Act = async (right) => {
  await right.call(SET, await right.makeVm(right.toName(2), []), right.toName(2));
};

/** A VM starts after a client was told that it boots from the network once. */
function start(letters: string): Act[] {
  return [put(RECORD), order(letters), promise("network"), call("VM.start")];
}

const HOST = { namespace: VINO.namespace, name: "core-worker-0" };
/** The host of a VM gets a management controller. */
const manage: Act = (right) => {
  const bmc = { address: `redfish+https://landfall/redfish/v1/Systems/${right.vm(0).id}` };
  right.world.objects.patch("baremetalhosts", HOST, { spec: { bmc } });
};
/** The host goes. */
const unpublish: Act = ({ world: { objects } }) => {
  objects.delete("baremetalhosts", HOST);
  objects.patch("baremetalhosts", HOST, { metadata: { finalizers: null } });
};

const UNKNOWN = "gets another boot order, and nobody would know";

const CASES: readonly Case[] = [
  ["another order without a record", [put(null), order("ncd")], UNKNOWN],
  ["another order with a record", [put(RECORD), order("ncd")]],
  ["another order without a Secret", order("ncd"), UNKNOWN],
  ["another order after somebody deleted the Secret", [put(RECORD), deleteSecret, order("ncd")]],
  ["the order of a VM that was never complete", [put(null), orderUnfinished]],
  [
    "a record that goes before the old order is back",
    [put(RECORD), order("ncd"), forget],
    "a1 forgets the old boot order",
  ],
  [
    "a record that goes after the old order is back",
    [put(RECORD), order("ncd"), order("cd"), forget],
  ],
  ["a record that goes although somebody else set an order", [put(RECORD), order("dc"), forget]],
  ["a record of the order that the VM had before", [put({ ...RECORD, device: "disk" }), forget]],
  ["a record that a person removes", [put(RECORD), order("ncd"), edit(null)]],
  ["a start from what was promised", start("ncd")],
  ["a start from something else", start("cd"), "starts from cd, and not from n"],
  ["a start after the one that was promised", [...start("ncd"), order("cd"), call("VM.start")]],
  [
    "a start from something else after a person removed the record",
    [put(RECORD), promise("network"), edit(null), call("VM.start")],
  ],
  [
    "a start from something else when nothing certain was said",
    [promise("network"), promise(), call("VM.start")],
  ],
];

testCases("OverrideJudge judges", CASES, ({ overrideJudge }) => overrideJudge.violations);

const HAS = "core-worker-0-boot-override has an override: ";
const LEFT: readonly Case[] = [
  ["nothing", []],
  ["a record that is left", put(RECORD), `${HAS}once`],
  [
    "an order that is not undone",
    [put(RECORD), order("ncd"), edit({ ...RECORD, duration: "never" })],
    `${HAS}never`,
    "vino-worker-0 boots from ncd, and at first it was cd",
  ],
  [
    "an order for good that a client can undo",
    [manage, put({ ...RECORD, duration: "always" }), order("ncd")],
    `${HAS}always`,
    "vino-worker-0 boots from ncd, and at first it was cd",
  ],
  [
    "an order for good of a VM that stays without a host",
    [manage, put({ ...RECORD, duration: "always" }), order("ncd"), unpublish],
  ],
  [
    "another order than that for good",
    [put({ ...RECORD, duration: "always" }), order("dc"), unpublish],
    "vino-worker-0 boots from dc, and at first it was ncd",
  ],
  ["an order whose record somebody deleted", [put(RECORD), order("ncd"), deleteSecret]],
  [
    "an order that two processes set at once",
    [put(RECORD), (right) => Promise.all([order("cd")(right), order("ncd")(right)]), forget],
  ],
];

testCases("OverrideJudge finds in the end", LEFT, ({ overrideJudge }) =>
  overrideJudge.listUntrue(),
);

longTest.each<[string, Override["since"], object, boolean]>([
  ["which may not have its order yet", undefined, { power_state: "Halted" }, false],
  ["which is off as before", { isRunning: false }, { power_state: "Halted" }, true],
  ["which was off and runs", { isRunning: false }, { power_state: "Running" }, false],
  ["which runs as before", { isRunning: true, startedAtMs: 1_000 }, { startTime: 1 }, true],
  ["which was started again", { isRunning: true, startedAtMs: 1_000 }, { startTime: 2 }, false],
  ["whose start nobody knows", { isRunning: true }, { startTime: 2 }, true],
  ["whose last start nobody knows", { isRunning: true, startedAtMs: 1_000 }, {}, true],
])("waitsForStart() of a VM %s", (_what, since, vm, waits) => {
  const override = { duration: "once", order: "ncd", before: "cd", ...(since && { since }) };
  expect(waitsForStart(override, { id: "a", ...vm })).toBe(waits);
});
