/**
 * The rights of the manifests on a real API server: enough for all that the controller does, and none too many.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createDemoWorld } from "../../lib/simulator/xenorchestra/mod.ts";
import type { Access } from "../../lib/kube/access/rights.ts";
import { type AuditedRequest, skipsCluster } from "../support/process/cluster.ts";
import {
  ClusterRig,
  formatAccess,
  isInitialised,
  READY,
  RIGHTS,
  USERNAME,
  waitUntil,
} from "../support/process/cluster_rig.ts";
import { type LandfallProcess, PROGRAM } from "../support/process/landfall_process.ts";
import { findFreePort } from "../support/process/server_process.ts";

const { poolIds, hostIds } = createDemoWorld();
const HOSTS = [hostIds["xcp-par-1"], hostIds["xcp-par-2"]] as const;

describe.skipIf(skipsCluster())(`the rights of the manifests, used by ${PROGRAM.name}`, () => {
  let started: ClusterRig | undefined;
  const use = (): ClusterRig => {
    if (started === undefined) throw new Error("Cannot test: the cluster is not up");
    return started;
  };
  beforeAll(async () => {
    started = await ClusterRig.start();
    await started.configure(["deletion: {confirmations: 1, holdOff: 1s, fleetShare: 1}"]);
  }, 120_000);
  afterAll(() => started?.stop());

  /** Requests of the controller from the so-many-th on. */
  async function listRequests(from: number): Promise<AuditedRequest[]> {
    const all = await use().cluster.listRequests();
    return all.filter(({ username }) => username === USERNAME).slice(from);
  }

  test("are enough: nothing is refused, and each of them is used", async () => {
    const rig = use();
    await rig.allow(RIGHTS);
    const controller = await startElected(rig);
    try {
      await joinNode(rig, "all-1");
      await joinNode(rig, "all-2");
      await Promise.all([
        moveThrice(rig, "all-1"),
        rig.loseMachine("all-2"),
        askForMetrics(rig, controller.port),
      ]);
      await waitUntil(
        () => `the deletion and an Event that is counted, in:\n${controller.landfall.log}`,
        async () => {
          const done = await listUsed();
          return done.has("delete nodes") && done.has("patch events") ? true : undefined;
        },
      );
    } finally {
      await controller.landfall.stop();
    }
    expect([...(await listUsed())].toSorted()).toEqual(
      RIGHTS.map(({ access }) => formatAccess(access)).toSorted(),
    );
    const refused = (await listRequests(0)).filter(({ code }) => code === 401 || code === 403);
    expect(refused).toEqual([]);
  });

  /** What the controller asked for so far, of resources. */
  async function listUsed(): Promise<Set<string>> {
    const requests = (await listRequests(0)).filter(({ resource }) => !resource.startsWith("/"));
    return new Set(requests.map((one) => `${one.verb} ${one.resource}`));
  }

  test.each(RIGHTS.map(({ access }) => [formatAccess(access), access] as const))(
    "are none too many: without %s something is refused",
    async (text, access) => {
      const rig = use();
      await rig.allow(RIGHTS.filter((one) => one.access !== access));
      await rig.deleteLease();
      const from = (await listRequests(0)).length;
      const controller = await startElected(rig, { isReadyAwaited: false });
      try {
        const name = `without-${text.replaceAll(/\W+/g, "-")}`;
        const refused = waitUntil(
          () => `a refused ${text} in:\n${controller.landfall.log}`,
          async () => {
            const denied = (await listRequests(from)).filter(({ code }) => code === 403);
            const found = denied.some((one) => `${one.verb} ${one.resource}` === text);
            return found ? true : undefined;
          },
        );
        await Promise.all([refused, provoke(access, { rig, name, port: controller.port })]);
      } finally {
        await controller.landfall.stop();
      }
    },
  );
});

interface Elected {
  readonly landfall: LandfallProcess;
  /** Of HTTPS. */
  readonly port: number;
}

/** Starts the controller as the manifests do, on a port of its own. */
async function startElected(rig: ClusterRig, { isReadyAwaited = true } = {}): Promise<Elected> {
  const port = await findFreePort();
  const args = [
    "--leader-elect=true",
    "--bind-address=127.0.0.1",
    `--secure-port=${port}`,
    "--node-monitor-period=500ms",
  ];
  const { landfall } = await rig.startController(PROGRAM, { args, isReadyAwaited });
  return { landfall, port };
}

/** Does what needs this right, unless the controller needs it to start already. */
async function provoke(
  access: Access,
  { rig, name, port }: { readonly rig: ClusterRig; readonly name: string; readonly port: number },
): Promise<void> {
  switch (formatAccess(access)) {
    case "patch nodes":
    case "patch nodes/status":
    case "create events":
      rig.addVm(name);
      await rig.register(name);
      return;
    case "patch events":
      await joinNode(rig, name);
      await moveThrice(rig, name);
      return;
    case "get nodes":
    case "delete nodes":
      await joinNode(rig, name);
      await rig.loseMachine(name);
      return;
    case "create tokenreviews":
    case "create subjectaccessreviews":
      await askForMetrics(rig, port);
  }
}

/** A Node with a machine of its own, initialised and Ready. */
async function joinNode(rig: ClusterRig, name: string): Promise<void> {
  rig.addVm(name, { poolId: poolIds.paris, hostId: HOSTS[0] });
  await rig.register(name);
  await rig.setCondition(name, READY);
  await rig.waitForNode(name, isInitialised);
}

/** The third move is the first once more, so that its Event is counted. */
async function moveThrice(rig: ClusterRig, name: string): Promise<void> {
  const { providerID = "" } = (await rig.readNode(name)).spec ?? {};
  const vmId = providerID.split("/").at(-1) ?? "";
  for (const hostId of [HOSTS[1], HOSTS[0], HOSTS[1]]) {
    rig.cloud.state.migrateLive(vmId, hostId);
    await rig.waitForNode(name, ({ metadata }) => {
      return metadata.labels?.["topology.kubernetes.io/zone"] === hostId;
    });
  }
}

async function askForMetrics(rig: ClusterRig, port: number): Promise<void> {
  await waitUntil("the secure port", async () => {
    const headers = { authorization: `Bearer ${rig.token}` };
    const tls = { rejectUnauthorized: false };
    const url = `https://127.0.0.1:${port}/metrics`;
    return await fetch(url, { headers, tls }).catch(() => undefined);
  });
}
