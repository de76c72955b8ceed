/**
 * Virtual media: the drive of each machine. Old clients look for it at the manager, newer ones at the system.
 * @module
 */
import type { MachineManagement } from "../../cloud/capabilities/machine_management.ts";
import { parseInsertion, readFields } from "./bodies.ts";
import type { Endpoint } from "./endpoints.ts";
import { reply, replyDone, requireDone } from "./replies.ts";
import { toCollection, toVirtualMedia } from "./resources.ts";
import { requireOwn } from "./system_endpoints.ts";
import { toManagerPath, toSystemPath } from "./words.ts";

/** The endpoints; none if machines have no virtual media. */
export function listMediaEndpoints({ media }: Pick<MachineManagement, "media">): Endpoint[] {
  if (media === undefined) return [];
  return [toSystemPath, toManagerPath].flatMap((toPath): Endpoint[] => {
    const path = `${toPath(":system")}/VirtualMedia`;
    return [
      {
        path,
        known: {
          GET: (visit) => {
            const own = `${toPath(requireOwn(visit))}/VirtualMedia`;
            return reply(toCollection("VirtualMedia", own, [`${own}/Cd`]));
          },
        },
      },
      {
        path: `${path}/Cd`,
        known: {
          GET: async (visit) => {
            const id = requireOwn(visit);
            const held = requireDone(await media.read(id, visit.signal));
            return reply(toVirtualMedia(`${toPath(id)}/VirtualMedia/Cd`, held));
          },
        },
      },
      {
        path: `${path}/Cd/Actions/VirtualMedia.InsertMedia`,
        known: {
          POST: async (visit) => {
            const url = parseInsertion(await readFields(visit.request));
            requireDone(await media.insert(requireOwn(visit), url, visit.signal));
            return replyDone();
          },
        },
      },
      {
        path: `${path}/Cd/Actions/VirtualMedia.EjectMedia`,
        known: {
          POST: async (visit) => {
            await readFields(visit.request);
            requireDone(await media.eject(requireOwn(visit), visit.signal));
            return replyDone();
          },
        },
      },
    ];
  });
}
