/**
 * The checks of ports and sources that rules have in common.
 * @module
 */
import { isIP } from "node:net";
import { ApiError, toInvalid } from "../../replies.ts";

/** Whether traffic can have this port. */
export function isPort(port: number): boolean {
  return port > 0 && port <= 65_535;
}

/** Refuses an end before the start. @throws {ApiError} 431 */
export function checkRange(start: number | undefined, end: number | undefined): void {
  if (start !== undefined && end !== undefined && start > end) {
    throw toInvalid("Start port can't be bigger than end port");
  }
}

/** Refuses sources that are no networks: a bare address is none. @throws {ApiError} 431 */
export function checkCidrs(cidrs: readonly string[], text: string): void {
  const wrong = cidrs.find((cidr) => !isCidr(cidr));
  if (wrong !== undefined) throw new ApiError(431, `${text} ${wrong}`);
}

function isCidr(text: string): boolean {
  const [, address = "", bits = ""] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
  const version = isIP(address);
  return version !== 0 && Number(bits) <= (version === 4 ? 32 : 128);
}

/** Refuses a message type with another protocol, and ports with ICMP. @throws {ApiError} 431 */
export function checkIcmp(
  protocol: string,
  hasIcmp: boolean,
  ports: readonly (number | undefined)[],
): void {
  const isIcmp = protocol.toLowerCase() === "icmp";
  if (!isIcmp && hasIcmp) {
    throw toInvalid("Can specify icmpCode and icmpType for ICMP protocol only");
  }
  if (isIcmp && ports.some((port) => port !== undefined)) {
    throw toInvalid("Can't specify start/end port when protocol is ICMP");
  }
}
