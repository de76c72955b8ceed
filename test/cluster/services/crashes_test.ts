/**
 * The program is killed while CloudStack serves one of its requests, on a real API server. The next process must bring
 * the Service to rest as if nothing had happened. `test/simulation/scenarios/services/` does so at every request, in
 * memory.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { isRead } from "../../../lib/simulator/cloudstack/commands/mod.ts";
import type { Fault } from "../../../lib/simulator/cloudstack/mod.ts";
import { summarizeCloud } from "../../../lib/simulator/cloudstack/world/summary.ts";
import { createSite, FREE_IPS_PREFIX, withoutIds } from "../../support/services/site.ts";
import { skipsCluster } from "../../support/process/cluster.ts";
import type { Controller } from "../../support/process/cluster_rig.ts";
import { PROGRAM } from "../../support/process/landfall_process.ts";
import { ServiceCluster } from "../../support/services/service_cluster.ts";

/** The request that the process is killed at, before or after CloudStack carried it out. */
type Cut = readonly [when: "before" | "after", command: string];

const FINALIZER = "service.kubernetes.io/load-balancer-cleanup";
const RECORD = "landfall.dev/load-balancer";
const JOB_MS = 20;
const TIMEOUT_MS = 60_000;
const SPEC = {
  ports: [{ port: 80, nodePort: 30_080 }],
  loadBalancerSourceRanges: ["10.0.0.0/8"],
};

const CREATING: readonly Cut[] = [
  ["before", "associateIpAddress"],
  ["after", "associateIpAddress"],
  ["before", "createTags"],
  ["after", "createLoadBalancerRule"],
  ["after", "assignToLoadBalancerRule"],
  ["after", "createFirewallRule"],
];
const DELETING: readonly Cut[] = [
  ["after", "deleteFirewallRule"],
  ["before", "deleteLoadBalancerRule"],
  ["before", "disassociateIpAddress"],
  ["after", "disassociateIpAddress"],
];

describe.skipIf(skipsCluster())(`on a real API server, ${PROGRAM.name} killed`, () => {
  const site = createSite("isolated");
  let started: ServiceCluster | undefined;
  let running: Controller | undefined;
  /** What CloudStack has before and while there is a Service, and the changes from one to the other and back. */
  let whole = { before: {}, during: {}, changes: new Map<string, number>() };
  const use = (): ServiceCluster => {
    if (started === undefined) throw new Error("Cannot test: the cluster is not up");
    return started;
  };
  const show = (): object =>
    withoutIds(
      summarizeCloud(use().cloud.state, {
        isChosen: ({ address }, tags) =>
          address.startsWith(FREE_IPS_PREFIX) && "landfall.dev/service-uid" in tags,
      }),
    );
  const listChanges = (): Map<string, number> =>
    new Map([...use().cloud.requests.byCommand].filter(([command]) => !isRead(command)));
  const start = async (): Promise<void> => {
    running ??= await use().startController(PROGRAM);
  };
  /** Kills the process at its next request for a command. Returns a function that waits for its end. */
  const killAt = (command: string, fault: Fault): (() => Promise<void>) => {
    const victim = running?.landfall;
    if (victim === undefined) throw new Error("Cannot kill: no process runs");
    let isHit = false;
    const onHit = (): void => {
      isHit = true;
      victim.signal("SIGKILL");
    };
    use().cloud.faults.set(fault, { command, times: 1, onHit });
    return async () => {
      await use().untilTrue(`a request for ${command}`, () => isHit);
      await victim.ended;
      running = undefined;
    };
  };
  const toFault = (when: Cut[0]): Fault => ({ kind: when === "before" ? "hang" : "hangAfter" });
  const expectServed = async (): Promise<void> => {
    await use().untilAddress("web");
    expect(show()).toEqual(whole.during);
    const { metadata } = (await use().read("web")) ?? {};
    expect(metadata?.finalizers).toEqual([FINALIZER]);
    expect(metadata?.annotations?.[RECORD]).toBeUndefined();
  };
  const expectNothingLeft = async (): Promise<void> => {
    await use().untilGone("web");
    expect(show()).toEqual(whole.before);
    const repeated = [...listChanges()].filter(
      ([command, count]) => count > (whole.changes.get(command) ?? 0) + 1,
    );
    expect(repeated).toEqual([]);
  };

  beforeAll(async () => {
    started = await ServiceCluster.start(site.world, { jobMs: JOB_MS });
    for (const node of site.nodes) await started.rig.cluster.create("/api/v1/nodes", node);
    await start();
    const before = show();
    await started.create("web", SPEC);
    await started.untilAddress("web");
    const during = show();
    expect(during).not.toEqual(before);
    await started.remove("web");
    await started.untilGone("web");
    whole = { before, during, changes: listChanges() };
  }, 120_000);
  afterAll(() => started?.stop());

  test.each(CREATING)(
    "%s CloudStack carries out %s for a new Service",
    async (when, command) => {
      const { cloud } = use();
      await start();
      cloud.requests.reset();
      const untilKilled = killAt(command, toFault(when));
      await use().create("web", SPEC);
      await untilKilled();
      await start();
      await expectServed();
      await use().remove("web");
      await expectNothingLeft();
    },
    TIMEOUT_MS,
  );

  test.each(DELETING)(
    "%s CloudStack carries out %s for a Service that goes",
    async (when, command) => {
      const { cloud } = use();
      await start();
      cloud.requests.reset();
      await use().create("web", SPEC);
      await expectServed();
      const untilKilled = killAt(command, toFault(when));
      await use().remove("web");
      await untilKilled();
      expect((await use().read("web"))?.metadata.finalizers).toEqual([FINALIZER]);
      await start();
      await expectNothingLeft();
    },
    TIMEOUT_MS,
  );

  test(
    "while the job that takes the address goes on, which ends after the start of the next process",
    async () => {
      const { cloud } = use();
      await start();
      cloud.requests.reset();
      cloud.faults.set({ kind: "endlessJob" }, { command: "associateIpAddress", times: 1 });
      const untilKilled = killAt("queryAsyncJobResult", { kind: "hang" });
      const { metadata } = await use().create("web", SPEC);
      await untilKilled();
      await start();
      await use().untilTrue("an Event about the address", async () =>
        (await use().listEvents("web")).some(
          ({ involvedObject, message }) =>
            involvedObject?.uid === metadata.uid && message?.includes("has not finished"),
        ),
      );
      cloud.jobs.releaseAll();
      await expectServed();
      await use().remove("web");
      await expectNothingLeft();
    },
    TIMEOUT_MS,
  );
});
