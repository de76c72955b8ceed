/**
 * Whether the API server serves the kinds that controllers watch.
 * @module
 */
import type { ControllerDefinition } from "../../controllers/definition.ts";
import type { KubeClient } from "../../kube/api/client.ts";
import { KubeError } from "../../kube/api/errors.ts";
import type { KubeObject, Resource } from "../../kube/kinds/resource.ts";
import { toManifest } from "./manifests.ts";
import { type CheckFinding, COMMAND_MARK } from "./report.ts";
import { findServing } from "../../kube/cache/caches.ts";

/**
 * Looks for each kind, and reports those that the API server does not serve.
 *
 * @throws the signal's reason
 */
export async function listMissingKinds(
  client: KubeClient,
  chosen: readonly Pick<ControllerDefinition, "folder" | "loadKinds" | "watches">[],
  signal: AbortSignal,
): Promise<CheckFinding[]> {
  const kinds = new Set(chosen.flatMap(({ watches }) => watches));
  const manifests = await loadManifests(chosen);
  const found = await Promise.all(
    [...kinds].map((kind) => findMissing(client, kind, manifests.get(toName(kind)), signal)),
  );
  return found.filter((finding) => finding !== undefined);
}

/** The name of the CustomResourceDefinition of a kind. */
function toName({ apiVersion, plural }: Resource<KubeObject>): string {
  const [group = ""] = apiVersion.split("/");
  return `${plural}.${group}`;
}

/** The files with the kinds of controllers, by the names of the definitions. Other programs bring their own. */
async function loadManifests(
  chosen: readonly Pick<ControllerDefinition, "folder" | "loadKinds">[],
): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  for (const one of chosen) {
    if (one.folder === undefined) continue;
    for (const { crd } of (await one.loadKinds?.()) ?? []) {
      files.set(crd.metadata.name, toManifest(one, "crd.yaml"));
    }
  }
  return files;
}

async function findMissing(
  client: KubeClient,
  kind: Resource<KubeObject>,
  manifest: string | undefined,
  signal: AbortSignal,
): Promise<CheckFinding | undefined> {
  const [, version] = kind.apiVersion.split("/");
  try {
    const serving = await findServing(client, kind, signal);
    if (serving === "served") return undefined;
    const where = serving === "missing" ? "is missing" : `exists, but not in version ${version}`;
    const message = `the CustomResourceDefinition ${toName(kind)} ${where}`;
    const file = manifest ?? kind.crdUrl;
    const advice =
      file === undefined
        ? `install it in version ${version}: until then its controller waits`
        : `its controller waits until you run:\n${COMMAND_MARK}kubectl apply --server-side -f ${file}`;
    return { level: "warning", code: "missingKind", message, advice };
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    return { level: "warning", code: error.kind, message: error.message };
  }
}
