/**
 * Keeps the addresses that something else uses, so that no Service gets one of them from an address pool.
 * @module
 */
import type { Instance } from "../../cloud/instance.ts";
import type { Occupant, Occupied } from "../../cloud/pools/allocations.ts";
import { toFamily } from "../../cloud/pools/pool.ts";
import { parseIp } from "../../core/net/ip.ts";
import { quote } from "../../core/text/printable.ts";
import type { StoreReader } from "../../kube/cache/store.ts";
import type { Node } from "../../kube/kinds/node.ts";
import type { Service } from "../../kube/kinds/service.ts";
import { listNodeIps, listReportedIps } from "../addresses.ts";
import type { NodeCloud } from "../node_context.ts";
import { RECORD } from "./words.ts";

/** What may have addresses besides the Services that Landfall serves. */
interface AddressUsers {
  readonly nodes: Iterable<Node>;
  /** All machines that the cloud shows. */
  readonly instances: Iterable<Instance>;
  /** All Services, of any type and class. */
  readonly services: Iterable<Service>;
  readonly isServed: (service: Service) => boolean;
}

const NO_USES = { external: [], shown: [] };
/** Most addresses of one Service that count, so that no user fills the memory with them. */
const SERVICE_IPS_MAX = 64;

/** Lists who has which address. Pure. */
export function toOccupied({ nodes, instances, services, isServed }: AddressUsers): Occupied {
  const occupied = new Map<string, Occupant[]>();
  const add = (address: string, occupant: Occupant): void => {
    const ip = parseIp(address)?.text;
    if (ip === undefined) return;
    const others = occupied.get(ip);
    if (others === undefined) occupied.set(ip, [occupant]);
    else others.push(occupant);
  };
  const ofNodes = new Set<string>();
  for (const node of nodes) {
    const { metadata, spec, status } = node;
    const what = `an address of the Node ${metadata.name}`;
    const own = listMain(node);
    for (const { address } of status?.addresses ?? []) {
      add(address, { what, mayAnnounce: !own.includes(parseIp(address)?.text ?? "") });
    }
    const uuid = status?.nodeInfo?.systemUUID?.toLowerCase();
    for (const id of [metadata.name, spec?.providerID, uuid]) if (id) ofNodes.add(id);
  }
  for (const instance of instances) {
    const { name, providerId, systemUuid = "" } = instance;
    const what = `an address of the machine ${quote(name)}`;
    const mayAnnounce = [name, providerId, systemUuid].some((one) => ofNodes.has(one));
    for (const address of listReportedIps(instance)) add(address, { what, mayAnnounce });
  }
  for (const service of services) {
    const { external, shown } = listUses(service, isServed);
    if (external.length + shown.length === 0) continue;
    const { namespace = "", name, uid = "" } = service.metadata;
    const owner = { namespace, name, uid };
    const who = `the Service ${namespace}/${name}`;
    for (const address of external) {
      add(address, { what: `in spec.externalIPs of ${who}`, owner, field: "spec.externalIPs" });
    }
    for (const address of shown) {
      const what = `the address of ${who}, which Landfall does not serve`;
      const isGiven = service.metadata.annotations?.[RECORD] !== undefined;
      add(address, { what, owner, field: "the status", isGiven });
    }
  }
  return occupied;
}

/** What a status shows. Others wrote it: a field may be `null`. */
function toIps(status: Service["status"]): string[] {
  return (status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) => ip ?? []);
}

/** The first InternalIP of each family: what other Nodes reach the Node by. No program announces it for a Service. */
function listMain(node: Node): readonly string[] {
  const internal = listNodeIps(node, "InternalIP");
  return [...Map.groupBy(internal, toFamily).values()].flatMap(([first = ""]) => first);
}

/** A text, because each report of a kubelet makes it twice; `undefined` for no Node. */
function toNodeText(node: Node | undefined): string | undefined {
  if (node === undefined) return undefined;
  const addresses = (node.status?.addresses ?? []).map(({ type, address }) => `${type} ${address}`);
  return [node.spec?.providerID, node.status?.nodeInfo?.systemUUID, ...addresses].join(" ");
}

/** What a Service uses. */
function listUses(
  service: Service,
  isServed: AddressUsers["isServed"],
): Readonly<Record<"external" | "shown", readonly string[]>> {
  const { spec, status } = service;
  return {
    external: (spec?.externalIPs ?? []).slice(0, SERVICE_IPS_MAX),
    shown:
      spec?.type === "LoadBalancer" && !isServed(service)
        ? toIps(status).slice(0, SERVICE_IPS_MAX)
        : [],
  };
}

/** What {@linkcode OccupiedAddresses} need. */
interface OccupiedAddressesOptions {
  readonly cloud: Pick<NodeCloud, "nodes" | "source">;
  readonly services: Pick<StoreReader<Service>, "subscribe" | "values">;
  readonly isServed: (service: Service) => boolean;
}

/** The addresses of Nodes, machines and other Services. Reads them only after one of them changed. */
export class OccupiedAddresses {
  readonly #options: OccupiedAddressesOptions;
  #occupied: Occupied | undefined;

  constructor(options: OccupiedAddressesOptions) {
    this.#options = options;
  }

  /** The same object while no address changes. */
  get current(): Occupied {
    const { cloud, services, isServed } = this.#options;
    this.#occupied ??= toOccupied({
      nodes: cloud.nodes.values(),
      instances: cloud.source.current?.instances.values() ?? [],
      services: services.values(),
      isServed,
    });
    return this.#occupied;
  }

  /**
   * Follows what has addresses from now on.
   *
   * @param onChange Called when an address may have changed
   * @returns The function that ends this
   */
  follow(onChange: () => void): () => void {
    const { cloud, services, isServed } = this.#options;
    // Most Services use none.
    const toText = (service: Service | undefined): string => {
      const { external, shown } = service ? listUses(service, isServed) : NO_USES;
      return external.length + shown.length === 0 ? "" : [...external, "", ...shown].join(" ");
    };
    const note = (isChanged: boolean): void => {
      if (!isChanged) return;
      this.#occupied = undefined;
      onChange();
    };
    note(true);
    const ends = [
      cloud.nodes.subscribe((_key, one, other) => note(toNodeText(one) !== toNodeText(other))),
      cloud.source.subscribe((changed) => note(changed === "everything" || changed.size > 0)),
      services.subscribe((_key, one, other) => note(toText(one) !== toText(other))),
    ];
    return () => {
      for (const end of ends) end();
    };
  }
}
