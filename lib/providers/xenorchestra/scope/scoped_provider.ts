/**
 * Xen Orchestra of which some pools alone hold Nodes of ours.
 * @module
 */
import type { Inventory } from "../../../cloud/inventory/inventory.ts";
import type { NodeIdentity, Presence, ReadOptions } from "../../../cloud/provider.ts";
import { parseIdentity } from "../model/identity.ts";
import { XenOrchestraProvider } from "../provider.ts";

/** Leaves the Nodes of other pools alone. Without the setting `pools` it is a {@linkcode XenOrchestraProvider}. */
export class ScopedProvider extends XenOrchestraProvider {
  override findInstance(inventory: Inventory, node: NodeIdentity): Presence {
    if (this.scope.isWhole) return super.findInstance(inventory, node);
    const identity = parseIdentity(node);
    const refusal = this.scope.refuse(identity, inventory);
    if (refusal) return refusal;
    return this.scope.place(identity, super.findInstance(inventory, node), inventory);
  }

  override async readInstance(
    inventory: Inventory,
    node: NodeIdentity,
    signal: AbortSignal,
    options?: ReadOptions,
  ): Promise<Presence> {
    const identity = parseIdentity(node);
    const refusal = this.scope.refuse(identity, inventory);
    if (refusal) return refusal;
    const presence = await super.readInstance(inventory, node, signal, options);
    return this.scope.place(identity, presence, inventory);
  }
}
