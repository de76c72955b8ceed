/**
 * What the API server fills in when a Deployment is written: every default that an object with Pods gets.
 *
 * Source: `zz_generated.defaults.go` of apps/v1 and core/v1.
 * @module
 */
import {
  isArray,
  isObject,
  objectAt,
  stringAt,
  type Json,
  type JsonObject,
} from "../patches/json.ts";

/** `0644`, the mode of mounted files. */
const FILE_MODE = 420;

/** A Deployment with all defaults. Pure. */
export function withDeploymentDefaults(deployment: JsonObject): JsonObject {
  const spec = objectAt(deployment, "spec");
  const template = objectAt(spec, "template");
  const strategy = toStrategy(objectAt(spec, "strategy"));
  return {
    ...deployment,
    spec: {
      replicas: 1,
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
      ...spec,
      strategy,
      template: { ...template, spec: withPodDefaults(objectAt(template, "spec")) },
    },
  };
}

function toStrategy(strategy: JsonObject): JsonObject {
  const type = stringAt(strategy, "type") || "RollingUpdate";
  if (type !== "RollingUpdate") return { ...strategy, type };
  const rollingUpdate = {
    maxUnavailable: "25%",
    maxSurge: "25%",
    ...objectAt(strategy, "rollingUpdate"),
  };
  return { ...strategy, type, rollingUpdate };
}

function withPodDefaults(spec: JsonObject): JsonObject {
  const account = stringAt(spec, "serviceAccountName") || stringAt(spec, "serviceAccount");
  return {
    restartPolicy: "Always",
    terminationGracePeriodSeconds: 30,
    dnsPolicy: "ClusterFirst",
    securityContext: {},
    schedulerName: "default-scheduler",
    ...spec,
    // Two names of one field.
    ...(account !== "" && { serviceAccountName: account, serviceAccount: account }),
    ...mapList(spec, "containers", withContainerDefaults),
    ...mapList(spec, "initContainers", withContainerDefaults),
    ...mapList(spec, "volumes", withVolumeDefaults),
  };
}

function withContainerDefaults(container: JsonObject): JsonObject {
  const probes = ["livenessProbe", "readinessProbe", "startupProbe"].flatMap((name) => {
    const probe = container[name];
    return isObject(probe) ? [[name, withProbeDefaults(probe)] as const] : [];
  });
  return {
    resources: {},
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
    imagePullPolicy: toPullPolicy(stringAt(container, "image")),
    ...container,
    ...Object.fromEntries(probes),
    ...mapList(container, "ports", (port) => ({ protocol: "TCP", ...port })),
  };
}

/** An image without a tag is the latest one. A digest names one image. */
function toPullPolicy(image: string): string {
  const tag = image.includes("@") ? "digest" : (image.split("/").at(-1)?.split(":")[1] ?? "latest");
  return tag === "latest" ? "Always" : "IfNotPresent";
}

function withProbeDefaults(probe: JsonObject): JsonObject {
  const get = probe["httpGet"];
  return {
    timeoutSeconds: 1,
    periodSeconds: 10,
    successThreshold: 1,
    failureThreshold: 3,
    ...probe,
    ...(isObject(get) && { httpGet: { path: "/", scheme: "HTTP", ...get } }),
  };
}

function withVolumeDefaults(volume: JsonObject): JsonObject {
  const kinds = ["secret", "configMap", "projected"].flatMap((name) => {
    const source = volume[name];
    return isObject(source) ? [[name, { defaultMode: FILE_MODE, ...source }] as const] : [];
  });
  return { ...volume, ...Object.fromEntries(kinds) };
}

function mapList(
  parent: JsonObject,
  key: string,
  change: (item: JsonObject) => JsonObject,
): JsonObject {
  const list = parent[key];
  if (!isArray(list)) return {};
  return { [key]: list.map((item): Json => (isObject(item) ? change(item) : item)) };
}
