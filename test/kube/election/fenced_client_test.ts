import { describe, expect, test } from "bun:test";
import { createRequestMetrics } from "../../../lib/kube/api/request.ts";
import { Fence, type Leadership, LeadershipLostError } from "../../../lib/core/fence.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import { createFencedClient } from "../../../lib/kube/election/fenced_client.ts";
import { createKubeClient } from "../../../lib/kube/api/http_client.ts";
import type { KubeClient } from "../../../lib/kube/api/client.ts";
import { type Lease, LEASES } from "../../../lib/kube/kinds/lease.ts";
import { EVENTS } from "../../../lib/kube/kinds/event.ts";
import type { KubeObject, Resource } from "../../../lib/kube/kinds/resource.ts";
import { NODES } from "../../../lib/kube/kinds/node.ts";
import type { TransportRequest } from "../../../lib/kube/api/transport.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { ScriptedKubeClient, untilAborted } from "../../support/kube/scripted_kube_client.ts";

const never = new AbortController().signal;
const NODE = { metadata: { name: "a" } };
const MERGE = { type: "merge", body: {} } as const;

class FakeLeadership implements Leadership {
  readonly #lost = new AbortController();
  isOurs = true;
  get signal(): AbortSignal {
    return this.#lost.signal;
  }
  isHeld(): boolean {
    return this.isOurs;
  }
  lose(): void {
    this.isOurs = false;
    this.#lost.abort(new LeadershipLostError("lost"));
  }
}

const WRITES: readonly [string, (client: KubeClient) => Promise<unknown>][] = [
  ["create", (client) => client.create(NODES, {}, NODE, never)],
  ["replace", (client) => client.replace(NODES, { name: "a" }, NODE, never)],
  ["patch", (client) => client.patch(NODES, { name: "a" }, MERGE, never)],
  ["delete", (client) => client.delete(NODES, { name: "a" }, {}, never)],
];

describe("createFencedClient()", () => {
  test.each(WRITES)("lets a leader %s", async (verb, write) => {
    const inner = new ScriptedKubeClient(new ManualClock());
    await write(createFencedClient(inner, new Fence(new FakeLeadership())));
    expect(inner.writes).toMatchObject([{ verb }]);
  });

  test.each(WRITES)("lets nobody else %s", async (_verb, write) => {
    const inner = new ScriptedKubeClient(new ManualClock());
    const leadership = new FakeLeadership();
    leadership.isOurs = false;
    const fenced = createFencedClient(inner, new Fence(leadership));
    await expect(write(fenced)).rejects.toThrow("this process does not lead");
    leadership.lose();
    await expect(write(fenced)).rejects.toBe(leadership.signal.reason);
    expect(inner.writes).toEqual([]);
  });

  test.each(WRITES)(
    "aborts a %s that is under way when leadership is lost",
    async (_verb, write) => {
      const inner = new ScriptedKubeClient(new ManualClock());
      inner.onWrite = () => untilAborted(never);
      const leadership = new FakeLeadership();
      const writing = write(createFencedClient(inner, new Fence(leadership)));
      leadership.lose();
      await expect(writing).rejects.toBe(leadership.signal.reason);
    },
  );

  test("passes reads on to anybody", async () => {
    const inner = new ScriptedKubeClient(new ManualClock(), [
      { page: { items: [NODE], resourceVersion: "1" } },
      { watch: [{ type: "ADDED", object: NODE }] },
    ]);
    inner.read = <T extends KubeObject>(): Promise<T> => Promise.resolve(NODE as KubeObject as T);
    inner.get = () => Promise.resolve("ok");
    let isClosed = false;
    inner.close = () => {
      isClosed = true;
    };
    const leadership = new FakeLeadership();
    leadership.lose();
    const fenced = createFencedClient(inner, new Fence(leadership));
    expect(await fenced.read(NODES, { name: "a" }, never)).toEqual(NODE);
    expect((await fenced.list(NODES, {}, never)).items).toEqual([NODE]);
    const watch = fenced.watch(NODES, { resourceVersion: "1", timeoutSeconds: 9 }, never);
    expect(await Array.fromAsync(watch)).toEqual([{ type: "ADDED", object: NODE }]);
    expect(await fenced.get("/version", never)).toBe("ok");
    fenced.close();
    expect(isClosed).toBe(true);
  });

  test("lets anybody write Events and ask for reviews, but nothing that is called like them", async () => {
    const inner = new ScriptedKubeClient(new ManualClock());
    const leadership = new FakeLeadership();
    leadership.lose();
    const fenced = createFencedClient(inner, new Fence(leadership));
    const review = (apiVersion: string, kind: string): Resource<KubeObject> => ({
      apiVersion,
      kind,
      plural: "reviews",
      namespaced: false,
    });
    await fenced.create(EVENTS, { namespace: "default" }, {}, never);
    await fenced.patch(EVENTS, { namespace: "default", name: "e" }, MERGE, never);
    await fenced.create(review("authorization.k8s.io/v1", "SubjectAccessReview"), {}, {}, never);
    await fenced.create(review("authentication.k8s.io/v1", "TokenReview"), {}, {}, never);
    expect(inner.writes).toHaveLength(4);
    const others = [review("example.org/v1", "TokenReview"), review("v1", "Review"), LEASES];
    for (const resource of others) {
      const writing = fenced.create<KubeObject | Lease>(resource, {}, {}, never);
      await expect(writing).rejects.toThrow("lost");
    }
    await expect(fenced.delete(EVENTS, { name: "e" }, {}, never)).rejects.toThrow("lost");
  });
});

describe("createFencedClient() over HTTP", () => {
  /** Answers with Retry-After once, as a server in trouble. */
  function setStage(): {
    readonly clock: ManualClock;
    readonly sent: TransportRequest[];
    readonly client: KubeClient;
  } {
    const clock = new ManualClock();
    const sent: TransportRequest[] = [];
    const client = createKubeClient({
      credentials: {
        server: "http://memory",
        current: () => Promise.resolve({ headers: {}, tls: {}, version: 1 }),
        invalidate: () => undefined,
      },
      clock,
      metrics: createRequestMetrics(new MetricsRegistry()),
      version: "test",
      inFlightMax: 1,
      transport: {
        host: "memory",
        generation: 0,
        giveUp: () => undefined,
        send: async (request, _credential, signal) => {
          sent.push(request);
          const name = request.path.split("/").at(-1);
          const node = { apiVersion: "v1", kind: "Node", metadata: { name } };
          if (sent.length > 1) return Response.json(node);
          await clock.sleep(1_000, signal);
          return new Response("", { status: 503, headers: { "retry-after": "5" } });
        },
        close: () => undefined,
      },
    });
    return { clock, sent, client };
  }

  test("asks again before a write that waited is sent", async () => {
    const { clock, sent, client } = setStage();
    const leadership = new FakeLeadership();
    const fenced = createFencedClient(client, new Fence(leadership));
    const results = Promise.allSettled([
      fenced.patch(NODES, { name: "a" }, MERGE, never),
      // Waits for its place.
      fenced.patch(NODES, { name: "b" }, MERGE, never),
    ]);
    await clock.advance(2_000);
    // As after a pause of the process: time has passed, and no timer has told of it yet.
    leadership.isOurs = false;
    await clock.advance(10_000);
    for (const result of await results) {
      expect(result).toMatchObject({ status: "rejected", reason: { name: "LeadershipLostError" } });
    }
    expect(sent.map(({ path }) => path)).toEqual(["/api/v1/nodes/a"]);
  });

  test("sends a write that waited while leadership holds", async () => {
    const { clock, sent, client } = setStage();
    const fenced = createFencedClient(client, new Fence(new FakeLeadership()));
    const writing = fenced.patch(NODES, { name: "a" }, MERGE, never);
    await clock.advance(7_000);
    expect(await writing).toMatchObject({ kind: "Node", metadata: { name: "a" } });
    expect(sent).toHaveLength(2);
  });
});
