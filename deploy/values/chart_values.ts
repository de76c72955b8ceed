/**
 * Every value of the Helm chart: the source of values.yaml, values.schema.json and the chart's README.
 *
 * Values have the names that they have in the chart of the Go controller, so that its values files keep working.
 * @module
 */
import { isSeparable, isStandalone } from "../../lib/controllers/definition.ts";
import { CONTROLLERS } from "../../lib/controllers/mod.ts";
import { listMonitoringValues, listObjectValues } from "./chart_object_values.ts";
import {
  DIGEST,
  FILE_NAME,
  OBJECT,
  OBJECT_NAME,
  OBJECTS,
  SERVICE_NAME,
  SWITCH,
  TAG,
  TEXT,
  TEXTS,
  value,
} from "./chart_schemas.ts";
import type { ChartValues } from "./chart_value.ts";
import {
  type Cloud,
  CLOUD,
  DEFINITIONS,
  type Installable,
  isConfigText,
  toCloud,
} from "../clouds.ts";
import { CONTROLLER, FLAG } from "./flag_schema.ts";
import { toControllers, VERBOSITY } from "../names.ts";
import { POD_COMMENTS, POD_SECURITY, RESOURCES, SECURITY, SPREAD, TOLERATIONS } from "../pod.ts";

/** Builds all values. @param definitions The clouds to choose from */
export function createChartValues(definitions: readonly Installable[]): ChartValues {
  return {
    replicaCount: value(
      "Replicas of the Deployment. One replica acts, the others stand by. Set 1 on a single Node: a second\n" +
        "replica would have no free port. The DaemonSet ignores this value.",
      2,
      { type: "integer", minimum: 0 },
    ),
    useDaemonSet: value(
      "true: a DaemonSet with one replica on each Node that has the label node-role.kubernetes.io/control-plane.\n" +
        "It can be upgraded and drained with one, two or three such Nodes. false: a Deployment, for clusters\n" +
        "without such Nodes.",
      true,
      SWITCH,
    ),
    image: {
      help: "The image. There is no public one: build it and push it to your registry first.",
      values: {
        repository: value(
          "Required. Name of your image without a tag, for example registry.example.org/landfall.",
          "",
          TEXT,
        ),
        tag: value("Tag of the image. Empty: the appVersion of the chart.", "", TAG),
        digest: value(
          "Digest of the image, sha256:…, instead of the tag. npm run release writes it into\n" +
            "landfall-VERSION-image.digest.",
          "",
          DIGEST,
        ),
        pullPolicy: value("When the kubelet pulls the image.", "IfNotPresent", {
          enum: ["Always", "IfNotPresent", "Never"],
        }),
      },
    },
    imagePullSecrets: value(
      "Secrets with the credentials of the registry: - name: my-registry",
      [],
      OBJECTS,
    ),
    nameOverride: value("Replaces the name of the chart in names and labels.", "", {
      ...OBJECT_NAME,
      // It is also the value of a label.
      maxLength: 63,
    }),
    fullnameOverride: value("Name of all objects of the release.", "", SERVICE_NAME),
    commonLabels: value("Labels that all objects get.", {}, TEXTS),
    ...listConfigValues(definitions),
    ...listProcessValues(definitions),
    ...listPodValues(),
    ...listObjectValues(),
    ...listMonitoringValues(),
  };
}

/** All values. */
export const CHART_VALUES: ChartValues = createChartValues(DEFINITIONS);

function listConfigValues(definitions: readonly Installable[]): ChartValues {
  const isText = isConfigText(definitions);
  return {
    cloudProvider: value("The cloud, as --cloud-provider takes it.", CLOUD.name, {
      enum: definitions.map(({ name }) => name),
    }),
    config: value(
      "Settings of the cloud (docs/reference/config.md). The chart keeps them in a Secret of the release.\n" +
        "Do not set existingConfigSecret as well. If both are empty, the chart uses the existing Secret\n" +
        "that other programs for the cloud use by convention:\n" +
        `${listByCloud(definitions, ({ secret }) => secret)};\n` +
        `or environment variables only, if extraEnvs sets ${CLOUD.variable}.` +
        listTextHelp(definitions),
      isText ? null : {},
      isText ? { type: ["object", "string", "null"] } : OBJECT,
    ),
    existingConfigSecret: value(
      "Name of an existing Secret with the settings. All its keys become files in /etc/landfall. Landfall reads\n" +
        "a changed Secret again without a restart.",
      "",
      OBJECT_NAME,
    ),
    existingConfigSecretKey: value(
      "Key of the settings in that Secret. Empty: as the other controller for the cloud has it:\n" +
        `${listByCloud(definitions, ({ file }) => file)}.`,
      "",
      FILE_NAME,
    ),
    existingConfigSecretPath: value(
      "Name of the settings file in /etc/landfall. If it differs from the key, the other keys do not become\n" +
        "files. Empty: the same as an empty existingConfigSecretKey.",
      "",
      FILE_NAME,
    ),
  };
}

/** What each cloud of its own has. */
function listByCloud(
  definitions: readonly Installable[],
  toText: (cloud: Cloud) => string,
): string {
  return definitions
    .filter(({ install }) => install !== undefined)
    .map((one) => `${toText(toCloud(one))} (${one.name})`)
    .join(",\n");
}

function listTextHelp(definitions: readonly Installable[]): string {
  const names = definitions.filter((one) => toCloud(one).isText).map(({ name }) => name);
  return names.length === 0 ? "" : `\nFor ${names.join(", ")} also the text of the file: config: |`;
}

function listProcessValues(definitions: readonly Installable[]): ChartValues {
  const leases = listByCloud(definitions, ({ lease }) => lease);
  return {
    enabledControllers: value(
      "Controllers that run, as --controllers takes them. Empty: those for the cloud, which are\n" +
        `${listByCloud(definitions, (cloud) => toControllers(cloud).join(", "))}.${describeStandalone()}`,
      [],
      { type: "array", items: CONTROLLER },
    ),
    logVerbosityLevel: value(
      "Log level, as --v takes it. 0 to 3: info, warnings and errors. 4 to 10: debug records as well.",
      VERBOSITY,
      { type: "integer", minimum: 0, maximum: 10 },
    ),
    leaderElection: {
      help: "Leader election. It is always on, because two replicas may run during a rollout.",
      values: {
        resourceName: value(
          "Name of the Lease in kube-system. Empty: the Lease of the other controller for the cloud, so that both\n" +
            `never act at the same time:\n${leases}.\n` +
            "Before you change it, scale to 0: replicas with different Leases act at the same time.",
          "",
          OBJECT_NAME,
        ),
        releaseOnUninstall: value(
          "Whether helm uninstall first runs a Job that stops the pods. They then release the Lease while they\n" +
            "still have the right to do so, and another controller can take over at once. The Job uses the same\n" +
            "image. Needs serviceAccount.create and rbac.create.",
          true,
          SWITCH,
        ),
      },
    },
    extraArgs: value(
      "More flags: - --node-monitor-period=10s. The chart refuses flags that other values set.",
      [],
      {
        type: "array",
        items: FLAG,
      },
    ),
    extraEnvs: value(
      "More environment variables, with name and value or valueFrom. Set KUBERNETES_SERVICE_HOST and\n" +
        "KUBERNETES_SERVICE_PORT to the address of the API server if Services only work once the pod network runs.",
      [],
      {
        type: "array",
        items: { type: "object", required: ["name"] },
      },
    ),
  };
}

/** What a release needs that runs only such controllers. Nothing if there are none. */
function describeStandalone(): string {
  const alone = CONTROLLERS.filter(isSeparable);
  const [own = [], none = []] = [false, true].map((is) =>
    alone.filter((one) => isStandalone(one) === is).map(({ name }) => name),
  );
  return [
    ...(none.length > 0
      ? [`\nWith only ${none.join(" or ")}, the release needs no cloud and no settings of one.`]
      : []),
    ...(own.length > 0
      ? [
          `\nWith only ${own.join(" or ")}, set existingConfigSecret to a Secret of its own: ` +
            "its user of the cloud has\nmore rights than that of the other controllers.",
        ]
      : []),
  ].join("");
}

function listPodValues(): ChartValues {
  return {
    useHostNetwork: value(
      `${POD_COMMENTS["hostNetwork"] ?? ""}\nThe dnsPolicy is Default either way.`,
      true,
      SWITCH,
    ),
    hostAliases: value("Entries for /etc/hosts in the pods.", [], OBJECTS),
    priorityClassName: value("Priority class of the pods.", "system-cluster-critical", TEXT),
    nodeSelector: value("Labels of the Nodes that the pods may run on.", {}, TEXTS),
    tolerations: value(
      "Taints that the pods tolerate: those of Nodes that are not initialized yet, and those of control planes.",
      TOLERATIONS,
      OBJECTS,
    ),
    affinity: value(
      "Affinity of the pods. Empty: the Deployment prefers control planes and different zones; the DaemonSet\n" +
        "runs on control planes only.",
      {},
      OBJECT,
    ),
    topologySpreadConstraints: value(
      "Topology spread constraints of the Deployment. The chart adds the labelSelector if you leave it out.",
      SPREAD,
      OBJECTS,
    ),
    updateStrategy: {
      help: "Update strategy of the Deployment or the DaemonSet.",
      values: {
        type: value("The chart uses rollingUpdate only with RollingUpdate.", "RollingUpdate", {
          enum: ["RollingUpdate", "Recreate", "OnDelete"],
        }),
        rollingUpdate: {
          help: "On the host's network, a Node has room for one pod: a new pod starts after the old one has stopped.",
          values: {
            maxSurge: value("How many additional pods an update may start.", 0, {
              type: ["integer", "string"],
            }),
            maxUnavailable: value(
              "How many pods an update may stop at once. Empty: 1 for the DaemonSet; 100% for the Deployment,\n" +
                "which a single Node needs. With more Nodes than replicas, set 1: then one replica keeps running if\n" +
                "the new version does not start.",
              "",
              { type: ["integer", "string"] },
            ),
          },
        },
      },
    },
    podSecurityContext: value("Security context of the pods.", POD_SECURITY, OBJECT),
    securityContext: value("Security context of the container.", SECURITY, OBJECT),
    resources: value(POD_COMMENTS["containers.0.resources"] ?? "", RESOURCES, OBJECT),
    podAnnotations: value("Annotations of the pods.", {}, TEXTS),
    podLabels: value("Labels of the pods.", {}, TEXTS),
    initContainers: value("Init containers of the pods.", [], OBJECTS),
    extraVolumes: value("Additional volumes of the pods.", [], OBJECTS),
    extraVolumeMounts: value("Additional volume mounts of the container.", [], OBJECTS),
  };
}
