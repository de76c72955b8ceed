/**
 * The out-of-service controller on a real API server, with VolumeAttachments made and removed by hand, as
 * kube-controller-manager would.
 *
 * The real API server is of Kubernetes 1.20, which the controller refuses: the first test sees that. For the others a
 * proxy stands before it that answers `/version` as 1.30 would, and passes on everything else.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { listFurtherRights, needAll } from "../../../lib/app/rights.ts";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import { skipsCluster } from "../../support/process/cluster.ts";
import {
  ClusterRig,
  type Controller,
  LEASE,
  NOT_READY,
  READY,
  RIGHTS,
  waitUntil,
} from "../../support/process/cluster_rig.ts";
import { listPrograms } from "../../support/process/landfall_process.ts";

const NAME = "cloud-node-out-of-service";
const ARGS = [
  `--controllers=*,${NAME}`,
  "--node-monitor-period=500ms",
  "--node-out-of-service-sync-period=1s",
];
const SETTINGS = [
  "deletion: {confirmations: 1, holdOff: 0s, fleetShare: 1}",
  "outOfService: {graceDuration: 1s, confirmations: 2}",
];
const RECORD = "landfall.dev/out-of-service";
const TAINT = {
  key: "node.kubernetes.io/out-of-service",
  value: "nodeshutdown",
  effect: "NoExecute",
};
const ATTACHMENTS = "/apis/storage.k8s.io/v1/volumeattachments";
const program = listPrograms().at(-1);

/** Answers `/version` as Kubernetes 1.30 would, and passes on everything else. */
async function startNewerServer(rig: ClusterRig): Promise<Bun.Server<undefined>> {
  const ca = await Bun.file(rig.cluster.caPath).text();
  return Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url);
      if (pathname === "/version") {
        return Response.json({ major: "1", minor: "30", gitVersion: "v1.30.0" });
      }
      const { method, signal } = request;
      const headers = new Headers(request.headers);
      headers.delete("host");
      headers.delete("accept-encoding");
      const body = method === "GET" ? null : await request.arrayBuffer();
      const target = `${rig.cluster.url}${pathname}${search}`;
      return await fetch(target, { method, headers, body, signal, tls: { ca } });
    },
  });
}

function isTainted({ spec }: Node): boolean {
  return spec?.taints?.some(({ key }) => key === TAINT.key) ?? false;
}

describe.skipIf(skipsCluster())(`on a real API server, ${NAME} by ${program?.name}`, () => {
  let rig: ClusterRig;
  let proxy: Bun.Server<undefined>;
  let controller: Controller;
  let haltedVmId: string;

  const attach = (volume: string, nodeName: string): Promise<unknown> =>
    rig.cluster.create(ATTACHMENTS, {
      apiVersion: "storage.k8s.io/v1",
      kind: "VolumeAttachment",
      metadata: { name: volume },
      spec: { attacher: "csi.example.org", nodeName, source: { persistentVolumeName: volume } },
    });
  const detach = (volume: string): Promise<unknown> =>
    rig.cluster.adminFetch(`${ATTACHMENTS}/${volume}`, { method: "DELETE" });
  const start = async (name: string): Promise<string> => {
    const vmId = rig.addVm(name);
    await rig.register(name);
    await boot(name, "boot-1");
    await rig.waitForNode(name);
    return vmId;
  };
  const boot = (name: string, bootID: string): Promise<void> =>
    rig.setStatus(name, { conditions: [READY], nodeInfo: { bootID } });

  beforeAll(async () => {
    if (program === undefined) throw new Error("Cannot test: there is no program");
    rig = await ClusterRig.start();
    await rig.configure(SETTINGS);
    await rig.allow([...RIGHTS, ...listFurtherRights(needAll(LEASE), NAME)]);
    proxy = await startNewerServer(rig);
  }, 120_000);
  afterAll(async () => {
    await controller?.landfall.stop();
    await proxy?.stop(true);
    await rig?.stop();
  });

  test("refuses Kubernetes 1.20: it says so, and sets no taint", async () => {
    if (program === undefined) throw new Error("Cannot test: there is no program");
    const old = await rig.startController(program, { args: ARGS });
    const { version, least } = await old.landfall.waitForRecord(({ message }) =>
      String(message).startsWith("Kubernetes is too old for the out-of-service taint"),
    );
    expect([version, least]).toEqual([expect.stringMatching(/^v1\.20/), "1.26"]);
    const vmId = await start("refused");
    rig.cloud.state.setPower(vmId, "Halted");
    await rig.setCondition("refused", NOT_READY);
    await rig.waitForEvent("refused", "ShutdownTaintSet");
    await Bun.sleep(5_000);
    expect(isTainted(await rig.readNode("refused"))).toBe(false);
    // Else it would count against the limit of the fleet. A Node that had the taint counts for ten minutes; the limit
    // is a share of the Nodes at the start of the next process: so the Nodes of the next tests must be there by then.
    rig.cloud.state.setPower(vmId, "Running", rig.hostId);
    await boot("refused", "boot-2");
    haltedVmId = await start("halted");
    await start("gone");
    await old.landfall.stop();
  }, 60_000);

  test("sets the taint on the Node of a machine that is off, and removes it when it is back", async () => {
    if (program === undefined) throw new Error("Cannot test: there is no program");
    controller = await rig.startController(program, { args: ARGS, server: `${proxy.url.origin}` });
    await attach("volume-1", "halted");
    rig.cloud.state.setPower(haltedVmId, "Halted");
    await rig.setCondition("halted", NOT_READY);
    const off = await rig.waitForNode("halted", isTainted);
    expect(off.spec?.taints).toContainEqual(expect.objectContaining(TAINT));
    expect(off.metadata.annotations?.[RECORD]).toEndWith(" boot-1");
    await rig.waitForEvent("halted", "OutOfServiceTaintSet");
    // The machine starts before Kubernetes has detached the volume.
    rig.cloud.state.setPower(haltedVmId, "Running", rig.hostId);
    await boot("halted", "boot-2");
    await Bun.sleep(4_000);
    expect(isTainted(await rig.readNode("halted"))).toBe(true);
    await detach("volume-1");
    const back = await rig.waitForNode("halted", (node) => !isTainted(node));
    expect(back.metadata.annotations?.[RECORD]).toBeUndefined();
  }, 90_000);

  test("sets it on the Node of a machine that is gone, which is deleted once its volume is detached", async () => {
    await attach("volume-2", "gone");
    await rig.loseMachine("gone");
    await rig.waitForNode("gone", isTainted);
    await Bun.sleep(3_000);
    expect((await rig.readNode("gone")).metadata.name).toBe("gone");
    await detach("volume-2");
    await waitUntil("the deletion of the Node", async () => {
      const response = await rig.cluster.adminFetch("/api/v1/nodes/gone");
      return response.status === 404 ? true : undefined;
    });
  }, 90_000);
});
