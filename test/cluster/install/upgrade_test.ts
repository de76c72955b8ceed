/**
 * From 0.1.0 to this version, back, and to this version again, on a real API server: Nodes, Services, SIPClusters and
 * their Leases. 0.1.0 was never published; the program is made of this project's history.
 * @module
 */
import { LEASE as SIP_LEASE } from "../../../lib/controllers/sipcluster/words.ts";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listRights, needAll } from "../../../lib/app/rights.ts";
import { VERSION } from "../../../lib/cli/version.ts";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import type { Service } from "../../../lib/kube/kinds/service.ts";
import { findKubectl } from "../../support/kube/kubectl.ts";
import {
  ClusterRig,
  type Controller,
  LEASE,
  READY,
  waitUntil,
} from "../../support/process/cluster_rig.ts";
import { skipsRunningPods } from "../../support/process/kube_controllers.ts";
import { PROGRAM, type Program } from "../../support/process/landfall_process.ts";
import { SipClusterRig } from "../../support/sipcluster/sip_cluster_rig.ts";
import { toRackSpec } from "../../support/sipcluster/specs.ts";
import { saySkipped } from "../../support/skip.ts";
import { ROOT } from "../../support/sources.ts";

/** The last commit of 0.1.0 before objects and rights changed. */
const OLD_COMMIT = "900287ec2e28bcb020d78d18ac1109fef45218bc";
const TIMEOUT_MS = 180_000;
/** Time in which a leader would write what it wants otherwise. */
const SETTLE_MS = 4_000;
const SERVICES = "/api/v1/namespaces/default/services";
const CRD = "deploy/manifests/sipcluster/crd.yaml";
const ARGS = [
  "--controllers=*,service",
  "--leader-elect=true",
  "--leader-elect-retry-period=500ms",
];
const READY_CLUSTER = "True ReconciliationSucceeded";

const isSkipped = (await skipsRunningPods()) || skipsHistory();
const kubectl = isSkipped ? undefined : await findKubectl();

describe.skipIf(kubectl === undefined)(`0.1.0, ${VERSION}, 0.1.0, ${VERSION}`, () => {
  let folder = "";
  let before: Program;
  const disposables = new AsyncDisposableStack();

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "landfall-0.1.0-"));
    const command = 'git -C "$1" archive "$2" | tar --extract --directory "$3"';
    const made = Bun.spawnSync([
      "bash",
      "-euo",
      "pipefail",
      "-c",
      command,
      "-",
      ROOT,
      OLD_COMMIT,
      folder,
    ]);
    if (!made.success) throw new Error(`Cannot make 0.1.0: ${made.stderr.toString()}`);
    await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
    before = { name: "0.1.0", command: [process.execPath, join(folder, "main.ts")] };
  });
  afterAll(async () => {
    await disposables.disposeAsync();
    await rm(folder, { recursive: true, force: true });
  });

  test(
    "Nodes and Services keep all they have, and the next leader goes on",
    async () => {
      const rig = await ClusterRig.start();
      disposables.defer(() => rig.stop());
      const needs = needAll(LEASE);
      const controllers = new Set([...needs.controllers, "service"]);
      await rig.allow(listRights({ ...needs, controllers }));
      await rig.configure([
        "loadBalancers: { pools: [{ name: main, addresses: [10.20.0.0/24] }] }",
      ]);
      const register = async (name: string): Promise<void> => {
        rig.addVm(name);
        await rig.register(name, { status: { conditions: [READY] } });
      };
      const add = (name: string): Promise<void> =>
        rig.cluster.create(SERVICES, {
          metadata: { name },
          spec: { type: "LoadBalancer", selector: { app: name }, ports: [{ port: 80 }] },
        });
      const untilServed = (name: string): Promise<string> =>
        waitUntil(`an address of ${name}`, async () => {
          const { status } = await rig.cluster.read<Service>(`${SERVICES}/${name}`);
          return status?.loadBalancer?.ingress?.[0]?.ip;
        });
      const readAll = async (): Promise<object> => {
        const nodes = await rig.cluster.read<{ items: Node[] }>("/api/v1/nodes");
        const services = await rig.cluster.read<{ items: Service[] }>(SERVICES);
        return [...nodes.items, ...services.items].map(({ metadata, spec, status }) => {
          const { name, uid, labels, annotations } = metadata;
          return { name, uid, labels, annotations, spec, status };
        });
      };
      /** Starts the next one beside the one before, which ends then, and waits until the next one leads. */
      let controller: Controller | undefined;
      const replace = async (program: Program): Promise<void> => {
        const holder = await rig.cluster.findHolder(LEASE.name);
        const next = await rig.startController(program, { args: ARGS });
        if (controller !== undefined) {
          expect(await rig.cluster.findHolder(LEASE.name)).toBe(holder);
          expect((await controller.landfall.stop()).code).toBe(0);
        }
        controller = next;
        await untilLed(rig, holder);
      };
      disposables.defer(async () => {
        await controller?.landfall.stop();
      });

      await register("node-1");
      await register("node-2");
      await add("one");
      await replace(before);
      for (const name of ["node-1", "node-2"]) await rig.waitForNode(name);
      await untilServed("one");
      for (const [index, program] of [PROGRAM, before, PROGRAM].entries()) {
        const had = await readAll();
        await replace(program);
        await Bun.sleep(SETTLE_MS);
        expect(await readAll()).toEqual(had);
        await register(`node-${index + 3}`);
        await add(`next-${index}`);
        await rig.waitForNode(`node-${index + 3}`);
        await untilServed(`next-${index}`);
      }
    },
    TIMEOUT_MS,
  );

  test(
    "SIPClusters keep their hosts and services",
    async () => {
      const rig = await SipClusterRig.startWithPods(kubectl ?? "", join(folder, CRD));
      disposables.use(rig);
      const readAll = async (): Promise<object> => ({
        hosts: await rig.listHosts("prod"),
        services: await rig.run(
          "get",
          "service",
          "-n",
          "prod",
          "--output=jsonpath={.items[*].spec}",
        ),
        uids: await rig.run(
          "get",
          "service,deployment,poddisruptionbudget",
          "-n",
          "prod",
          "--output=jsonpath={.items[*].metadata.uid}",
        ),
      });
      let controller: Controller | undefined;
      const replace = async (program: Program | undefined): Promise<void> => {
        const holder = await rig.cluster.findHolder(SIP_LEASE);
        const args = [`--kubeconfig=${rig.cluster.adminKubeconfigPath}`];
        const next = await rig.startController({ args, ...(program !== undefined && { program }) });
        if (controller !== undefined) expect((await controller.landfall.stop()).code).toBe(0);
        controller = next;
        await rig.untilTrue("the next leader", async () => {
          const found = await rig.cluster.findHolder(SIP_LEASE);
          return Boolean(found) && found !== holder;
        });
      };
      const rack = (name: string) => ({ name, flavors: { "control-plane": 1, worker: 2 } });

      await rig.addHosts([rack("r1"), rack("r2")]);
      await rig.applyCluster(
        "prod",
        toRackSpec({ controlPlanes: 1, workers: 1, nodePort: 30_051 }),
      );
      await replace(before);
      await rig.untilCondition("prod", "Ready", READY_CLUSTER);
      let workers = 1;
      for (const program of [undefined, before, undefined]) {
        const had = await readAll();
        if (program === undefined) await rig.run("apply", "-f", join(ROOT, CRD));
        await replace(program);
        await Bun.sleep(SETTLE_MS);
        await rig.untilCondition("prod", "Ready", READY_CLUSTER);
        expect(await readAll()).toEqual(had);
        const recorded = (await rig.read("prod"))?.status?.hosts ?? [];
        // 0.1.0 records no UIDs. This version takes what 0.1.0 has labelled into its record.
        expect(recorded.map(({ uid }) => uid !== undefined)).toEqual(
          recorded.map(() => program === undefined),
        );
        workers += 1;
        const patch = JSON.stringify({
          spec: { nodes: { Worker: { count: { active: workers } } } },
        });
        await rig.run("patch", "sip", "prod", "-n", "prod", "--type=merge", `--patch=${patch}`);
        await rig.untilCondition("prod", "Ready", READY_CLUSTER);
        expect(await rig.listHosts("prod")).toHaveLength(1 + workers);
      }
    },
    TIMEOUT_MS,
  );
});

/** Waits until another one than before has it. */
async function untilLed(rig: ClusterRig, before: string | undefined): Promise<void> {
  await waitUntil("the next leader", async () => {
    const found = await rig.cluster.findHolder(LEASE.name);
    return Boolean(found) && found !== before ? true : undefined;
  });
}

/** Whether the commit of 0.1.0 is not in this clone, which it says loudly. */
function skipsHistory(): boolean {
  const git = (...args: string[]): string => {
    const { stdout, success } = Bun.spawnSync(["git", "-C", ROOT, ...args]);
    return success ? stdout.toString().trim() : "failed";
  };
  if (git("cat-file", "-e", `${OLD_COMMIT}^{commit}`) !== "failed") return false;
  const what =
    "the upgrade from 0.1.0: its commit is not in this clone. Run: git fetch --unshallow";
  // A clone without history is a choice of who made it, also in CI.
  if (git("rev-parse", "--is-shallow-repository") === "true") console.error(`SKIPPED: ${what}`);
  else saySkipped(what);
  return true;
}
