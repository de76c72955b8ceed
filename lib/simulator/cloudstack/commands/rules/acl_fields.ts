/**
 * The fields of a network ACL item that a request names, checked as the server does.
 * @module
 */
import type { Parameters } from "../../parameters.ts";
import { toInvalid } from "../../replies.ts";
import type { AclItem } from "../../world/vpcs.ts";
import { readNumber } from "../call.ts";
import { checkCidrs, checkIcmp, checkRange, isPort } from "./traffic.ts";

/** What traffic an item is about. */
type Traffic = Pick<
  AclItem,
  "protocol" | "startPort" | "endPort" | "icmpType" | "icmpCode" | "cidrs"
>;

const PROTOCOLS: readonly string[] = ["tcp", "udp", "icmp", "all"];

/** The traffic of a new item: without sources everyone's, without an end that of one port. */
export function readFields(parameters: Parameters): Traffic {
  const protocol = readProtocol(parameters) ?? "";
  const startPort = readNumber(parameters, "startport");
  const given = parameters.list("cidrlist");
  const any = protocol.toLowerCase() === "icmp" ? -1 : undefined;
  const traffic = {
    protocol,
    startPort,
    endPort: readNumber(parameters, "endport") ?? startPort,
    icmpType: readNumber(parameters, "icmptype") ?? any,
    icmpCode: readNumber(parameters, "icmpcode") ?? any,
    cidrs: given.length === 0 ? ["0.0.0.0/0", "::/0"] : given,
  };
  checkTraffic(traffic);
  return traffic;
}

/**
 * What a request changes of an item.
 *
 * @param isPartial Whether what it does not name stays; otherwise that is emptied
 */
export function readChanges(
  parameters: Parameters,
  item: AclItem,
  isPartial: boolean,
): Omit<AclItem, "id" | "listId" | "number" | "state"> {
  const kept = isPartial ? item : undefined;
  const cidrs = parameters.list("cidrlist");
  const changed = {
    protocol: readProtocol(parameters) ?? kept?.protocol ?? "",
    startPort: readNumber(parameters, "startport") ?? kept?.startPort,
    endPort: readNumber(parameters, "endport") ?? kept?.endPort,
    icmpType: readNumber(parameters, "icmptype") ?? kept?.icmpType,
    icmpCode: readNumber(parameters, "icmpcode") ?? kept?.icmpCode,
    cidrs: cidrs.length === 0 ? (kept?.cidrs ?? []) : cidrs,
    action: readAction(parameters) ?? kept?.action ?? "Allow",
    trafficType: readTrafficType(parameters) ?? kept?.trafficType ?? "Ingress",
    reason: parameters.get("reason") ?? kept?.reason,
  };
  checkTraffic(changed);
  return changed;
}

/** `Allow` or `Deny`, if it is named. @throws {ApiError} 431 for anything else */
export function readAction(parameters: Parameters): AclItem["action"] | undefined {
  const text = parameters.get("action");
  if (text === undefined) return undefined;
  const found = (["Allow", "Deny"] as const).find((one) => isSameWord(one, text));
  if (found !== undefined) return found;
  throw toInvalid(`Invalid action [${text}]. Permitted actions are Allow and Deny`);
}

/** `Ingress` or `Egress`, if it is named. @throws {ApiError} 431 for anything else */
export function readTrafficType(parameters: Parameters): AclItem["trafficType"] | undefined {
  const text = parameters.get("traffictype");
  if (text === undefined) return undefined;
  const found = (["Ingress", "Egress"] as const).find((one) => isSameWord(one, text));
  if (found !== undefined) return found;
  throw toInvalid(`Invalid traffic type ${text}`);
}

/** Number 1 is ICMP. */
function readProtocol(parameters: Parameters): string | undefined {
  const text = parameters.get("protocol")?.trim();
  return text === "1" ? "icmp" : text;
}

function checkTraffic(traffic: Traffic): void {
  const { protocol, startPort, endPort, icmpType, icmpCode, cidrs } = traffic;
  if (startPort !== undefined || endPort !== undefined) checkPorts(traffic);
  checkCidrs(cidrs, "Source cidrs formatting error");
  if (/^\d+$/.test(protocol)) {
    if (Number(protocol) > 255) throw toInvalid(`Invalid protocol number: ${protocol}`);
  } else if (protocol !== "" && !PROTOCOLS.includes(protocol.toLowerCase())) {
    const expected = PROTOCOLS.join(",");
    throw toInvalid(`Invalid protocol [${protocol}]. Expected one of: [${expected}]`);
  }
  const hasIcmp = icmpType !== undefined || icmpCode !== undefined;
  checkIcmp(protocol, hasIcmp, [startPort, endPort]);
}

function checkPorts({ protocol, startPort, endPort }: Traffic): void {
  if (startPort === undefined || !isPort(startPort)) {
    throw toInvalid(`Start public port is an invalid value: ${startPort}`);
  }
  if (endPort === undefined || !isPort(endPort)) {
    throw toInvalid(`End public port is an invalid value: ${endPort}`);
  }
  checkRange(startPort, endPort);
  if (isSameWord(protocol, "all")) {
    throw toInvalid("start port and end port must be null if protocol = 'all'");
  }
}

function isSameWord(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
