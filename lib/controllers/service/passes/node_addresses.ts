/**
 * Keeps the addresses of all Nodes, so that no Service gets one of them from an address pool.
 * @module
 */
import type { Occupied } from "../../../cloud/pools/allocations.ts";
import { parseIp } from "../../../core/net/ip.ts";
import type { StoreReader } from "../../../kube/cache/store.ts";
import type { Node } from "../../../kube/kinds/node.ts";

/** The addresses of the Nodes, by address; of two Nodes with the same one, the last. Pure. */
function toOccupied(nodes: Iterable<Node>): Occupied {
  const occupied = new Map<string, string>();
  for (const { metadata, status } of nodes) {
    for (const { address } of status?.addresses ?? []) {
      const ip = parseIp(address)?.text;
      if (ip !== undefined) occupied.set(ip, `the Node ${metadata.name}`);
    }
  }
  return occupied;
}

/** A text, because each report of a kubelet makes it twice; `undefined` for no Node. */
function toAddressText(node: Node | undefined): string | undefined {
  return node && (node.status?.addresses ?? []).map(({ address }) => address).join(" ");
}

/** The addresses of the Nodes in a store. Reads them only after one of them changed. */
export class NodeAddresses {
  readonly #nodes: Pick<StoreReader<Node>, "subscribe" | "values">;
  #occupied: Occupied | undefined;

  constructor(nodes: Pick<StoreReader<Node>, "subscribe" | "values">) {
    this.#nodes = nodes;
    nodes.subscribe((_key, before, after) => {
      if (toAddressText(before) !== toAddressText(after)) this.#occupied = undefined;
    });
  }

  /** The same object while no address changes. */
  get current(): Occupied {
    this.#occupied ??= toOccupied(this.#nodes.values());
    return this.#occupied;
  }
}
