/**
 * The plain manifests that `landfall check` names. Pure.
 * @module
 */
import type { ProviderInstall } from "../../cloud/provider_definition.ts";

/** The user to whom `rbac-user.yaml` grants the permissions. */
export const MANIFEST_USER = "landfall";

/**
 * The path of a manifest from the root of the source, by the cloud that it is for.
 *
 * @param file Its name: `deployment.yaml`
 */
export function toManifest(
  install: Pick<ProviderInstall, "folder"> | undefined,
  file: string,
): string {
  const { folder } = install ?? {};
  return `deploy/manifests/${folder === undefined ? "" : `${folder}/`}${file}`;
}
