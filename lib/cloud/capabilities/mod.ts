/**
 * What some clouds can do and others cannot, by name.
 * @module
 */
import type { Provider } from "../provider.ts";

/** Names of capabilities: each is the property of a provider that has it. */
export type Capability = "changes" | "provenOff";

/** What a cloud can do that has a capability, as the end of a sentence. */
export const CAPABILITIES: Readonly<Record<Capability & keyof Provider, string>> = {
  changes: "report changes as they happen",
  provenOff: "prove that a machine is powered off",
};

/** The capabilities that a provider lacks. */
export function listLacking(
  provider: Pick<Provider, Capability>,
  needs: readonly Capability[],
): Capability[] {
  return needs.filter((one) => provider[one] === undefined);
}
