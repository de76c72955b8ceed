/**
 * The manifest with the rights of a user, for processes without a service account.
 * @module
 */
import { WRITTEN } from "./names.ts";
import { createRbac, type Grant, toScopedNames, USER } from "./objects.ts";
import { toYaml, toYamlFile } from "./yaml.ts";

/** Renders the file. */
export function renderUserRights(grant: Grant): string {
  const head = `${WRITTEN}

The rights of Landfall for the user "${USER.name}", for example of a client certificate with CN=${USER.name}.
For a static pod, or for a process outside the cluster.${toScopeAdvice(grant)}`;
  const objects = createRbac(USER, grant);
  return toYamlFile(
    head,
    objects.map((one) => toYaml(one)),
  );
}

function toScopeAdvice({ name, policy: { tenants, hosts } }: Grant): string {
  if (tenants.length === 0) return "";
  const names = toScopedNames(name);
  const ofHosts = hosts.length > 0 ? `, and ${names.hosts} in other namespaces with hosts` : "";
  return `
Say where it may work: bind the ClusterRole ${names.tenants} in namespaces of tenants${ofHosts}.`;
}
