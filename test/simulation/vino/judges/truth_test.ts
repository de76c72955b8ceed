import type { JsonObject } from "../../../../lib/simulator/kubernetes/mod.ts";
import type { Order } from "../orders.ts";
import { type Act, make, pass, place, set, testCases, use, VINO, want } from "./right_world.ts";
import { listUntrue } from "./truth.ts";

const HOST = { namespace: VINO.namespace, name: "core-worker-0" } as const;
const SECRET = { ...HOST, name: "core-worker-0-network-data" } as const;
const ONLY_FIRST = { names: ["xcp-par-1"], tags: [] };
const FIRST_TWO = { names: ["xcp-par-1", "xcp-par-2"], tags: [] };
const ONE_PER_HOST = { isPerHost: true, count: 1 };

/** The Vino says that it is ready. */
function report(status: string): Act {
  return (right) => right.report("Ready", status);
}

/** The spec asks for something else, and the status is of that spec. */
function know(order: Partial<Order>): Act[] {
  return [want(order), report("True")];
}

function patch(
  plural: string,
  path: typeof VINO & { subresource?: string },
  body: JsonObject,
): Act {
  return ({ world }) => world.objects.patch(plural, path, body);
}

function remove(plural: string, path: typeof VINO): Act {
  return ({ world }) => world.objects.delete(plural, path);
}

function patchStatus(status: JsonObject): Act {
  return patch("vinoes", { ...VINO, subresource: "status" }, { status });
}

/** A disk that nothing uses. @param ending That of a name of ours */
function putDisk(ending: string): Act {
  return (right) => right.putDisk(`${right.toName(0)}${ending}`);
}

const putRoot: Act = (right) => right.putDisk("debian-root");

/** Xen Orchestra knows that its own rollback left the last disk. */
const rollBack: Act = ({ world }) =>
  world.cloud.backend.rolledBack.add([...world.cloud.state.all("vdis").keys()].at(-1) ?? "");

/** The status says that hosts in use hold a removal up. */
const waitForHosts: Act = (right) => {
  const conditions = right.listConditions();
  const waits = { ...conditions[0], type: "ContractionBlocked", reason: "HostsInUse" };
  return patchStatus({ conditions: [...conditions, waits] })(right);
};

/** Nobody sees that the Vino goes. */
const endVino: Act = ({ world }) => {
  world.objects.delete("vinoes", VINO);
  for (const plural of ["baremetalhosts", "vinomachines"]) {
    for (const { metadata } of world.objects.list(plural, HOST.namespace)) {
      world.objects.delete(plural, { ...HOST, name: metadata.name });
    }
  }
};

const removeVm: Act = (right) => right.world.cloud.state.removeVm(right.vm(0).id);

const addHost: Act = (right) => {
  const { objects } = right.world;
  const path = { ...HOST, name: "core-worker-2" };
  const labels = { "landfall.dev/vino-uid": right.uid };
  objects.create("baremetalhosts", { metadata: { ...path, labels } });
  objects.create("secrets", { metadata: { ...path, name: "core-worker-2-network-data" } });
};

const putTemplate: Act = (right) => {
  const { state } = right.world.cloud;
  const [template] = state.list("vm-templates");
  if (template === undefined) return;
  const id = state.nextId("vm");
  state.put("vm-templates", { ...template, id, name_label: right.toName(2) });
};

const REMOVALS = [{ name: "vino-1", time: "2026-01-01T00:00:00Z" }];
const DOUBTS = { record: '{"v":1,"doubtAt":1}' };
const UNWANTED = "core has VMs that it does not want";

testCases(
  "listUntrue() judges",
  [
    ["a right world", pass(600_000)],
    [
      "a Vino that does not go",
      [patch("vinoes", VINO, { metadata: { finalizers: ["a/b"] } }), remove("vinoes", VINO)],
      "core is not gone: ",
    ],
    ["a VM that is not complete", set(0, { tags: [] }), "core has VMs that are not complete"],
    ["a twin", make(0, []), "core has twins", UNWANTED],
    [
      "a VM that is missing",
      removeVm,
      "core has 1 VMs and wants 2",
      "core has 2 VinoMachines and 1 VMs",
    ],
    [
      "a VinoMachine that is missing",
      remove("vinomachines", HOST),
      "core has 1 VinoMachines and 2 VMs",
    ],
    [
      "a VinoMachine of a Vino that is gone",
      patch("vinomachines", HOST, { spec: { vinoUid: "another" } }),
      "core has 1 VinoMachines and 2 VMs",
      "core-worker-0 is a VinoMachine of a Vino that is gone",
    ],
    ["a VM too many", make(2), UNWANTED],
    ["a VM too many that the Vino keeps", [...know({ deletes: false }), make(2)]],
    [
      "a hypervisor without a VM of which each is to have one",
      know(ONE_PER_HOST),
      "core has 2 VMs and wants 3",
      UNWANTED,
      "core has 2 hosts and wants 3",
    ],
    [
      "two VMs on one hypervisor, and one on none that is to have one",
      [make(2), place(2), ...know({ ...ONE_PER_HOST, hosts: ONLY_FIRST }), place(1)],
      UNWANTED,
    ],
    [
      "a hypervisor without a VM while others have enough",
      [place(1), ...know({ isPerHost: true, count: 2, deletes: false, hosts: ONLY_FIRST })],
      "core has 2 VMs and wants 3",
      "core has 2 hosts and wants 3",
    ],
    [
      "a VM on a hypervisor that is not named any more",
      [place(1), ...know({ ...ONE_PER_HOST, hosts: ONLY_FIRST })],
    ],
    [
      "a hypervisor without a VM, and one with two",
      know({ ...ONE_PER_HOST, deletes: false, hosts: FIRST_TWO }),
      "core lacks VMs on a host",
    ],
    [
      "a host with a management controller whose Secret is missing",
      patch("baremetalhosts", HOST, { spec: { bmc: { address: "a" } } }),
      "core-worker-0-bmc-credentials does not exist",
    ],
    ["a host that is missing", remove("baremetalhosts", HOST), "core has 1 hosts and wants 2"],
    ["a host too many", addHost, "core has 3 hosts and wants 2"],
    [
      "a host of a Vino that is gone",
      patch("baremetalhosts", HOST, {
        metadata: { labels: { "landfall.dev/vino-uid": "another" } },
      }),
      "core has 1 hosts and wants 2",
      "core-worker-0 is a host of a Vino that is gone",
    ],
    [
      "a Secret that is missing",
      remove("secrets", SECRET),
      "core-worker-0-network-data does not exist",
    ],
    ["a Vino that is not ready", report("False"), 'core says "False ReconciliationSucceeded": '],
    ["a Vino whose status is of another spec", want({ cpus: 4 }), 'core says "": '],
    [
      "a Vino that waits for hosts, and nothing uses one",
      waitForHosts,
      "core waits for hosts that nothing uses",
    ],
    ["a Vino that waits for hosts in use", [waitForHosts, use(0)]],
    [
      "a Vino that counts removals",
      patchStatus({ removals: REMOVALS }),
      "core has yet to forget removals",
    ],
    [
      "a Vino that looks for something once more",
      patch("vinomachines", { ...HOST, subresource: "status" }, { status: DOUBTS }),
      "core has yet to look for what may come late",
    ],
    [
      "VMs that a Vino left that deletes them",
      endVino,
      "vino-worker-0 is left",
      "vino-worker-1 is left",
    ],
    ["VMs that a Vino left that keeps them", [want({ deletes: false }), endVino]],
    ["a template that was to become a VM", putTemplate, "vino-worker-2 is left"],
    ["a disk with a name of ours", putDisk(".data"), "vino-worker-0.data is left"],
    [
      "a disk with a name of ours that a rollback left",
      [putDisk(".data"), rollBack],
      "vino-worker-0.data is left",
    ],
    ["a disk with the name of the template's", putRoot, "debian-root is left"],
    // Nobody can tell whose it is.
    ["one that a rollback left", [putRoot, rollBack]],
    ["two of which a rollback left one", [putRoot, rollBack, putRoot], "debian-root is left"],
  ],
  listUntrue,
);
