/**
 * The commands that the simulated CloudStack knows, by name.
 * @module
 */
import { ADDRESS_COMMANDS } from "./addresses.ts";
import { ADMINISTRATION_COMMANDS, USER_COMMANDS } from "./administration.ts";
import { JOB_COMMANDS } from "./async_jobs.ts";
import { isAllowed } from "../access/accounts.ts";
import { ApiError } from "../replies.ts";
import type { Call, Command } from "./call.ts";
import { EVENT_COMMANDS } from "./events.ts";
import { FIREWALL_COMMANDS } from "./firewall_rules.ts";
import { LIFECYCLE_COMMANDS, VM_COMMANDS } from "./virtual_machines.ts";
import { LOAD_BALANCING_COMMANDS } from "./load_balancer_rules.ts";
import { PLACE_COMMANDS, SERVER_COMMANDS } from "./places.ts";
import { ACL_COMMANDS } from "./network_acls.ts";
import { STICKINESS_COMMANDS } from "./stickiness.ts";
import { TAG_COMMANDS } from "./tags.ts";

const COMMANDS: ReadonlyMap<string, Command> = new Map(
  Object.entries({
    ...VM_COMMANDS,
    ...LIFECYCLE_COMMANDS,
    ...PLACE_COMMANDS,
    ...ADDRESS_COMMANDS,
    ...LOAD_BALANCING_COMMANDS,
    ...SERVER_COMMANDS,
    ...JOB_COMMANDS,
    ...EVENT_COMMANDS,
    ...ADMINISTRATION_COMMANDS,
    ...TAG_COMMANDS,
    ...FIREWALL_COMMANDS,
    ...ACL_COMMANDS,
    ...STICKINESS_COMMANDS,
    ...USER_COMMANDS,
    listApis: { kind: "answer", run: listApis },
  }),
);

/** A command; names are compared as they are, as on the server. */
export function findCommand(name: string): Command | undefined {
  return COMMANDS.get(name);
}

/** Describes the commands that the role allows: all of them, or the one with a name. */
function listApis({ caller: { user }, parameters }: Call): object {
  const name = parameters.get("name");
  const api = [...COMMANDS]
    .filter(([one]) => (name === undefined || one === name) && isAllowed(user.role, one))
    .map(([one, { kind }]) => ({ name: one, isasync: kind === "job" || kind === "create" }));
  if (api.length > 0) return { count: api.length, api };
  const message = "Api Discovery plugin was unable to find an api by that name or process any apis";
  throw new ApiError(530, message);
}

/** Whether a command only reads, so that it may come by GET where POST is enforced for the others. */
export function isRead(name: string): boolean {
  return /^(?:get|list|query|find)[A-Z]/.test(name);
}
