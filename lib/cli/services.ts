/**
 * `landfall services --kept`: shows the addresses that are kept for Services. Writes nothing.
 * @module
 */
import type { KeptAddress, LoadBalancers } from "../cloud/capabilities/load_balancers.ts";
import { listSections } from "../controllers/definition.ts";
import { CONTROLLERS } from "../controllers/mod.ts";
import { CLUSTER_SERVICE, readClusterIds } from "../controllers/service/cluster_ids.ts";
import { formatTable } from "../http/text_table.ts";
import type { KubeClient } from "../kube/api/client.ts";
import { isKubeError } from "../kube/api/errors.ts";
import { type Service, SERVICES } from "../kube/kinds/service.ts";
import type { CommandContext } from "./command.ts";
import type { ParsedFlags } from "./flags/mod.ts";
import { look, sayOwnLook, toJson } from "./look.ts";
import { withCloudAndCluster } from "./cloud_and_cluster.ts";

const COLUMNS = ["NAMESPACE", "ADDRESS", "RULES", "TAKEN FOR", "ID"];

/**
 * Shows kept addresses.
 *
 * @returns Exit code 0
 * @throws {ConfigError} when flags or settings cannot be used
 * @throws {Error} when the cluster or the cloud cannot be read
 */
export function showKept(argv: readonly string[], context: CommandContext): Promise<number> {
  return look("services", argv, context, {
    argsMax: 0,
    read: async (parsed, quiet, signal) => {
      const kept = await readKept(parsed, context, signal);
      sayOwnLook(quiet);
      if (parsed.given.text("output") === "json") return toJson({ kept });
      return kept.length === 0 ? "No address is kept.\n" : toTable(kept);
    },
  });
}

async function readKept(
  { settings }: ParsedFlags,
  { env, providers, controllers }: CommandContext,
  signal: AbortSignal,
): Promise<readonly KeptAddress[]> {
  const sections = listSections(controllers ?? CONTROLLERS);
  return await withCloudAndCluster(
    { settings, env, providers, sections },
    signal,
    async ({ provider, client }) => {
      const loadBalancers: LoadBalancers | undefined = provider.loadBalancers;
      if (loadBalancers?.listKept === undefined) return [];
      const ids = await readClusterIds(client, await readService(client, signal), signal);
      if (ids === undefined) {
        throw new Error(
          "Kubernetes does not show the ID of this cluster, which the addresses name",
        );
      }
      loadBalancers.setClusterIds(ids);
      return await loadBalancers.listKept(signal);
    },
  );
}

/** The Service whose UID may be the ID of the cluster, if this user may read it. */
async function readService(client: KubeClient, signal: AbortSignal): Promise<Service | undefined> {
  const [namespace = "", name = ""] = CLUSTER_SERVICE.split("/");
  try {
    return await client.read(SERVICES, { namespace, name }, signal);
  } catch (error) {
    if (isKubeError(error, "forbidden") || isKubeError(error, "notFound")) return undefined;
    throw error;
  }
}

function toTable(kept: readonly KeptAddress[]): string {
  const rows = kept.map(({ namespace, ip, rules, service = "", id }) => [
    namespace,
    ip,
    String(rules),
    service,
    id,
  ]);
  return formatTable(COLUMNS, rows);
}
