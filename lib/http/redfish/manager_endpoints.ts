/**
 * The managers of systems: this service, once for each of them.
 * @module
 */
import type { MachineManagement } from "../../cloud/capabilities/machine_management.ts";
import { parseReset, readFields } from "./bodies.ts";
import type { Endpoint } from "./endpoints.ts";
import type { Access } from "./login/access.ts";
import { reply, replyDone } from "./replies.ts";
import { toCollection, toManager } from "./resources.ts";
import { requireOwn } from "./system_endpoints.ts";
import { MANAGER_RESET_TYPES, ROOT, toManagerPath } from "./words.ts";

const MANAGER = toManagerPath(":system");

/** The endpoints. @param version Of Landfall */
export function listManagerEndpoints(
  { media }: Pick<MachineManagement, "media">,
  access: Access,
  version: string,
): Endpoint[] {
  const hasMedia = media !== undefined;
  return [
    {
      path: `${ROOT}/Managers`,
      known: {
        GET: ({ visitor: { systems } }) =>
          reply(toCollection("Manager", `${ROOT}/Managers`, systems.map(toManagerPath))),
      },
    },
    {
      path: MANAGER,
      known: { GET: (visit) => reply(toManager(requireOwn(visit), version, hasMedia)) },
    },
    {
      path: `${MANAGER}/Actions/Manager.Reset`,
      known: {
        POST: async ({ request, visitor }) => {
          parseReset(await readFields(request), MANAGER_RESET_TYPES);
          // What one machine has of this service. The service itself is there for others, too.
          for (const session of access.list(visitor)) access.end(session);
          return replyDone();
        },
      },
    },
  ];
}
