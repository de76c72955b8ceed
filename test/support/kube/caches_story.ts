/**
 * What views of kinds show while objects and the kinds themselves come and go.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Clock, systemClock } from "../../../lib/core/clock.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { Caches } from "../../../lib/kube/cache/caches.ts";
import type { StoreReader } from "../../../lib/kube/cache/store.ts";
import type { CredentialsSource } from "../../../lib/kube/credentials/mod.ts";
import type { KubeObject, Resource } from "../../../lib/kube/kinds/resource.ts";
import { until } from "../nodes/rig.ts";
import { ContractClient, type ContractServer } from "./contract/client.ts";
import { GALLERIES, type Gallery } from "../galleries/gallery.ts";
import { connect } from "./connect.ts";

/** The API server of a story. */
interface StoryServer extends ContractServer {
  readonly credentials: Pick<CredentialsSource, "kubeconfig" | "master">;
  /** Ends it and starts it again with what it has. Absent: it has nothing to keep that in. */
  restart?(): Promise<void>;
}

const CONFIG_MAPS: Resource<KubeObject> = {
  apiVersion: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
};
const MAPS_PATH = "/api/v1/namespaces/default/configmaps";
const GALLERIES_PATH = "/apis/example.org/v1/namespaces/default/galleries";
/** Looks for what is missing come as much sooner. */
const HASTE = 10;
const WAIT_MS = 20_000;

/** Views that run, with what is seen in one of galleries. */
interface Views extends AsyncDisposable {
  readonly galleries: StoreReader<Gallery>;
  readonly maps: StoreReader<KubeObject>;
  readonly caches: Caches;
  /** `+default/a`, `-default/a`. */
  readonly told: readonly string[];
}

async function startViews({ credentials: source }: StoryServer): Promise<Views> {
  const client = await connect(source);
  const sleep: Clock["sleep"] = (ms, signal) => systemClock.sleep(ms / HASTE, signal);
  const hasty = { ...systemClock, sleep };
  const caches = new Caches({ client, clock: hasty, log: silentLogger });
  const galleries = caches.reader(GALLERIES);
  const maps = caches.reader(CONFIG_MAPS, { namespace: "default", labelSelector: "show=yes" });
  const told: string[] = [];
  galleries.subscribe((key, before, after) => {
    if (before === undefined) told.push(`+${key}`);
    if (after === undefined) told.push(`-${key}`);
  });
  const stopping = new AbortController();
  const running = caches.run(stopping.signal);
  const stop = async (): Promise<void> => {
    stopping.abort(new Error("stop"));
    await running;
    client.close();
  };
  return { galleries, maps, caches, told, [Symbol.asyncDispose]: stop };
}

/** Describes the story on the server that `start` gives. */
export function describeCaches(
  name: string,
  start: () => Promise<StoryServer>,
  options: {
    readonly skip?: boolean;
    readonly startTimeoutMs?: number;
    /** Whether the server can be started again. @default {false} */
    readonly restarts?: boolean;
  } = {},
): void {
  describe.skipIf(options.skip === true)(`Caches of ${name}`, () => {
    let server: StoryServer | undefined;
    const use = (): StoryServer => {
      if (server === undefined) throw new Error("Cannot tell the story: the server is not up");
      return server;
    };
    beforeAll(async () => {
      server = await start();
    }, options.startTimeoutMs ?? 5_000);
    afterAll(() => server?.stop());
    addCases(use, options.restarts === true);
  });
}

function addCases(use: () => StoryServer, restarts: boolean): void {
  const send = async (method: string, path: string, body?: object): Promise<void> => {
    const type = method === "PATCH" ? "application/merge-patch+json" : undefined;
    const { status } = await new ContractClient(use()).send(method, path, body, type);
    expect([200, 201]).toContain(status);
  };
  const createMap = (name: string, show: string): Promise<void> =>
    send("POST", MAPS_PATH, { metadata: { name, labels: { show } }, data: { a: name } });
  const createGallery = (name: string): Promise<void> => {
    const { apiVersion, kind } = GALLERIES;
    const metadata = { name, finalizers: ["example.org/painting"] };
    return send("POST", GALLERIES_PATH, { apiVersion, kind, metadata, spec: { paintings: 1 } });
  };
  const removeFinalizer = (name: string): Promise<void> =>
    send("PATCH", `${GALLERIES_PATH}/${name}`, { metadata: { finalizers: null } });
  const install = async (): Promise<void> => {
    await use().installKind(GALLERIES);
    await until("it is served", async () => (await use().fetch(GALLERIES_PATH, {})).ok, WAIT_MS);
  };

  test("a view of what a label selects shows what gets and loses that label", async () => {
    await using views = await startViews(use());
    await createMap("shown", "yes");
    await createMap("hidden", "no");
    await until("it is there", () => views.maps.get("default/shown"), WAIT_MS);
    await send("PATCH", `${MAPS_PATH}/hidden`, { metadata: { labels: { show: "yes" } } });
    await send("PATCH", `${MAPS_PATH}/shown`, { metadata: { labels: { show: "no" } } });
    await until(
      "they have changed places",
      () => [...views.maps.keys()].join() === "default/hidden",
    );
    expect(views.maps.get("default/hidden")).toMatchObject({ data: { a: "hidden" } });
    await send("DELETE", `${MAPS_PATH}/hidden`);
    await until("it is gone", () => views.maps.size === 0);
  });

  test("a kind that is installed, removed and installed again is shown, gone and shown", async () => {
    await using views = await startViews(use());
    const state = (): object | undefined => views.caches.states[0];
    await until("it is missing", () => views.caches.states[0]?.missing, WAIT_MS);
    expect(state()).toMatchObject({ resource: "galleries", synced: false, missing: true });
    await until("the other view is there", () => views.maps.synced, WAIT_MS);
    await install();
    await until("it is found", () => views.galleries.synced, WAIT_MS);
    expect(state()).toMatchObject({ resource: "galleries", synced: true, missing: false });
    await createGallery("a");
    await until("its object is shown", () => views.galleries.get("default/a"), WAIT_MS);
    expect(views.galleries.get("default/a")).toMatchObject({
      metadata: { finalizers: ["example.org/painting"], generation: 1 },
      spec: { paintings: 1 },
    });
    await removeFinalizer("a");
    await use().removeKind(GALLERIES);
    await until("it is missing", () => !views.galleries.synced, WAIT_MS);
    expect(state()).toMatchObject({ resource: "galleries", synced: false, missing: true });
    expect(views.told).toEqual(["+default/a", "-default/a"]);
    await install();
    await createGallery("b");
    await until("it is found", () => views.galleries.get("default/b"), WAIT_MS);
    expect(views.told).toEqual(["+default/a", "-default/a", "+default/b"]);
    await removeFinalizer("b");
    await use().removeKind(GALLERIES);
    await until("it is missing", () => !views.galleries.synced, WAIT_MS);
  });

  test.skipIf(!restarts)("a kind stays in view while its API server starts again", async () => {
    await install();
    await createGallery("kept");
    await using views = await startViews(use());
    await until("its object is shown", () => views.galleries.get("default/kept"), WAIT_MS);
    await use().restart?.();
    await createGallery("new");
    await until("what is new is shown", () => views.galleries.get("default/new"), WAIT_MS);
    expect(views.told).toEqual(["+default/kept", "+default/new"]);
  });
}
