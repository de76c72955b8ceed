/**
 * The program is killed in the middle of its work for a SIPCluster, on a real API server. The next process must bring
 * the cluster to the same end.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { listRights } from "../../../lib/app/rights.ts";
import { CONTROLLERS } from "../../../lib/controllers/mod.ts";
import { BARE_METAL_HOSTS } from "../../../lib/kube/kinds/bare_metal_host.ts";
import type {
  Endpoint,
  SipClusterStatus,
} from "../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import { LEASE, NAME } from "../../../lib/controllers/sipcluster/words.ts";
import { findKubectl } from "../../support/kube/kubectl.ts";
import { ApiGate, type Passing } from "../../support/net/api_gate.ts";
import type { Controller } from "../../support/process/cluster_rig.ts";
import { skipsRunningPods } from "../../support/process/kube_controllers.ts";
import { SipClusterRig } from "../../support/sipcluster/sip_cluster_rig.ts";
import { toRackSpec } from "../../support/sipcluster/specs.ts";

const kubectl = (await skipsRunningPods()) ? undefined : await findKubectl();
const TIMEOUT_MS = 60_000;
/** A busy machine may keep a renewal waiting for a second or two. */
const ELECTION = ["--leader-elect-lease-duration=6s", "--leader-elect-renew-deadline=4s"];
const MAIN_LEASE = "cloud-controller-manager";

/** The request that the process is killed at: the so-manieth of a method and a resource. */
type Cut = `${"before" | "after"} ${number} ${"PATCH" | "DELETE"} ${string}`;

/** What is to be the same, whoever did it. */
interface Shown {
  readonly finalizers: readonly string[] | undefined;
  readonly hosts: readonly string[];
  readonly objects: readonly string[];
  readonly endpoints: readonly Endpoint[] | undefined;
  readonly counts: SipClusterStatus["counts"];
  readonly conditions: readonly string[] | undefined;
}

/** While the cluster is made, and while it goes. */
const CUTS: readonly (readonly [Cut, Cut])[] = [
  ["after 1 PATCH sipclusters", "after 1 DELETE services"],
  ["before 2 PATCH baremetalhosts", "before 2 PATCH baremetalhosts"],
  ["after 2 PATCH baremetalhosts", "after 3 PATCH baremetalhosts"],
  ["before 1 PATCH deployments", "before 1 DELETE deployments"],
  ["after 1 PATCH services", "before 1 PATCH sipclusters"],
];

describe.skipIf(kubectl === undefined)("on a real API server, a process killed", () => {
  let rig: SipClusterRig;
  let gate: ApiGate;
  let running: Controller | undefined;
  let whole: Shown;

  beforeAll(async () => {
    rig = await SipClusterRig.startWithPods(kubectl ?? "");
    gate = await ApiGate.start(rig.cluster);
    await rig.addHosts([
      { name: "r1", flavors: { "control-plane": 1, worker: 2 } },
      { name: "r2", flavors: { "control-plane": 1, worker: 2 } },
    ]);
    await start();
    await create();
    await rig.untilCondition("a", "Ready", "True ReconciliationSucceeded");
    whole = await show();
    expect(whole.hosts).toHaveLength(4);
    await rig.run("delete", "sip", "a", "-n", "a", "--wait=false");
    await expectNothingLeft();
  }, 120_000);
  afterAll(async () => {
    await rig?.[Symbol.asyncDispose]();
    await gate?.[Symbol.asyncDispose]();
  });

  const start = async (): Promise<void> => {
    running ??= await rig.startController({ server: gate.url });
  };
  const create = (): Promise<void> =>
    rig.applyCluster("a", toRackSpec({ controlPlanes: 2, workers: 2, nodePort: 30_011 }));
  const show = async (): Promise<Shown> => {
    const { metadata, status } = (await rig.read("a")) ?? {};
    return {
      finalizers: metadata?.finalizers,
      hosts: await rig.listHosts("a"),
      // Those of kube-controller-manager have other names each time.
      objects: (await rig.listAll("a")).filter((one) => !/^(pod|replicaset)/.test(one)),
      endpoints: status?.endpoints,
      counts: status?.counts,
      conditions: status?.conditions?.map((one) => `${one.type} ${one.status} ${one.reason}`),
    };
  };
  /** Kills the process at a request. Returns a function that waits for its end. */
  const killAt = (cut: Cut): (() => Promise<void>) => {
    const [, when, nth, method, resource = ""] =
      /^(before|after) (\d+) (\w+) (\w+)$/.exec(cut) ?? [];
    const victim = running;
    if (victim === undefined) throw new Error("Cannot kill: no process runs");
    let seen = 0;
    const fits = (request: Passing): boolean => {
      if (request.method === method && isOf(request.path, resource)) seen += 1;
      return seen === Number(nth);
    };
    const meet = (): boolean => {
      victim.landfall.signal("SIGKILL");
      return false;
    };
    gate.stopAt({ fits, when: when === "after" ? when : "before", meet });
    return async () => {
      await rig.untilTrue(`the request ${cut}`, () => seen === Number(nth));
      await victim.landfall.ended;
      running = undefined;
      await rig.killControllers();
    };
  };
  const untilWhole = async (): Promise<void> => {
    await rig.untilCondition("a", "Ready", "True ReconciliationSucceeded");
    expect(await show()).toEqual(whole);
  };
  const expectNothingLeft = async (): Promise<void> => {
    await rig.run("wait", "--for=delete", "-n", "a", "sip", "a", "--timeout=20s");
    expect(await rig.listHosts("a")).toEqual([]);
    await rig.untilTrue("the end of Pods", async () => (await rig.listAll("a")).length === 0);
  };

  test.each(CUTS)(
    "%s, and %s for its deletion",
    async (creating, deleting) => {
      await start();
      const untilFirst = killAt(creating);
      await create();
      await untilFirst();
      await start();
      await untilWhole();
      const untilSecond = killAt(deleting);
      await rig.run("delete", "sip", "a", "-n", "a", "--wait=false");
      await untilSecond();
      expect((await rig.read("a"))?.metadata.finalizers).toHaveLength(1);
      await start();
      await expectNothingLeft();
    },
    TIMEOUT_MS,
  );

  test(
    "in the middle of labelling is followed by one that waited for its Lease and has a cloud, too",
    async () => {
      await rig.killControllers();
      running = await rig.startController({ server: gate.url, args: ELECTION });
      await rig.untilTrue("a leader", async () => Boolean(await rig.cluster.findHolder(LEASE)));
      const first = await rig.cluster.findHolder(LEASE);
      const config = join(rig.cluster.folder, "instances.yaml");
      await writeFile(config, "instances: []\n");
      await rig.allow(
        listRights({
          registry: CONTROLLERS,
          controllers: new Set(["cloud-node", NAME]),
          lease: { namespace: "kube-system", name: MAIN_LEASE },
          hasSecurePort: false,
        }),
      );
      const second = await rig.startController({
        args: [
          ...ELECTION,
          `--controllers=cloud-node,${NAME}`,
          "--cloud-provider=static",
          `--cloud-config=${config}`,
        ],
      });
      await rig.untilTrue("the other Lease", async () => {
        return Boolean(await rig.cluster.findHolder(MAIN_LEASE));
      });
      expect(await rig.cluster.findHolder(LEASE)).toBe(first ?? "");
      const victim = running;
      gate.stopAt({
        fits: ({ method, path }) => method === "PATCH" && isOf(path, BARE_METAL_HOSTS.plural),
        when: "after",
        meet: () => {
          victim?.landfall.signal("SIGKILL");
          return false;
        },
      });
      await create();
      await untilWhole();
      expect(victim?.landfall.log).not.toContain("Host taken");
      expect(await rig.cluster.findHolder(LEASE)).toBe(
        (await rig.cluster.findHolder(MAIN_LEASE)) ?? "",
      );
      expect(second.landfall.log).toContain(`"lease":"kube-system/${LEASE}"`);
    },
    TIMEOUT_MS,
  );
});

/** Whether a path is that of an object of a resource, and not of a part of one. */
function isOf(path: string, resource: string): boolean {
  return path.split("/").at(-2) === resource;
}
