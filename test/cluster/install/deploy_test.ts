/**
 * What is in deploy/, with a real Helm, a real kubectl and a real API server.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DEFINITIONS } from "../../../deploy/clouds.ts";
import { renderFiles } from "../../../deploy/files.ts";
import { listRights, needAll } from "../../../lib/app/rights.ts";
import { parseFlags } from "../../../lib/cli/flags/mod.ts";
import { VERSION } from "../../../lib/cli/version.ts";
import { YAML_SYNTAX } from "../../../lib/config/yaml_syntax.ts";
import type { Access } from "../../../lib/kube/access/rights.ts";
import { LEASE, RIGHTS } from "../../support/process/cluster_rig.ts";
import { readJson } from "../../support/kube/contract/client.ts";
import { type Cluster, skipsCluster, startCluster } from "../../support/process/cluster.ts";
import {
  CHART,
  type Manifest,
  readManifests,
  RELEASE,
  renderChart,
  renderHook,
  renderNotes,
  requireTool,
  runTool,
  type ToolResult,
  withChart,
  withFile,
} from "../../support/deploy/deploy_tools.ts";
import { type Alert, readDashboard, readRules } from "../../support/deploy/monitoring.ts";
import { listModelProblems } from "../../support/kube/kube_model.ts";
import { readWorkload, RolloutModel } from "../../support/deploy/rollout_model.ts";
import { findHelm, findKubectl } from "../../support/kube/kubectl.ts";
import { ROOT } from "../../support/sources.ts";

const isSkipped = skipsCluster();
const helm = (await findHelm()) ?? "";
const kustomize = (await findKubectl()) ?? "";
const kubectl = isSkipped ? "" : kustomize;

const NEW_NAME = "registry.example.com:5000/infra/landfall";
const DIGEST = `sha256:${"a".repeat(64)}`;

/** What users of the Apache provider have. */
const CLOUD_CONFIG =
  "[Global]\napi-url = https://cloud.example.com/client/api\napi-key = k\nsecret-key = s\n";

/** Values that people set, each with what they change. */
const CASES: Readonly<Record<string, object>> = {
  "nothing set": {},
  "another strategy": { updateStrategy: { type: "OnDelete" } },
  "a Deployment": { useDaemonSet: false },
  "a careful Deployment": {
    useDaemonSet: false,
    updateStrategy: { rollingUpdate: { maxUnavailable: 1 } },
    podDisruptionBudget: { enabled: true },
  },
  "an existing Secret alone": { existingConfigSecret: "mine", existingConfigSecretKey: "xo.yaml" },
  "settings of its own": { config: { url: "https://xo.example.com", token: "secret" } },
  "every kind of setting, and some left empty": {
    config: {
      url: "https://xo.example.com",
      token: "secret",
      username: null,
      insecure: "",
      addresses: { exclude: ["10.0.0.1"], mainIpAsExternal: true, network: "" },
      deletion: { enabled: false, confirmations: 5, fleetShare: 0.2, holdOff: "" },
    },
    enabledControllers: ["*", "-cloud-node-lifecycle-controller"],
    extraArgs: ["--v=4", "-v2", "--concurrent_node_syncs=8", "--logging-format=json"],
  },
  "SIPClusters alone": { enabledControllers: ["sipcluster"], useHostNetwork: false },
  "Vinos alone": { enabledControllers: ["vino"], existingConfigSecret: "mine" },
  "Vinos with management controllers": {
    enabledControllers: ["vino"],
    existingConfigSecret: "mine",
    useDaemonSet: false,
    useHostNetwork: false,
    networkPolicy: { enabled: true },
    redfish: { enabled: true, tlsSecret: "redfish-tls", service: { type: "LoadBalancer" } },
  },
  "SIPClusters in all namespaces": {
    enabledControllers: ["sipcluster"],
    rbac: { clusterWide: true },
  },
  "SIPClusters beside a cloud": { enabledControllers: ["*", "sipcluster"] },
  "an inventory of its own": {
    cloudProvider: "static",
    config: {
      instances: [
        {
          id: "a",
          name: "a",
          addresses: [{ type: "Hostname", address: "a" }],
          labels: { any: "b" },
        },
      ],
      deletion: { enabled: false },
    },
  },
  CloudStack: { cloudProvider: "external-cloudstack" },
  "CloudStack and the text of cloud-config": {
    cloudProvider: "external-cloudstack",
    config: CLOUD_CONFIG,
    enabledControllers: ["*", "-service"],
  },
  "CloudStack and settings in YAML": {
    cloudProvider: "external-cloudstack",
    config: { apiUrl: "https://cloud.example.com/client/api", deletion: { enabled: false } },
  },
  "CloudStack and an existing Secret": {
    cloudProvider: "external-cloudstack",
    existingConfigSecret: "mine",
    leaderElection: { resourceName: "own" },
  },
  "the environment alone": {
    extraEnvs: [
      { name: "XOA_URL", value: "https://xo.example.com" },
      { name: "XOA_TOKEN", valueFrom: { secretKeyRef: { name: "xo", key: "token" } } },
    ],
    extraArgs: ["--node-monitor-period=10s", "--v=4"],
  },
  "the pod network": {
    useHostNetwork: false,
    networkPolicy: {
      enabled: true,
      from: [{ namespaceSelector: { matchLabels: { name: "monitoring" } } }],
      egress: [{ ports: [{ port: 443, protocol: "TCP" }] }],
    },
  },
  "everything else": {
    useDaemonSet: false,
    replicaCount: 3,
    image: { repository: "registry.example.com/landfall", digest: DIGEST },
    imagePullSecrets: [{ name: "registry" }],
    fullnameOverride: "xenorchestra-cloud-controller-manager",
    commonLabels: { team: "infra" },
    podLabels: { "example.com/a": "b" },
    podAnnotations: { "example.com/c": "d" },
    hostAliases: [{ ip: "10.0.0.1", hostnames: ["xo.example.com"] }],
    nodeSelector: { "kubernetes.io/os": "linux" },
    updateStrategy: { type: "Recreate" },
    serviceAccount: { annotations: { "example.com/e": "f" } },
    serviceMonitor: { enabled: true, labels: { release: "prometheus" }, interval: "30s" },
    prometheusRule: {
      enabled: true,
      labels: { release: "prometheus" },
      runbookUrl: "https://git.example.com/troubleshooting.md",
    },
    dashboard: { enabled: true, annotations: { grafana_folder: "Kubernetes" } },
    initContainers: [{ name: "wait", image: "busybox:1", command: ["true"] }],
    extraVolumes: [{ name: "ca", configMap: { name: "ca" } }],
    extraVolumeMounts: [{ name: "ca", mountPath: "/ca", readOnly: true }],
    topologySpreadConstraints: [
      { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "ScheduleAnyway" },
    ],
  },
};

describe.skipIf(helm === "")("deploy/chart", () => {
  test("passes helm lint --strict", async () => {
    const { code, stdout } = await runTool(helm, ["lint", "--strict", CHART]);
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining("0 chart") });
    expect(stdout).not.toContain("[WARNING]");
  });

  test.each([
    ["nothing set", "daemonset", {}],
    ["a Deployment", "deployment", { useDaemonSet: false }],
    ["CloudStack", "cloudstack/daemonset", CASES["CloudStack"] ?? {}],
    ["CloudStack", "cloudstack/deployment", { ...CASES["CloudStack"], useDaemonSet: false }],
  ])("renders, with %s, what deploy/manifests/%s.yaml has", async (_title, file, values) => {
    const text = await readFile(join(ROOT, `deploy/manifests/${file}.yaml`), "utf8");
    const rendered = await render(values);
    expect(byName(rendered.map(withoutHelm))).toEqual(byName(readManifests(text)));
  });

  test.each(Object.entries(CASES))(
    "with %s, starts run with flags that it takes without a warning",
    async (_title, values) => {
      const [command, ...flags] = readContainer(await render(values)).args;
      expect(command).toBe("run");
      // The kubelet does this.
      const read = flags.map((flag) => flag.replace("$(POD_IP)", "10.0.0.1"));
      expect(parseFlags(read).warnings).toEqual([]);
    },
  );

  test("puts the settings into a Secret of its own, and starts again when they change", async () => {
    const config = { url: "https://xo.example.com", token: "a: b" };
    const objects = await render({ config });
    const secret = objects.find(({ kind }) => kind === "Secret");
    expect(secret?.metadata.name).toBe("landfall");
    const data = (secret as { data?: Record<string, string> } | undefined)?.data ?? {};
    expect(readManifests(atob(data["config.yaml"] ?? ""))).toEqual([config as never]);
    const [one, other] = await Promise.all(
      [{ config }, { config: { ...config, token: "c" } }].map(readChecksum),
    );
    expect(one).toMatch(/^[0-9a-f]{64}$/);
    expect(other).not.toBe(one);
  });

  test.each<[string, readonly [secret: string, lease: string, data: string | undefined]]>([
    ["CloudStack", ["cloudstack-secret", "cloud-controller-manager", undefined]],
    [
      "CloudStack and the text of cloud-config",
      ["landfall", "cloud-controller-manager", CLOUD_CONFIG],
    ],
    [
      "CloudStack and settings in YAML",
      [
        "landfall",
        "cloud-controller-manager",
        "apiUrl: https://cloud.example.com/client/api\ndeletion:\n  enabled: false",
      ],
    ],
    ["CloudStack and an existing Secret", ["mine", "own", undefined]],
  ])("reads, with %s, the file cloud-config, and holds one Lease", async (title, wanted) => {
    const objects = await render(CASES[title] ?? {});
    const [secret, lease, data] = wanted;
    const { args } = readContainer(objects);
    expect(args).toContain("--cloud-provider=external-cloudstack");
    expect(args).toContain("--cloud-config=/etc/landfall/cloud-config");
    expect(args).toContain(`--leader-elect-resource-name=${lease}`);
    // All keys become files: those of api-key-file are among them.
    expect(readPod(objects).volumes).toMatchObject([{ secret: { secretName: secret } }]);
    expect(JSON.stringify(readPod(objects).volumes)).not.toContain("items");
    const written = objects.find(({ kind }) => kind === "Secret")?.["data"];
    expect(written).toEqual(data === undefined ? undefined : { "cloud-config": btoa(data) });
    const role = objects.find(({ kind }) => kind === "Role")?.["rules"];
    expect(role).toContainEqual(expect.objectContaining({ resourceNames: [lease] }));
  });

  test("mounts another key of an existing Secret by the name of the cloud's file", async () => {
    const values = {
      ...CASES["CloudStack"],
      existingConfigSecret: "mine",
      existingConfigSecretKey: "ini",
    };
    expect(readPod(await render(values)).volumes).toMatchObject([
      { secret: { secretName: "mine", items: [{ key: "ini", path: "cloud-config" }] } },
    ]);
  });

  test("takes settings that are no YAML as text, as they are", async () => {
    const INI = { name: "ini", settings: [], syntax: { ...YAML_SYNTAX, name: "INI" } };
    const text = "[Global]\nurl = https://cloud.example.com\n";
    await withChart(renderFiles([...DEFINITIONS, INI]), async (chart) => {
      const rendered = async (values: object): Promise<ToolResult> =>
        await renderChart(helm, values, RELEASE, chart);
      const { stdout, stderr } = await rendered({ cloudProvider: "ini", config: text });
      expect(stderr).toBe("");
      const objects = readManifests(stdout);
      expect(objects.find(({ kind }) => kind === "Secret")?.["data"]).toEqual({
        "config.ini": btoa(text),
      });
      expect(readContainer(objects).args).toContain("--cloud-config=/etc/landfall/config.ini");
      for (const values of Object.values(CASES)) {
        expect(await rendered(values)).toEqual(await renderChart(helm, values));
      }
      for (const [cloudProvider, config] of [
        ["ini", { url: "x" }],
        ["xenorchestra", text],
      ]) {
        expect((await rendered({ cloudProvider, config })).stderr).toContain("at '/config': got");
      }
    });
  });

  test.each([
    [{ repository: "r.example.com/a" }, `r.example.com/a:${VERSION}`],
    [{ repository: "r.example.com/a", tag: "1" }, "r.example.com/a:1"],
    [{ repository: "r.example.com/a", tag: "1", digest: DIGEST }, `r.example.com/a@${DIGEST}`],
  ])("runs the image %j in its pods and in its hook", async (image, name) => {
    expect(readContainer(await render({ image })).image).toBe(name);
    expect(JSON.stringify(await renderHook(helm, { image }))).toContain(`"image":"${name}"`);
  });

  test("has the alerts of deploy/monitoring, each with the page that explains it", async () => {
    const rules = await readRules();
    const page = "https://git.example.com/docs/troubleshooting.md";
    const rendered = async (runbookUrl: string): Promise<unknown> => {
      const objects = await render({ prometheusRule: { enabled: true, runbookUrl } });
      return objects.find(({ kind }) => kind === "PrometheusRule")?.spec;
    };
    const expected = (toUrl: (annotations: Alert["annotations"]) => object): object => ({
      groups: rules.groups.map((group) => ({
        ...group,
        rules: group.rules.map(({ annotations, ...rule }) => {
          const { runbook_url: _, ...rest } = annotations;
          return { ...rule, annotations: { ...rest, ...toUrl(annotations) } };
        }),
      })),
    });
    expect(await rendered("")).toEqual(expected(() => ({})));
    expect(await rendered(page)).toEqual(
      expected(({ runbook_url = "" }) => ({
        runbook_url: `${page}#${runbook_url.split("#")[1]}`,
      })),
    );
  });

  test("has the dashboard of deploy/monitoring where Grafana's sidecar looks for it", async () => {
    const objects = await render({ dashboard: { enabled: true } });
    const map = objects.find(({ kind }) => kind === "ConfigMap");
    expect(map?.metadata.labels).toMatchObject({ grafana_dashboard: "1" });
    const data = map?.["data"] as Readonly<Record<string, string>> | undefined;
    expect(JSON.parse(data?.["landfall.json"] ?? "")).toEqual(await readDashboard());
  });

  test("mounts an existing Secret alone, and makes none", async () => {
    const objects = await render({ existingConfigSecret: "mine" });
    expect(objects.some(({ kind }) => kind === "Secret")).toBe(false);
    const container = readContainer(objects);
    expect(container.args).toContain("--cloud-config=/etc/landfall/config.yaml");
    expect(container.volumeMounts).toMatchObject([{ mountPath: "/etc/landfall" }]);
    expect(readPod(objects).volumes).toMatchObject([{ secret: { secretName: "mine" } }]);
  });

  test("takes settings of the environment alone without a file", async () => {
    const objects = await render(CASES["the environment alone"] ?? {});
    expect(readContainer(objects).args.join(" ")).not.toContain("--cloud-config");
    expect(readPod(objects).volumes).toBeUndefined();
  });

  test("renders rollingUpdate only for a strategy that knows it", async () => {
    const [rolling] = await renderWorkload({ updateStrategy: { rollingUpdate: { maxSurge: 1 } } });
    expect(rolling).toMatchObject({
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } },
    });
    const [recreate] = await renderWorkload({
      useDaemonSet: false,
      updateStrategy: { type: "Recreate" },
    });
    expect(recreate).toMatchObject({ strategy: { type: "Recreate" } });
    expect(JSON.stringify(recreate)).not.toContain("rollingUpdate");
  });

  test.each<[string, object, number]>([
    ["nothing set", {}, 1],
    ["nothing set", {}, 2],
    ["nothing set", {}, 3],
    ["a Deployment", { useDaemonSet: false }, 1],
    ["a Deployment", { useDaemonSet: false }, 2],
    ["a careful Deployment", CASES["a careful Deployment"] ?? {}, 3],
    ["a Deployment on the pod network", { useDaemonSet: false, useHostNetwork: false }, 1],
    ["one replica", { useDaemonSet: false, replicaCount: 1 }, 1],
  ])("with %s can be upgraded and drained (%#)", async (_title, values, nodes) => {
    const model = new RolloutModel(readWorkload(await render(values)), nodes);
    const before = model.updated;
    expect(before).toBeGreaterThan(0);
    model.roll();
    expect(model.updated).toBe(before);
    for (let node = 0; node < nodes; node += 1) {
      expect(model.drain(node)).toBe(true);
      model.uncordon(node);
    }
    expect(model.updated).toBe(before);
  });

  test.each<[string, object, number]>([
    ["nothing set", {}, 4],
    ["it switched off", { leaderElection: { releaseOnUninstall: false } }, 0],
    ["no rights of its own", { rbac: { create: false } }, 0],
    ["no account of its own", { serviceAccount: { create: false, name: "mine" } }, 0],
  ])("has a hook that stops it before its rights go, with %s", async (_title, values, count) => {
    expect(await renderHook(helm, values)).toHaveLength(count);
  });

  test.each(Object.entries(CASES))(
    "with %s, has a hook for its workload, which may do nothing else",
    async (_title, values) => {
      const hook = await renderHook(helm, values);
      const objects = await render(values);
      expect(hook.flatMap(listModelProblems)).toEqual([]);
      const workload = objects.find(isWorkload);
      const { name = "", namespace = "" } = workload?.metadata ?? {};
      const kind = workload?.kind.toLowerCase() ?? "";
      const rules = hook.find((one) => one.kind === "Role")?.["rules"];
      expect(rules).toEqual([
        {
          apiGroups: ["apps"],
          resources: [`${kind}s`],
          resourceNames: [name],
          verbs: ["get", "delete"],
        },
      ]);
      const job = hook.find((one) => one.kind === "Job");
      const template = job?.spec?.["template"] as PodTemplate | undefined;
      if (template === undefined) throw new Error("Cannot find the Job");
      const { spec, metadata } = template;
      expect(spec.containers[0]?.args).toEqual([
        "stop-workload",
        kind,
        namespace,
        name,
        "landfall",
      ]);
      // No port, so that it fits beside a replica on the host's network.
      expect(spec.containers[0]?.ports).toBeUndefined();
      const selector = workload?.spec?.["selector"] as { readonly matchLabels: object };
      const isSelected = Object.entries(selector.matchLabels).every(
        ([label, value]) => metadata.labels[label] === value,
      );
      expect(isSelected).toBe(false);
    },
  );

  test("goes into any namespace by any name; the Lease and the right to it stay in kube-system", async () => {
    const release = { name: "xo", namespace: "clouds" };
    const { stdout } = await renderChart(helm, { serviceMonitor: { enabled: true } }, release);
    const objects = readManifests(stdout);
    expect(new Set(objects.map(({ metadata }) => metadata.name))).toEqual(new Set(["xo-landfall"]));
    const placed = objects.filter(({ kind }) => !kind.startsWith("ClusterRole"));
    expect(placed.map(({ kind, metadata }) => [kind, metadata.namespace])).toEqual(
      placed.map(({ kind }) => [kind, kind.startsWith("Role") ? "kube-system" : "clouds"]),
    );
    const bound = objects.filter(({ kind }) => kind.endsWith("RoleBinding"));
    const subject = { kind: "ServiceAccount", name: "xo-landfall", namespace: "clouds" };
    expect(bound.map((one) => one["subjects"])).toEqual([[subject], [subject]]);
  });

  describe("with SIPClusters and Vinos", () => {
    const enabledControllers = ["sipcluster", "vino"];
    const listBindings = async (rbac: object, ...more: string[]): Promise<string[]> => {
      const values = { enabledControllers, existingConfigSecret: "mine", rbac };
      const { stdout } = await renderChart(helm, values, RELEASE, CHART, more);
      return readManifests(stdout)
        .filter(({ kind }) => kind.endsWith("Binding"))
        .map(({ kind, metadata: { name, namespace } }) => `${kind} ${name} ${namespace ?? "*"}`);
    };
    const base = ["ClusterRoleBinding landfall *", "RoleBinding landfall kube-system"];
    const policy = "ValidatingAdmissionPolicyBinding landfall *";

    test("gives rights on Secrets and workloads only in the namespaces that values name", async () => {
      expect(await listBindings({})).toEqual([...base, policy]);
      const named = { tenantNamespaces: ["a", "b"], hostNamespaces: ["metal"] };
      expect(await listBindings(named)).toEqual([
        ...base,
        "RoleBinding landfall-tenant a",
        "RoleBinding landfall-tenant b",
        "RoleBinding landfall-hosts metal",
        policy,
      ]);
      const values = { enabledControllers: ["sipcluster"], rbac: named };
      const { stdout } = await renderChart(helm, values);
      expect(readContainer(readManifests(stdout)).args).toContain("--sip-host-namespaces=metal");
      const all = readManifests(stdout).find(({ kind }) => kind === "ClusterRole");
      expect(JSON.stringify(all?.["rules"])).not.toMatch(/secrets|rolebindings|serviceaccounts/);
    });

    test("gives them everywhere if values say so, and has no policy where it is off or unknown", async () => {
      const everywhere = "ClusterRoleBinding landfall-tenant *";
      expect(await listBindings({ clusterWide: true })).toEqual([
        "ClusterRoleBinding landfall *",
        everywhere,
        "RoleBinding landfall kube-system",
        policy,
      ]);
      expect(await listBindings({ admissionPolicy: false })).toEqual(base);
      expect(await listBindings({}, "--kube-version=1.29.9")).toEqual(base);
    });

    test("refuses kube-system", async () => {
      const rbac = { tenantNamespaces: ["kube-system"] };
      const { code, stderr } = await renderChart(helm, { enabledControllers, rbac });
      expect([code, stderr]).toEqual([1, expect.stringContaining("kube-system has accounts that")]);
    });
  });

  test("goes by a release with a dot in its name, which no Service may have", async () => {
    const { stdout } = await renderChart(helm, {}, { name: "xo.paris", namespace: "clouds" });
    const names = new Set(readManifests(stdout).map(({ metadata }) => metadata.name));
    expect(names).toEqual(new Set(["xo-paris-landfall"]));
  });

  test.each([
    ["what is so anyway", "--leader-elect=true"],
    ["an address of its own", "--bind-address=$(POD_IP)"],
    ["all addresses", "--bind-address=::"],
    ["addresses of IPv4 that begin as loopback does", "--bind-address=12.7.0.1"],
  ])("takes the flag that says %s", async (_title, flag) => {
    const { args } = readContainer(await render({ extraArgs: [flag] }));
    expect(args.at(-1)).toBe(flag);
  });

  test.each<[string, object, string]>([
    ["an existing Secret", { existingConfigSecret: "mine" }, "key config.yaml of the Secret mine"],
    ["a Secret of its own", { config: { url: "x" } }, "which this release created"],
    ["CloudStack", CASES["CloudStack"] ?? {}, "cloudstack-secret, which must exist"],
    ["CloudStack", CASES["CloudStack"] ?? {}, "get lease cloud-controller-manager\n"],
    ["Xen Orchestra", {}, "get lease cloud-controller-manager-xenorchestra\n"],
    ["the environment", CASES["the environment alone"] ?? {}, "from environment variables"],
    ["a DaemonSet", {}, "rollout status daemonset/landfall"],
    ["a DaemonSet without Nodes for it", {}, "no pod runs; set useDaemonSet to false"],
    ["a Deployment on one Node", { useDaemonSet: false }, "set replicaCount to 1"],
    ["one replica", { useDaemonSet: false, replicaCount: 1 }, "1 replica runs on any Nodes"],
  ])("says after the installation, with %s, where to look", async (_title, values, words) => {
    expect(await renderNotes(helm, values)).toContain(words);
  });

  test.each<[string, object, string]>([
    [
      "no image",
      { image: { repository: "" } },
      "image.repository is required: build the image, push it to your registry",
    ],
    ["a digest that is none", { image: { digest: "sha256:abc" } }, "at '/image/digest'"],
    ["a digest in the place of a tag", { image: { tag: DIGEST } }, "at '/image/tag'"],
    [
      "a runbook that is no page",
      { prometheusRule: { runbookUrl: "docs/guides/troubleshooting.md" } },
      "at '/prometheusRule/runbookUrl'",
    ],
    ["a value that does not exist", { replicas: 2 }, "replicas"],
    ["a nested one", { image: { name: "x" } }, "name"],
    ["text for a number", { replicaCount: "two" }, "replicaCount"],
    ["a number for text", { existingConfigSecret: 1 }, "existingConfigSecret"],
    ["a pull policy that does not exist", { image: { pullPolicy: "Sometimes" } }, "pullPolicy"],
    ["arguments that are no flags", { extraArgs: ["v=2"] }, "extraArgs"],
    ["a flag that does not exist", { extraArgs: ["--node-monitor-perid=10s"] }, "extraArgs"],
    ["a misspelt deletion switch", { config: { deletion: { enable: false } } }, "'enable'"],
    ["a misspelt deletion block", { config: { deletions: { enabled: false } } }, "'deletions'"],
    ["a setting in the wrong block", { config: { enabled: false } }, "'enabled'"],
    [
      "text for a deletion switch",
      { config: { deletion: { enabled: "no" } } },
      "at '/config/deletion/enabled': got string, want boolean",
    ],
    [
      "a number for a duration",
      { config: { refreshInterval: 30 } },
      "at '/config/refreshInterval': got number, want string",
    ],
    [
      "settings of another cloud",
      { cloudProvider: "static", config: { url: "https://xo.example.com" } },
      "'url'",
    ],
    [
      "a misspelt key of a list item",
      { cloudProvider: "static", config: { instances: [{ id: "a", name: "a", zonne: "b" }] } },
      "'zonne'",
    ],
    ["a cloud that does not exist", { cloudProvider: "xenorchstra" }, "cloudProvider"],
    [
      "a controller that does not exist",
      { enabledControllers: ["cloud-node", "cloud-nodes-lifecycle"] },
      "enabledControllers/1",
    ],
    ["variables without a name", { extraEnvs: [{ value: "x" }] }, "name"],
    ["names that no Service can have", { fullnameOverride: "my.name" }, "fullnameOverride"],
    ["a name that no label can have", { nameOverride: "a".repeat(64) }, "nameOverride"],
    [
      "no election as a flag",
      { extraArgs: ["--leader_elect=false"] },
      "--leader-elect: leader election is always on",
    ],
    [
      "another Lease as a flag",
      { extraArgs: ["--leader-elect-resource-name=other"] },
      "set leaderElection.resourceName",
    ],
    [
      "a Lease elsewhere",
      { extraArgs: ["--leader-elect-resource-namespace=clouds"] },
      "--leader-elect-resource-namespace: ",
    ],
    [
      "an address that no probe reaches",
      { extraArgs: ["--bind-address=127.0.0.1"] },
      "--bind-address: the probes",
    ],
    [
      "the loopback address of IPv6",
      { extraArgs: ["--bind_address=::1"] },
      "--bind-address: the probes",
    ],
    [
      "rights for the account of every pod",
      { serviceAccount: { create: false } },
      "serviceAccount.name",
    ],
    [
      "a port that no probe asks at",
      { extraArgs: ["-secure-port=1"] },
      "--secure-port: the probes",
    ],
    [
      "a second list of controllers",
      { extraArgs: ["--v=4", "--controllers=-cloud-node"] },
      "set enabledControllers",
    ],
    ["a Lease that is no name", { leaderElection: { resourceName: "My Lease" } }, "resourceName"],
    [
      "a misspelt setting of CloudStack",
      { cloudProvider: "external-cloudstack", config: { apiURL: "https://cloud.example.com" } },
      "'apiURL'",
    ],
    [
      "a controller of CloudStack that does not exist",
      { cloudProvider: "external-cloudstack", enabledControllers: ["services"] },
      "enabledControllers/0",
    ],
    ["leader election switched off", { leaderElection: { enabled: false } }, "enabled"],
    ["two sources of settings", { config: { url: "x" }, existingConfigSecret: "y" }, "not both"],
    [
      "Recreate for a DaemonSet",
      { updateStrategy: { type: "Recreate" } },
      "does not support Recreate",
    ],
    [
      "OnDelete for a Deployment",
      { useDaemonSet: false, updateStrategy: { type: "OnDelete" } },
      "does not support OnDelete",
    ],
    ["a NetworkPolicy for the host's network", { networkPolicy: { enabled: true } }, "no effect"],
    [
      "a ServiceMonitor without a Service",
      { serviceMonitor: { enabled: true }, service: { enabled: false } },
      "needs service.enabled",
    ],
  ])("refuses %s, and says which", async (_title, values, word) => {
    const { code, stderr } = await renderChart(helm, values);
    expect(code).not.toBe(0);
    expect(stderr).toContain(word);
  });

  async function render(values: object): Promise<Manifest[]> {
    const { code, stdout, stderr } = await renderChart(helm, values);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    return readManifests(stdout);
  }

  async function renderWorkload(values: object): Promise<unknown[]> {
    return (await render(values)).filter(isWorkload).map(({ spec }) => spec);
  }

  async function readChecksum(values: object): Promise<unknown> {
    const text = JSON.stringify(await renderWorkload(values));
    return /"checksum\/config":"(\w+)"/.exec(text)?.[1];
  }
});

test("listModelProblems() finds what a current API server would not know", () => {
  const kind = "Deployment";
  expect(listModelProblems({ kind, spec: { replicas: 2, template: { spec: {} } } })).toEqual([]);
  const spec = { replicas: "2", template: { spec: { containers: [{ image: "a", tag: "b" }] } } };
  expect(listModelProblems({ kind, spec })).toEqual([
    "Deployment.spec.replicas: must be a number",
    "Deployment.spec.template.spec.containers[0].tag: there is no such field",
  ]);
});

describe.skipIf(kustomize === "")("deploy/manifests/kustomization.yaml", () => {
  test.each([
    [`newTag: ${VERSION}`, `${NEW_NAME}:${VERSION}`],
    ["newTag: edge", `${NEW_NAME}:edge`],
    [`digest: ${DIGEST}`, `${NEW_NAME}@${DIGEST}`],
  ])("sets the image of the workload to what people write into it (%s)", async (line, image) => {
    await withChart(new Map(), async (chart) => {
      const folder = join(chart, "manifests");
      await cp(join(ROOT, "deploy/manifests"), folder, { recursive: true });
      const file = join(folder, "kustomization.yaml");
      const text = await readFile(file, "utf8");
      expect(text.match(/^ {4}(newName: registry\.invalid\/landfall|newTag: .*)$/gm)).toHaveLength(
        2,
      );
      await writeFile(
        file,
        text.replace(/newName: .*/, `newName: ${NEW_NAME}`).replace(/newTag: .*/, line),
      );
      const objects = readManifests(await requireTool(kustomize, ["kustomize", folder]));
      expect(readContainer(objects).image).toBe(image);
      const written = readManifests(await readFile(join(folder, "daemonset.yaml"), "utf8"));
      expect(objects.length).toBe(written.length);
    });
  });
});

test.skipIf(kustomize === "")(
  "deploy/manifests/cloudstack/kustomization.yaml applies the workload of its folder",
  async () => {
    const folder = join(ROOT, "deploy/manifests/cloudstack");
    const objects = readManifests(await requireTool(kustomize, ["kustomize", folder]));
    expect(readContainer(objects).args).toContain("--cloud-provider=external-cloudstack");
  },
);

describe.skipIf(isSkipped || kubectl === "")("deploy/ on a real API server", () => {
  let cluster: Cluster | undefined;
  beforeAll(async () => {
    cluster = await startCluster();
    const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    for (const kind of ["ServiceMonitor", "PrometheusRule"])
      await cluster.create(path, toCrd(kind));
  }, 120_000);
  afterAll(() => cluster?.stop());

  /** Applies, first for show, then really, then once more, which must change nothing; and takes it away again. */
  async function applyAll(text: string): Promise<void> {
    const objects = readManifests(text);
    expect(objects.flatMap(listModelProblems)).toEqual([]);
    const list = { apiVersion: "v1", kind: "List", items: objects };
    await withFile(JSON.stringify(list), async (file) => {
      for (const [more, word] of [
        [["--dry-run=server"], "(server dry run)"],
        [[], " created"],
      ] as const) {
        const lines = await apply(file, more);
        expect(lines.filter((line) => line.endsWith(word))).toHaveLength(objects.length);
      }
      // kubectl calls some objects "configured" each time: it sends what it cannot compare, as selectors of budgets.
      const before = await listVersions(file);
      expect(before).toHaveLength(objects.length);
      await apply(file, []);
      expect(await listVersions(file)).toEqual(before);
      await requireTool(kubectl, [...toFlags(), "delete", "--wait=false", "--filename", file]);
    });
  }

  async function apply(file: string, more: readonly string[]): Promise<string[]> {
    const args = [...toFlags(), "apply", "--filename", file, ...more];
    const { code, stdout, stderr } = await runTool(kubectl, args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    return stdout.trim().split("\n");
  }

  async function listVersions(file: string): Promise<string[]> {
    const path = "jsonpath={range .items[*]}{.kind} {.metadata.resourceVersion}{'\\n'}{end}";
    const args = [...toFlags(), "get", "--filename", file, `--output=${path}`];
    return (await requireTool(kubectl, args)).trim().split("\n");
  }

  function toFlags(): string[] {
    const { adminKubeconfigPath = "", folder = "" } = cluster ?? {};
    return ["--kubeconfig", adminKubeconfigPath, "--cache-dir", join(folder, "kubectl-cache")];
  }

  test.each([
    "manifests/deployment.yaml",
    "manifests/daemonset.yaml",
    "manifests/rbac-user.yaml",
    "manifests/secret.example.yaml",
    "static-pod/landfall.yaml",
    "manifests/cloudstack/deployment.yaml",
    "manifests/cloudstack/daemonset.yaml",
    "manifests/cloudstack/rbac-user.yaml",
    "manifests/cloudstack/secret.example.yaml",
    "static-pod/cloudstack/landfall.yaml",
    "manifests/sipcluster/deployment.yaml",
    "manifests/sipcluster/rbac-user.yaml",
    "manifests/sipcluster/cluster-wide/clusterrolebinding.yaml",
    "manifests/sipcluster/admission-policy/policy.yaml",
    "manifests/vino/cluster-wide/clusterrolebinding.yaml",
    "manifests/vino/admission-policy/policy.yaml",
  ])("%s is accepted without a warning", async (path) => {
    await applyAll(await readFile(join(ROOT, "deploy", path), "utf8"));
  });

  test.each([
    ["daemonset.yaml", "system:serviceaccount:kube-system:landfall"],
    ["rbac-user.yaml", "landfall"],
    ["cloudstack/daemonset.yaml", "system:serviceaccount:kube-system:landfall"],
    ["cloudstack/rbac-user.yaml", "landfall"],
  ])("manifests/%s gives %s its rights and no others", async (path, user) => {
    const rights = path.startsWith("cloudstack/") ? CLOUDSTACK_RIGHTS : RIGHTS;
    const text = await readFile(join(ROOT, "deploy/manifests", path), "utf8");
    const items = readManifests(text);
    const list = { apiVersion: "v1", kind: "List", items };
    await withFile(JSON.stringify(list), async (file) => {
      await apply(file, []);
      const may = (one: Access): Promise<boolean> => mayUser(user, one);
      const granted = await Promise.all(rights.map(({ access }) => may(access)));
      expect(granted).toEqual(rights.map(() => true));
      // Without load balancers, of Services only whose addresses they are.
      const own = path.startsWith("cloudstack/") ? [] : SERVICE_RIGHTS;
      const forbidden = [...FORBIDDEN, ...own];
      const beyond = await Promise.all(forbidden.map(may));
      expect(forbidden.filter((_, at) => beyond[at])).toEqual([]);
      await requireTool(kubectl, [...toFlags(), "delete", "--wait=false", "--filename", file]);
    });
  });

  async function mayUser(user: string, resourceAttributes: Access): Promise<boolean> {
    const path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    const kinds = { apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview" };
    const response = await cluster?.adminFetch(path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...kinds, spec: { user, resourceAttributes } }),
    });
    if (response === undefined) throw new Error("Cannot ask: the cluster is not up");
    return (await readJson<{ status: { allowed: boolean } }>(response)).status.allowed;
  }

  test.skipIf(helm === "").each(Object.entries(CASES))(
    "the chart with %s is accepted without a warning",
    async (_title, values) => {
      await applyAll((await renderChart(helm, values)).stdout);
    },
  );
});

/** Of the Prometheus operator, as far as it matters here. */
function toCrd(kind: string): object {
  const singular = kind.toLowerCase();
  const openAPIV3Schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  return {
    metadata: { name: `${singular}s.monitoring.coreos.com` },
    spec: {
      group: "monitoring.coreos.com",
      scope: "Namespaced",
      names: { kind, plural: `${singular}s`, singular },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  };
}

const SERVICE_RIGHTS: readonly Access[] = [
  { group: "", resource: "services", verb: "get" },
  { group: "", resource: "services", subresource: "status", verb: "patch" },
  { group: "", resource: "namespaces", name: "kube-system", verb: "get" },
];

const LEASE_ACCESS = { group: "coordination.k8s.io", resource: "leases" } as const;
/** The same rights, with the Lease of the Apache provider. */
const CLOUDSTACK_RIGHTS = listRights(
  needAll({ namespace: "kube-system", name: "cloud-controller-manager" }),
);
/** What would be a way to more. */
const FORBIDDEN: readonly Access[] = [
  { group: "", resource: "secrets", verb: "get", namespace: "kube-system" },
  { group: "", resource: "configmaps", verb: "get", namespace: "kube-system" },
  { group: "", resource: "pods", verb: "list" },
  { group: "", resource: "services", verb: "update" },
  { group: "", resource: "services", verb: "delete" },
  { group: "", resource: "namespaces", verb: "list" },
  { group: "", resource: "serviceaccounts", verb: "create", namespace: "kube-system" },
  {
    group: "",
    resource: "serviceaccounts",
    subresource: "token",
    verb: "create",
    namespace: "kube-system",
  },
  { group: "", resource: "nodes", verb: "update" },
  { group: "", resource: "nodes", verb: "create" },
  { group: "", resource: "nodes", subresource: "proxy", verb: "get" },
  { ...LEASE_ACCESS, verb: "update", namespace: "kube-system", name: "kube-scheduler" },
  { ...LEASE_ACCESS, verb: "create", namespace: "kube-node-lease" },
  { ...LEASE_ACCESS, verb: "delete", namespace: "kube-system", name: LEASE.name },
  { ...LEASE_ACCESS, verb: "list", namespace: "kube-system" },
  { group: "rbac.authorization.k8s.io", resource: "clusterroles", verb: "bind" },
];

interface Container {
  readonly image: string;
  readonly args: readonly string[];
  readonly ports?: readonly object[];
  readonly volumeMounts?: readonly object[];
}

interface PodTemplate {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly spec: Pod;
}

interface Pod {
  readonly containers: readonly Container[];
  readonly volumes?: readonly object[];
}

function isWorkload({ kind }: Manifest): boolean {
  return kind === "Deployment" || kind === "DaemonSet";
}

function readPod(objects: readonly Manifest[]): Pod {
  const spec = objects.find(isWorkload)?.spec as { template: { spec: Pod } } | undefined;
  if (spec === undefined) throw new Error("Cannot find the workload");
  return spec.template.spec;
}

function readContainer(objects: readonly Manifest[]): Container {
  const [container] = readPod(objects).containers;
  if (container === undefined) throw new Error("Cannot find the container");
  return container;
}

/** Without the labels that Helm alone has. */
function withoutHelm(object: Manifest): Manifest {
  const json = JSON.stringify(object, (key, value: unknown) =>
    key === "helm.sh/chart" || key === "app.kubernetes.io/managed-by" ? undefined : value,
  );
  return JSON.parse(json);
}

/** The order of rules, and how verbs are divided between them, has no meaning. */
function byName(objects: readonly Manifest[]): Readonly<Record<string, object>> {
  return Object.fromEntries(
    objects.map((one) => {
      const rules = one["rules"];
      const single = ({ verbs, ...rule }: { readonly verbs: readonly string[] }): string[] =>
        verbs.map((verb) => JSON.stringify({ ...rule, verb }));
      const sorted = Array.isArray(rules) && { rules: rules.flatMap(single).toSorted() };
      return [`${one.kind} ${one.metadata.name}`, { ...one, ...sorted }];
    }),
  );
}
