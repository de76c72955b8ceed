/**
 * Whether the namespaces exist that flags of controllers name, for `landfall check`.
 * @module
 */
import type {
  ControllerDefinition,
  FlagValues,
  NamedNamespace,
} from "../../../controllers/definition.ts";
import { EVERY_NAMESPACE } from "../../../core/text/label.ts";
import { type KubeClient, readIfPresent } from "../../../kube/api/client.ts";
import { KubeError } from "../../../kube/api/errors.ts";
import { NAMESPACES } from "../../../kube/kinds/namespace.ts";
import type { CheckFinding } from "../report.ts";

/** Every cluster has these. */
const PRESENT: ReadonlySet<string> = new Set(["kube-system", EVERY_NAMESPACE]);

/**
 * Looks for each namespace, and reports those that do not exist, or of which that cannot be known.
 *
 * @throws the signal's reason
 */
export async function listMissingNamespaces(
  client: Pick<KubeClient, "read">,
  chosen: readonly Pick<ControllerDefinition, "listNamespaces">[],
  flags: FlagValues,
  signal: AbortSignal,
): Promise<CheckFinding[]> {
  const named = chosen.flatMap((one) => one.listNamespaces?.(flags) ?? []);
  const others = named.filter(({ namespace }) => !PRESENT.has(namespace));
  const found = await Promise.all(others.map((one) => findMissing(client, one, signal)));
  return found.filter((finding) => finding !== undefined);
}

async function findMissing(
  client: Pick<KubeClient, "read">,
  { namespace, flag, use }: NamedNamespace,
  signal: AbortSignal,
): Promise<CheckFinding | undefined> {
  const source = `--${flag}`;
  try {
    const found = await readIfPresent(client, NAMESPACES, { name: namespace }, signal);
    if (found !== undefined) return undefined;
    const message = `namespace ${namespace} does not exist, and Landfall needs it ${use}`;
    const advice = `correct --${flag}, or run kubectl create namespace ${namespace}`;
    return { level: "failure", code: "missingNamespace", message, advice, source };
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    const what = `namespace ${namespace} exists, which Landfall needs ${use}`;
    const message = `cannot find out whether ${what}: ${error.message}`;
    const advice = `run kubectl get namespace ${namespace}`;
    return { level: "warning", code: error.kind, message, advice, source };
  }
}
