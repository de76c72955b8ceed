/**
 * The names of the capabilities that only some clouds have.
 * @module
 */
import type { Provider } from "../provider.ts";

/** Name of a capability, and of the property that a provider with this capability has. */
export type Capability = "changes" | "loadBalancers" | "machines" | "provenOff";

/** Each capability in words, to complete the sentence "a cloud that can …". */
export const CAPABILITIES: Readonly<Record<Capability & keyof Provider, string>> = {
  changes: "report changes as they happen",
  loadBalancers: "make load balancers",
  machines: "make and destroy machines",
  provenOff: "prove that a machine is powered off",
};

/** The capabilities that a provider lacks. */
export function listLacking(
  provider: Pick<Provider, Capability>,
  needs: readonly Capability[],
): Capability[] {
  return needs.filter((one) => provider[one] === undefined);
}
