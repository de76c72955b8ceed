/**
 * Checks the specs of Vinos and IPPools.
 * @module
 */
import { checkBySchema, type Checked, checkNamed } from "../../kinds/parts.ts";
import type { IpPoolSpec } from "./ip_pool.ts";
import { POOL_SPEC } from "./schema/ip_pool.ts";
import { SPEC } from "./schema/spec.ts";
import type { Vino, VinoSpec } from "./vino.ts";

/** Checks the spec of a Vino, and its name, which becomes the value of a label on its hosts. */
export function checkVino(vino: Vino): Checked<VinoSpec> {
  return checkNamed(SPEC, vino);
}

/** Checks the spec of a Vino. Fields that the schema does not have are left out, as an API server does. */
export function checkSpec(spec: unknown): Checked<VinoSpec> {
  return checkBySchema(SPEC, spec);
}

/** Checks the spec of an IPPool in the same way. */
export function checkPoolSpec(spec: unknown): Checked<IpPoolSpec> {
  return checkBySchema(POOL_SPEC, spec);
}
