/**
 * Systems, their managers and their media: what they are like, and what can be changed.
 * @module
 */
import {
  RedfishError,
  checkUnchanged,
  parseInsertion,
  parseReset,
  parseSystemChange,
  readFields,
  reply,
  replyDone,
  replyTagged,
  requireDone,
} from "./replies.ts";
import type {
  MachineManagement,
  ManagedReading,
  ManagementAnswer,
} from "../../cloud/capabilities/machine_management.ts";
import type { MachineInterface } from "../../cloud/capabilities/machine_power.ts";
import type { Endpoint, KnownVisit } from "./endpoints.ts";
import type { RedfishMetrics } from "./metrics.ts";
import {
  toCollection,
  toInterface,
  toProcessor,
  toSystem,
  toManager,
  toVirtualMedia,
} from "./resources.ts";
import {
  RESET_TYPES,
  ROOT,
  toSystemPath,
  toWord,
  MANAGER_RESET_TYPES,
  toManagerPath,
} from "./words.ts";
import type { Access } from "./login/access.ts";

const SYSTEM = toSystemPath(":system");
const INCOMPLETE = "The machine does not exist, or is not complete";

/** The endpoints. Each visitor sees only the machines whose user and password they gave. */
export function listSystemEndpoints(
  management: MachineManagement,
  metrics: Pick<RedfishMetrics, "countReset">,
): Endpoint[] {
  return [
    {
      path: `${ROOT}/Systems`,
      known: {
        GET: ({ visitor: { systems } }) =>
          reply(toCollection("ComputerSystem", `${ROOT}/Systems`, systems.map(toSystemPath))),
      },
    },
    ...listOwnEndpoints(management, metrics),
    ...listPartEndpoints(management),
  ];
}

/** A system: what it is like, and what can be changed. */
function listOwnEndpoints(
  management: MachineManagement,
  metrics: Pick<RedfishMetrics, "countReset">,
): Endpoint[] {
  const hasMedia = management.media !== undefined;
  const show = async (visit: KnownVisit): Promise<object> =>
    toSystem(await read(management, visit), hasMedia);
  return [
    {
      path: SYSTEM,
      known: {
        GET: async (visit) => replyTagged(await show(visit), visit.request.headers),
        PATCH: async (visit) => {
          const id = requireOwn(visit);
          const { headers } = visit.request;
          await checkUnchanged(headers, () => show(visit));
          const change = parseSystemChange(await readFields(visit.request), hasMedia);
          requireDone(await management.setBoot(id, change, visit.signal));
          return replyDone();
        },
      },
    },
    {
      path: `${SYSTEM}/Actions/ComputerSystem.Reset`,
      known: {
        POST: async (visit) => {
          const id = requireOwn(visit);
          const action = parseReset(await readFields(visit.request), RESET_TYPES);
          const type = toWord(RESET_TYPES, action) ?? "";
          // Also if the client hears before that this takes too long.
          let result: ManagementAnswer<void>["kind"] = "silent";
          try {
            const answer = await management.reset(id, action, visit.signal);
            result = answer.kind;
            requireDone(answer);
          } finally {
            metrics.countReset(type, result);
          }
          return replyDone();
        },
      },
    },
  ];
}

/** The processors and the network interfaces of a system. */
function listPartEndpoints(management: MachineManagement): Endpoint[] {
  return [
    {
      path: `${SYSTEM}/Processors`,
      known: {
        GET: (visit) => {
          const path = `${toSystemPath(requireOwn(visit))}/Processors`;
          return reply(toCollection("Processor", path, [`${path}/CPU`]));
        },
      },
    },
    {
      path: `${SYSTEM}/Processors/CPU`,
      known: { GET: async (visit) => reply(toProcessor(await read(management, visit))) },
    },
    {
      path: `${SYSTEM}/EthernetInterfaces`,
      known: {
        GET: async (visit) => {
          const interfaces = await readInterfaces(management, visit);
          const path = `${toSystemPath(requireOwn(visit))}/EthernetInterfaces`;
          const members = interfaces.map((_one, place) => `${path}/${place}`);
          return reply(toCollection("EthernetInterface", path, members));
        },
      },
    },
    {
      path: `${SYSTEM}/EthernetInterfaces/:place{[0-9]+}`,
      known: {
        GET: async (visit) => {
          const place = Number(visit.params["place"]);
          const found = (await readInterfaces(management, visit))[place];
          if (found === undefined) throw toMissing("The machine has no such network interface");
          return reply(toInterface(requireOwn(visit), place, found));
        },
      },
    },
  ];
}

async function read(management: MachineManagement, visit: KnownVisit): Promise<ManagedReading> {
  const reading = requireDone(await management.read(requireOwn(visit), visit.signal));
  if (reading === undefined) throw toMissing(INCOMPLETE);
  return reading;
}

async function readInterfaces(
  management: MachineManagement,
  visit: KnownVisit,
): Promise<readonly MachineInterface[]> {
  const id = requireOwn(visit);
  const interfaces = requireDone(await management.readInterfaces(id, visit.signal));
  if (interfaces === undefined) throw toMissing(INCOMPLETE);
  return interfaces;
}

/** The ID in the path. A visitor without a right to that machine does not come here. */
function requireOwn({ params: { system = "" } }: KnownVisit): string {
  return system;
}

function toMissing(message: string): RedfishError {
  return new RedfishError(404, "ResourceMissingAtURI", message);
}

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
