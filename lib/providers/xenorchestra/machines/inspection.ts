/**
 * Says what Xen Orchestra offers for machines, and which rights are missing. Changes nothing.
 * @module
 */
import type { Finding } from "../../../cloud/inspection.ts";
import type { MachinesUse } from "../../../cloud/capabilities/machines.ts";
import { CloudError } from "../../../cloud/errors.ts";
import { quote } from "../../../core/text/printable.ts";
import type { Session } from "../session/session.ts";
import { inspectBootOrders } from "./power/power.ts";
import { findIsoStorages } from "./power/media.ts";
import { formatPrivilege, listLacking, PRIVILEGES, ROLE_PATH } from "./privileges.ts";
import type { MachinesApi } from "./wire/machines_api.ts";
import type { MachineCollections } from "./wire/objects.ts";

/** What must be seen, and the privilege for it. */
const NEEDED = [
  { collection: "vm-templates", word: "templates", privilege: "vm-template read" },
  { collection: "srs", word: "storage repositories", privilege: "sr read" },
  { collection: "networks", word: "networks", privilege: "network read" },
] as const satisfies readonly {
  readonly collection: keyof MachineCollections;
  readonly word: string;
  readonly privilege: string;
}[];

/** What {@linkcode inspectMachines} needs. */
interface MachinesInspection extends MachinesUse {
  readonly api: MachinesApi;
  readonly session: Pick<Session, "callRpc">;
}

/** Lists what is visible, and the rights of the user. @throws {CloudError} if there is no usable answer */
export async function inspectMachines(
  { api, session, isManaged, isoStorage }: MachinesInspection,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const [shown, { rights, findings }] = await Promise.all([
    Promise.all(NEEDED.map((one) => inspectList(api, one, signal))),
    inspectRights(api, signal),
  ]);
  const isEnough = !isManaged || rights === "all";
  const boot = isEnough ? [] : await inspectBootOrders({ api, session }, signal);
  const media = isoStorage === undefined ? [] : await inspectIsoStorage(api, isoStorage, signal);
  return [...shown, ...findings, ...boot, ...media];
}

/** Looks in every pool that is visible. */
async function inspectIsoStorage(
  api: MachinesApi,
  nameOrId: string,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const code = "machines.isoStorage";
  const [{ objects: pools }, { objects: storages }] = await Promise.all([
    api.list("pools", signal),
    api.list("srs", signal),
  ]);
  const what = `storage for ISOs with the name or ID ${quote(nameOrId)}`;
  const lacking = pools.filter(({ id }) => findIsoStorages(storages, id, nameOrId).length !== 1);
  if (lacking.length === 0) {
    return [{ level: "ok", code, message: `Machines: each pool has a ${what}` }];
  }
  return lacking.map(({ id, name_label: name }) => ({
    level: "warning",
    code,
    message: `Machines: pool ${name ? `${name} (${id})` : id} has not exactly one ${what}`,
    advice: "create or rename one, or let Vinos make no machines there: they have no virtual media",
  }));
}

async function inspectList(
  api: MachinesApi,
  { collection, word, privilege }: (typeof NEEDED)[number],
  signal: AbortSignal,
): Promise<Finding> {
  const { length } = await listSome(api, collection, signal);
  const code = `machines.${collection}`;
  if (length > 0) {
    return { level: "ok", code, message: `Machines: ${length} ${word} are visible` };
  }
  const message = `Machines: no ${word} are visible, so no machine can be made`;
  return {
    level: "failure",
    code,
    message,
    advice: `make one, or give the user the privilege ${privilege}`,
  };
}

async function listSome(
  api: MachinesApi,
  collection: keyof MachineCollections,
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  try {
    return (await api.list(collection, signal)).objects;
  } catch (error) {
    if (error instanceof CloudError && error.status === 403) return [];
    throw error;
  }
}

interface InspectedRights {
  readonly rights: Awaited<ReturnType<MachinesApi["readRights"]>>;
  readonly findings: readonly Finding[];
}

async function inspectRights(api: MachinesApi, signal: AbortSignal): Promise<InspectedRights> {
  const userId = await api.readUserId(signal);
  const code = "machines.rights";
  if (userId === undefined) {
    const message = "Machines: Xen Orchestra does not say who the user is";
    const advice = "half-made VMs of an interrupted creation must be deleted by hand";
    return { rights: "unknown", findings: [{ level: "warning", code, message, advice }] };
  }
  const rights = await api.readRights(userId, signal);
  return { rights, findings: listRightFindings(rights) };
}

function listRightFindings(rights: InspectedRights["rights"]): Finding[] {
  const code = "machines.rights";
  if (rights === "unknown") {
    const message = "Machines: Landfall cannot find out which rights the user has";
    const needed = PRIVILEGES.map(formatPrivilege).join(", ");
    const advice = `make sure that it has these privileges: ${needed}`;
    return [{ level: "warning", code, message, advice }];
  }
  if (rights === "all")
    return [{ level: "ok", code, message: "Machines: the user may do everything" }];
  const missing = listLacking(rights);
  if (missing.length === 0) {
    return [
      { level: "ok", code, message: "Machines: the user has all privileges that are needed" },
    ];
  }
  if (missing.length === PRIVILEGES.length) {
    const message = "Machines: the user has none of the privileges that making VMs needs";
    const advice = `give it the role of ${ROLE_PATH}`;
    return [{ level: "failure", code, message, advice }];
  }
  return missing.map((one) => {
    const narrowed = rights.find(({ resource, action, selector }) => {
      return resource === one.resource && action === one.action && selector !== undefined;
    });
    const lacks = `lacks the privilege ${formatPrivilege(one)}`;
    const what = narrowed ? `${lacks} for all objects: it has a selector` : lacks;
    const message = `Machines: the user ${what}, to ${one.purpose}`;
    const advice = narrowed
      ? `remove the selector ${quote(narrowed.selector ?? "")} from this privilege of the role of the user`
      : `add it to the role of the user: ${ROLE_PATH} has it`;
    return { level: "failure", code, message, advice };
  });
}
