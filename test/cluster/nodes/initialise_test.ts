import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { NodeView } from "../../../lib/http/views.ts";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import { swapUuid } from "../../../lib/core/text/values.ts";
import { toUuid } from "../../../lib/simulator/uuid.ts";
import { readJson } from "../../support/kube/contract/client.ts";
import { skipsCluster } from "../../support/process/cluster.ts";
import {
  ClusterRig,
  type Controller,
  isInitialised,
  READY,
  UNINITIALIZED,
  waitUntil,
} from "../../support/process/cluster_rig.ts";
import { findKubectl } from "../../support/kube/kubectl.ts";
import { PROGRAM } from "../../support/process/landfall_process.ts";

const run = promisify(execFile);
const isSkipped = skipsCluster();
const kubectl = isSkipped ? undefined : await findKubectl();
const NOT_READY = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" } as const;

describe.skipIf(isSkipped)("on a real API server", () => {
  let started: ClusterRig | undefined;
  const useRig = (): ClusterRig => {
    if (started === undefined) throw new Error("Cannot test: the cluster is not up");
    return started;
  };
  beforeAll(async () => {
    started = await ClusterRig.start();
  }, 120_000);
  afterAll(() => started?.stop());

  describe(`the controller as ${PROGRAM.name}`, () => {
    let controller: Controller | undefined;

    beforeAll(async () => {
      controller = await useRig().startController(PROGRAM);
    }, 60_000);
    afterAll(async () => {
      await controller?.landfall.stop();
    });

    test("initialises a plain Node: provider ID, six labels, addresses, no taint (N-01, N-03)", async () => {
      const rig = useRig();
      const [ipv4, ipv6] = ["10.11.0.1", "fd00:11::1"];
      const addresses = { "0/ipv4/0": ipv4, "0/ipv6/0": ipv6 };
      const vmId = rig.addVm("plain", { cpus: 4, memoryBytes: 8 * 1024 ** 3, addresses });
      await rig.register("plain");
      const node = await rig.waitForNode("plain");
      expect(node.spec?.providerID).toBe(`xenorchestra://${rig.poolId}/${vmId}`);
      expect(node.spec?.taints).toBeUndefined();
      const { "kubernetes.io/hostname": hostname, ...labels } = node.metadata.labels ?? {};
      expect(hostname).toBe("plain");
      expect(labels).toMatchObject({
        "node.kubernetes.io/instance-type": "4vCPU-8GB",
        "beta.kubernetes.io/instance-type": "4vCPU-8GB",
        "topology.kubernetes.io/zone": rig.hostId,
        "failure-domain.beta.kubernetes.io/zone": rig.hostId,
        "topology.kubernetes.io/region": rig.poolId,
        "failure-domain.beta.kubernetes.io/region": rig.poolId,
        "vm.k8s.xenorchestra/name_label": "plain",
      });
      expect(node.status?.addresses).toEqual([
        { type: "InternalIP", address: ipv4 },
        { type: "InternalIP", address: ipv6 },
        { type: "Hostname", address: "plain" },
      ]);
    });

    test("finds the VM of a UEFI guest by its byte-swapped system UUID", async () => {
      const rig = useRig();
      const vmId = rig.addVm("uefi", { firmware: "uefi" });
      await rig.register("uefi", { systemUuid: swapUuid(vmId) });
      const node = await rig.waitForNode("uefi");
      expect(node.spec?.providerID).toEndWith(`/${vmId}`);
    });

    test("initialises both Nodes of two VMs whose UUIDs are each other's byte-swapped form", async () => {
      const rig = useRig();
      const id = rig.addVm("twin-a");
      const swapped = rig.addVm("twin-b", { id: swapUuid(id) });
      await rig.register("twin-a", { systemUuid: id });
      await rig.register("twin-b", { systemUuid: swapped });
      expect((await rig.waitForNode("twin-a")).spec?.providerID).toEndWith(`/${id}`);
      expect((await rig.waitForNode("twin-b")).spec?.providerID).toEndWith(`/${swapped}`);
    });

    test("never initialises the second of two Nodes of one VM, which reports its UUID byte-swapped", async () => {
      const rig = useRig();
      const id = rig.addVm("one-vm");
      const nodes = ["one-vm", "one-vm-too"] as const;
      await rig.register(nodes[0], { systemUuid: id });
      await rig.register(nodes[1], { systemUuid: swapUuid(id) });
      const event = await rig.waitForEvent(nodes[1], "NodeInitializationFailed");
      expect(event.type).toBe("Warning");
      await waitUntil("a claim of the first", async () =>
        (await rig.listEvents(nodes[1])).find(({ message }) => message?.includes(nodes[0])),
      );
      expect((await rig.readNode(nodes[1])).spec?.taints).toEqual([UNINITIALIZED]);
    });

    test("reports a Node whose machine was rebuilt under its name, and its labels, until it ends", async () => {
      const rig = useRig();
      const before = rig.addVm("rebuilt");
      await rig.register("rebuilt", { status: { conditions: [READY] } });
      const node = await rig.waitForNode("rebuilt");
      const after = rig.addVm("rebuilt-anew");
      await rig.setStatus("rebuilt", { nodeInfo: { systemUUID: after } });
      const event = await rig.waitForEvent("rebuilt", "ProviderIDMismatch");
      expect(event).toMatchObject({ type: "Warning", count: 1 });
      expect(event.message).toContain(before);
      expect(event.message).toContain(after);
      expect(event.message).toContain("delete the Node");
      const logged = { message: "Event on a Node", level: "warn", node: "rebuilt" };
      await controller?.landfall.waitForRecord((record) =>
        Object.entries(logged).every(([key, value]) => record[key] === value),
      );
      const url = `${controller?.debugUrl}/debug/nodes/rebuilt`;
      const view = await readJson<NodeView>(await fetch(url));
      expect(view.presence).toMatchObject({ reason: "ambiguous", message: event.message ?? "" });
      expect(view.labels.actual).toMatchObject({
        "topology.kubernetes.io/zone": rig.hostId,
        "topology.k8s.xenorchestra/host_id": rig.hostId,
        "vm.k8s.xenorchestra/name_label": "rebuilt",
      });
      const html = { headers: { accept: "text/html" } };
      const page = await (await fetch(`${controller?.debugUrl}/debug/`, html)).text();
      expect(page).toContain(after);
      // The old machine is back: nothing is told any more, and nothing was changed.
      await rig.setStatus("rebuilt", { nodeInfo: { systemUUID: before } });
      await waitUntil("its machine", async () =>
        (await readJson<NodeView>(await fetch(url))).presence.kind === "present" ? true : undefined,
      );
      const { metadata, spec } = await rig.readNode("rebuilt");
      expect([metadata.labels, spec]).toEqual([node.metadata.labels, node.spec]);
    });

    test.each([
      ["single-v4", "172.16.0.9", ["172.16.0.9"]],
      ["single-v6", "2001:db2::9", ["2001:db2::9"]],
      ["dual-46", "192.168.0.1,fd00:1:2:3:4::", ["192.168.0.1", "fd00:1:2:3:4::"]],
      ["dual-64", "2001:db2::1, 172.16.0.1", ["2001:db2::1", "172.16.0.1"]],
    ])(
      "takes the kubelet's node IP, %s, as it stands and in its order (N-06)",
      async (word, nodeIp, wanted) => {
        const rig = useRig();
        rig.addVm(word);
        await rig.register(word, { nodeIp });
        expect(toInternalIps(await rig.waitForNode(word))).toEqual(wanted);
      },
    );

    test("keeps a routable address as ExternalIP beside a node IP of another interface (N-06)", async () => {
      const rig = useRig();
      const outer = "8.8.4.1";
      const addresses = { "0/ipv4/0": outer, "1/ipv4/0": "10.1.0.5" };
      rig.addVm("public", { addresses });
      await rig.register("public", { nodeIp: "10.1.0.5" });
      const node = await rig.waitForNode("public");
      const hostname = { type: "Hostname", address: "public" };
      expect(node.status?.addresses).toEqual([
        { type: "InternalIP", address: "10.1.0.5" },
        { type: "ExternalIP", address: outer },
        hostname,
      ]);
      // As after a start of the kubelet with another --node-ip.
      await annotate(rig, "public", "alpha.kubernetes.io/provided-node-ip", outer);
      const event = await rig.waitForEvent("public", "NodeAddressTypeChanged");
      const message = `Type of address changed: ${outer} from ExternalIP to InternalIP`;
      expect(event).toMatchObject({ type: "Normal", message, count: 1 });
      expect((await rig.readNode("public")).status?.addresses).toEqual([
        { type: "InternalIP", address: outer },
        hostname,
      ]);
    });

    test("leaves taint and addresses when the kubelet's node IP is no IP (N-07)", async () => {
      const rig = useRig();
      rig.addVm("bad-ip");
      await rig.register("bad-ip", { nodeIp: "10.0.0" });
      const event = await rig.waitForEvent("bad-ip", "InvalidProvidedNodeIP");
      expect(event.message).toContain('"10.0.0" is not an IP address');
      const node = await rig.readNode("bad-ip");
      expect(node.spec?.taints).toEqual([UNINITIALIZED]);
      expect(node.status?.addresses).toEqual([{ type: "Hostname", address: "bad-ip" }]);
    });

    test("keeps a provider ID that the kubelet set, and finds the VM by it (N-09)", async () => {
      const rig = useRig();
      const vmId = rig.addVm("preset-vm");
      const providerID = `xenorchestra://${rig.poolId}/${vmId}`;
      await rig.register("preset", { providerID, systemUuid: toUuid("nobody") });
      const node = await rig.waitForNode("preset");
      expect(node.spec?.providerID).toBe(providerID);
      expect(node.metadata.labels?.["vm.k8s.xenorchestra/name_label"]).toBe("preset-vm");
    });

    test("keeps other taints and every field it does not know, while others write (N-01, N-19)", async () => {
      const rig = useRig();
      rig.addVm("kept");
      const taints = [
        { key: "example.com/dedicated", value: "db", effect: "NoExecute" },
        UNINITIALIZED,
        NOT_READY,
      ];
      const before = await rig.register("kept", {
        taints,
        spec: { podCIDR: "10.244.7.0/24", podCIDRs: ["10.244.7.0/24"], unschedulable: true },
        status: {
          capacity: { cpu: "4", "example.com/gpu": "1" },
          images: [{ names: ["example.com/a:1"], sizeBytes: 7 }],
          volumesInUse: ["kubernetes.io/csi/a"],
          daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
        },
      });
      // Somebody writes at the same Node without a pause, before and while it is initialised.
      let written = 0;
      while (!isInitialised(await rig.readNode("kept"))) {
        await annotate(rig, "kept", `example.com/n${written}`);
        written += 1;
      }
      const after = await rig.readNode("kept");
      expect(after.spec).toEqual({
        ...before.spec,
        taints: [taints[0], expect.objectContaining(NOT_READY)],
        providerID: after.spec?.providerID,
      } as never);
      expect({ ...after.status, addresses: [] }).toEqual({ ...before.status, addresses: [] });
      expect(Object.keys(after.metadata.annotations ?? {})).toHaveLength(written);
    });

    test("waits for a VM that shows up late, and says so meanwhile (N-25)", async () => {
      const rig = useRig();
      await rig.register("late");
      const event = await rig.waitForEvent("late", "NodeInitializationFailed");
      expect(event.type).toBe("Warning");
      expect((await rig.readNode("late")).spec?.taints).toEqual([UNINITIALIZED]);
      rig.addVm("late");
      await rig.waitForNode("late");
    });

    test("initialises a Node whose VM has a name that is no legal label (N-26)", async () => {
      const rig = useRig();
      const vmId = rig.addVm(`nœud "${"odd"}" | x:y & #1`);
      await rig.register("odd", { systemUuid: vmId });
      const node = await rig.waitForNode("odd");
      const label = node.metadata.labels?.["vm.k8s.xenorchestra/name_label"];
      expect(label).toMatch(/^[A-Za-z0-9]([\w.-]*[A-Za-z0-9])?$/);
      expect(label).toContain("odd");
    });

    test("leaves a Node with a foreign provider ID alone", async () => {
      const rig = useRig();
      const providerID = "aws:///eu-west-3a/i-0123456789";
      const before = await rig.register("foreign", { providerID });
      await untilReconciled(controller, "foreign");
      // The next Node being done shows that the controller went on in the meantime.
      rig.addVm("after");
      await rig.register("after");
      await rig.waitForNode("after");
      expect(await rig.readNode("foreign")).toEqual(before);
      expect(await rig.listEvents("foreign")).toEqual([]);
    });

    test("warns about a provider ID of ours that cannot be read, and leaves the Node (C-01)", async () => {
      const rig = useRig();
      const providerID = "xenorchestra://not-a-uuid/neither";
      const before = await rig.register("malformed", { providerID });
      const event = await rig.waitForEvent("malformed", "MalformedProviderID");
      expect(event).toMatchObject({ type: "Warning", reason: "MalformedProviderID" });
      expect(event.message).toContain(providerID);
      expect(await rig.readNode("malformed")).toEqual(before);
    });

    test("says that Xen Orchestra refuses the token, and goes on once it accepts it (N-13, N-25)", async () => {
      const rig = useRig();
      rig.addVm("denied");
      const accept = rig.cloud.faults.set({ kind: "status", status: 401 });
      try {
        await rig.register("denied");
        const event = await rig.waitForEvent("denied", "NodeInitializationFailed");
        expect(event.type).toBe("Warning");
        expect(event.message).toContain("401");
        expect((await rig.readNode("denied")).spec?.taints).toEqual([UNINITIALIZED]);
      } finally {
        accept();
      }
      await rig.waitForNode("denied");
    });

    test("keeps only the twin labels of a Node alike whose machine is not shown (N-02, N-15)", async () => {
      const rig = useRig();
      await rig.register("old", {
        taints: [],
        providerID: `xenorchestra://${rig.poolId}/${toUuid(`vm/${"old"}`)}`,
        labels: { "failure-domain.beta.kubernetes.io/zone": "z1" },
      });
      const node = await rig.waitForNode(
        "old",
        ({ metadata }) => metadata.labels?.["topology.kubernetes.io/zone"] !== undefined,
      );
      expect(node.metadata.labels?.["topology.kubernetes.io/zone"]).toBe("z1");
      expect(node.metadata.labels?.["topology.kubernetes.io/region"]).toBeUndefined();
    });

    test("survives a Node that is deleted while it waits, and one that comes back by the name (N-20)", async () => {
      const rig = useRig();
      await rig.register("gone");
      await rig.waitForEvent("gone", "NodeInitializationFailed");
      await rig.cluster.remove(`/api/v1/nodes/${"gone"}`);
      rig.addVm("back");
      await rig.register("gone", { systemUuid: toUuid(`vm/${"back"}`) });
      await rig.waitForNode("gone");
    });

    test("writes Events to the namespace default with the UID of the Node (V-04)", async () => {
      const rig = useRig();
      rig.addVm("events");
      await rig.register("events");
      const node = await rig.waitForNode("events");
      const event = await rig.waitForEvent("events", "Synced");
      expect(event).toMatchObject({
        metadata: { namespace: "default" },
        type: "Normal",
        count: 1,
        source: { component: "cloud-node-controller" },
        involvedObject: { kind: "Node", name: "events", uid: node.metadata.uid ?? "" },
      });
    });

    test.skipIf(kubectl === undefined)("is heard in kubectl describe node (V-04)", async () => {
      const rig = useRig();
      rig.addVm("shown");
      await rig.register("shown");
      await rig.waitForEvent("shown", "Synced");
      const flags = ["--kubeconfig", rig.cluster.adminKubeconfigPath];
      const cache = ["--cache-dir", join(rig.cluster.folder, "kubectl-cache")];
      const args = [...flags, ...cache, "describe", "node", "shown"];
      const { stdout } = await run(kubectl ?? "", args, { timeout: 20_000 });
      expect(stdout).toMatch(/ProviderID:\s+xenorchestra:\/\//);
      expect(stdout).toMatch(/Normal\s+Synced\s+\S+\s+cloud-node-controller\s+Node synced/);
    });

    test("needs no permission beyond its ClusterRole, and meets no error that it logs", () => {
      expect(controller?.landfall.log).not.toContain("forbidden");
      const errors = (controller?.landfall.log ?? "").split("\n").filter(isError);
      expect(errors).toEqual([]);
    });
  });

  test("mainIpAsExternal gives what the Go controller gives: the node IP with both types", async () => {
    const rig = useRig();
    await rig.configure(["addresses: { mainIpAsExternal: true }"]);
    const { landfall } = await rig.startController(PROGRAM);
    try {
      rig.addVm("main-ip", { addresses: { "0/ipv4/0": "10.0.0.5", "1/ipv4/0": "8.8.4.4" } });
      await rig.register("main-ip", { nodeIp: "10.0.0.5" });
      expect((await rig.waitForNode("main-ip")).status?.addresses).toEqual([
        { type: "InternalIP", address: "10.0.0.5" },
        { type: "ExternalIP", address: "10.0.0.5" },
        { type: "Hostname", address: "main-ip" },
      ]);
    } finally {
      await landfall.stop();
      await rig.configure([]);
    }
  });

  test.each([
    ["one-v4", "192.168.0.1", ["192.168.0.1"]],
    ["one-v6", "2001:db2::1", ["2001:db2::1"]],
    ["six-four", "2001:db2::1,172.16.0.1", ["2001:db2::1", "172.16.0.1"]],
    ["four-six", "192.168.0.1,fd00:1:2:3:4::", ["192.168.0.1", "fd00:1:2:3:4::"]],
  ])(
    "the static provider gives %s of five addresses to a Node that asks for it (N-24)",
    async (name, nodeIp, wanted) => {
      const rig = useRig();
      const config = join(rig.cluster.folder, `${name}.yaml`);
      await writeFile(config, toStaticInventory(name));
      const { landfall } = await rig.startController(PROGRAM, {
        args: ["--cloud-provider=static", `--cloud-config=${config}`],
      });
      try {
        await rig.register(name, { nodeIp, taints: [UNINITIALIZED, NOT_READY] });
        const node = await rig.waitForNode(name, isInitialised);
        expect(toInternalIps(node)).toEqual(wanted);
        expect(node.spec?.taints).toMatchObject([NOT_READY]);
        expect(node.spec?.providerID).toBe(`static://${name}`);
      } finally {
        await landfall.stop();
      }
    },
  );
});

function toInternalIps(node: Node): readonly string[] {
  const addresses = node.status?.addresses ?? [];
  return addresses.filter(({ type }) => type === "InternalIP").map(({ address }) => address);
}

function isError(line: string): boolean {
  return line.includes('"level":"error"');
}

async function annotate(
  rig: ClusterRig,
  node: string,
  annotation: string,
  value = "1",
): Promise<void> {
  await rig.cluster.patch(`/api/v1/nodes/${node}`, {
    metadata: { annotations: { [annotation]: value } },
  });
}

/** Waits until the controller says that it has looked at a Node. */
function untilReconciled(controller: Controller | undefined, node: string): Promise<true> {
  return waitUntil(`a reconcile of ${node}`, async () => {
    const response = await fetch(`${controller?.debugUrl}/debug/nodes/${node}`);
    return /"outcome":\s*"ok"/.test(await response.text()) ? true : undefined;
  });
}

function toStaticInventory(name: string): string {
  const ips = ["10.0.0.1", "192.168.0.1", "172.16.0.1", "2001:db2::1", "fd00:1:2:3:4::"];
  const addresses = ips.map((address) => `      - { type: InternalIP, address: "${address}" }`);
  return [
    "region: here",
    "instances:",
    `  - id: ${name}`,
    `    name: ${name}`,
    "    state: running",
    "    addresses:",
    ...addresses,
    "",
  ].join("\n");
}
