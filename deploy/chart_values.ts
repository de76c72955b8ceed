/**
 * Every value of the Helm chart: values.yaml, values.schema.json and the chart's README follow it.
 *
 * Names are those of the Go controller's chart where they mean the same, so that its values files keep working.
 * @module
 */
import type { ChartValue, ChartValues, Schema } from "./chart_value.ts";
import { CLOUD, DEFINITIONS, type Installable, isConfigText } from "./clouds.ts";
import { CONTROLLER, FLAG } from "./flag_schema.ts";
import { CONTROLLERS, IMAGE, LEASE, VERBOSITY } from "./names.ts";
import { POD_COMMENTS, POD_SECURITY, RESOURCES, SECURITY, SPREAD, TOLERATIONS } from "./pod.ts";

const TEXT: Schema = { type: "string" };
const SWITCH: Schema = { type: "boolean" };
const OBJECT: Schema = { type: "object" };
const OBJECTS: Schema = { type: "array", items: OBJECT };
const TEXTS: Schema = { type: "object", additionalProperties: { type: "string" } };
const DURATION: Schema = { type: "string", pattern: "^([0-9]+(ms|s|m|h))*$" };
/** Of Kubernetes objects. */
const OBJECT_NAME: Schema = {
  type: "string",
  pattern: "^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$",
  maxLength: 253,
};
/** Of Services, which are stricter than other objects (RFC 1035). */
const SERVICE_NAME: Schema = {
  type: "string",
  pattern: "^([a-z]([-a-z0-9]*[a-z0-9])?)?$",
  maxLength: 63,
};

/** All values, with those clouds to choose from. */
export function createChartValues(definitions: readonly Installable[]): ChartValues {
  return {
    replicaCount: value(
      "Replicas of the Deployment; one acts, the others wait. 1 on a single Node, where a second one has no\n" +
        "port to listen on. Not looked at with the DaemonSet.",
      2,
      {
        type: "integer",
        minimum: 0,
      },
    ),
    useDaemonSet: value(
      "A DaemonSet: a replica on every Node that has the label node-role.kubernetes.io/control-plane, so that\n" +
        "one, two and three can be upgraded and drained. false: a Deployment, for clusters without such Nodes.",
      true,
      SWITCH,
    ),
    image: {
      help: "The image.",
      values: {
        repository: value("Where it is.", IMAGE.repository, { type: "string", minLength: 1 }),
        tag: value(
          "Its tag, or sha256:… for a digest. Empty: the appVersion of the chart.",
          "",
          TEXT,
        ),
        pullPolicy: value("When the kubelet fetches it.", "IfNotPresent", {
          enum: ["Always", "IfNotPresent", "Never"],
        }),
      },
    },
    imagePullSecrets: value("Secrets to fetch it with: - name: …", [], OBJECTS),
    nameOverride: value("In the place of the chart's name.", "", {
      ...OBJECT_NAME,
      // It is also the value of a label.
      maxLength: 63,
    }),
    fullnameOverride: value("Name of all objects.", "", SERVICE_NAME),
    commonLabels: value("Labels of all objects.", {}, TEXTS),
    ...listConfigValues(definitions),
    ...listProcessValues(),
    ...listPodValues(),
    ...listObjectValues(),
  };
}

/** All values. */
export const CHART_VALUES: ChartValues = createChartValues(DEFINITIONS);

function listConfigValues(definitions: readonly Installable[]): ChartValues {
  const isText = isConfigText(definitions);
  return {
    cloudProvider: value("The cloud: --cloud-provider.", CLOUD.name, {
      enum: definitions.map(({ name }) => name),
    }),
    config: value(
      "Settings of the cloud; kept in a Secret of the release. Not together with existingConfigSecret.\n" +
        `With neither, the Secret ${CLOUD.secret} is used, which the Go controller\n` +
        `and the CSI driver have by convention; or the environment alone, if extraEnvs has ${CLOUD.variable}.`,
      isText ? null : {},
      isText ? { type: ["object", "string", "null"] } : OBJECT,
    ),
    existingConfigSecret: value(
      "A Secret that is there already. All its keys are files in /etc/landfall; a change of it is\n" +
        "taken over without a restart.",
      "",
      OBJECT_NAME,
    ),
    existingConfigSecretKey: value("Its key with the settings.", "config.yaml", {
      type: "string",
      pattern: "^[-._a-zA-Z0-9]+$",
    }),
    existingConfigSecretPath: value(
      "File of that name below /etc/landfall. If it differs from the key, no other key is a file.",
      "config.yaml",
      { type: "string", pattern: "^[-._a-zA-Z0-9]+$" },
    ),
  };
}

function listProcessValues(): ChartValues {
  return {
    enabledControllers: value("Controllers that run: --controllers.", CONTROLLERS, {
      type: "array",
      items: CONTROLLER,
      minItems: 1,
    }),
    logVerbosityLevel: value("--v; from 4 on debug records.", VERBOSITY, {
      type: "integer",
      minimum: 0,
      maximum: 10,
    }),
    leaderElection: {
      help: "Leader election. It is always on: while a rollout lasts there may be two.",
      values: {
        resourceName: value(
          "The Lease in kube-system. That of the Go controller, so that both never act at once. Scale to 0 before\n" +
            "it is changed: replicas that follow different Leases act at once.",
          LEASE.name,
          { ...OBJECT_NAME, minLength: 1 },
        ),
        releaseOnUninstall: value(
          "Whether helm uninstall stops the pods before their rights go, by a Job with the same image, so that the\n" +
            "Lease is given back and whoever comes next acts at once. Needs serviceAccount.create and rbac.create.",
          true,
          SWITCH,
        ),
      },
    },
    extraArgs: value(
      "More flags: - --node-monitor-period=10s. Those that other values stand for are refused.",
      [],
      {
        type: "array",
        items: FLAG,
      },
    ),
    extraEnvs: value(
      "More environment variables: - name: … and value: … or valueFrom: …. KUBERNETES_SERVICE_HOST and\n" +
        "KUBERNETES_SERVICE_PORT name the API server itself where Services work only after the pod network.",
      [],
      {
        type: "array",
        items: { type: "object", required: ["name"] },
      },
    ),
  };
}

function listPodValues(): ChartValues {
  return {
    useHostNetwork: value(
      `${POD_COMMENTS["hostNetwork"] ?? ""} dnsPolicy is Default either way.`,
      true,
      SWITCH,
    ),
    hostAliases: value("More lines of /etc/hosts.", [], OBJECTS),
    priorityClassName: value("Of the pods.", "system-cluster-critical", TEXT),
    nodeSelector: value("Nodes that it may run on.", {}, TEXTS),
    tolerations: value(
      "What the Nodes have that wait for it, and control planes.",
      TOLERATIONS,
      OBJECTS,
    ),
    affinity: value(
      "Empty: rather on control planes and on different hosts of the cloud; a DaemonSet on control\n" +
        "planes alone.",
      {},
      OBJECT,
    ),
    topologySpreadConstraints: value(
      "Of the Deployment. A labelSelector that is left out is that of the pods.",
      SPREAD,
      OBJECTS,
    ),
    updateStrategy: {
      help: "Of Deployment or DaemonSet.",
      values: {
        type: value("rollingUpdate is not looked at with any but RollingUpdate.", "RollingUpdate", {
          enum: ["RollingUpdate", "Recreate", "OnDelete"],
        }),
        rollingUpdate: {
          help: "With the host's network no new pod fits beside an old one.",
          values: {
            maxSurge: value("Pods more than replicas.", 0, { type: ["integer", "string"] }),
            maxUnavailable: value(
              "Pods less than replicas. Empty: 1 with the DaemonSet; 100% with the Deployment, for a single Node.\n" +
                "With more Nodes than replicas, 1 leaves one alone when the new version does not start.",
              "",
              { type: ["integer", "string"] },
            ),
          },
        },
      },
    },
    podSecurityContext: value("Of the pod.", POD_SECURITY, OBJECT),
    securityContext: value("Of the container.", SECURITY, OBJECT),
    resources: value(POD_COMMENTS["containers.0.resources"] ?? "", RESOURCES, OBJECT),
    podAnnotations: value("Annotations of the pods.", {}, TEXTS),
    podLabels: value("Labels of the pods.", {}, TEXTS),
    initContainers: value("Containers that end before it starts.", [], OBJECTS),
    extraVolumes: value("More volumes.", [], OBJECTS),
    extraVolumeMounts: value("More mounts.", [], OBJECTS),
  };
}

function listObjectValues(): ChartValues {
  return {
    serviceAccount: {
      help: "The service account.",
      values: {
        create: value("Whether it is made.", true, SWITCH),
        annotations: value("Its annotations.", {}, TEXTS),
        name: value(
          "Its name. Empty: the full name; one is wanted if it is not made.",
          "",
          OBJECT_NAME,
        ),
      },
    },
    rbac: {
      help: "Its rights.",
      values: { create: value("Whether roles and bindings are made.", true, SWITCH) },
    },
    service: {
      help: "A headless Service for metrics.",
      values: {
        enabled: value("Whether it is made.", true, SWITCH),
        annotations: value("Its annotations.", {}, TEXTS),
      },
    },
    serviceMonitor: {
      help: "For the Prometheus operator. Its Prometheus needs the right to get /metrics.",
      values: {
        enabled: value("Whether it is made.", false, SWITCH),
        labels: value("Labels that Prometheus selects it by.", {}, TEXTS),
        interval: value(
          "How often metrics are asked for. Empty: as Prometheus does.",
          "",
          DURATION,
        ),
        scrapeTimeout: value("How long an answer may take.", "", DURATION),
      },
    },
    podDisruptionBudget: {
      help: "For the Deployment. With more replicas than Nodes it would let nobody drain a Node.",
      values: {
        enabled: value(
          "Whether it is made: where there are two Nodes or more, each with a replica.",
          false,
          SWITCH,
        ),
        maxUnavailable: value("Pods that may be away.", 1, { type: ["integer", "string"] }),
      },
    },
    networkPolicy: {
      help: "Who may reach the secure port. Has no effect on the host's network, so it is refused there.",
      values: {
        enabled: value("Whether it is made.", false, SWITCH),
        from: value("Peers that may; empty: all.", [], OBJECTS),
        egress: value("Where it may connect; empty: everywhere.", [], OBJECTS),
      },
    },
  };
}

function value(help: string, fallback: unknown, schema: Schema): ChartValue {
  return { help, default: fallback, schema };
}
