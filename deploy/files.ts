/**
 * Every generated file of deploy/, by its path below that folder.
 * @module
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  type ControllerDefinition,
  isStandalone,
  listSections,
} from "../lib/controllers/definition.ts";
import { CONTROLLERS } from "../lib/controllers/mod.ts";
import { wrapText } from "../lib/core/text/wrap.ts";
import { SUPPORTED_FROM } from "../lib/kube/api/version.ts";
import { createChartValues } from "./values/chart_values.ts";
import {
  type Cloud,
  CLOUD,
  DEFINITIONS,
  type Installable,
  MANIFEST_CLOUDS,
  toCloud,
} from "./clouds.ts";
import { KINDS, renderCrdFiles, renderKindsTemplate } from "./crds.ts";
import { toConfigRules } from "./values/config_schema.ts";
import {
  type ChartValues,
  renderSchema,
  renderValues,
  renderValueTable,
} from "./values/chart_value.ts";
import { IMAGE, LABELS, NAME, NAMESPACE, toCloudPolicy, toControllers, WRITTEN } from "./names.ts";
import {
  createRbac,
  createSecretExample,
  createService,
  createServiceAccount,
  createWorkload,
} from "./objects.ts";
import { toTable } from "../docs/generator/markdown.ts";
import { renderKustomization } from "./kustomization.ts";
import { type Piece, POD_COMMENTS, toArgComments, type WorkloadKind } from "./pod.ts";
import { ROLE_FILES } from "./roles.ts";
import { renderRules } from "./rules.ts";
import { renderStandaloneFiles } from "./standalone.ts";
import { renderUserRights } from "./user_rights.ts";
import { createStaticPod, HOST_FOLDER, toStaticPodComments } from "./static_pod.ts";
import { type Comments, toYaml, toYamlFile, under } from "./yaml.ts";

const ACCOUNT = { kind: "ServiceAccount", name: NAME } as const;
const SECTIONS = listSections(CONTROLLERS).flatMap(({ settings }) => settings);

/** Texts by path. @param definitions The clouds of the chart @param registry All controllers */
export function renderFiles(
  definitions: readonly Installable[] = DEFINITIONS,
  registry: readonly ControllerDefinition[] = CONTROLLERS,
): ReadonlyMap<string, string> {
  const values = createChartValues(definitions);
  return new Map([
    ...MANIFEST_CLOUDS.flatMap(renderCloudFiles),
    ...registry.flatMap(renderStandaloneFiles),
    ...renderCrdFiles(WRITTEN, KINDS),
    ...ROLE_FILES,
    ["monitoring/prometheus-rule.yaml", renderPrometheusRule()],
    ["chart/files/landfall.rules.yaml", readMonitoring("landfall.rules.yaml")],
    ["chart/files/grafana-dashboard.json", readMonitoring("grafana-dashboard.json")],
    ["chart/Chart.yaml", renderChart()],
    ["chart/values.yaml", renderChartValues(values)],
    ["chart/values.schema.json", renderSchema(values, toConfigRules(definitions, SECTIONS))],
    ["chart/README.md", renderChartReadme(values, definitions)],
    ["chart/templates/_clouds.tpl", renderCloudsTemplate(definitions)],
    ["chart/templates/crds/_kinds.tpl", renderKindsTemplate(WRITTEN, KINDS)],
    ["chart/templates/_rules.tpl", renderRules(WRITTEN, registry)],
  ]);
}

/** The manifests and the static pod of a cloud. */
function renderCloudFiles(cloud: Cloud): [string, string][] {
  const folder = cloud.folder === undefined ? "" : `${cloud.folder}/`;
  return [
    [`manifests/${folder}deployment.yaml`, renderWorkload("Deployment", cloud)],
    [`manifests/${folder}daemonset.yaml`, renderWorkload("DaemonSet", cloud)],
    [`manifests/${folder}kustomization.yaml`, renderKustomization()],
    [`manifests/${folder}rbac-user.yaml`, renderUserRbac(cloud)],
    [`manifests/${folder}secret.example.yaml`, renderSecretExample(cloud)],
    [`static-pod/${folder}landfall.yaml`, renderStaticPod(cloud)],
  ];
}

/** Comments that differ between the two workloads. */
const WORKLOADS = {
  DaemonSet: {
    file: "daemonset.yaml",
    what: "with one replica on each control plane",
    strategy: "updateStrategy",
    why: "An update replaces one pod after the other.",
  },
  Deployment: {
    file: "deployment.yaml",
    what: "with two replicas, for clusters whose control planes are not Nodes",
    strategy: "strategy",
    why:
      "All pods may stop at once, because on a single Node the second replica stays Pending.\n" +
      "With more Nodes than replicas, you can set maxUnavailable to 1.",
  },
} as const;

function renderWorkload(kind: WorkloadKind, cloud: Cloud): string {
  const { what, strategy, why } = WORKLOADS[kind];
  const other = WORKLOADS[kind === "Deployment" ? "DaemonSet" : "Deployment"].file;
  const head = `${WRITTEN}

Landfall as a ${kind} ${what}.
Set your image in kustomization.yaml, then: kubectl apply -k .
Use this file or ${other}, not both.
The pods need the Secret ${cloud.secret}: see secret.example.yaml.`;
  const comments: Comments = {
    ...(kind === "Deployment" && { "spec.replicas": "Set 1 on a single Node." }),
    [`spec.${strategy}.rollingUpdate`]: `On the host's network a new pod starts after the old one has stopped.\n${why}`,
    // The command comes first.
    ...under("spec.template.spec.", { ...POD_COMMENTS, ...toArgComments(cloud, 1) }),
  };
  const grant = { name: NAME, policy: toCloudPolicy(cloud) };
  return toYamlFile(head, [
    ...[createServiceAccount(), ...createRbac(ACCOUNT, grant)].map((one) => toYaml(one)),
    toYaml(createService()),
    toYaml(createWorkload(kind, cloud), comments),
  ]);
}

/** The same alerts for the Prometheus operator. */
function renderPrometheusRule(): string {
  const head = `${WRITTEN}

The alerts of landfall.rules.yaml for the Prometheus operator. Replace https://landfall.invalid in the runbook_url
annotations by the URL where you publish this repository.`;
  const rule: Piece = {
    apiVersion: "monitoring.coreos.com/v1",
    kind: "PrometheusRule",
    metadata: { name: NAME, namespace: NAMESPACE, labels: LABELS },
  };
  const groups = readMonitoring("landfall.rules.yaml").replace(/^(#.*\n)+/, "");
  return `${toYamlFile(head, [toYaml(rule)])}spec:\n${groups.replaceAll(/^(?=.)/gm, "  ")}`;
}

function readMonitoring(name: string): string {
  return readFileSync(join(import.meta.dirname, "monitoring", name), "utf8");
}

function renderUserRbac(cloud: Cloud): string {
  return renderUserRights({ name: toUserRole(cloud), policy: toCloudPolicy(cloud) });
}

/** Each cloud has its own: with two in one cluster, the second one must not replace the rights of the first. */
function toUserRole({ folder }: Cloud): string {
  return folder === undefined ? `${NAME}-user` : `${NAME}-user-${folder}`;
}

function renderSecretExample(cloud: Cloud): string {
  const about =
    "The settings of the cloud. Replace the values by yours. The Secret has the same name and key as that of the " +
    `${cloud.other}, so an existing one works unchanged. All keys become files in /etc/landfall.`;
  const head = `${WRITTEN}

${wrapText(about, 115).join("\n")}`;
  return toYamlFile(head, [toYaml(createSecretExample(cloud))]);
}

function renderStaticPod(cloud: Cloud): string {
  const folder = cloud.folder === undefined ? "" : `${cloud.folder}/`;
  const head = `${WRITTEN}

Landfall as a static pod. Copy this file to /etc/kubernetes/manifests on each control plane.
Put the kubeconfig and ${cloud.file} into ${HOST_FOLDER}, readable by group 65532:

  install -d -m 0750 -g 65532 ${HOST_FOLDER}
  install -m 0640 -g 65532 kubeconfig ${cloud.file} ${HOST_FOLDER}/

The user of the kubeconfig needs the rights of manifests/${folder}rbac-user.yaml.`;
  return toYamlFile(head, [toYaml(createStaticPod(cloud), toStaticPodComments(cloud))]);
}

function renderChart(): string {
  const chart: Piece = {
    apiVersion: "v2",
    name: NAME,
    description:
      "A Kubernetes cloud controller manager for private clouds: Xen Orchestra and Apache CloudStack",
    type: "application",
    version: IMAGE.tag,
    appVersion: IMAGE.tag,
    kubeVersion: `>=${SUPPORTED_FROM}.0-0`,
    keywords: ["cloud-controller-manager", "xen-orchestra", "xcp-ng", "cloudstack"],
  };
  return toYamlFile(WRITTEN, [toYaml(chart)]);
}

function renderChartValues(values: ChartValues): string {
  const head = `${WRITTEN}

Values that mean the same as in the chart of the Go controller for Xen Orchestra have the same names.`;
  return renderValues(head, values);
}

function renderChartReadme(values: ChartValues, definitions: readonly Installable[]): string {
  const alone = CONTROLLERS.filter(isStandalone).map(({ name }) => `\`${name}\``);
  const standalone =
    alone.length === 0
      ? ""
      : `If \`enabledControllers\` names only ${alone.join(" or ")}, you need no settings of a cloud.\n\n`;
  return `<!-- ${WRITTEN} -->

# Helm chart of Landfall

\`\`\`sh
helm install landfall deploy/chart --namespace kube-system \\
  --set image.repository=registry.example.org/landfall --values my-values.yaml
\`\`\`

You need:

- **an image**. There is no public one: [build it and push it](../../docs/guides/install.md), then set
  \`image.repository\`. Otherwise the installation stops with a message. To pin the image, set \`image.digest\`.
- **settings of the cloud**, in a Secret in the same namespace. For each \`cloudProvider\` the chart expects what the
  other controller for that cloud uses:

${renderClouds(definitions)}
  If your Secret has another name, set \`existingConfigSecret\`. To let the chart create the Secret, write the
  settings into \`config\`.

${standalone}All other values have defaults.
The chart refuses values, settings, flags and controllers that do not exist.

## Values

${renderValueTable(values)}
## Monitoring

With the Prometheus operator, \`serviceMonitor.enabled\` adds the scrape target and \`prometheusRule.enabled\` adds
the alerts. Set their \`labels\` to those that your Prometheus selects. \`prometheusRule.runbookUrl\` is the URL where
you publish docs/guides/troubleshooting.md. Each alert then has a \`runbook_url\` to the section that explains it.

With Grafana's sidecar, \`dashboard.enabled\` adds the dashboard as a ConfigMap. It has the label
\`grafana_dashboard: "1"\`.

## Migrating from the chart of the Go controller

Values that mean the same have the same names. These differ:

- \`image.repository\` has no default.
- \`useDaemonSet\` is true: one replica on each control plane. \`replicaCount\` is 2 and only applies to
  \`useDaemonSet: false\`.
- Leader election is always on. Both controllers use the Lease \`${CLOUD.lease}\`, so they
  never act at the same time.
- \`useHostNetwork\` is true, so that Landfall can start before the pod network.
- \`existingConfigSecret\` works without further values.
- The chart uses \`updateStrategy.rollingUpdate\`. Its \`maxUnavailable\` defaults to a value that fits the workload.
- The chart does not grant the rights to create service accounts and their tokens.
- \`/metrics\` needs a token of a user who may \`get\` it. To open it to everyone, set
  \`extraArgs: ["--authorization-always-allow-paths=/healthz,/livez,/readyz,/metrics"]\`.
`;
}

/** The clouds that have a Secret of their own, for people. */
function renderClouds(definitions: readonly Installable[]): string {
  const rows = definitions
    .filter(({ install }) => install !== undefined)
    .map((one) => toCloud(one))
    .map(({ name, secret, file, lease }) =>
      [name, secret, file, lease].map((text) => `\`${text}\``),
    );
  const table = toTable(["`cloudProvider`", "Secret", "key", "Lease"], rows);
  return table.replaceAll(/^(?=.)/gm, "  ");
}

/** What templates need to know about a cloud. A pod with the variable needs no file. */
function renderCloudsTemplate(definitions: readonly Installable[]): string {
  const clouds = definitions.map((one) => {
    const cloud = toCloud(one);
    const { name, file, secret, lease, other, variable } = cloud;
    const controllers = toControllers(cloud);
    const texts = { file, secret, lease, other, controllers, ...(variable && { variable }) };
    return [name, texts] as const;
  });
  return `{{- /* ${WRITTEN} */}}
{{- define "landfall.clouds" -}}
${toYaml(Object.fromEntries(clouds))}{{- end }}
`;
}
