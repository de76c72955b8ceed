/**
 * Whether the API server serves the kinds that controllers watch: a CustomResourceDefinition may be missing.
 * @module
 */
import type { KubeClient } from "../../kube/api/client.ts";
import { KubeError } from "../../kube/api/errors.ts";
import { findServing } from "../../kube/cache/discovery.ts";
import type { KubeObject, Resource } from "../../kube/kinds/resource.ts";
import type { CheckFinding } from "./report.ts";

/**
 * Looks for each kind, and reports those that the API server does not serve.
 *
 * @throws the signal's reason
 */
export async function listMissingKinds(
  client: KubeClient,
  kinds: readonly Resource<KubeObject>[],
  signal: AbortSignal,
): Promise<CheckFinding[]> {
  const found = await Promise.all(kinds.map((kind) => findMissing(client, kind, signal)));
  return found.filter((finding) => finding !== undefined);
}

async function findMissing(
  client: KubeClient,
  kind: Resource<KubeObject>,
  signal: AbortSignal,
): Promise<CheckFinding | undefined> {
  const [group = "", version] = kind.apiVersion.split("/");
  try {
    const serving = await findServing(client, kind, signal);
    if (serving === "served") return undefined;
    const where = serving === "missing" ? "is missing" : `exists, but not in version ${version}`;
    const message = `the CustomResourceDefinition ${kind.plural}.${group} ${where}`;
    const advice = `install it in version ${version}: until then its controller waits`;
    return { level: "warning", code: "missingKind", message, advice };
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    return { level: "warning", code: error.kind, message: error.message };
  }
}
