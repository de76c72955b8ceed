/**
 * What must hold on any API server of a controller that was added by one line to a registry, and of two processes that
 * both run one with a Lease of its own, of which only one has a cloud.
 *
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { fileURLToPath } from "node:url";
import { until } from "../nodes/rig.ts";
import { type LandfallProcess, type Program, startLandfall } from "../process/landfall_process.ts";
import { findFreePort } from "../process/server_process.ts";
import { type ConfigMap, type Gallery, FINALIZER, GALLERY_LABEL, NAME } from "./gallery.ts";
import { TWIN_LEASE, TWIN_NAME } from "./definition.ts";
import type { ProcessView } from "../../../lib/http/views.ts";
import type { Lease } from "../../../lib/kube/kinds/lease.ts";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import { toRegistration } from "../nodes/nodes.ts";

/** An API server without the kind of the example. */
interface GalleryServer {
  /** Of somebody who has the rights that the registry asks for, and no others. */
  readonly kubeconfig: string;
  /** Asks as administrator; `path` begins with a slash. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Installs the CustomResourceDefinition. */
  install(): Promise<void>;
  stop(): Promise<void>;
}

/** The program with the example, to be started. */
export const PROGRAM: Program = {
  name: "source",
  command: [process.execPath, fileURLToPath(import.meta.resolve("./main.ts"))],
};

const GALLERY_PATH = "/apis/example.org/v1/namespaces/default/galleries";
const MAP_PATH = "/api/v1/namespaces/default/configmaps";
/** Says that two paintings are parted by a semicolon, beside what a cloud needs that is not asked here. */
const CONFIG_PATH = fileURLToPath(import.meta.resolve("./config.yaml"));
/** A kind that is missing is looked for every few seconds at first. */
const FOUND_MS = 20_000;

/** A process of the program. */
interface Started {
  readonly landfall: LandfallProcess;
  readonly url: string;
}

async function startProgram(
  { kubeconfig }: GalleryServer,
  controllers: string,
  more: readonly string[],
): Promise<Started> {
  const port = await findFreePort();
  const landfall = startLandfall(PROGRAM, [
    `--controllers=${controllers}`,
    `--kubeconfig=${kubeconfig}`,
    `--debug-address=127.0.0.1:${port}`,
    "--secure-port=0",
    "--logging-format=json",
    ...more,
  ]);
  return { landfall, url: `http://127.0.0.1:${port}` };
}

/** Reads an object as administrator; `undefined` when there is none. */
async function readAs<T>(world: GalleryServer, path: string): Promise<T | undefined> {
  const response = await world.fetch(path);
  return response.ok ? ((await response.json()) as T) : undefined;
}

async function createAs(world: GalleryServer, path: string, object: object): Promise<void> {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify(object);
  const response = await world.fetch(path, { method: "POST", headers, body });
  expect([path, response.status]).toEqual([path, 201]);
}

function createGallery(world: GalleryServer, name: string): Promise<void> {
  const metadata = { name, namespace: "default" };
  return createAs(world, GALLERY_PATH, { apiVersion: "example.org/v1", kind: "Gallery", metadata });
}

/** Runs the program with the example controller and no other, first without its kind, then with it. */
export function describeGalleries(server: string, start: () => Promise<GalleryServer>): void {
  describe(`a controller of another kind on ${server}`, () => {
    let world: GalleryServer;
    let landfall: LandfallProcess;
    let url: string;

    beforeAll(async () => {
      world = await start();
      ({ landfall, url } = await startProgram(world, NAME, [
        "--concurrent-gallery-syncs=3",
        `--cloud-config=${CONFIG_PATH}`,
      ]));
    }, 120_000);
    afterAll(async () => {
      await landfall.stop();
      await world.stop();
    });

    const read = async (path: string): Promise<string> => await (await fetch(url + path)).text();
    const ask = <T>(path: string): Promise<T | undefined> => readAs<T>(world, path);
    const createPainting = (name: string, gallery: string): Promise<void> => {
      const labels = { [GALLERY_LABEL]: gallery };
      const metadata = { name, namespace: "default", labels };
      return createAs(world, MAP_PATH, { apiVersion: "v1", kind: "ConfigMap", metadata });
    };
    const remove = (path: string): Promise<Response> => world.fetch(path, { method: "DELETE" });
    const readCatalogue = (): Promise<ConfigMap | undefined> => ask(`${MAP_PATH}/g-catalogue`);
    const untilCatalogued = (paintings: string): Promise<void> =>
      until(
        `the catalogue is "${paintings}"`,
        async () => (await readCatalogue())?.data?.["paintings"] === paintings,
        FOUND_MS,
      );

    test("is ready without a cloud while its kind is missing, and says what to install", async () => {
      await landfall.waitForRecord(({ crd }) => crd === "galleries.example.org");
      expect(await read("/readyz?verbose")).toContain(
        "[+]galleries-synced ok: waiting for CustomResourceDefinition galleries.example.org/v1\n",
      );
      expect(await read("/debug/process?format=text")).toMatch(
        /galleries.example.org\/v1 +missing/,
      );
      expect(await read("/readyz?verbose")).not.toMatch(/nodes-synced|inventory/);
      expect(await read("/")).toContain("/debug/galleries\n");
      expect((await fetch(`${url}/debug/nodes`)).status).toBe(404);
      expect(await read("/metrics")).not.toMatch(/landfall_(instances|inventory|fleet)/);
    });

    test("finds its kind once it is installed, and works on it", async () => {
      await createPainting("b", "g");
      await createPainting("a", "g");
      await createPainting("c", "other");
      await world.install();
      await until("it is served", async () => (await world.fetch(GALLERY_PATH)).ok, FOUND_MS);
      await createGallery(world, "g");
      await untilCatalogued("a;b");
      expect(await read("/readyz?verbose")).toContain("[+]galleries-synced ok\n");
      const gallery = await ask<Gallery>(`${GALLERY_PATH}/g`);
      expect(gallery?.metadata.finalizers).toEqual([FINALIZER]);
      expect((await readCatalogue())?.metadata.ownerReferences).toMatchObject([
        { kind: "Gallery", name: "g", uid: gallery?.metadata.uid, controller: true },
      ]);
      await until("an Event tells of it", async () => {
        const events = await (await world.fetch("/api/v1/namespaces/default/events")).text();
        return events.includes("GalleryCatalogued") && events.includes("There are: a;b");
      });
    }, 60_000);

    test("is described on the pages, and counted", async () => {
      expect(JSON.parse(await read("/debug/galleries/default/g"))).toEqual({
        name: "g",
        namespace: "default",
        paintings: ["a", "b"],
        outcome: "ok",
      });
      expect(JSON.parse(await read("/debug/galleries"))).toMatchObject({
        galleries: [{ name: "g" }],
      });
      const metrics = await read("/metrics");
      expect(metrics).toMatch(/example_catalogues_written_total [1-9]/);
      expect(metrics).toMatch(/running_managed_controllers\{.*name="example-gallery"\} 1/);
    });

    test("follows what others say of an object, and puts right what it owns", async () => {
      await remove(`${MAP_PATH}/b`);
      await untilCatalogued("a");
      await remove(`${MAP_PATH}/g-catalogue`);
      await untilCatalogued("a");
      await world.fetch(`${MAP_PATH}/g-catalogue`, {
        method: "PATCH",
        headers: { "content-type": "application/merge-patch+json" },
        body: JSON.stringify({ data: { paintings: "forged", more: "theirs" } }),
      });
      await untilCatalogued("a");
      expect((await readCatalogue())?.data).toEqual({ paintings: "a", more: "theirs" });
    }, 60_000);

    test("lets an object go when all that it owns is gone", async () => {
      await remove(`${GALLERY_PATH}/g`);
      await until("it is gone", async () => (await ask(`${GALLERY_PATH}/g`)) === undefined);
      expect(await readCatalogue()).toBeUndefined();
    }, 60_000);

    test("ends when it is told to", async () => {
      expect((await landfall.stop()).code).toBe(0);
    });
  });
}

/** The Lease that flags have by themselves. */
const MAIN_LEASE = "cloud-controller-manager";
const MACHINES_PATH = fileURLToPath(import.meta.resolve("./machines.yaml"));
const WITH_CLOUD = ["--cloud-provider=example", `--cloud-config=${MACHINES_PATH}`];
/** A busy machine may keep a renewal waiting for a second. */
const TIMES = [
  "--leader-elect-lease-duration=3s",
  "--leader-elect-renew-deadline=2s",
  "--leader-elect-retry-period=500ms",
];
/** The Lease runs out, and the caches are there. */
const TAKEN_MS = 20_000;
const LEASE_PATH = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";

/** Starts one process with a cloud and one without, and takes each of them away. */
export function describeTakeover(server: string, start: () => Promise<GalleryServer>): void {
  describe(`two processes with two Leases on ${server}`, () => {
    let world: GalleryServer;
    let beside: Started;
    let alone: Started;

    const run = (controllers: string, more: readonly string[] = []): Promise<Started> =>
      startProgram(world, controllers, [...TIMES, ...more]);
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

    const ask = <T>(path: string): Promise<T | undefined> => readAs<T>(world, path);
    const findHolder = async (name: string): Promise<string | undefined> =>
      (await ask<Lease>(`${LEASE_PATH}/${name}`))?.spec?.holderIdentity || undefined;
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
      await createAs(world, "/api/v1/nodes", toRegistration("one"));
      const isKnown = async (): Promise<boolean> =>
        (await ask<Node>("/api/v1/nodes/one"))?.spec?.providerID === "example://one";
      await until("the Node is initialised", isKnown, TAKEN_MS);
      await createGallery(world, "a");
      await untilCatalogued("a");
    }, 60_000);

    test("the other one takes the Lease of a process that crashed, and keeps its own", async () => {
      const before = await findHolder(MAIN_LEASE);
      alone.landfall.signal("SIGKILL");
      await alone.landfall.ended;
      await createGallery(world, "b");
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
      await createGallery(world, "c");
      await untilCatalogued("c");
      expect(await listElections(alone)).toEqual([[TWIN_LEASE, true]]);
    }, 60_000);
  });
}
