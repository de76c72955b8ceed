/**
 * What is in deploy/ against the program.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { parseAllDocuments } from "yaml";
import type { ChartValues } from "../deploy/values/chart_value.ts";
import { CHART_VALUES } from "../deploy/values/chart_values.ts";
import { renderFiles } from "../deploy/files.ts";
import { listOutdatedFiles } from "../deploy/generate.ts";
import { toYaml } from "../deploy/yaml.ts";
import { CONTROLLER_NAMES } from "../lib/cli/flags/controllers.ts";
import { parseFlags } from "../lib/cli/flags/mod.ts";
import { VERSION } from "../lib/cli/version.ts";
import { ROOT } from "./support/sources.ts";

interface PodSpec {
  readonly hostNetwork: boolean;
  readonly dnsPolicy: string;
  readonly serviceAccountName?: string;
  readonly tolerations?: readonly { readonly key: string; readonly effect?: string }[];
  readonly securityContext: object;
  readonly volumes?: readonly object[];
  readonly containers: readonly { readonly image: string; readonly args: readonly string[] }[];
}

/** Of new Nodes, and of control planes made by kubeadm, k3s, RKE2, Talos and Cluster API. */
const TAINTS = [
  "node.cloudprovider.kubernetes.io/uninitialized:NoSchedule",
  "node.cluster.x-k8s.io/uninitialized:NoSchedule",
  "node.kubernetes.io/not-ready:NoExecute",
  "node-role.kubernetes.io/control-plane:NoSchedule",
  "node-role.kubernetes.io/etcd:NoExecute",
  "CriticalAddonsOnly:NoExecute",
];

const files = renderFiles();
/** What differs by cloud in the files of a folder below manifests/ and static-pod/. */
const CLOUDS = {
  "": {
    cloudProvider: "xenorchestra",
    cloudConfig: "/etc/landfall/config.yaml",
    lease: "cloud-controller-manager-xenorchestra",
    secret: "xenorchestra-cloud-controller-manager",
  },
  "cloudstack/": {
    cloudProvider: "external-cloudstack",
    cloudConfig: "/etc/landfall/cloud-config",
    lease: "cloud-controller-manager",
    secret: "cloudstack-secret",
  },
} as const;
const FOLDERS = ["", "cloudstack/"] as const;
const PODS = FOLDERS.flatMap((folder) => [
  `manifests/${folder}deployment.yaml`,
  `manifests/${folder}daemonset.yaml`,
  `static-pod/${folder}landfall.yaml`,
]);

/** Those that a scheduler places: a kubelet starts a static pod whatever the taints. */
const WORKLOADS = PODS.filter((path) => path.startsWith("manifests/"));

function toCloudOf(path: string): (typeof CLOUDS)[keyof typeof CLOUDS] {
  return CLOUDS[path.includes("cloudstack/") ? "cloudstack/" : ""];
}

function readObjects(path: string) {
  return parseAllDocuments(files.get(path) ?? "").map((one) => one.toJS());
}

function readPod(path: string): PodSpec {
  const objects = readObjects(path);
  const found = objects.find(({ kind }) => ["Deployment", "DaemonSet", "Pod"].includes(kind));
  return found.kind === "Pod" ? found.spec : found.spec.template.spec;
}

describe("deploy/", () => {
  test("is up to date; else run npm run deploy", async () => {
    expect(await listOutdatedFiles()).toEqual([]);
  });

  test.each(PODS)("%s has arguments that run takes without a warning", (path) => {
    const [command, ...flags] = readPod(path).containers[0]?.args ?? [];
    expect(command).toBe("run");
    const { settings, warnings } = parseFlags(flags);
    expect(warnings).toEqual([]);
    const available = CONTROLLER_NAMES.filter((one) => one.isAvailable && !one.isOffByDefault);
    const names = new Set(available.map(({ name }) => name));
    // Only with CloudStack, it can serve them without settings.
    if (!path.includes("cloudstack")) names.delete("service");
    expect(settings.controllers).toEqual(names);
    const { cloudProvider, cloudConfig, lease } = toCloudOf(path);
    expect(settings).toMatchObject({
      cloudProvider,
      cloudConfig,
      election: { namespace: "kube-system", name: lease },
      secure: { address: { port: 10258 }, alwaysAllowPaths: ["/healthz", "/readyz", "/livez"] },
      debugAddress: { host: "127.0.0.1" },
    });
  });

  test.each(PODS)("%s runs without privileges, and before there is a pod network", (path) => {
    const spec = readPod(path);
    expect(spec).toMatchObject({
      hostNetwork: true,
      dnsPolicy: "Default",
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 65_532,
        seccompProfile: { type: "RuntimeDefault" },
      },
      containers: [
        {
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ["ALL"] },
          },
          livenessProbe: { httpGet: { path: "/healthz", port: 10_258, scheme: "HTTPS" } },
          readinessProbe: { httpGet: { path: "/readyz", port: 10_258, scheme: "HTTPS" } },
        },
      ],
    });
  });

  test.each(PODS)("%s runs an image that no registry has, until it is set", (path) => {
    expect(readPod(path).containers.map(({ image }) => image)).toEqual([
      `registry.invalid/landfall:${VERSION}`,
    ]);
  });

  test("names no registry that is not ours", async () => {
    // CRDs describe the default images of services that Landfall makes for others.
    for (const [path, text] of [...files].filter(([path]) => !/\bcrds?\b/.test(path))) {
      expect(text.match(/ghcr\.io|quay\.io|docker\.io|gcr\.io/g), path).toBeNull();
    }
  });

  test.each(WORKLOADS)("%s tolerates the taints of new Nodes and of control planes", (path) => {
    const tolerated = readPod(path).tolerations ?? [];
    for (const taint of TAINTS) {
      const [key, effect] = taint.split(":");
      const found = tolerated.some(
        (one) => one.key === key && (one.effect === undefined || one.effect === effect),
      );
      expect(found, taint).toBe(true);
    }
  });

  test.each(FOLDERS)("static-pod/%slandfall.yaml has no service account", (folder) => {
    const pod = readPod(`static-pod/${folder}landfall.yaml`);
    expect(pod).toMatchObject({ automountServiceAccountToken: false });
    expect(pod.serviceAccountName).toBeUndefined();
  });

  test.each(WORKLOADS)("%s reads the Secret of its example, and may hold its own Lease", (path) => {
    const { secret, lease, cloudConfig } = toCloudOf(path);
    expect(readPod(path).volumes).toMatchObject([{ secret: { secretName: secret } }]);
    const [example] = readObjects(path.replace(/[a-z]+\.yaml$/, "secret.example.yaml"));
    expect(example.metadata.name).toBe(secret);
    expect(Object.keys(example.stringData)).toEqual([basename(cloudConfig)]);
    const user = path.replace(/[a-z]+\.yaml$/, "rbac-user.yaml");
    for (const objects of [readObjects(path), readObjects(user)]) {
      const role = objects.find(({ kind }) => kind === "Role");
      expect(
        role.rules.flatMap((rule: { resourceNames?: string[] }) => rule.resourceNames ?? []),
      ).toEqual([lease]);
    }
  });

  test("grants rights on Services only where the controller service is named", () => {
    for (const path of [...files.keys()].filter((one) => /^manifests\/.*\.yaml$/.test(one))) {
      const text = files.get(path) ?? "";
      if (!text.includes("kind: ClusterRole\n")) continue;
      expect([path, text.includes("services/status")]).toEqual([
        path,
        path.includes("cloudstack/"),
      ]);
    }
  });
});

describe("deploy/chart", () => {
  test("has no value that no template uses, and uses none that does not exist", async () => {
    const folder = join(ROOT, "deploy/chart/templates");
    const names = (await readdir(folder, { recursive: true })).filter((name) => name.includes("."));
    const texts = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
    const used = new Set(
      texts.flatMap((text) => [...text.matchAll(/\.Values\.(\w+)/g)].map(([, name = ""]) => name)),
    );
    expect([...used].toSorted()).toEqual(Object.keys(CHART_VALUES).toSorted());
  });

  test("has every value of the Go controller's chart that can mean the same", () => {
    const names = listPaths(CHART_VALUES);
    const wanted = GO_VALUES.split(/\s+/).filter(Boolean);
    expect(wanted.filter((name) => !names.includes(name))).toEqual([]);
  });
});

describe("toYaml()", () => {
  test("puts comments above keys and items", () => {
    const text = toYaml(
      { a: { b: [{ c: 1 }, "two"] } },
      { "a.b": "why b\nat all", "a.b.1": "two" },
    );
    expect(text).toBe("a:\n  # why b\n  # at all\n  b:\n    - c: 1\n    # two\n    - two\n");
  });

  test("refuses a comment whose place is not there", () => {
    expect(() => toYaml({ a: 1 }, { "b.c": "why" })).toThrow("Cannot comment b.c");
  });
});

const GO_VALUES = `
  replicaCount image.repository image.tag image.pullPolicy imagePullSecrets nameOverride
  fullnameOverride extraEnvs extraArgs enabledControllers logVerbosityLevel existingConfigSecret
  existingConfigSecretKey existingConfigSecretPath config serviceAccount.create serviceAccount.name
  serviceAccount.annotations priorityClassName initContainers hostAliases podAnnotations
  podSecurityContext securityContext resources useDaemonSet updateStrategy.type
  updateStrategy.rollingUpdate.maxUnavailable nodeSelector tolerations affinity extraVolumes
  extraVolumeMounts useHostNetwork
`;

function listPaths(values: ChartValues, above = ""): string[] {
  return Object.entries(values).flatMap(([key, one]) =>
    "values" in one ? listPaths(one.values, `${above}${key}.`) : [`${above}${key}`],
  );
}
