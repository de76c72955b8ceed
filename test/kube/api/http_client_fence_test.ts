import { describe, expect, test } from "bun:test";
import { Fence, type Leadership, LeadershipLostError } from "../../../lib/core/fence.ts";
import type { KubeClient } from "../../../lib/kube/api/client.ts";
import { type Lease, LEASES } from "../../../lib/kube/kinds/lease.ts";
import { EVENTS } from "../../../lib/kube/kinds/event.ts";
import type { KubeObject, Resource } from "../../../lib/kube/kinds/resource.ts";
import { NODES } from "../../../lib/kube/kinds/node.ts";
import type { Transport, TransportRequest } from "../../../lib/kube/api/request.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { createMemoryClient } from "../../support/kube/memory_client.ts";
import { untilAborted } from "../../support/kube/scripted_kube_client.ts";

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

interface Stage {
  readonly clock: ManualClock;
  readonly sent: TransportRequest[];
  readonly client: KubeClient;
  answer: (request: TransportRequest, signal: AbortSignal) => Promise<Response>;
  isClosed: boolean;
}

/** A client whose requests are answered here: each with an object as it was asked for. */
function setStage(): Stage {
  const clock = new ManualClock();
  const sent: TransportRequest[] = [];
  const send: Transport["send"] = (request, _credential, signal) => {
    sent.push(request);
    return stage.answer(request, signal);
  };
  const onClose = (): void => {
    stage.isClosed = true;
  };
  const client = createMemoryClient(send, { clock, inFlightMax: 1, onClose });
  const stage: Stage = {
    clock,
    sent,
    client,
    answer: (request) => Promise.resolve(toAnswer(request)),
    isClosed: false,
  };
  return stage;
}

function toReview(apiVersion: string, kind: string): Resource<KubeObject> {
  return { apiVersion, kind, plural: `${kind.toLowerCase()}s`, namespaced: false };
}

const ACCESS_REVIEWS = toReview("authorization.k8s.io/v1", "SubjectAccessReview");
const TOKEN_REVIEWS = toReview("authentication.k8s.io/v1", "TokenReview");

function toAnswer({ path }: TransportRequest): Response {
  const isIn = ({ plural }: Resource<KubeObject>): boolean => path.includes(`/${plural}`);
  const { apiVersion, kind } = [EVENTS, ACCESS_REVIEWS, TOKEN_REVIEWS].find(isIn) ?? NODES;
  return Response.json({ apiVersion, kind, metadata: { name: path.split("/").at(-1) } });
}

describe("fencedBy()", () => {
  test.each(WRITES)("lets a leader %s", async (_verb, write) => {
    const { client, sent } = setStage();
    await write(client.fencedBy(new Fence(new FakeLeadership())));
    expect(sent).toHaveLength(1);
  });

  test.each(WRITES)("lets nobody else %s", async (_verb, write) => {
    const { client, sent } = setStage();
    const leadership = new FakeLeadership();
    leadership.isOurs = false;
    const fenced = client.fencedBy(new Fence(leadership));
    await expect(write(fenced)).rejects.toThrow("this process does not lead");
    leadership.lose();
    await expect(write(fenced)).rejects.toBe(leadership.signal.reason);
    expect(sent).toEqual([]);
  });

  test("leaves the client that it was asked of as it is", async () => {
    const { client, sent } = setStage();
    client.fencedBy(new Fence());
    for (const [, write] of WRITES) await write(client);
    expect(sent).toHaveLength(WRITES.length);
  });

  test.each(WRITES)(
    "aborts a %s that is under way when leadership is lost",
    async (_verb, write) => {
      const stage = setStage();
      stage.answer = (_request, signal) => untilAborted(signal);
      const leadership = new FakeLeadership();
      const writing = write(stage.client.fencedBy(new Fence(leadership)));
      await stage.clock.advance(0);
      expect(stage.sent).toHaveLength(1);
      leadership.lose();
      await expect(writing).rejects.toBe(leadership.signal.reason);
    },
  );

  test("lets anybody read, and closes the same connections", async () => {
    const stage = setStage();
    const leadership = new FakeLeadership();
    leadership.lose();
    const fenced = stage.client.fencedBy(new Fence(leadership));
    expect(await fenced.read(NODES, { name: "a" }, never)).toMatchObject(NODE);
    const page = { apiVersion: "v1", kind: "NodeList", metadata: { resourceVersion: "1" } };
    stage.answer = () => Promise.resolve(Response.json({ ...page, items: [NODE] }));
    expect((await fenced.list(NODES, {}, never)).items).toMatchObject([NODE]);
    const line = JSON.stringify({ type: "ADDED", object: NODE });
    stage.answer = () => Promise.resolve(new Response(`${line}\n`));
    const watch = fenced.watch(NODES, { resourceVersion: "1", timeoutSeconds: 9 }, never);
    expect(await Array.fromAsync(watch)).toEqual([{ type: "ADDED", object: NODE }]);
    stage.answer = () => Promise.resolve(new Response("ok"));
    expect(await fenced.get("/version", never)).toBe("ok");
    fenced.close();
    expect(stage.isClosed).toBe(true);
  });

  test("lets anybody write Events and ask for reviews, but nothing that is called like them", async () => {
    const { client, sent } = setStage();
    const leadership = new FakeLeadership();
    leadership.lose();
    const fenced = client.fencedBy(new Fence(leadership));
    await fenced.create(EVENTS, { namespace: "default" }, {}, never);
    await fenced.patch(EVENTS, { namespace: "default", name: "e" }, MERGE, never);
    await fenced.create(ACCESS_REVIEWS, {}, {}, never);
    await fenced.create(TOKEN_REVIEWS, {}, {}, never);
    expect(sent).toHaveLength(4);
    const others = [toReview("example.org/v1", "TokenReview"), toReview("v1", "Review"), LEASES];
    for (const resource of others) {
      const writing = fenced.create<KubeObject | Lease>(resource, {}, {}, never);
      await expect(writing).rejects.toThrow("lost");
    }
    await expect(fenced.delete(EVENTS, { name: "e" }, {}, never)).rejects.toThrow("lost");
  });

  /** Answers with Retry-After once, as a server in trouble. */
  function setTroubledStage(): Stage {
    const stage = setStage();
    stage.answer = async (request, signal) => {
      if (stage.sent.length > 1) return toAnswer(request);
      await stage.clock.sleep(1_000, signal);
      return new Response("", { status: 503, headers: { "retry-after": "5" } });
    };
    return stage;
  }

  test("asks again before a write that waited is sent", async () => {
    const { clock, sent, client } = setTroubledStage();
    const leadership = new FakeLeadership();
    const fenced = client.fencedBy(new Fence(leadership));
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
    const { clock, sent, client } = setTroubledStage();
    const fenced = client.fencedBy(new Fence(new FakeLeadership()));
    const writing = fenced.patch(NODES, { name: "a" }, MERGE, never);
    await clock.advance(7_000);
    expect(await writing).toMatchObject({ kind: "Node", metadata: { name: "a" } });
    expect(sent).toHaveLength(2);
  });
});
