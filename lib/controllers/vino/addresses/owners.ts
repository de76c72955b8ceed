/**
 * Whose an address is, as IPPools write it. Pure.
 * @module
 */

/** An interface of a machine. */
export interface AddressOwner {
  /** Key of the Vino: `namespace/name`. */
  readonly vino: string;
  /** Name of the machine, which has the beginning of the UID of its Vino. */
  readonly machine: string;
  /** Name of the interface. */
  readonly interface: string;
}

const FORM = /^([^/]+\/[^/]+)\/(vino-[^/]+)\/(.+)$/;

/** `metal/tenant/vino-1b4e28ba-worker-3/oam`. Frozen: machines keep their addresses by it. */
export function formatOwner({ vino, machine, interface: name }: AddressOwner): string {
  return `${vino}/${machine}/${name}`;
}

/** Reads the owner of an address. @returns `undefined` if Landfall did not write it */
export function parseOwner(text: string): AddressOwner | undefined {
  const [, vino, machine, name] = FORM.exec(text) ?? [];
  if (vino === undefined || machine === undefined || name === undefined) return undefined;
  return { vino, machine, interface: name };
}
