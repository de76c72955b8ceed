import { describe, expect, test } from "bun:test";
import { ORDER, RightWorld, VINO } from "./right_world.ts";
import { listUntrue } from "./truth.ts";

/** What makes a right world wrong, and all that is not true then, without the UID and with the pool of names cut. */
type Case = readonly [
  what: string,
  spoil: (right: RightWorld) => Promise<unknown> | void,
  ...untrue: string[],
];

const HOST = { namespace: VINO.namespace, name: "core-worker-0" } as const;

const ONLY_FIRST = { names: ["xcp-par-1"], tags: [] };
const FIRST_TWO = { names: ["xcp-par-1", "xcp-par-2"], tags: [] };

/** Puts a disk that nothing uses, and lets Xen Orchestra know that its own rollback left it. */
function leave(right: RightWorld, name: string): void {
  right.world.cloud.backend.rolledBack.add(right.putDisk(name));
}

/** The spec asks for something else, and the status is of that spec. */
function want(right: RightWorld, order: Partial<typeof ORDER>): void {
  right.world.order(VINO.name, { ...ORDER, ...order });
  right.report("Ready");
}

/** The status says that hosts in use hold a removal up. */
function waitForHosts(right: RightWorld): void {
  const conditions = right.listConditions();
  const [ready] = conditions;
  const waits = { ...ready, type: "ContractionBlocked", reason: "HostsInUse" };
  const path = { ...VINO, subresource: "status" };
  right.world.objects.patch("vinoes", path, { status: { conditions: [...conditions, waits] } });
}

/** Nobody sees that the Vino goes. */
function endVino({ world }: RightWorld): void {
  world.objects.delete("vinoes", VINO);
  for (const { metadata } of world.hosts) {
    const path = { namespace: VINO.namespace, name: metadata.name };
    world.objects.delete("baremetalhosts", path);
  }
}

const CASES: readonly Case[] = [
  [
    "a Vino that does not go",
    ({ world }) => {
      world.objects.patch("vinoes", VINO, { metadata: { finalizers: ["a/b"] } });
      world.objects.delete("vinoes", VINO);
    },
    "core is not gone: ",
  ],
  [
    "a VM that is not complete",
    (right) => void Object.assign(right.vm(0), { tags: [] }),
    "core has VMs that are not complete",
  ],
  [
    "a twin",
    (right) => right.makeVm(right.toName(0), []),
    "core has twins",
    "core has VMs that it does not want",
  ],
  [
    "a VM that is missing",
    (right) => right.world.cloud.state.removeVm(right.vm(0).id),
    "core has 1 VMs and wants 2",
  ],
  ["a VM too many", (right) => right.makeVm(right.toName(2)), "core has VMs that it does not want"],
  [
    "a VM too many that the Vino keeps",
    async (right) => {
      want(right, { deletes: false });
      await right.makeVm(right.toName(2));
    },
  ],
  [
    "a hypervisor without a VM of which each is to have one",
    (right) => want(right, { isPerHost: true, count: 1 }),
    "core has 2 VMs and wants 3",
    "core has VMs that it does not want",
    "core has 2 hosts and wants 3",
  ],
  [
    "two VMs on one hypervisor, and one on none that is to have one",
    async (right) => {
      await right.makeVm(right.toName(2));
      right.vm(2)["affinityHost"] = right.world.site.hostIds["xcp-par-2"];
      want(right, { isPerHost: true, count: 1, hosts: { names: ["xcp-par-1"], tags: [] } });
      right.vm(1)["affinityHost"] = right.world.site.hostIds["xcp-par-2"];
    },
    "core has VMs that it does not want",
  ],
  [
    "a hypervisor without a VM while others have enough",
    (right) => {
      right.vm(1)["affinityHost"] = right.world.site.hostIds["xcp-par-2"];
      want(right, { isPerHost: true, count: 2, deletes: false, hosts: ONLY_FIRST });
    },
    "core has 2 VMs and wants 3",
    "core has 2 hosts and wants 3",
  ],
  [
    "a VM on a hypervisor that is not named any more",
    (right) => {
      right.vm(1)["affinityHost"] = right.world.site.hostIds["xcp-par-2"];
      want(right, { isPerHost: true, count: 1, hosts: ONLY_FIRST });
    },
  ],
  [
    "a hypervisor without a VM, and one with two",
    (right) => want(right, { isPerHost: true, count: 1, deletes: false, hosts: FIRST_TWO }),
    "core lacks VMs on a host",
  ],
  [
    "a host with a management controller whose Secret is missing",
    ({ world }) =>
      void world.objects.patch("baremetalhosts", HOST, { spec: { bmc: { address: "a" } } }),
    "core-worker-0-bmc-credentials does not exist",
  ],
  [
    "a host that is missing",
    ({ world }) => void world.objects.delete("baremetalhosts", HOST),
    "core has 1 hosts and wants 2",
  ],
  [
    "a host too many",
    ({ world }) => {
      const labels = { "landfall.dev/vino-uid": String(world.vinoes[0]?.metadata["uid"]) };
      const path = { namespace: VINO.namespace, name: "core-worker-2" };
      world.objects.create("baremetalhosts", { metadata: { ...path, labels } });
      const secret = { ...path, name: "core-worker-2-network-data" };
      world.objects.create("secrets", { metadata: secret });
    },
    "core has 3 hosts and wants 2",
  ],
  [
    "a host of a Vino that is gone",
    ({ world }) => {
      const labels = { "landfall.dev/vino-uid": "another" };
      world.objects.patch("baremetalhosts", HOST, { metadata: { labels } });
    },
    "core has 1 hosts and wants 2",
    "core-worker-0 is a host of a Vino that is gone",
  ],
  [
    "a Secret that is missing",
    ({ world }) => {
      const name = "core-worker-0-network-data";
      world.objects.delete("secrets", { ...HOST, name });
    },
    "core-worker-0-network-data does not exist",
  ],
  [
    "a Vino that is not ready",
    (right) => right.report("Ready", "False"),
    'core says "False ReconciliationSucceeded": ',
  ],
  [
    "a Vino whose status is of another spec",
    (right) => right.world.order(VINO.name, { ...ORDER, cpus: 4 }),
    'core says "": ',
  ],
  [
    "a Vino that waits for hosts, and nothing uses one",
    waitForHosts,
    "core waits for hosts that nothing uses",
  ],
  [
    "a Vino that waits for hosts in use",
    (right) => {
      waitForHosts(right);
      right.use(0);
    },
  ],
  [
    "a Vino that counts removals",
    ({ world }) => {
      const removals = [{ name: "vino-1", time: "2026-01-01T00:00:00Z" }];
      world.objects.patch("vinoes", { ...VINO, subresource: "status" }, { status: { removals } });
    },
    "core has yet to forget removals",
  ],
  [
    "a Vino that looks for something once more",
    ({ world }) => {
      const machines = [{ name: "vino-1", record: '{"v":1,"doubtAt":1}' }];
      world.objects.patch("vinoes", { ...VINO, subresource: "status" }, { status: { machines } });
    },
    "core has yet to look for what may come late",
  ],
  [
    "VMs that a Vino left that deletes them",
    endVino,
    "vino-worker-0 is left",
    "vino-worker-1 is left",
  ],
  [
    "VMs that a Vino left that keeps them",
    (right) => {
      right.world.order(VINO.name, { ...ORDER, deletes: false });
      endVino(right);
    },
  ],
];

const LEFT: readonly Case[] = [
  [
    "a template that was to become a VM",
    (right) => {
      const [template] = right.world.cloud.state.list("vm-templates");
      if (template === undefined) return;
      const [id, name] = [right.world.cloud.state.nextId("vm"), right.toName(2)];
      right.world.cloud.state.put("vm-templates", { ...template, id, name_label: name });
    },
    "vino-worker-2 is left",
  ],
  [
    "a disk with a name of ours",
    (right) => void right.putDisk(`${right.toName(0)}.data`),
    "vino-worker-0.data is left",
  ],
  [
    "a disk with a name of ours that a rollback left",
    (right) => leave(right, `${right.toName(0)}.data`),
    "vino-worker-0.data is left",
  ],
  [
    "a disk with the name of the template's",
    (right) => void right.putDisk("debian-root"),
    "debian-root is left",
  ],
  // Nobody can tell whose it is.
  ["one that a rollback left", (right) => leave(right, "debian-root")],
  [
    "two of which a rollback left one",
    (right) => {
      leave(right, "debian-root");
      right.putDisk("debian-root");
    },
    "debian-root is left",
  ],
];

describe("listUntrue()", () => {
  test.each([...CASES, ...LEFT].map(([what, spoil, ...untrue]) => ({ what, spoil, untrue })))(
    "judges $what",
    async ({ spoil, untrue }) => {
      using right = await RightWorld.create();
      const prefix = `${right.toName(0).slice(0, "vino-12345678".length)}-`;
      await spoil(right);
      const said = listUntrue(right.world).map((one) => one.replaceAll(prefix, "vino-"));
      expect(said).toEqual(untrue);
    },
  );
});
