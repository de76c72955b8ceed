/**
 * What must never happen to addresses, judged at each change of a pool.
 * @module
 */
import type { ApiObject, JsonObject } from "../../../../lib/simulator/kubernetes/mod.ts";
import {
  isArray,
  isObject,
  objectAt,
  stringAt,
} from "../../../../lib/simulator/kubernetes/patches/json.ts";
import type { ApiServer, Change } from "../../world/api_server.ts";
import type { Machines } from "./machines.ts";

/** Watches over pools from now on. @param accuse Told what is broken */
export function judgeAddresses(
  server: ApiServer,
  machines: Machines,
  accuse: (what: string) => void,
): void {
  const judge = new AddressJudge(machines, accuse);
  server.follow<ApiObject>("ippools", (change) => judge.look(change));
}

class AddressJudge {
  readonly #machines: Machines;
  readonly #accuse: (what: string) => void;
  /** Whom each address was given to last. */
  readonly #holders = new Map<string, string>();

  constructor(machines: Machines, accuse: (what: string) => void) {
    this.#machines = machines;
    this.#accuse = accuse;
  }

  look(change: Change<ApiObject>): void {
    this.#judgePool(change.after);
    this.#judgeOthers(change);
  }

  /** No address and no MAC address is given twice, and none of a machine that exists is given to another. */
  #judgePool(pool: ApiObject | undefined): void {
    if (pool === undefined) return;
    const given = listGiven(pool);
    for (const key of ["ip", "mac", "allocatedTo"]) {
      const values = given.map((one) => stringAt(one, key)).filter((value) => value !== "");
      if (new Set(values).size < values.length) this.#accuse(`a pool has one ${key} twice`);
    }
    this.#forgetReleased(new Set(given.map((one) => stringAt(one, "ip"))));
    for (const one of given) {
      const [ip, owner] = [stringAt(one, "ip"), stringAt(one, "allocatedTo")];
      const before = this.#holders.get(ip) ?? owner;
      this.#holders.set(ip, owner);
      if (before === owner) continue;
      const name = toMachineName(before);
      if (this.#exists(name)) this.#accuse(`${owner} gets ${ip}, and ${name} has it and exists`);
    }
  }

  /** A machine that is made again later does not have the addresses any more that it gave back. */
  #forgetReleased(given: ReadonlySet<string>): void {
    for (const [ip, owner] of this.#holders) {
      if (!given.has(ip) && !this.#exists(toMachineName(owner))) this.#holders.delete(ip);
    }
  }

  #exists(name: string): boolean {
    return this.#machines.list().some(({ birth }) => birth.name === name);
  }

  /** What a pool says of addresses that are not of machines, no process changes. */
  #judgeOthers({ author, before, after }: Change<ApiObject>): void {
    if (author === undefined || before === undefined || after === undefined) return;
    const now = new Set(listGiven(after).map((one) => JSON.stringify(one)));
    for (const one of listGiven(before)) {
      const isOurs = /^[^/]+\/[^/]+\/vino-/.test(stringAt(one, "allocatedTo"));
      if (!isOurs && !now.has(JSON.stringify(one))) {
        this.#accuse(`${author} changes the address ${stringAt(one, "ip")} of others`);
      }
    }
  }
}

/** The machine that has an address. @param owner As pools write it: `metal/core/vino-1b4e28ba-worker-0/eth0` */
function toMachineName(owner: string): string {
  return owner.split("/")[2] ?? "";
}

/** Which addresses a pool has given to whom. */
function listGiven(pool: ApiObject): readonly JsonObject[] {
  const { allocatedIPs = [] } = objectAt(pool, "spec");
  return isArray(allocatedIPs) ? allocatedIPs.filter(isObject) : [];
}
