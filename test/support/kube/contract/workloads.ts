/**
 * Contract of Deployments, PodDisruptionBudgets, Secrets, Roles and RoleBindings, and of Services that are applied.
 * @module
 */
import { describe, expect, test } from "bun:test";
import type { Answer, ContractContext, WireObject } from "./client.ts";

const NAMESPACE = "namespaces/default";
const DEPLOYMENTS = `/apis/apps/v1/${NAMESPACE}/deployments`;
const SECRETS = `/api/v1/${NAMESPACE}/secrets`;
const SERVICES = `/api/v1/${NAMESPACE}/services`;
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const IMAGE = "example.org/haproxy:3.2";

/** Adds the cases to the suite that is being described. */
export function addWorkloadCases(use: () => ContractContext): void {
  const apply = (path: string, object: object, manager = "m"): Promise<Answer> =>
    use().client.patch(`${path}?fieldManager=${manager}&force=true`, "apply", object);
  const applyDeployment = (name: string, spec: object, more: object = {}): Promise<Answer> =>
    apply(`${DEPLOYMENTS}/${name}`, toDeployment(name, spec, more));

  describe("a Deployment", () => {
    test("gets its defaults, those of its Pods included", async () => {
      const port = { name: "api", containerPort: 6443 };
      const readinessProbe = { httpGet: { path: "/ready", port: 8080 } };
      const container = { name: "c", image: IMAGE, ports: [port], readinessProbe };
      const volumes = [
        { name: "config", secret: { secretName: "config" } },
        { name: "scratch", emptyDir: {} },
      ];
      const { status, body } = await applyDeployment("filled", {
        template: toTemplate({ containers: [container], volumes, serviceAccountName: "sa" }),
      });
      expect([status, body.metadata["generation"]]).toEqual([201, 1]);
      expect(body.spec).toMatchObject({
        replicas: 1,
        revisionHistoryLimit: 10,
        progressDeadlineSeconds: 600,
        strategy: {
          type: "RollingUpdate",
          rollingUpdate: { maxUnavailable: "25%", maxSurge: "25%" },
        },
        template: {
          spec: {
            restartPolicy: "Always",
            terminationGracePeriodSeconds: 30,
            dnsPolicy: "ClusterFirst",
            schedulerName: "default-scheduler",
            serviceAccount: "sa",
            containers: [
              {
                imagePullPolicy: "IfNotPresent",
                terminationMessagePath: "/dev/termination-log",
                ports: [{ ...port, protocol: "TCP" }],
                readinessProbe: {
                  httpGet: { scheme: "HTTP" },
                  periodSeconds: 10,
                  timeoutSeconds: 1,
                  successThreshold: 1,
                  failureThreshold: 3,
                },
              },
            ],
            volumes: [{ secret: { defaultMode: 420 } }, { emptyDir: {} }],
          },
        },
      });
    });

    test("is not written when the same is applied again", async () => {
      const first = await applyDeployment("same", {});
      const again = await applyDeployment("same", {});
      expect(again.body.metadata.resourceVersion).toBe(first.body.metadata.resourceVersion);
    });

    test("loses a container, a port and a field that are applied no longer, and keeps those of others", async () => {
      const [first, second] = [
        { name: "a", image: IMAGE },
        { name: "b", image: IMAGE },
      ];
      const ports = [{ containerPort: 1 }, { containerPort: 2 }];
      const whole = { ...first, ports, command: ["run"], env: [{ name: "X", value: "1" }] };
      await applyDeployment("shrunk", { template: toTemplate({ containers: [whole, second] }) });
      const more = { name: "a", env: [{ name: "Y", value: "2" }] };
      await use().client.patch(`${DEPLOYMENTS}/shrunk?fieldManager=other`, "strategic", {
        spec: { template: { spec: { containers: [more] } } },
      });
      const smaller = { ...first, ports: ports.slice(0, 1) };
      const { body } = await applyDeployment("shrunk", {
        template: toTemplate({ containers: [smaller] }),
      });
      const containers = toContainers(body);
      expect(containers.map(({ name }) => name)).toEqual(["a"]);
      expect(containers[0]).toMatchObject({
        ports: [{ containerPort: 1 }],
        env: [{ name: "Y", value: "2" }],
      });
      expect(containers[0]).not.toHaveProperty("command");
    });

    test("counts changes of its spec and of its annotations, not of labels and status", async () => {
      const { client } = use();
      const path = `${DEPLOYMENTS}/counted`;
      const generations = [(await applyDeployment("counted", {})).body.metadata["generation"]];
      const patch = async (to: string, change: object): Promise<void> => {
        const { body } = await client.patch(to, "merge", change);
        generations.push(body.metadata["generation"]);
      };
      await patch(path, { metadata: { labels: { a: "b" } } });
      await patch(path, { spec: { replicas: 2 } });
      await patch(path, { metadata: { annotations: { a: "b" } } });
      await patch(`${path}/status`, { status: { observedGeneration: 3, replicas: 2 } });
      expect(generations).toEqual([1, 1, 2, 3, 3]);
      expect((await client.get(path)).body.status).toMatchObject({ observedGeneration: 3 });
    });

    test("begins without a status", async () => {
      const { status } = (await applyDeployment("fresh", {}, { status: { replicas: 3 } })).body;
      expect({ status }).not.toMatchObject({ status: { replicas: 3 } });
    });

    test.each([
      ["whose selector does not select its Pods", { selector: { matchLabels: { app: "other" } } }],
      ["without a selector", { selector: null }],
      ["without a container", { template: toTemplate({ containers: null }) }],
    ])("is refused %s", async (_, spec) => {
      const body = toDeployment("refused", spec);
      const answer = await use().client.send("POST", DEPLOYMENTS, body);
      expect([answer.status, answer.body.reason]).toEqual([422, "Invalid"]);
    });

    test("keeps its selector", async () => {
      await applyDeployment("selected", {});
      const labels = { app: "selected", more: "yes" };
      const answer = await applyDeployment("selected", {
        selector: { matchLabels: labels },
        template: { ...toTemplate(), metadata: { labels } },
      });
      expect([answer.status, answer.body.reason]).toEqual([422, "Invalid"]);
    });
  });

  describe("a Service that is applied", () => {
    const applyService = (name: string, nodePort: number): Promise<Answer> =>
      apply(`${SERVICES}/${name}`, {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name },
        spec: { type: "NodePort", ports: [{ name: "api", port: 6443, protocol: "TCP", nodePort }] },
      });

    test("gets the node port that it asks for, keeps its address, and is not written again", async () => {
      const first = await applyService("wanted", 30_071);
      expect([first.status, first.body.spec]).toMatchObject([
        201,
        { ports: [{ nodePort: 30_071 }] },
      ]);
      const again = await applyService("wanted", 30_071);
      expect(again.body.metadata.resourceVersion).toBe(first.body.metadata.resourceVersion);
      const moved = await applyService("wanted", 30_072);
      expect(moved.body.spec).toMatchObject({
        clusterIP: first.body.spec?.["clusterIP"],
        ports: [{ nodePort: 30_072 }],
      });
    });

    test("is refused when another Service has the node port", async () => {
      await applyService("first", 30_073);
      const { status, body } = await applyService("second", 30_073);
      expect([status, body.reason]).toEqual([422, "Invalid"]);
      expect(body.message).toContain("provided port is already allocated");
      const field = "spec.ports[0].nodePort";
      expect(body.details).toMatchObject({ causes: [{ reason: "FieldValueInvalid", field }] });
    });
  });

  test("a Secret keeps its text as data, and its type", async () => {
    const { client } = use();
    const metadata = { name: "told" };
    const { body } = await client.send("POST", SECRETS, {
      metadata,
      data: { a: "MQ==", b: "Mg==" },
      stringData: { b: "3" },
    });
    expect(body).toMatchObject({ type: "Opaque", data: { a: "MQ==", b: "Mw==" } });
    expect(body).not.toHaveProperty("stringData");
    const answer = await client.patch(`${SECRETS}/told`, "merge", { type: "other" });
    expect([answer.status, answer.body.reason]).toEqual([422, "Invalid"]);
  });

  test("a PodDisruptionBudget counts changes of its spec", async () => {
    const apiVersion = "policy/v1";
    const path = `/apis/${apiVersion}/${NAMESPACE}/poddisruptionbudgets/budget`;
    const applyBudget = async (minAvailable: number, labels: object): Promise<unknown> => {
      const spec = { minAvailable, selector: { matchLabels: { app: "a" } } };
      const metadata = { name: "budget", labels };
      const kind = "PodDisruptionBudget";
      return (await apply(path, { apiVersion, kind, metadata, spec })).body.metadata["generation"];
    };
    expect(await applyBudget(1, {})).toBe(1);
    expect(await applyBudget(1, { a: "b" })).toBe(1);
    expect(await applyBudget(2, {})).toBe(2);
  });

  test("a RoleBinding is for one role for ever, a Role may change", async () => {
    const kinds = `${RBAC}/${NAMESPACE}`;
    const head = { apiVersion: "rbac.authorization.k8s.io/v1", metadata: { name: "r" } };
    const rule = { apiGroups: [""], resources: ["configmaps"], verbs: ["get"] };
    const applyRole = (resourceNames: readonly string[]): Promise<Answer> =>
      apply(`${kinds}/roles/r`, { ...head, kind: "Role", rules: [{ ...rule, resourceNames }] });
    const applyBinding = (name: string): Promise<Answer> =>
      apply(`${kinds}/rolebindings/r`, {
        ...head,
        kind: "RoleBinding",
        subjects: [{ kind: "ServiceAccount", name: "default", namespace: "default" }],
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name },
      });
    expect((await applyRole(["a"])).status).toBe(201);
    expect((await applyRole(["b"])).body).toMatchObject({ rules: [{ resourceNames: ["b"] }] });
    expect((await applyBinding("r")).status).toBe(201);
    expect((await applyBinding("other")).body.reason).toBe("Invalid");
  });
}

function toDeployment(name: string, spec: object, more: object = {}): object {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name },
    spec: { selector: { matchLabels: { app: "a" } }, template: toTemplate(), ...spec },
    ...more,
  };
}

function toTemplate(spec: object = {}): object {
  const containers = [{ name: "c", image: IMAGE }];
  return { metadata: { labels: { app: "a" } }, spec: { containers, ...spec } };
}

interface WireContainer {
  readonly name: string;
}

function toContainers({ spec }: WireObject): readonly WireContainer[] {
  const parts = { template: { spec: { containers: [] } }, ...spec };
  return parts.template.spec.containers;
}
