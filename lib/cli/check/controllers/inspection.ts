/**
 * What controllers find in the cluster that does not fit together, for `landfall check`.
 * @module
 */
import type { ControllerDefinition, FlagValues } from "../../../controllers/definition.ts";
import type { KubeClient } from "../../../kube/api/client.ts";
import { KubeError } from "../../../kube/api/errors.ts";
import type { CheckFinding } from "../report.ts";

/**
 * Asks each controller. What it may not list, and kinds that do not exist, other findings name.
 *
 * @throws the signal's reason
 */
export async function inspectControllers(
  client: Pick<KubeClient, "list">,
  chosen: readonly Pick<ControllerDefinition, "inspect">[],
  flags: FlagValues,
  signal: AbortSignal,
): Promise<readonly CheckFinding[]> {
  const found = await Promise.all(
    chosen.map(async ({ inspect }): Promise<readonly CheckFinding[]> => {
      try {
        return (await inspect?.(client, flags, signal)) ?? [];
      } catch (error) {
        if (!(error instanceof KubeError)) throw error;
        // For the kinds of an unknown group, the API server answers without a Status object.
        if (error.kind === "forbidden" || error.code === 404) return [];
        return [{ level: "warning", code: error.kind, message: error.message }];
      }
    }),
  );
  return found.flat();
}
