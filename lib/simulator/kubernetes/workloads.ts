/**
 * Deployments, Secrets and RoleBindings as the API server stores them: every default that an object with Pods gets,
 * and why it refuses one.
 * @module
 */
import type { FieldProblem } from "./api_error.ts";
import {
  isArray,
  isEqual,
  isObject,
  type Json,
  type JsonObject,
  objectAt,
  stringAt,
  without,
} from "./patches/json.ts";
import { invalidValue } from "./schema/validation.ts";
import { Buffer } from "node:buffer";

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

/** A Secret whose `stringData` is part of its `data`. Pure. */
export function withSecretData(secret: JsonObject): JsonObject {
  const texts = Object.entries(objectAt(secret, "stringData"));
  const added = texts.map(([key, text]) => [key, Buffer.from(String(text)).toString("base64")]);
  const data = { ...objectAt(secret, "data"), ...Object.fromEntries(added) };
  const type = stringAt(secret, "type") || "Opaque";
  const whole = { ...without(secret, "stringData"), type };
  return Object.keys(data).length === 0 ? whole : { ...whole, data };
}

/** Problems of a Secret that is about to be stored. */
export function secretProblems(
  secret: JsonObject,
  before: JsonObject | undefined,
): readonly FieldProblem[] {
  const type = stringAt(secret, "type");
  if (before === undefined || stringAt(before, "type") === type) return [];
  return [invalidValue("type", type, "field is immutable")];
}

/** Problems of a Deployment that is about to be stored. */
export function deploymentProblems(
  deployment: JsonObject,
  before: JsonObject | undefined,
): readonly FieldProblem[] {
  const spec = objectAt(deployment, "spec");
  const selector = objectAt(spec, "selector");
  const template = objectAt(spec, "template");
  const problems: FieldProblem[] = [];
  if (before !== undefined && !isEqual(objectAt(objectAt(before, "spec"), "selector"), selector)) {
    problems.push(invalidValue("spec.selector", selector, "field is immutable"));
  }
  if (Object.keys(selector).length === 0) problems.push(required("spec.selector"));
  const labels = objectAt(objectAt(template, "metadata"), "labels");
  const wanted = Object.entries(objectAt(selector, "matchLabels"));
  if (wanted.some(([key, value]) => labels[key] !== value)) {
    const rule = "`selector` does not match template `labels`";
    problems.push(invalidValue("spec.template.metadata.labels", labels, rule));
  }
  if (!isArray(objectAt(template, "spec")["containers"])) {
    problems.push(required("spec.template.spec.containers"));
  }
  return problems;
}

/** Problems of a RoleBinding that is about to be stored: it is for one role for ever. */
export function bindingProblems(
  binding: JsonObject,
  before: JsonObject | undefined,
): readonly FieldProblem[] {
  const role = objectAt(binding, "roleRef");
  if (before === undefined || isEqual(objectAt(before, "roleRef"), role)) return [];
  return [invalidValue("roleRef", role, "cannot change roleRef")];
}

function required(field: string): FieldProblem {
  return { reason: "FieldValueRequired", message: "Required value", field };
}
