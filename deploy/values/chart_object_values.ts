/**
 * Values of the Helm chart for objects other than the pods: rights, Service, budget, monitoring.
 * @module
 */
import { POLICY_FROM } from "../admission_policy.ts";
import { type ControllerKinds, KINDS } from "../crds.ts";
import type { ChartGroup, ChartValues } from "./chart_value.ts";
import {
  DURATION,
  HTTPS_ORIGIN,
  NAMESPACES,
  OBJECT_NAME,
  OBJECTS,
  PORT,
  SWITCH,
  TEXTS,
  URL,
  value,
} from "./chart_schemas.ts";

/** Values for rights, Service, budget and network policy. */
export function listObjectValues(): ChartValues {
  return {
    serviceAccount: {
      help: "The service account.",
      values: {
        create: value("Whether the chart creates it.", true, SWITCH),
        annotations: value("Annotations of the service account.", {}, TEXTS),
        name: value(
          "Name of the service account. Empty: the full name of the release. Required if create is false.",
          "",
          OBJECT_NAME,
        ),
      },
    },
    rbac: {
      help: "The rights of the service account.",
      values: {
        create: value("Whether the chart creates roles and bindings.", true, SWITCH),
        tenantNamespaces: value(
          "Namespaces that have SIPClusters or Vinos: only there, Landfall has the right to write their Secrets,\n" +
            "hosts and workloads. They must exist. It can become each account in them, so never name a namespace\n" +
            "with accounts of other programs.",
          [],
          NAMESPACES,
        ),
        hostNamespaces: value(
          "Other namespaces from which SIPClusters may take hosts, for --sip-host-namespaces. There, Landfall has\n" +
            "the right to label hosts, and to read their network data. They must exist.",
          [],
          NAMESPACES,
        ),
        clusterWide: value(
          "true: the rights of tenantNamespaces in all namespaces, for SIPClusters and Vinos anywhere. Then the\n" +
            "service account is as good as cluster-admin: it can read Secrets of all programs (SECURITY.md).",
          false,
          SWITCH,
        ),
        admissionPolicy: value(
          "With SIPClusters or Vinos: whether the chart creates a ValidatingAdmissionPolicy that limits what the\n" +
            `service account may write. It never does so before Kubernetes ${POLICY_FROM}, which has no such kind.`,
          true,
          SWITCH,
        ),
      },
    },
    crds: {
      help:
        "The CustomResourceDefinitions of the kinds of enabledControllers, if these have kinds of their own:\n" +
        `${KINDS.map(({ controller }) => controller).join(", ")}.`,
      values: {
        install: value(
          "Whether the chart applies them. If they exist and another release or program made them, helm stops:\n" +
            `then leave this false, and apply ${KINDS.map(toCrdFile).join(" or ")}.`,
          false,
          SWITCH,
        ),
        keep: value(
          "Whether helm uninstall keeps them. Without them, Kubernetes deletes all their objects.",
          true,
          SWITCH,
        ),
      },
    },
    service: {
      help: "A headless Service for metrics.",
      values: {
        enabled: value("Whether the chart creates it.", true, SWITCH),
        annotations: value("Annotations of the Service.", {}, TEXTS),
      },
    },
    redfish: listRedfishValues(),
    podDisruptionBudget: {
      help: "A PodDisruptionBudget for the Deployment. With more replicas than Nodes it blocks every drain.",
      values: {
        enabled: value(
          "Whether the chart creates it. Use it with two Nodes or more, each with a replica.",
          false,
          SWITCH,
        ),
        maxUnavailable: value("How many pods may be unavailable.", 1, {
          type: ["integer", "string"],
        }),
      },
    },
    networkPolicy: {
      help:
        "A NetworkPolicy for the secure port. It has no effect on the host's network, so the chart refuses it\n" +
        "together with useHostNetwork.",
      values: {
        enabled: value("Whether the chart creates it.", false, SWITCH),
        from: value("Peers that may connect. Empty: all.", [], OBJECTS),
        egress: value("Where the pods may connect to. Empty: everywhere.", [], OBJECTS),
      },
    },
  };
}

/** Values for management controllers of machines. */
function listRedfishValues(): ChartGroup {
  return {
    help:
      "Management controllers (Redfish) for the machines of Vinos, so that metal3 can switch them and install\n" +
      "images on them. Needs the controller vino (docs/guides/vino/guide.md).",
    values: {
      enabled: value(
        "Whether Landfall serves Redfish. The chart adds a Service that leads to the replica that works, and the\n" +
          "rights for it.",
        false,
        SWITCH,
      ),
      port: value("Port of the Service and of the pods.", 8_443, PORT),
      url: value(
        "URL at which Ironic reaches the Service, without a path. Empty: its name in the cluster. Do not change it\n" +
          "later: metal3 keeps the first address of each host.",
        "",
        HTTPS_ORIGIN,
      ),
      tlsSecret: value(
        "Name of a Secret of type kubernetes.io/tls, in the namespace of the release, with a certificate for the\n" +
          "host of that URL. Landfall reads a changed Secret again without a restart. Empty: Landfall makes a\n" +
          "certificate, and hosts tell metal3 not to check it.",
        "",
        OBJECT_NAME,
      ),
      service: {
        help: "The Service.",
        values: {
          type: value(
            "Its type. Ironic in another cluster needs NodePort or LoadBalancer.",
            "ClusterIP",
            { enum: ["ClusterIP", "NodePort", "LoadBalancer"] },
          ),
          annotations: value("Annotations of the Service.", {}, TEXTS),
        },
      },
      from: value(
        "Peers that may connect, if networkPolicy.enabled is true. Empty: all.",
        [],
        OBJECTS,
      ),
    },
  };
}

function toCrdFile({ folder }: ControllerKinds): string {
  return `deploy/manifests/${folder}/crd.yaml`;
}

/** Values for Prometheus and Grafana. */
export function listMonitoringValues(): ChartValues {
  return {
    serviceMonitor: {
      help:
        "A ServiceMonitor for the Prometheus operator. The service account of Prometheus needs the right to get\n" +
        "/metrics (docs/guides/metrics-and-alerts.md).",
      values: {
        enabled: value("Whether the chart creates it.", false, SWITCH),
        labels: value("Labels that Prometheus selects it by.", {}, TEXTS),
        interval: value("Scrape interval. Empty: the default of Prometheus.", "", DURATION),
        scrapeTimeout: value("Scrape timeout. Empty: the default of Prometheus.", "", DURATION),
      },
    },
    prometheusRule: {
      help: "A PrometheusRule with the alerts of deploy/monitoring, for the Prometheus operator.",
      values: {
        enabled: value("Whether the chart creates it.", false, SWITCH),
        labels: value("Labels that Prometheus selects it by.", {}, TEXTS),
        runbookUrl: value(
          "URL where you publish docs/guides/troubleshooting.md. Each alert gets it, with the section, as its\n" +
            "annotation runbook_url. Empty: alerts have no runbook_url.",
          "",
          URL,
        ),
      },
    },
    dashboard: {
      help: "A ConfigMap with the dashboard of deploy/monitoring, for the sidecar of Grafana.",
      values: {
        enabled: value("Whether the chart creates it.", false, SWITCH),
        labels: value("Labels that the sidecar selects it by.", { grafana_dashboard: "1" }, TEXTS),
        annotations: value("Annotations, for example grafana_folder: Kubernetes", {}, TEXTS),
      },
    },
  };
}
