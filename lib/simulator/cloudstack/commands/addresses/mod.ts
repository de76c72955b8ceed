/**
 * The commands about public addresses and what is on them beside load-balancer rules.
 * @module
 */
import type { Command } from "../call.ts";
import { associate, disassociate } from "./associate.ts";
import { listPublicIps } from "./list_ips.ts";
import {
  createPortForwarding,
  deletePortForwarding,
  listPortForwardings,
} from "./port_forwardings.ts";

/** The commands. */
export const ADDRESS_COMMANDS: Readonly<Record<string, Command>> = {
  listPublicIpAddresses: { kind: "list", run: listPublicIps },
  associateIpAddress: { kind: "create", run: associate },
  disassociateIpAddress: { kind: "job", run: disassociate },
  listPortForwardingRules: { kind: "list", run: listPortForwardings },
  createPortForwardingRule: { kind: "create", run: createPortForwarding },
  deletePortForwardingRule: { kind: "job", run: deletePortForwarding },
};
