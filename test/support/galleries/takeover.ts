/**
 * What must hold of two processes on any API server, if both run a controller that has a Lease of its own, and only one
 * has a cloud.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { fileURLToPath } from "node:url";
import type { ProcessView } from "../../../lib/http/views.ts";
import type { Lease } from "../../../lib/kube/kinds/lease.ts";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import { toRegistration } from "../nodes/nodes.ts";
import { until } from "../nodes/rig.ts";
import { type LandfallProcess, startLandfall } from "../process/landfall_process.ts";
import { findFreePort } from "../process/server_process.ts";
import { type GalleryServer, PROGRAM } from "./scenario.ts";
import { TWIN_LEASE, TWIN_NAME } from "./twin.ts";

/** The Lease that flags have by themselves. */
const MAIN_LEASE = "cloud-controller-manager";
const CONFIG_PATH = fileURLToPath(import.meta.resolve("./machines.yaml"));
const WITH_CLOUD = ["--cloud-provider=example", `--cloud-config=${CONFIG_PATH}`];
/** A busy machine may keep a renewal waiting for a second. */
const TIMES = [
  "--leader-elect-lease-duration=3s",
  "--leader-elect-renew-deadline=2s",
  "--leader-elect-retry-period=500ms",
];
/** The Lease runs out, and the caches are there. */
const TAKEN_MS = 20_000;
const GALLERY_PATH = "/apis/example.org/v1/namespaces/default/galleries";
const LEASE_PATH = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";

interface Started {
  readonly landfall: LandfallProcess;
  readonly url: string;
}

/** Starts one process with a cloud and one without, and takes each of them away. */
export function describeTakeover(server: string, start: () => Promise<GalleryServer>): void {
  describe(`two processes with two Leases on ${server}`, () => {
    let world: GalleryServer;
    let beside: Started;
    let alone: Started;

    const run = async (controllers: string, more: readonly string[] = []): Promise<Started> => {
      const port = await findFreePort();
      const landfall = startLandfall(PROGRAM, [
        `--controllers=${controllers}`,
        `--kubeconfig=${world.kubeconfig}`,
        `--debug-address=127.0.0.1:${port}`,
        "--secure-port=0",
        "--logging-format=json",
        ...TIMES,
        ...more,
      ]);
      return { landfall, url: `http://127.0.0.1:${port}` };
    };
    const runAlone = (): Promise<Started> => run(TWIN_NAME);

    beforeAll(async () => {
      world = await start();
      await world.install();
      await until("it is served", async () => (await world.fetch(GALLERY_PATH)).ok, TAKEN_MS);
      alone = await runAlone();
      await until("the kind has a leader", () => findHolder(TWIN_LEASE), TAKEN_MS);
      beside = await run(`cloud-node,${TWIN_NAME}`, WITH_CLOUD);
      await until("the cloud has a leader", () => findHolder(MAIN_LEASE), TAKEN_MS);
    }, 120_000);
    afterAll(async () => {
      await Promise.all([beside.landfall.stop(), alone.landfall.stop()]);
      await world.stop();
    });

    const ask = async <T>(path: string): Promise<T | undefined> => {
      const response = await world.fetch(path);
      return response.ok ? ((await response.json()) as T) : undefined;
    };
    const findHolder = async (name: string): Promise<string | undefined> =>
      (await ask<Lease>(`${LEASE_PATH}/${name}`))?.spec?.holderIdentity || undefined;
    const create = async (path: string, object: object): Promise<void> => {
      const headers = { "content-type": "application/json" };
      const body = JSON.stringify(object);
      expect((await world.fetch(path, { method: "POST", headers, body })).status).toBe(201);
    };
    const createGallery = (name: string): Promise<void> => {
      const metadata = { name, namespace: "default" };
      return create(GALLERY_PATH, { apiVersion: "example.org/v1", kind: "Gallery", metadata });
    };
    const untilCatalogued = (name: string): Promise<void> => {
      const path = `/api/v1/namespaces/default/configmaps/${name}-catalogue`;
      return until(`${name} has a catalogue`, async () => (await world.fetch(path)).ok, TAKEN_MS);
    };
    /** The Leases that it competes for, and whether it leads. */
    const listElections = async ({ url }: Started): Promise<unknown[]> => {
      const view = (await (await fetch(`${url}/debug/process`)).json()) as ProcessView;
      return view.elections.map(({ lease, isLeading }) => [lease, isLeading]);
    };

    test("each leads with the Lease that it got, and works on what this Lease is for", async () => {
      expect(await listElections(alone)).toEqual([[TWIN_LEASE, true]]);
      expect(await listElections(beside)).toEqual([
        [MAIN_LEASE, true],
        [TWIN_LEASE, false],
      ]);
      await create("/api/v1/nodes", toRegistration("one"));
      const isKnown = async (): Promise<boolean> =>
        (await ask<Node>("/api/v1/nodes/one"))?.spec?.providerID === "example://one";
      await until("the Node is initialised", isKnown, TAKEN_MS);
      await createGallery("a");
      await untilCatalogued("a");
    }, 60_000);

    test("the other one takes the Lease of a process that crashed, and keeps its own", async () => {
      const before = await findHolder(MAIN_LEASE);
      alone.landfall.signal("SIGKILL");
      await alone.landfall.ended;
      await createGallery("b");
      await untilCatalogued("b");
      expect(await findHolder(TWIN_LEASE)).toBe(before);
      expect(await findHolder(MAIN_LEASE)).toBe(before);
      expect(await listElections(beside)).toEqual([
        [MAIN_LEASE, true],
        [TWIN_LEASE, true],
      ]);
    }, 60_000);

    test("a process that loses one Lease ends, and gives the other back at once", async () => {
      alone = await runAlone();
      const body = JSON.stringify({ spec: { holderIdentity: "a thief" } });
      const headers = { "content-type": "application/merge-patch+json" };
      await world.fetch(`${LEASE_PATH}/${MAIN_LEASE}`, { method: "PATCH", headers, body });
      const { code, stderr } = await beside.landfall.ended;
      expect(code).toBe(1);
      expect(stderr).toEndWith(
        `landfall: leaderelection lost: Lease kube-system/${MAIN_LEASE}: a thief holds it`,
      );
      await createGallery("c");
      await untilCatalogued("c");
      expect(await listElections(alone)).toEqual([[TWIN_LEASE, true]]);
    }, 60_000);
  });
}
