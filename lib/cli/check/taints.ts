/**
 * Out-of-service taints that Landfall did not set, for `landfall check`. Pure.
 * @module
 */
import {
  listForeignlyTainted,
  OUT_OF_SERVICE_TAINT,
} from "../../controllers/fleet/out_of_service.ts";
import type { Node } from "../../kube/kinds/node.ts";
import type { CheckFinding } from "./report.ts";

/** Warns of Nodes with such a taint that Landfall did not set. */
export function listTaintFindings(nodes: readonly Node[]): CheckFinding[] {
  const names = listForeignlyTainted(nodes);
  if (names.length === 0) return [];
  const { key } = OUT_OF_SERVICE_TAINT;
  const message = `${names.slice(0, 3).join(", ")} (${names.length} in all): taint ${key}, not set by Landfall`;
  const advice = `Landfall leaves it; when the machine runs again: kubectl taint node NAME ${key}-`;
  return [{ level: "warning", code: "foreignTaint", message, advice }];
}
