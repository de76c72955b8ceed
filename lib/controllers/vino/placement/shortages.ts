/**
 * Why machines of a role cannot be begun, and what to do. Pure.
 * @module
 */
import type { MachineHost, MachinePool } from "../../../cloud/capabilities/machines.ts";
import { nameSome } from "../../kinds/problems.ts";
import type { Unmatched } from "./choice.ts";
import type { RoleDemand } from "../resource/role_form.ts";

/** Machines that are wanted, and cannot be begun now. */
export interface Shortage {
  readonly role: string;
  readonly missing: number;
  /**
   * `noHosts`: the spec names hosts, and there are none; a person must correct one of both. `silent`: the pool does not
   * answer in full.
   */
  readonly kind: "noHosts" | "noRoom" | "silent";
  /** Why, and what to do; no full stop. */
  readonly why: string;
}

/** What is known of a role after its machines were placed. */
export interface ShortageInput {
  readonly demand: RoleDemand;
  readonly pool: MachinePool;
  /** Hosts that the spec names, and that the pool shows. */
  readonly chosen: readonly MachineHost[];
  /** What the spec names, and the pool does not show. */
  readonly unmatched: Unmatched;
  /** How many machines exist and stay. */
  readonly kept: number;
  /** How many machines are wanted, and have no place. */
  readonly missing: number;
  /** Whether the Vino has as many machines as it may have. */
  readonly isFull: boolean;
  /** How many machines a Vino may have. */
  readonly machinesMax: number;
}

/** Says which machines cannot be begun, or what is worth knowing of their hosts; sentences without a full stop. */
export function explainShortage(input: ShortageInput): {
  readonly shortages: readonly Shortage[];
  readonly notices: readonly string[];
} {
  const { demand, pool, chosen, kept, missing } = input;
  const { role, count, countPer } = demand;
  if (count === 0) return { shortages: [], notices: [] };
  // Without hosts, a count for each host is zero, which is a mistake. Machines that exist stay in any case.
  const isCounted = missing > 0 || kept === 0 || countPer === "Host";
  if (chosen.length === 0 && isCounted) {
    const shortage = { role, missing: Math.max(missing, count), ...explainNowhere(input) };
    return { shortages: [shortage], notices: [] };
  }
  // A pool that does not answer in full may have the hosts.
  const { hosts, tags } = input.unmatched;
  if (countPer === "Host" && hosts.length > 0 && pool.isComplete) {
    const why = `${describeLack(pool, hosts)}. Correct xenOrchestra.hosts`;
    const shortage: Shortage = { role, missing: count * hosts.length, kind: "noHosts", why };
    return { shortages: [shortage], notices: [] };
  }
  const unmatched = [...hosts, ...tags];
  const isKnown = unmatched.length > 0 && pool.isComplete;
  const notice = `Pool ${pool.name} shows no host with ${nameSome(unmatched)} of xenOrchestra.hosts`;
  const shortages = missing > 0 ? [{ role, missing, ...explainFull(input) }] : [];
  return { shortages, notices: isKnown ? [notice] : [] };
}

function describeLack({ name }: MachinePool, lacks: readonly string[]): string {
  return `pool ${name} shows no host with ${nameSome(lacks)}`;
}

type Reason = Pick<Shortage, "kind" | "why">;

function explainNowhere({ unmatched, pool }: ShortageInput): Reason {
  const { name, isComplete } = pool;
  if (!isComplete) {
    const advice =
      "check its connection, and whether the user of Landfall sees its hosts (host read)";
    return { kind: "silent", why: `pool ${name} is disconnected or still loading: ${advice}` };
  }
  const lacks = [...unmatched.hosts, ...unmatched.tags];
  if (lacks.length === 0) {
    return { kind: "noHosts", why: `pool ${name} shows no host. Check the pool` };
  }
  const advice = "Correct xenOrchestra.hosts, or add the tag to a host";
  return { kind: "noHosts", why: `${describeLack(pool, lacks)}. ${advice}` };
}

function explainFull({ chosen, isFull, machinesMax }: ShortageInput): Reason {
  if (isFull) {
    const what = `a Vino has at most ${machinesMax} machines`;
    return { kind: "noRoom", why: `${what}. Landfall makes these when others are gone` };
  }
  const off = chosen.filter(({ isEnabled }) => !isEnabled).map(({ name, id }) => `${name} (${id})`);
  return {
    kind: "noRoom",
    why: `these hosts are disabled: ${off.slice(0, 5).join(", ")}. Enable them`,
  };
}
