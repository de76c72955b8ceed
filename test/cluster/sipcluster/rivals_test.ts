/**
 * Another program takes hosts at the same moment, as another operator or a person with kubectl does, on a real API
 * server. The audit log tells every state that a host was in.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { BARE_METAL_HOSTS, type BareMetalHost } from "../../../lib/kube/kinds/bare_metal_host.ts";
import { CLUSTER_NAME, CLUSTER_NAMESPACE } from "../../../lib/controllers/sipcluster/words.ts";
import { toPath } from "../../../lib/kube/kinds/resource.ts";
import { findKubectl } from "../../support/kube/kubectl.ts";
import { ApiGate } from "../../support/net/api_gate.ts";
import { skipsCluster } from "../../support/process/cluster.ts";
import { METAL, SipClusterRig, USERNAME } from "../../support/sipcluster/sip_cluster_rig.ts";
import { toRackSpec } from "../../support/sipcluster/specs.ts";

const kubectl = skipsCluster() ? undefined : await findKubectl();
const TIMEOUT_MS = 60_000;
const RIVAL = "rival";
const RIVAL_LABELS = { [CLUSTER_NAMESPACE]: RIVAL, [CLUSTER_NAME]: RIVAL };
const CONFLICT = 409;
const OK = 200;
const WORKERS = 12;
const WANTED = 6;
/** How often the cluster's size changes while the rival is at work. */
const CHANGES = 6;
const AUDIT_RULES = [
  {
    level: "RequestResponse",
    verbs: ["patch"],
    resources: [{ group: "metal3.io", resources: ["baremetalhosts"] }],
  },
  { level: "None" },
];

describe.skipIf(kubectl === undefined)("beside another program that takes hosts", () => {
  let rig: SipClusterRig;
  let gate: ApiGate;

  beforeAll(async () => {
    rig = await SipClusterRig.start(kubectl ?? "", { auditRules: AUDIT_RULES });
    await rig.installKinds();
    await rig.addHosts([{ name: "r1", flavors: { worker: WORKERS } }]);
    gate = await ApiGate.start(rig.cluster);
    await rig.startController({ server: gate.url });
  }, 120_000);
  afterAll(async () => {
    await rig?.[Symbol.asyncDispose]();
    await gate?.[Symbol.asyncDispose]();
  });

  const listWorkers = (): Promise<readonly BareMetalHost[]> => rig.list(BARE_METAL_HOSTS, METAL);
  const isRivals = ({ metadata }: BareMetalHost): boolean =>
    metadata.labels?.[CLUSTER_NAME] === RIVAL;
  const isFree = ({ metadata }: BareMetalHost): boolean =>
    metadata.labels?.[CLUSTER_NAME] === undefined;
  /** Takes a host as it was seen, or gives it back. Returns whether the API server agreed. */
  const label = async ({ metadata }: BareMetalHost, isTaken: boolean): Promise<boolean> => {
    const { name, resourceVersion } = metadata;
    const labels = isTaken ? RIVAL_LABELS : { [CLUSTER_NAMESPACE]: null, [CLUSTER_NAME]: null };
    const response = await rig.cluster.adminFetch(
      toPath(BARE_METAL_HOSTS, { namespace: METAL, name }),
      {
        method: "PATCH",
        headers: { "content-type": "application/merge-patch+json" },
        body: JSON.stringify({ metadata: { resourceVersion, labels } }),
      },
    );
    if (!response.ok && response.status !== CONFLICT) throw new Error(await response.text());
    return response.ok;
  };
  const give = async (): Promise<void> => {
    for (const host of (await listWorkers()).filter(isRivals)) await label(host, false);
  };
  const resize = (workers: number): Promise<void> =>
    rig.applyCluster("a", toRackSpec({ controlPlanes: 0, workers, nodePort: 30_001 }));
  /** Changes of owner that the API server agreed to although the host had another owner. */
  const listThefts = async (): Promise<string[]> => {
    const events = await rig.cluster.listAudit();
    const owners = new Map<string, string>();
    return events
      .filter(({ responseStatus }) => responseStatus?.code === OK)
      .map(({ responseObject }) => responseObject as BareMetalHost)
      .toSorted((a, b) => toVersion(a) - toVersion(b))
      .flatMap(({ metadata: { name, labels = {} } }) => {
        const before = owners.get(name) ?? "";
        const now = labels[CLUSTER_NAME] ?? "";
        owners.set(name, now);
        return before !== "" && now !== "" && now !== before ? [`${name}: ${before}, ${now}`] : [];
      });
  };
  /** How often a program was too late. */
  const countLost = async (isOurs: boolean): Promise<number> => {
    const events = await rig.cluster.listAudit();
    return events.filter(({ user, responseStatus }) => {
      return responseStatus?.code === CONFLICT && (user.username === USERNAME) === isOurs;
    }).length;
  };

  test(
    "a host that is taken between decision and write stays the other's, and another one is taken",
    async () => {
      const taken: string[] = [];
      gate.stopAt({
        fits: ({ method, path }) => method === "PATCH" && path.includes("/baremetalhosts/"),
        when: "before",
        meet: async ({ path }) => {
          const host = (await listWorkers()).find(({ metadata }) => path.endsWith(metadata.name));
          if (host === undefined) throw new Error(`Cannot find the host at ${path}`);
          taken.push(host.metadata.name);
          return await label(host, true);
        },
      });
      await resize(WANTED);
      await rig.untilCondition("a", "Scheduled", "True HostsLabelled");
      expect(await countLost(true)).toBe(1);
      const rivals = (await listWorkers()).filter(isRivals);
      expect(rivals.map(({ metadata }) => metadata.name)).toEqual(taken);
      expect(await rig.listHosts("a")).toHaveLength(WANTED);
      await rig.untilTrue("the Event", async () =>
        (await rig.listEvents("a")).some((event) => event.startsWith("HostLost ")),
      );
      expect(await listThefts()).toEqual([]);
      await give();
    },
    TIMEOUT_MS,
  );

  test(
    "no host is ever in two clusters while both take and give back",
    async () => {
      const over = new AbortController();
      let taken = 0;
      const rival = (async (): Promise<void> => {
        while (!over.signal.aborted) {
          const hosts = await listWorkers();
          // Those that the controller takes first, and last.
          for (const host of hosts.filter(isFree)) if (await label(host, true)) taken += 1;
          await give();
        }
      })();
      for (let change = 0; change < CHANGES; change += 1) {
        await resize(change % 2 === 0 ? 0 : WANTED);
        const { metadata } = (await rig.read("a")) ?? {};
        await rig.untilTrue("a look at the new size", async () => {
          const { status } = (await rig.read("a")) ?? {};
          return status?.observedGeneration === metadata?.generation;
        });
        // The rival has its turn with whatever there is now.
        const before = taken;
        await rig.untilTrue("a host for the rival", () => taken > before);
      }
      over.abort();
      await rival;
      await rig.untilCondition("a", "Scheduled", "True HostsLabelled");
      expect(await listThefts()).toEqual([]);
      expect(await rig.listHosts("a")).toHaveLength(WANTED);
      expect((await listWorkers()).filter(isFree)).toHaveLength(WORKERS - WANTED);
      // The two did meet.
      expect((await countLost(true)) + (await countLost(false))).toBeGreaterThan(1);
    },
    TIMEOUT_MS,
  );
});

function toVersion({ metadata }: BareMetalHost): number {
  return Number(metadata.resourceVersion);
}
