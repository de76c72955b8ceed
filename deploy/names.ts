/**
 * Names and places that the manifests, the static pod and the Helm chart share.
 * @module
 */
import { CONTROLLER_NAMES } from "../lib/cli/flags/controllers.ts";
import { listInstalled } from "../lib/controllers/load.ts";
import { CONTROLLERS } from "../lib/controllers/mod.ts";
import { VERSION } from "../lib/cli/version.ts";
import { listRights, needAll, type Policy, toPolicy } from "../lib/app/rights.ts";
import { CLOUD, type Cloud } from "./clouds.ts";
import type { LeaseName } from "../lib/kube/election/lease.ts";

/** Name of everything that the manifests create. */
export const NAME = "landfall";
/** Namespace of everything that the manifests create. */
export const NAMESPACE = "kube-system";

/**
 * The image of the manifests. No name below `.invalid` ever resolves (RFC 2606), so the pull fails at once, and no
 * other party can publish an image under this name.
 */
export const IMAGE: { readonly repository: string; readonly tag: string } = {
  repository: "registry.invalid/landfall",
  tag: VERSION,
};

/** The Lease of the default cloud. */
export const LEASE: LeaseName = toLease(CLOUD);

/** The Lease of the other program for a cloud, so that it and Landfall never act at the same time. */
export function toLease({ lease }: Cloud): LeaseName {
  return { namespace: NAMESPACE, name: lease };
}

/** Where the settings of the cloud are in the container. */
export const CONFIG_FOLDER = "/etc/landfall";
/** Flags that choose a cloud. */
export function toCloudArgs({ name, file }: Cloud): readonly string[] {
  return [`--cloud-provider=${name}`, `--cloud-config=${CONFIG_FOLDER}/${file}`];
}
/** Port of metrics and probes, the same as that of the Go controllers. */
export const SECURE_PORT = 10258;
/** User and group of distroless images' `nonroot`. */
export const NONROOT = 65_532;
/** What manifests and chart write for `--controllers`, by cloud. */
export function toControllers(cloud: Pick<Cloud, "controllers">): readonly string[] {
  const installed = new Set(listInstalled(CONTROLLERS, cloud).map(({ name }) => name));
  return CONTROLLER_NAMES.map(({ name }) => name).filter((name) => installed.has(name));
}
/** Default of the chart for `--v`: no debug records. */
export const VERBOSITY = 2;

/** Labels that select the pods. */
export const SELECTOR: Readonly<Record<string, string>> = {
  "app.kubernetes.io/name": NAME,
  "app.kubernetes.io/instance": NAME,
};

/** Labels of every object. */
export const LABELS: Readonly<Record<string, string>> = {
  ...SELECTOR,
  "app.kubernetes.io/version": VERSION,
  "app.kubernetes.io/component": "cloud-controller-manager",
};

/** The rights of these controllers, with the Lease of a cloud. */
export function toCloudPolicy(cloud: Cloud): Policy {
  return toPolicy(listRights(needAll(toLease(cloud), CONTROLLERS, cloud)));
}
