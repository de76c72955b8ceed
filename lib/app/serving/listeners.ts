/**
 * The HTTP listeners of a process, and what their pages stand on.
 * @module
 */
import type { DebugOptions } from "../../http/debug.ts";
import { createPages } from "../../http/pages.ts";
import type { Check } from "../../http/probes.ts";
import { type HttpServer, startHttpServer } from "../../http/sockets/server.ts";
import type { NodeView } from "../../http/views.ts";
import type { Node } from "../../kube/kinds/node.ts";
import { toInventoryView } from "./inventory_view.ts";
import { toElectionChecks, toElectionView } from "../leadership.ts";
import type { AppOptions } from "../options.ts";
import type { Parts } from "../parts.ts";
import { startSecureListener } from "./secure_listener.ts";

/**
 * Starts every listener that the options ask for.
 *
 * @param signal Gives up starting. It stops no listener
 * @throws {ConfigError} when an address cannot be listened at
 */
export async function startListeners(
  options: AppOptions,
  parts: Parts,
  signal: AbortSignal,
): Promise<HttpServer[]> {
  const { clock, log, metrics, debugAddress, secure, configz, connectionsMax } = options;
  const probes = { checks: toChecks(parts), renderMetrics: () => metrics.render() };
  const debug = toDebugOptions(options, parts);
  const pages = createPages({ probes, debug, log, ...(configz && { configz }) });
  const servers: HttpServer[] = [];
  try {
    if (debugAddress) {
      const flag = "--debug-address";
      const place = { address: debugAddress, connectionsMax, flag, clock, log, signal };
      const server = await startHttpServer({ ...place, handler: pages });
      servers.push(server);
      log.info("Listening", { address: server.shown, flag });
      options.onDebugListening?.(server.address);
    }
    if (secure) servers.push(await startSecureListener(options, secure, { pages, signal }));
  } catch (error) {
    await Promise.all(servers.map((server) => server.stop(0)));
    throw error;
  }
  return servers;
}

/** Ready once everything is in memory that a decision needs; not whether the cloud answers just now, or who leads. */
export function toChecks({ nodes, source, elector }: Parts): Check[] {
  return [
    { name: "nodes-synced", probes: ["readyz"], isOk: () => nodes.synced },
    { name: "inventory-taken", probes: ["readyz"], isOk: () => source.current !== undefined },
    ...toElectionChecks(elector),
  ];
}

function toDebugOptions({ clock, provider, host }: AppOptions, parts: Parts): DebugOptions {
  const { nodes, source, elector } = parts;
  const describe = (node: Node): NodeView => ({
    ...parts.node.describe(node),
    ...parts.lifecycle.describe(node),
  });
  return {
    *listNodes() {
      for (const name of [...nodes.keys()].sort()) {
        const node = nodes.get(name);
        if (node) yield describe(node);
      }
    },
    findNode: (name) => {
      const node = nodes.get(name);
      return node && describe(node);
    },
    readInventory: () => toInventoryView(source, clock),
    readStatus: () => ({
      provider: provider.name,
      host,
      ...(elector && { election: toElectionView(elector) }),
    }),
    now: () => clock.now(),
  };
}
