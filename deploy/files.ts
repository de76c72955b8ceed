/**
 * Every generated file of deploy/, by its path below that folder.
 * @module
 */
import { listSections } from "../lib/controllers/load.ts";
import { CONTROLLERS } from "../lib/controllers/mod.ts";
import { createChartValues } from "./chart_values.ts";
import { DEFINITIONS, type Installable, toCloud } from "./clouds.ts";
import { toConfigRules } from "./config_schema.ts";
import { type ChartValues, renderSchema, renderValues, renderValueTable } from "./chart_value.ts";
import { CONFIG_SECRET, IMAGE, LEASE, NAME } from "./names.ts";
import {
  createRbac,
  createSecretExample,
  createService,
  createServiceAccount,
  createWorkload,
} from "./objects.ts";
import { type Piece, POD_COMMENTS, type WorkloadKind } from "./pod.ts";
import { renderRules } from "./rules.ts";
import { createStaticPod, HOST_FOLDER, STATIC_POD_COMMENTS } from "./static_pod.ts";
import { type Comments, toYaml, toYamlFile } from "./yaml.ts";

const WRITTEN = "Written by deploy/generate.ts (npm run deploy). Do not edit.";
const ACCOUNT = { kind: "ServiceAccount", name: NAME } as const;
/** As a client certificate names its user, or whatever else the API server knows users by. */
const USER = { kind: "User", name: NAME } as const;

const SECTIONS = listSections(CONTROLLERS).flatMap(({ settings }) => settings);

/** Texts by path. @param definitions The clouds of the chart */
export function renderFiles(
  definitions: readonly Installable[] = DEFINITIONS,
): ReadonlyMap<string, string> {
  const values = createChartValues(definitions);
  return new Map([
    ["manifests/deployment.yaml", renderWorkload("Deployment")],
    ["manifests/daemonset.yaml", renderWorkload("DaemonSet")],
    ["manifests/rbac-user.yaml", renderUserRbac()],
    ["manifests/secret.example.yaml", renderSecretExample()],
    ["static-pod/landfall.yaml", renderStaticPod()],
    ["chart/Chart.yaml", renderChart()],
    ["chart/values.yaml", renderChartValues(values)],
    ["chart/values.schema.json", renderSchema(values, toConfigRules(definitions, SECTIONS))],
    ["chart/README.md", renderChartReadme(values)],
    ["chart/templates/_clouds.tpl", renderClouds(definitions)],
    ["chart/templates/_rules.tpl", renderRules(WRITTEN)],
  ]);
}

/** What differs between the two workloads for those who read them. */
const WORKLOADS = {
  DaemonSet: {
    file: "daemonset.yaml",
    what: "on all control planes, whether there are one, two or three",
    strategy: "updateStrategy",
    why: "One after the other.",
  },
  Deployment: {
    file: "deployment.yaml",
    what: "of two replicas, for clusters whose control planes are no Nodes",
    strategy: "strategy",
    why:
      "All at once: on a single Node the second replica waits for ever, and the first would have to stay.\n" +
      "With two Nodes or more maxUnavailable may be 1.",
  },
} as const;

function renderWorkload(kind: WorkloadKind): string {
  const { what, strategy, why } = WORKLOADS[kind];
  const other = WORKLOADS[kind === "Deployment" ? "DaemonSet" : "Deployment"].file;
  const head = `${WRITTEN}

Landfall as a ${kind} ${what}.
Apply this or ${other}, not both.
Beside it needs the Secret ${CONFIG_SECRET.name}: see secret.example.yaml.`;
  const comments: Comments = {
    ...(kind === "Deployment" && { "spec.replicas": "1 on a single Node." }),
    [`spec.${strategy}.rollingUpdate`]: `With the host's network no new pod fits beside an old one.\n${why}`,
    ...under("spec.template.spec.", POD_COMMENTS),
  };
  return toYamlFile(head, [
    ...[createServiceAccount(), ...createRbac(ACCOUNT, NAME)].map((one) => toYaml(one)),
    toYaml(createService()),
    toYaml(createWorkload(kind), comments),
  ]);
}

function renderUserRbac(): string {
  const head = `${WRITTEN}

The rights of Landfall for a user "${USER.name}", such as that of a client certificate with CN=${USER.name}: for a
static pod, or for a process outside the cluster.`;
  return toYamlFile(
    head,
    createRbac(USER, `${NAME}-user`).map((one) => toYaml(one)),
  );
}

function renderSecretExample(): string {
  const head = `${WRITTEN}

The settings of the cloud: put yours in. Name and key are those of the Go controller for Xen Orchestra, so that a
Secret of it is used as it is. All keys of the Secret are files in /etc/landfall.`;
  return toYamlFile(head, [toYaml(createSecretExample())]);
}

function renderStaticPod(): string {
  const head = `${WRITTEN}

Landfall as a static pod, started by a kubelet: goes to /etc/kubernetes/manifests of each control plane.
${HOST_FOLDER} holds its kubeconfig and its config.yaml, readable by group 65532:

  install -d -m 0750 -g 65532 ${HOST_FOLDER}
  install -m 0640 -g 65532 kubeconfig config.yaml ${HOST_FOLDER}/

The user of the kubeconfig needs the rights of manifests/rbac-user.yaml.`;
  return toYamlFile(head, [toYaml(createStaticPod(), STATIC_POD_COMMENTS)]);
}

function renderChart(): string {
  const chart: Piece = {
    apiVersion: "v2",
    name: NAME,
    description: "A Kubernetes cloud controller manager for private clouds such as Xen Orchestra",
    type: "application",
    version: IMAGE.tag,
    appVersion: IMAGE.tag,
    kubeVersion: ">=1.27.0-0",
    keywords: ["cloud-controller-manager", "xen-orchestra", "xcp-ng"],
  };
  return toYamlFile(WRITTEN, [toYaml(chart)]);
}

function renderChartValues(values: ChartValues): string {
  const head = `${WRITTEN}

Names are those of the chart of the Go controller for Xen Orchestra where they mean the same.`;
  return renderValues(head, values);
}

function renderChartReadme(values: ChartValues): string {
  return `<!-- ${WRITTEN} -->

# Helm chart of Landfall

\`\`\`sh
helm install landfall deploy/chart --namespace kube-system --values my-values.yaml
\`\`\`

With a Secret \`${CONFIG_SECRET.name}\` in that namespace, whose key \`${CONFIG_SECRET.key}\` holds the
settings of the cloud, there is nothing that must be set. Otherwise name one by \`existingConfigSecret\`, or
give the settings in \`config\`. values.schema.json refuses what does not exist.

## Values

${renderValueTable(values)}
## Coming from the chart of the Go controller

What means the same has the same name. What differs:

- \`useDaemonSet\` is true: a replica on each control plane, so that a cluster of one, two or three can be upgraded and
  drained. \`replicaCount\` counts with \`useDaemonSet: false\` alone, and is 2.
- Leader election is always on, by the Lease \`${LEASE.name}\`: the Go
  controller's, so that both never act at once.
- \`useHostNetwork\` is true: Landfall starts before the pod network does.
- \`existingConfigSecret\` works by itself.
- \`updateStrategy.rollingUpdate\` is rendered; its \`maxUnavailable\` is as fits the workload.
- There are no rights to make service accounts or their tokens.
- \`/metrics\` wants a token whose user may \`get\` it. With
  \`extraArgs: ["--authorization-always-allow-paths=/healthz,/livez,/readyz,/metrics"]\` it is open, as it was.
`;
}

/** What templates look up of a cloud: its file, its Secret, and the variable that makes do without a file. */
function renderClouds(definitions: readonly Installable[]): string {
  const clouds = definitions.map((one) => {
    const { name, file, secret, variable } = toCloud(one);
    return [name, { file, secret, ...(variable && { variable }) }] as const;
  });
  return `{{- /* ${WRITTEN} */}}
{{- define "landfall.clouds" -}}
${toYaml(Object.fromEntries(clouds))}{{- end }}
`;
}

function under(prefix: string, comments: Comments): Comments {
  return Object.fromEntries(
    Object.entries(comments).map(([path, text]) => [`${prefix}${path}`, text]),
  );
}
