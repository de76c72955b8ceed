/**
 * The ports of a public address that a new rule may use.
 * @module
 */
import type { Parameters } from "../../parameters.ts";
import { ApiError, toInvalid } from "../../replies.ts";
import { listUsedPorts } from "../../world/addresses.ts";
import { toNumber } from "../../world/load_balancing.ts";
import type { PublicIp } from "../../world/records.ts";
import type { CloudStackState } from "../../world/state.ts";
import { readNumber, throwMissing } from "../call.ts";
import { isPort } from "../rules/traffic.ts";

/** The port that a parameter must name. @throws {ApiError} 431 when it is none; `label` is its name in the text */
export function needPort(parameters: Parameters, name: string, label: string): number {
  const port = readNumber(parameters, name) ?? throwMissing(parameters, name);
  if (!isPort(port)) throw toInvalid(`${label} is an invalid value: ${port}`);
  return port;
}

/**
 * Refuses ports that another rule of the address has, even if their protocols differ.
 *
 * @throws {ApiError} 537
 */
export function checkConflicts(
  state: CloudStackState,
  ip: PublicIp,
  from: number,
  to: number = from,
): void {
  const other = listUsedPorts(state, ip.id).find(
    (used) => used.publicPort <= to && used.publicEndPort >= from,
  );
  if (other === undefined) return;
  const range = `${other.publicPort}-${other.publicEndPort}`;
  const text = `The range specified, ${from}-${to}, conflicts with rule ${toNumber(other.id)} which has ${range}`;
  throw new ApiError(537, text);
}
