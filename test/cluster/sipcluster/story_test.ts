/**
 * The life of two clusters that compete for hosts, as their owners see it through kubectl, with a real API server, a
 * real kube-controller-manager, and the real program with exactly the rights that its manifest gives it. Only Pods,
 * which have no kubelet here, become ready by the test.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { BARE_METAL_HOSTS } from "../../../lib/kube/kinds/bare_metal_host.ts";
import { findKubectl } from "../../support/kube/kubectl.ts";
import { skipsRunningPods } from "../../support/process/kube_controllers.ts";
import { toHostStatus } from "../../support/metal3/bare_metal_host_crd.ts";
import { METAL, SipClusterRig } from "../../support/sipcluster/sip_cluster_rig.ts";
import { toRackSpec } from "../../support/sipcluster/specs.ts";
import { ROOT } from "../../support/sources.ts";

const SAMPLES = join(ROOT, "deploy/manifests/sipcluster/samples");
const kubectl = (await skipsRunningPods()) ? undefined : await findKubectl();
const TIMEOUT_MS = 60_000;
const READY = "True ReconciliationSucceeded";
const SHORT = "False Unschedulable";
/** The cluster of the sample. */
const OLD = "sipcluster-system";
const LB = "loadbalancer-controlplane";
/** A cluster without hosts. */
const NONE = toRackSpec({ controlPlanes: 0, workers: 0, nodePort: 30_061 });

describe.skipIf(kubectl === undefined)("two clusters that compete", () => {
  let rig: SipClusterRig;

  beforeAll(async () => {
    rig = await SipClusterRig.startWithPods(kubectl ?? "");
    await rig.startController();
  }, 120_000);
  afterAll(async () => {
    await rig?.[Symbol.asyncDispose]();
  });

  const count = (name: string, role: string, active: number): Promise<string> => {
    const patch = JSON.stringify({ spec: { nodes: { [role]: { count: { active } } } } });
    return rig.run("patch", "sip", name, "-n", name, "--type=merge", `--patch=${patch}`);
  };
  const show = async (kind: string, name: string, path: string): Promise<string> =>
    await rig.run("get", kind, name, "-n", OLD, `--output=jsonpath={${path}}`);

  test(
    "manifests in the old form apply as they are and reach Ready",
    async () => {
      for (const file of ["hosts", "cluster"]) {
        await rig.run("apply", "-f", join(SAMPLES, `${file}.yaml`));
      }
      for (const { metadata } of await rig.list(BARE_METAL_HOSTS, METAL)) {
        await rig.setHostStatus(metadata.name, toHostStatus("available"));
      }
      await rig.run("wait", "--for=condition=Ready", "-n", OLD, "sip", OLD, "--timeout=30s");
      const [head = "", line = ""] = (await rig.run("get", "sip", "-n", OLD)).trim().split("\n");
      expect(head.split(/ {2,}/)).toEqual(["NAME", "READY", "REASON", "CP", "WORKERS", "AGE"]);
      expect(line).toMatch(/^sipcluster-system +True +ReconciliationSucceeded +2\/2 +2\/2 +\d+s$/);
      // No two of the control plane in one rack.
      expect(await rig.listHosts(OLD)).toEqual([
        "cp-1 ControlPlane",
        "cp-3 ControlPlane*",
        "worker-1 Worker",
        "worker-2 Worker*",
      ]);
      const objects = await rig.listAll(OLD);
      const named = objects.filter((one) => /^(service|deployment)/.test(one));
      expect(named).toEqual([
        `deployment.apps/jumphost-${OLD}`,
        `deployment.apps/${LB}-${OLD}`,
        `deployment.apps/loadbalancer-worker-${OLD}`,
        `service/jumphost-${OLD}`,
        `service/${LB}-${OLD}`,
        `service/loadbalancer-worker-${OLD}`,
        `serviceaccount/landfall-jumphost-${OLD}`,
      ]);
    },
    TIMEOUT_MS,
  );

  test(
    "a second cluster takes no host until there are enough for each role, and then all",
    async () => {
      await rig.applyCluster(
        "rival",
        toRackSpec({ controlPlanes: 1, workers: 2, nodePort: 30_051 }),
      );
      const message = await rig.untilCondition("rival", "Scheduled", SHORT);
      expect(message).toContain("Worker: want 2, have 0, eligible 1");
      expect(await rig.listHosts("rival")).toEqual([]);
      await rig.addHosts([{ name: "r010", flavors: { worker: 1 } }]);
      await rig.untilCondition("rival", "Ready", READY);
      expect(await rig.listHosts("rival")).toEqual([
        "cp-2 ControlPlane",
        "r010-worker-1 Worker",
        "worker-3 Worker",
      ]);
    },
    TIMEOUT_MS,
  );

  test(
    "one grows when the other shrinks, and a host in use is not given back",
    async () => {
      await count(OLD, "Worker", 2);
      await rig.untilCondition(OLD, "Scheduled", SHORT);
      expect(await rig.listHosts(OLD)).toHaveLength(4);
      for (const host of ["worker-3", "r010-worker-1"]) await rig.consume(host, true);
      await count("rival", "Worker", 1);
      const blocked = await rig.untilCondition("rival", "ContractionBlocked", "True HostsInUse");
      expect(blocked).toContain("metal/worker-3 (Worker, in use)");
      expect(await rig.listHosts("rival")).toHaveLength(3);
      await rig.consume("worker-3", false);
      await rig.untilCondition("rival", "ContractionBlocked", "False NothingBlocked");
      await rig.untilCondition(OLD, "Ready", READY);
      expect(await rig.listHosts("rival")).toEqual(["cp-2 ControlPlane", "r010-worker-1 Worker"]);
      expect(await rig.listHosts(OLD)).toEqual([
        "cp-1 ControlPlane",
        "cp-3 ControlPlane*",
        "worker-1 Worker",
        "worker-2 Worker",
        "worker-3 Worker*",
      ]);
      await rig.run("wait", "--for=condition=Ready", "-n", OLD, "sip", OLD, "--timeout=30s");
      const text = await rig.run("describe", "sip", OLD, "-n", OLD);
      expect(text).toMatch(/Normal +HostTaken .* metal\/worker-3 is a standby Worker/);
      expect(text).toMatch(/Warning +Unschedulable /);
    },
    TIMEOUT_MS,
  );

  test(
    "a broken host is replaced when there is another, and its load balancer follows",
    async () => {
      await rig.addHosts([{ name: "r011", flavors: { worker: 1 } }]);
      const before = await show("configmap", `loadbalancer-worker-${OLD}`, ".data");
      await rig.setHostStatus("worker-1", toHostStatus("available", "the power supply failed"));
      await rig.untilTrue("another host in its place", async () => {
        const hosts = await rig.listHosts(OLD);
        return hosts.includes("r011-worker-1 Worker") && !hosts.includes("worker-1 Worker");
      });
      await rig.untilCondition(OLD, "Ready", READY);
      expect(await rig.listHosts(OLD)).toEqual([
        "cp-1 ControlPlane",
        "cp-3 ControlPlane*",
        "r011-worker-1 Worker",
        "worker-2 Worker",
        "worker-3 Worker*",
      ]);
      expect(await show("configmap", `loadbalancer-worker-${OLD}`, ".data")).not.toBe(before);
    },
    TIMEOUT_MS,
  );

  test(
    "what a person changes or deletes by hand comes back",
    async () => {
      const name = `${LB}-${OLD}`;
      await rig.run("scale", "deployment", name, "-n", OLD, "--replicas=0");
      await rig.run("set", "image", `deployment/${name}`, "-n", OLD, "*=example.org/other:1");
      const ports = [{ port: 6443, nodePort: 30_071, name: "http" }];
      const patch = JSON.stringify({ spec: { ports } });
      await rig.run("patch", "service", name, "-n", OLD, "--type=merge", `--patch=${patch}`);
      await rig.run("delete", "service", `loadbalancer-worker-${OLD}`, "-n", OLD);
      await rig.run("delete", "deployment", `jumphost-${OLD}`, "-n", OLD);
      await rig.untilTrue("all as before", async () => {
        const [deployment, service, all] = await Promise.all([
          show("deployment", name, ".spec"),
          show("service", name, ".spec.ports[*].nodePort"),
          rig.listAll(OLD),
        ]);
        return (
          deployment.includes('"replicas":2') &&
          !deployment.includes("example.org/other") &&
          service === "30001" &&
          all.includes(`service/loadbalancer-worker-${OLD}`) &&
          all.includes(`deployment.apps/jumphost-${OLD}`)
        );
      });
      await rig.untilCondition(OLD, "Ready", READY);
    },
    TIMEOUT_MS,
  );

  test(
    "an edited configuration of HAProxy comes back within seconds, with no other change in the cluster",
    async () => {
      const map = `${LB}-${OLD}`;
      const before = await show("configmap", map, ".data");
      const patch = JSON.stringify({ data: { "haproxy.cfg": "# nothing" } });
      await rig.run("patch", "configmap", map, "-n", OLD, "--type=merge", `--patch=${patch}`);
      const editedMs = performance.now();
      await rig.untilTrue("the configuration as before", async () => {
        return (await show("configmap", map, ".data")) === before;
      });
      expect(performance.now() - editedMs).toBeLessThan(5_000);
    },
    TIMEOUT_MS,
  );

  test(
    "a node port that is taken is named, and the cluster is ready once it is free",
    async () => {
      const service = { apiVersion: "v1", kind: "Service" };
      const spec = { type: "NodePort", ports: [{ port: 80, nodePort: 30_061 }] };
      const metadata = { name: "squatter", namespace: "default" };
      await rig.apply({ ...service, metadata, spec });
      await rig.applyCluster("late", NONE);
      const message = await rig.untilCondition(
        "late",
        "ServicesReady",
        "False NodePortUnavailable",
      );
      expect(message).toContain("30061");
      expect(message).toContain("already allocated");
      await rig.untilCondition("late", "Ready", "False InfraServiceFailure");
      await rig.run("delete", "service", "squatter");
      // Any change of the spec has it tried at once, and else a minute.
      await rig.applyCluster("late", { ...NONE, scheduling: {} });
      await rig.untilCondition("late", "Ready", READY);
    },
    TIMEOUT_MS,
  );

  test(
    "a spec that breaks a rule is refused by the API server, which says which rule",
    async () => {
      const before = await rig.listAll("late");
      const twice = { nodeInterfaceId: "oam-ipv4", nodePort: 30_061 };
      const apply = rig.applyCluster("late", {
        services: { loadBalancerControlPlane: [twice, twice] },
      });
      await expect(apply).rejects.toThrow("loadBalancerControlPlane must have different ports");
      expect(await rig.listAll("late")).toEqual(before);
      await rig.run("delete", "sip", "late", "-n", "late", "--timeout=20s");
    },
    TIMEOUT_MS,
  );

  test(
    "a cluster that is deleted waits for hosts in use, and then nothing is left",
    async () => {
      await rig.consume("worker-2", true);
      const [hosts, objects] = [await rig.listHosts(OLD), await rig.listAll(OLD)];
      await rig.run("delete", "sip", OLD, "-n", OLD, "--wait=false");
      await rig.untilTrue("the obstacle", async () => {
        const text = await rig.run("get", "sip", OLD, "-n", OLD, "--output=json");
        return text.includes("UnableToDecommission") && text.includes("metal/worker-2");
      });
      expect([await rig.listHosts(OLD), await rig.listAll(OLD)]).toEqual([hosts, objects]);
      await rig.consume("worker-2", false);
      await rig.run("wait", "--for=delete", "-n", OLD, "sip", OLD, "--timeout=20s");
      expect(await rig.listHosts(OLD)).toEqual([]);
      // Their owners, the Deployments, are gone: kube-controller-manager takes the rest away.
      await rig.untilTrue("the end of Pods", async () => (await rig.listAll(OLD)).length === 1);
      expect(await rig.listAll(OLD)).toEqual(["secret/ssh-private-keys"]);
    },
    TIMEOUT_MS,
  );

  test(
    "without the finalizer kube-controller-manager deletes all that was made for a cluster",
    async () => {
      await rig.killControllers();
      expect((await rig.listAll("rival")).length).toBeGreaterThan(3);
      await rig.run("delete", "sip", "rival", "-n", "rival", "--wait=false");
      const patch = '--patch={"metadata":{"finalizers":null}}';
      await rig.run("patch", "sip", "rival", "-n", "rival", "--type=merge", patch);
      await rig.untilTrue("the end of all", async () => {
        return (await rig.listAll("rival")).length === 0;
      });
    },
    TIMEOUT_MS,
  );
});
