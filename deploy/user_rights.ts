/**
 * The manifest with the rights of a user, for processes without a service account.
 * @module
 */
import { WRITTEN } from "./names.ts";
import { createRbac, type Grant, USER } from "./objects.ts";
import { toYaml, toYamlFile } from "./yaml.ts";

/** Renders the file. */
export function renderUserRights(grant: Grant): string {
  const head = `${WRITTEN}

The rights of Landfall for the user "${USER.name}", for example of a client certificate with CN=${USER.name}.
For a static pod, or for a process outside the cluster.`;
  const objects = createRbac(USER, grant);
  return toYamlFile(
    head,
    objects.map((one) => toYaml(one)),
  );
}
