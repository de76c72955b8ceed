/**
 * What must hold of a controller that was added by one line to a registry, on any API server.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { fileURLToPath } from "node:url";
import { until } from "../nodes/rig.ts";
import { type LandfallProcess, type Program, startLandfall } from "../process/landfall_process.ts";
import { findFreePort } from "../process/server_process.ts";
import type { ConfigMap, Gallery } from "./kinds.ts";
import { FINALIZER, GALLERY_LABEL, NAME } from "./words.ts";

/** An API server without the kind of the example. */
export interface GalleryServer {
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

/** Runs the program with the example controller and no other, first without its kind, then with it. */
export function describeGalleries(server: string, start: () => Promise<GalleryServer>): void {
  describe(`a controller of another kind on ${server}`, () => {
    let world: GalleryServer;
    let landfall: LandfallProcess;
    let url: string;

    beforeAll(async () => {
      world = await start();
      const port = await findFreePort();
      url = `http://127.0.0.1:${port}`;
      landfall = startLandfall(PROGRAM, [
        `--controllers=${NAME}`,
        `--kubeconfig=${world.kubeconfig}`,
        `--debug-address=127.0.0.1:${port}`,
        "--secure-port=0",
        "--logging-format=json",
        "--concurrent-gallery-syncs=3",
        `--cloud-config=${CONFIG_PATH}`,
      ]);
    }, 120_000);
    afterAll(async () => {
      await landfall.stop();
      await world.stop();
    });

    const read = async (path: string): Promise<string> => await (await fetch(url + path)).text();
    const ask = async <T>(path: string): Promise<T | undefined> => {
      const response = await world.fetch(path);
      return response.ok ? ((await response.json()) as T) : undefined;
    };
    const create = async (path: string, object: object): Promise<void> => {
      const headers = { "content-type": "application/json" };
      const body = JSON.stringify(object);
      const response = await world.fetch(path, { method: "POST", headers, body });
      expect([path, response.status]).toEqual([path, 201]);
    };
    const createPainting = (name: string, gallery: string): Promise<void> => {
      const labels = { [GALLERY_LABEL]: gallery };
      const metadata = { name, namespace: "default", labels };
      return create(MAP_PATH, { apiVersion: "v1", kind: "ConfigMap", metadata });
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
      const metadata = { name: "g", namespace: "default" };
      await create(GALLERY_PATH, { apiVersion: "example.org/v1", kind: "Gallery", metadata });
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
