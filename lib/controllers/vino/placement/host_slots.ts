/**
 * The hosts of a role, and how many machines each of them may still get.
 * @module
 */
import type { MachineHost } from "../../../cloud/capabilities/machines.ts";

/** The enabled hosts of a role. */
export class HostSlots {
  readonly #hosts: readonly MachineHost[];
  /** Machines of all roles by host. */
  readonly #usage: Map<string, number>;
  readonly #perHost: number;
  /** Machines of this role by host. */
  readonly #own = new Map<string, number>();

  /**
   * @param hosts In the order in which equal ones are chosen
   * @param usage Machines of all roles so far by host. Machines of this role are added
   * @param perHost How many machines of the role a host may have
   */
  constructor(hosts: readonly MachineHost[], usage: Map<string, number>, perHost: number) {
    this.#hosts = hosts.filter(({ isEnabled }) => isEnabled);
    this.#usage = usage;
    this.#perHost = perHost;
  }

  /** Whether there are hosts, and each has as many machines as it may have. */
  get isFull(): boolean {
    return this.#hosts.length > 0 && this.#hosts.every(({ id }) => !this.#hasRoom(id));
  }

  /** Counts a machine on a host. */
  take(hostId: string): void {
    this.#own.set(hostId, (this.#own.get(hostId) ?? 0) + 1);
    this.#usage.set(hostId, (this.#usage.get(hostId) ?? 0) + 1);
  }

  /** Takes the least used host for a machine. @returns `undefined` if no host may have another one */
  give(): string | undefined {
    let best: MachineHost | undefined;
    for (const host of this.#hosts) {
      if (!this.#hasRoom(host.id)) continue;
      if (best === undefined || this.#isLess(host, best)) best = host;
    }
    if (best !== undefined) this.take(best.id);
    return best?.id;
  }

  #hasRoom(hostId: string): boolean {
    return (this.#own.get(hostId) ?? 0) < this.#perHost;
  }

  #isLess(a: MachineHost, b: MachineHost): boolean {
    const [ownA, ownB] = [a, b].map(({ id }) => this.#own.get(id) ?? 0);
    if (ownA !== ownB) return (ownA ?? 0) < (ownB ?? 0);
    return (this.#usage.get(a.id) ?? 0) < (this.#usage.get(b.id) ?? 0);
  }
}
