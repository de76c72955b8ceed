/**
 * The plain manifests that `landfall check` names. Pure.
 * @module
 */
import type { ProviderInstall } from "../../cloud/provider_definition.ts";

import { type ControllerDefinition, listInstalled } from "../../controllers/definition.ts";

/** The user to whom `rbac-user.yaml` grants the permissions. */
export const MANIFEST_USER = "landfall";

/**
 * The path of a manifest from the root of the source, by what it is for: a cloud, or one controller.
 *
 * @param file Its name: `deployment.yaml`
 */
export function toManifest(
  installed: Pick<ControllerDefinition | ProviderInstall, "folder"> | undefined,
  file: string,
): string {
  const { folder } = installed ?? {};
  return `deploy/manifests/${folder === undefined ? "" : `${folder}/`}${file}`;
}

/** A manifest with rights. */
export interface RightsManifest {
  /** Its path from the root of the source. */
  readonly path: string;
  /** Names of the controllers whose rights it grants. */
  readonly controllers: ReadonlySet<string>;
  /** The command that grants these rights to {@linkcode MANIFEST_USER}. */
  readonly granting: string;
  /** Whether it grants the Lease of this process, and not the one that the manifest names. */
  readonly isForLease: boolean;
  /** The command that installs the controllers in a cluster, or installs them again. */
  readonly installing: string;
  /** The user as whom they run then. */
  readonly serviceAccount: string;
}

/** What {@linkcode findRightsManifest} chooses by. */
interface RunningControllers {
  readonly registry: readonly ControllerDefinition[];
  /** The controllers that run. */
  readonly chosen: readonly ControllerDefinition[];
  /** How the cloud is installed. */
  readonly install: ProviderInstall | undefined;
  /** The Lease that a flag names. */
  readonly lease?: string | undefined;
}

/** The Lease in the manifest of the default cloud, which clouds without a manifest of their own use. */
const MANIFEST_LEASE = "cloud-controller-manager-xenorchestra";

/** Finds the manifest with the rights of a user: of the one controller that runs if it has one, else of the cloud. */
export function findRightsManifest({
  registry,
  chosen,
  install,
  lease,
}: RunningControllers): RightsManifest {
  const [only, second] = chosen;
  const isAlone = only?.folder !== undefined && second === undefined;
  const controllers = isAlone ? [only] : listInstalled(registry, install);
  const from = isAlone ? only : install;
  const name = isAlone ? `${MANIFEST_USER}-${only.folder}` : MANIFEST_USER;
  const path = toManifest(from, "rbac-user.yaml");
  const isForLease = from === undefined && lease !== undefined && lease !== MANIFEST_LEASE;
  return {
    granting: isForLease
      ? `sed 's/${MANIFEST_LEASE}/${lease}/' ${path} | kubectl apply -f -`
      : `kubectl apply -f ${path}`,
    path,
    isForLease,
    // A cloud without manifests of its own has the chart.
    installing:
      from === undefined
        ? "helm upgrade landfall deploy/chart --namespace kube-system --values values.yaml"
        : `kubectl apply -k ${toManifest(from, "").slice(0, -1)}`,
    serviceAccount: `system:serviceaccount:kube-system:${name}`,
    controllers: new Set(controllers.map(({ name }) => name)),
  };
}
