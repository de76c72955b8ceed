/**
 * Names and labels of the objects that a cluster's services are made of.
 * @module
 */
import { appendHash, LABEL_LENGTH_MAX, shortenName } from "../../../core/text/label.ts";
import { PART_OF_SIP } from "../words.ts";

/** What the API server accepts as the name of a Service: the strictest of all names. */
const SERVICE_NAME = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;

/** What the labels of an object say. */
interface LabelOptions {
  /** `loadbalancer`, `jumphost`. */
  readonly component: string;
  /** The program: `haproxy`. */
  readonly app: string;
  /** The name of the service's objects, from {@linkcode toObjectName}. */
  readonly instance: string;
}

/**
 * The name of a service's objects: `jumphost-<cluster>`, for the second entry of a list `jumphost-<cluster>-2`. If that
 * is no name of a Service, because it has dots or more than 63 characters, a hash of it stands at the end instead.
 *
 * @param prefix `loadbalancer-controlplane`
 * @param index The position of the entry in its list, from 0
 */
export function toObjectName(prefix: string, cluster: string, index = 0): string {
  const name = index === 0 ? `${prefix}-${cluster}` : `${prefix}-${cluster}-${index + 1}`;
  if (name.length <= LABEL_LENGTH_MAX && SERVICE_NAME.test(name)) return name;
  return appendHash(name.replaceAll(/[^-a-z0-9]/g, "-"), name);
}

/** How the names of ServiceAccounts begin. No other program's do, so that an admission policy knows them by it. */
export const ACCOUNT_PREFIX = "landfall-";

/** The name of the ServiceAccount of a service's Pods, and of its Role and RoleBinding. */
export function toAccountName(objectName: string): string {
  return `${ACCOUNT_PREFIX}${objectName}`;
}

/** The labels of every object of a service, by which it finds its Pods: those that the original operator wrote. */
export function toLabels({
  component,
  app,
  instance,
}: LabelOptions): Readonly<Record<string, string>> {
  return {
    [PART_OF_SIP.key]: PART_OF_SIP.value,
    "app.kubernetes.io/component": component,
    "app.kubernetes.io/name": app,
    "app.kubernetes.io/instance": instance,
  };
}

/** The value of the label that names the cluster: its name, which may be longer than a label allows. */
export function toClusterLabel(cluster: string): string {
  return shortenName(cluster);
}
