/**
 * The rights that a creation needs.
 * @module
 */
import type { Need } from "../../access/privileges.ts";
import type { Work } from "../backend.ts";

/** In the order in which the answer names those that are missing. @param body Not checked yet */
export function toCreateNeeds(work: Work, poolId: string, body: unknown): readonly Need[] {
  const pool = work.find("pools", poolId, "pool");
  const { template: uuid, affinity, vdis, vifs }: Record<string, unknown> = Object(body);
  const template = work.state.list("vm-templates").find((one) => one["uuid"] === uuid);
  const host = typeof affinity === "string" ? work.state.read("hosts", affinity) : undefined;
  return [
    { resource: "pool", action: "create:vm", objectId: poolId, object: pool },
    ...(template === undefined
      ? []
      : [
          {
            resource: "vm-template",
            action: "instantiate",
            objectId: String(uuid),
            object: template,
          },
        ]),
    // Selectors look at the entries of the body.
    ...toEntries(vdis).map((object) => ({ resource: "vdi", action: "create", object })),
    ...toEntries(vifs).map((object) => ({ resource: "vif", action: "create", object })),
    ...(host === undefined
      ? []
      : [{ resource: "host", action: "allow-vm", objectId: host.id, object: host }]),
  ];
}

function toEntries(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
