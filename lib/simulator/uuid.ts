/**
 * UUIDs of simulated objects.
 * @module
 */
import { hash } from "node:crypto";

/** A UUID that is the same for the same name on every machine and in every run. */
export function toUuid(name: string): string {
  const hex = hash("sha1", `landfall-simulator/${name}`, "hex");
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16);
  const third = `5${hex.slice(13, 16)}`;
  const fourth = `${variant}${hex.slice(17, 20)}`;
  return [hex.slice(0, 8), hex.slice(8, 12), third, fourth, hex.slice(20, 32)].join("-");
}
