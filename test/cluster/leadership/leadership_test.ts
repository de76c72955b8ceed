/**
 * Replicas that agree on one, on a real API server: who acts is told by its own record of requests.
 * @module
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { toPolicy } from "../../../lib/app/rights.ts";
import type { KubeEvent } from "../../../lib/kube/kinds/event.ts";
import { type AuditedRequest, skipsCluster } from "../../support/process/cluster.ts";
import {
  ClusterRig,
  type Controller,
  LEASE,
  RIGHTS,
  waitUntil,
} from "../../support/process/cluster_rig.ts";
import { type LogRecord, PROGRAM, type Program } from "../../support/process/landfall_process.ts";
import {
  countHandOvers,
  findForeignWrites,
  listNodeWrites,
  toMs,
} from "../../support/kube/election/lease_history.ts";

const HAND_OVERS = 20;
const NODES = 24;
/** One Node is made anew so often: each is two writes for whoever leads. */
const CHURN_MS = 80;
const SHORT = toFlags(2, 1.4, 0.3);
const isSkipped = skipsCluster();

function toFlags(leaseS: number, renewS: number, retryS: number): readonly string[] {
  return [
    "--leader-elect=true",
    `--leader-elect-resource-name=${LEASE.name}`,
    `--leader-elect-lease-duration=${leaseS}s`,
    `--leader-elect-renew-deadline=${renewS}s`,
    `--leader-elect-retry-period=${retryS * 1_000}ms`,
  ];
}

/** A place for a process, with a service account of its own: by that the API server tells them apart. */
class Place {
  readonly username: string;
  readonly #rig: ClusterRig;
  readonly #kubeconfig: string;
  #process: Promise<Controller> | undefined;

  private constructor(rig: ClusterRig, name: string, kubeconfig: string) {
    this.#rig = rig;
    this.#kubeconfig = kubeconfig;
    this.username = `system:serviceaccount:${LEASE.namespace}:${name}`;
  }

  static async make(rig: ClusterRig, name: string): Promise<Place> {
    const account = { namespace: LEASE.namespace, name };
    const token = await rig.cluster.createServiceAccountToken(account, 3_600);
    await rig.cluster.applyRbac(account, toPolicy(RIGHTS));
    return new Place(rig, name, await rig.cluster.writeTokenKubeconfig(token));
  }

  get process(): Promise<Controller> {
    if (this.#process === undefined) throw new Error("Cannot find a process: none was started");
    return this.#process;
  }

  /** Resolves once it is ready. */
  start(program: Program, flags: readonly string[]): Promise<Controller> {
    const args = [...flags, `--kubeconfig=${this.#kubeconfig}`];
    this.#process = this.#rig.startController(program, { args });
    return this.#process;
  }

  async kill(): Promise<void> {
    const started = await this.#process?.catch(() => undefined);
    started?.landfall.signal("SIGKILL");
    await started?.landfall.ended;
    this.#process = undefined;
  }
}

/** Makes one Node after another anew, so that there is always something to write. */
class Churn {
  readonly #rig: ClusterRig;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(rig: ClusterRig) {
    this.#rig = rig;
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { cluster } = this.#rig;
    for (let at = 0; !this.#stop.signal.aborted; at = (at + 1) % NODES) {
      await cluster.remove(`/api/v1/nodes/churn-${at}`);
      await this.#rig.register(`churn-${at}`);
      await Bun.sleep(CHURN_MS);
    }
  }
}

function isLeading({ message }: LogRecord): boolean {
  return message === "Became leader";
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
}

describe.skipIf(isSkipped)("replicas", () => {
  let started: ClusterRig | undefined;
  let places: readonly Place[] = [];
  let churn: Churn | undefined;
  const useRig = (): ClusterRig => {
    if (started === undefined) throw new Error("Cannot test: the cluster is not up");
    return started;
  };

  beforeAll(async () => {
    started = await ClusterRig.start();
    for (let at = 0; at < NODES; at += 1) started.addVm(`churn-${at}`);
    places = await Promise.all(["one", "two", "three"].map((name) => Place.make(useRig(), name)));
  }, 120_000);
  afterAll(async () => {
    await started?.stop();
  });
  afterEach(async () => {
    await churn?.stop();
    churn = undefined;
    await Promise.all(places.map((place) => place.kill()));
    const rig = useRig();
    await rig.deleteLease();
    const events = `/api/v1/namespaces/${LEASE.namespace}/events`;
    await rig.cluster.remove(events);
  });

  /** The first Node written by this place after a moment; milliseconds between the two. */
  const waitForAct = async (place: Place, fromMs: number): Promise<number> =>
    await waitUntil(`a write of ${place.username}`, async () => {
      const writes = listNodeWrites(await useRig().cluster.listRequests());
      const first = writes.find(
        ({ username, at }) => username === place.username && toMs(at) >= fromMs,
      );
      return first && toMs(first.endedAt) - fromMs;
    });

  /** Two replicas, the first of which leads. */
  const startPair = async (
    program: Program,
    flags: readonly string[],
  ): Promise<readonly [Place, Place]> => {
    const [one, two] = places;
    if (one === undefined || two === undefined) throw new Error("Cannot test: no places");
    const { landfall } = await one.start(program, flags);
    await landfall.waitForRecord(isLeading);
    await two.start(program, flags);
    churn = new Churn(useRig());
    await waitForAct(one, 0);
    return [one, two];
  };

  /** What `kubectl describe lease` shows. */
  const listLeaseEvents = async (): Promise<string[]> => {
    const path = `/api/v1/namespaces/${LEASE.namespace}/events`;
    const items = await useRig().cluster.list<KubeEvent>(path);
    return items
      .filter(({ involvedObject }) => involvedObject.kind === "Lease")
      .map(({ type, reason, message }) => [type, reason, message].join(" "));
  };

  const expectNoForeignWrite = async (): Promise<readonly AuditedRequest[]> => {
    const requests = await useRig().cluster.listRequests();
    expect(findForeignWrites(requests)).toEqual([]);
    return requests;
  };

  describe(`as ${PROGRAM.name}`, () => {
    test("kill -9 of the leader: the other acts within lease duration and retry period", async () => {
      const [leader, other] = await startPair(PROGRAM, toFlags(15, 10, 2));
      // Right after a renewal would be the worst of moments; any will do.
      const { landfall } = await leader.process;
      const fromMs = Date.now();
      landfall.signal("SIGKILL");
      const ms = await waitForAct(other, fromMs);
      console.log(`kill -9 with 15s/10s/2s: the other acted after ${ms} ms`);
      expect(ms).toBeGreaterThan(12_000);
      expect(ms).toBeLessThan(17_000);
      await expectNoForeignWrite();
    }, 90_000);

    test("SIGTERM to the leader: it ends with 0, and the other acts within 5 s (P-07)", async () => {
      const [leader, other] = await startPair(PROGRAM, toFlags(15, 10, 2));
      const { landfall } = await leader.process;
      const fromMs = Date.now();
      const { code, stderr } = await landfall.stop();
      const endedMs = Date.now() - fromMs;
      expect(code, stderr).toBe(0);
      const ms = await waitForAct(other, fromMs);
      console.log(`SIGTERM: it ended after ${endedMs} ms, the other acted after ${ms} ms`);
      expect(endedMs).toBeLessThan(5_000);
      expect(ms).toBeLessThan(5_000);
      const events = await waitUntil("three Events", async () => {
        const found = await listLeaseEvents();
        return found.length >= 3 ? found : undefined;
      });
      expect(events).toEqual([
        expect.stringMatching(/^Normal LeaderElection .+_.+ became leader$/),
        expect.stringMatching(/^Normal LeaderElection .+_.+ stopped leading$/),
        expect.stringMatching(/^Normal LeaderElection .+_.+ became leader$/),
      ]);
      await expectNoForeignWrite();
    }, 90_000);

    test("a leader that stood still too long ends with 1 and has written nothing more", async () => {
      const [leader, other] = await startPair(PROGRAM, SHORT);
      const { landfall } = await leader.process;
      const fromMs = Date.now();
      landfall.signal("SIGSTOP");
      const ms = await waitForAct(other, fromMs);
      const resumedMs = Date.now();
      landfall.signal("SIGCONT");
      const { code, stderr } = await landfall.ended;
      expect(code, stderr).toBe(1);
      expect(stderr).toContain('"message":"leaderelection lost"');
      console.log(
        `SIGSTOP: the other acted after ${ms} ms, it ended ${Date.now() - resumedMs} ms after`,
      );
      await expectNoForeignWrite();
    }, 60_000);
  });

  test("an API server that falls silent: the leader ends with 1, and the other acts when it is back", async () => {
    const [leader, other] = await startPair(PROGRAM, SHORT);
    const { landfall } = await leader.process;
    const standby = await other.process;
    const { cluster } = useRig();
    // Requests of the churn would be silent, too.
    await churn?.stop();
    cluster.pauseApiServer();
    const fromMs = Date.now();
    const { code, stderr } = await landfall.ended;
    const endedMs = Date.now() - fromMs;
    cluster.resumeApiServer();
    expect(code, stderr).toBe(1);
    expect(stderr).toContain("leaderelection lost");
    churn = new Churn(useRig());
    const ms = await waitForAct(other, Date.now());
    console.log(
      `silence: the leader ended after ${endedMs} ms, the other acted ${ms} ms after its end`,
    );
    // The last renewal is worth 1.7 s; what is left is for Events that find no way.
    expect(endedMs).toBeLessThan(6_000);
    await standby.landfall.waitForRecord(isLeading);
    await expectNoForeignWrite();
  }, 60_000);

  test(`${HAND_OVERS} hand-overs, and no Node is written by who does not hold the Lease`, async () => {
    const asked = (await useRig().cluster.listRequests()).length;
    await Promise.all(places.map((place) => place.start(PROGRAM, SHORT)));
    churn = new Churn(useRig());
    const times = new Map<string, number[]>([
      ["SIGTERM", []],
      ["SIGKILL", []],
      ["SIGSTOP", []],
    ]);
    let restarting: readonly Promise<unknown>[] = [];
    let leader = await findLeader(places);
    await waitForAct(leader, 0);
    const startMs = performance.now();
    for (let count = 0; count < HAND_OVERS; count += 1) {
      const how = (["SIGTERM", "SIGKILL", "SIGTERM", "SIGSTOP"] as const)[count % 4] ?? "SIGTERM";
      const others = places.filter((place) => place !== leader);
      await Promise.all(restarting);
      const { landfall } = await leader.process;
      const fromMs = Date.now();
      landfall.signal(how);
      const next = await findLeader(others);
      times.get(how)?.push(await waitForAct(next, fromMs));
      if (how === "SIGSTOP") landfall.signal("SIGCONT");
      const { code, stderr } = await landfall.ended;
      expect(code, stderr).toBe({ SIGTERM: 0, SIGKILL: null, SIGSTOP: 1 }[how]);
      // It stands by again while the next one is already asked to go.
      restarting = [leader.start(PROGRAM, SHORT)];
      leader = next;
    }
    const tookMs = performance.now() - startMs;
    await churn.stop();
    const requests = (await expectNoForeignWrite()).slice(asked);
    expect(countHandOvers(requests)).toBeGreaterThanOrEqual(HAND_OVERS);
    const writers = Map.groupBy(listNodeWrites(requests), ({ username }) => username);
    expect(writers.size).toBe(places.length);
    for (const [how, all] of times) {
      const [median, most] = [percentile(all, 0.5), percentile(all, 1)];
      console.log(
        `${how}: ${all.length} times, acted after ${median} ms (median), ${most} ms (most)`,
      );
    }
    const count = listNodeWrites(requests).length;
    console.log(
      `${HAND_OVERS} hand-overs in ${Math.round(tookMs / 1_000)} s, ${count} writes of Nodes`,
    );
  }, 240_000);
});

/** Who of these leads, now or soon. Each process does so at most once. */
async function findLeader(places: readonly Place[]): Promise<Place> {
  return await Promise.any(
    places.map(async (place) => {
      const { landfall } = await place.process;
      await landfall.waitForRecord(isLeading);
      return place;
    }),
  );
}

describe("findForeignWrites()", () => {
  const at = (second: number): string => new Date(second * 1_000).toISOString();
  const request = (
    username: string,
    [from, to]: readonly [number, number],
    more: Partial<AuditedRequest>,
  ): AuditedRequest => ({
    username,
    verb: "patch",
    resource: "nodes",
    at: at(from),
    endedAt: at(to),
    code: 200,
    ...more,
  });
  const lease = (username: string, second: number, holderIdentity = username): AuditedRequest =>
    request(username, [second, second + 0.1], {
      verb: "update",
      resource: "leases",
      body: { spec: { holderIdentity, leaseDurationSeconds: 3 } },
    });
  const cases: readonly [string, readonly [number, number], Partial<AuditedRequest>, number][] = [
    ["while it is held", [1, 1.1], {}, 0],
    ["before it was held", [-1, -0.5], {}, 1],
    ["by another", [1, 1.1], { username: "b" }, 1],
    ["that was refused", [1, 1.1], { username: "b", code: 409 }, 0],
    ["of something else", [1, 1.1], { username: "b", resource: "events" }, 0],
    ["of a status", [1, 1.1], { username: "b", resource: "nodes/status" }, 1],
    ["across a renewal", [1.9, 2.2], {}, 0],
    ["after the last renewal is worth nothing any more", [5.2, 5.3], {}, 1],
    ["across a take-over", [9.9, 10.05], { username: "b" }, 1],
    ["by the next holder", [11, 11.1], { username: "b" }, 0],
    ["after a release", [13, 13.1], { username: "b" }, 1],
  ];
  test.each(cases)("judges a write %s", (_what, span, more, found) => {
    const record = [lease("a", 0), lease("a", 2), lease("b", 10), lease("b", 12, "")];
    expect(findForeignWrites([...record, request("a", span, more)])).toHaveLength(found);
  });
});
