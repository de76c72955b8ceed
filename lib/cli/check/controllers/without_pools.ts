/**
 * Services that address pools served before all pools were removed, for `landfall check`. Pure.
 * @module
 */
import { isWanted } from "../../../controllers/service/spec.ts";
import { RECORD } from "../../../controllers/service/words.ts";
import type { Service } from "../../../kube/kinds/service.ts";
import type { CheckFinding } from "../report.ts";
import { isWaiting, nameFirst } from "./services.ts";

/**
 * Warns of Services that have an address of Landfall, and of those that wait beside them. Without an address of
 * Landfall, another program serves the Services, or none.
 *
 * @param services All of the cluster
 */
export function listWithoutPools(services: readonly Service[]): CheckFinding[] {
  if (!services.some(hasRecord)) return [];
  const found = services.filter(
    (service) =>
      hasRecord(service) || (isWanted(service, { servesClassless: true }) && isWaiting(service)),
  );
  const who =
    found.length === 1
      ? "1 Service has or waits for an address"
      : `${found.length} Services have or wait for an address`;
  const message = `${who}, but these settings have no address pools: ${nameFirst(found)}`;
  const advice = "write the pools into them, unless another program gives the addresses now";
  return [{ level: "warning", code: "noAddressPools", message, advice }];
}

function hasRecord({ metadata }: Service): boolean {
  return metadata.annotations?.[RECORD] !== undefined;
}
