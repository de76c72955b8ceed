/**
 * Compares the desired and actual values of a Node, line by line.
 * @module
 */
import type { AddressView, NodeView } from "../views.ts";
import type { Line, LineState } from "./model.ts";

const WRONG: ReadonlySet<LineState> = new Set(["missing", "differs", "extra"]);

/** The labels that Landfall wants to own. */
export function compareLabels({ labels: { wanted, actual } }: NodeView): Line[] {
  const [want, have] = [new Map(Object.entries(wanted ?? {})), new Map(Object.entries(actual))];
  const keys = [...new Set([...want.keys(), ...have.keys()])].sort();
  return keys.map((key) => toLine(key, want.get(key), have.get(key)));
}

/** The addresses in the desired order, then those that should not be there. */
export function compareAddresses({ addresses: { wanted, actual } }: NodeView): Line[] {
  if (wanted === undefined) {
    return actual.map(({ type, address }) => ({ name: type, actual: address, state: "unknown" }));
  }
  const lines = wanted.map(({ type, address }, at): Line => {
    if (isAddress(actual[at], type, address))
      return { name: type, wanted: address, actual: address, state: "same" };
    const elsewhere = actual.some((one) => isAddress(one, type, address));
    return elsewhere
      ? { name: type, wanted: address, actual: `${address}, in another position`, state: "differs" }
      : { name: type, wanted: address, state: "missing" };
  });
  for (const { type, address } of actual) {
    if (wanted.some((one) => isAddress(one, type, address))) continue;
    lines.push({ name: type, actual: address, state: "extra" });
  }
  return lines;
}

/** The provider ID. Landfall never changes an existing one, even if the machine would get another one now. */
export function compareProviderId({
  wantedProviderId: wanted,
  providerId: actual,
}: NodeView): Line {
  const line = toLine("spec.providerID", wanted, actual);
  return line.state === "differs" ? { ...line, state: "kept" } : line;
}

/** How many lines of a Node are out of sync. */
export function countDifferences(node: NodeView): number {
  let count = WRONG.has(compareProviderId(node).state) ? 1 : 0;
  const { wanted = {}, actual } = node.labels;
  for (const key in wanted) if (wanted[key] !== actual[key]) count += 1;
  if (!hasSameAddresses(node)) {
    count += compareAddresses(node).filter(({ state }) => WRONG.has(state)).length;
  }
  return count;
}

function hasSameAddresses({ addresses: { wanted, actual } }: NodeView): boolean {
  if (wanted === undefined) return true;
  return (
    wanted.length === actual.length &&
    wanted.every(({ type, address }, at) => isAddress(actual[at], type, address))
  );
}

function isAddress(one: AddressView | undefined, type: string, address: string): boolean {
  return one?.type === type && one.address === address;
}

/** Compares two values; `undefined` stands for one that should not be or is not there. */
export function compareValues(
  name: string,
  wanted: string | undefined,
  actual: string | undefined,
): Line {
  const line = toLine(name, wanted, actual);
  return line.state === "unknown" ? { ...line, state: "extra" } : line;
}

function toLine(name: string, wanted: string | undefined, actual: string | undefined): Line {
  const pair = {
    name,
    ...(wanted === undefined ? {} : { wanted }),
    ...(actual === undefined ? {} : { actual }),
  };
  if (wanted === undefined) return { ...pair, state: "unknown" };
  if (actual === undefined) return { ...pair, state: "missing" };
  return { ...pair, state: wanted === actual ? "same" : "differs" };
}
