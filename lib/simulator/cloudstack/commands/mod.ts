/**
 * The commands that the simulated CloudStack knows, by name.
 * @module
 */
import { ADDRESS_COMMANDS } from "./addresses/mod.ts";
import { ADMINISTRATION_COMMANDS } from "./administration.ts";
import { JOB_COMMANDS } from "./async_jobs.ts";
import type { Command } from "./call.ts";
import { FIREWALL_COMMANDS } from "./rules/firewall_rules.ts";
import { LIFECYCLE_COMMANDS } from "./lifecycle.ts";
import { LOAD_BALANCING_COMMANDS } from "./load_balancing/mod.ts";
import { PLACE_COMMANDS } from "./places.ts";
import { ACL_COMMANDS } from "./rules/network_acls.ts";
import { STICKINESS_COMMANDS } from "./rules/stickiness.ts";
import { SERVER_COMMANDS } from "./server_facts.ts";
import { TAG_COMMANDS } from "./tags.ts";
import { USER_COMMANDS } from "./users.ts";
import { VM_COMMANDS } from "./virtual_machines.ts";

const COMMANDS: ReadonlyMap<string, Command> = new Map(
  Object.entries({
    ...VM_COMMANDS,
    ...LIFECYCLE_COMMANDS,
    ...PLACE_COMMANDS,
    ...ADDRESS_COMMANDS,
    ...LOAD_BALANCING_COMMANDS,
    ...SERVER_COMMANDS,
    ...JOB_COMMANDS,
    ...ADMINISTRATION_COMMANDS,
    ...TAG_COMMANDS,
    ...FIREWALL_COMMANDS,
    ...ACL_COMMANDS,
    ...STICKINESS_COMMANDS,
    ...USER_COMMANDS,
  }),
);

/** A command; names are compared as they are, as on the server. */
export function findCommand(name: string): Command | undefined {
  return COMMANDS.get(name);
}

/** Whether a command only reads, so that it may come by GET where POST is enforced for the others. */
export function isRead(name: string): boolean {
  return /^(?:get|list|query|find)[A-Z]/.test(name);
}
