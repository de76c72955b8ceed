/**
 * Finds the template, the networks and the storages that a specification names, and checks that a VM can be made of
 * them. Pure.
 * @module
 */
import type {
  MachineDisk,
  MachineProblem,
  MachineSpec,
} from "../../../../../cloud/capabilities/machines.ts";
import { parseMachineName, toMachineName } from "../../../../../cloud/capabilities/machines.ts";
import { quote } from "../../../../../core/text/printable.ts";
import type { Attached, Stock, Storage, Template, View } from "../../look/view.ts";
import { TAG_PREFIX } from "../../words.ts";
import { checkFit, findMacUser } from "./checks.ts";
import type { Wanted, WantedDisk } from "./wanted.ts";
import { toDecision } from "../problems.ts";

/** Resolves a specification. */
export function toWanted(view: View & { readonly stock: Stock }, spec: MachineSpec): Wanted {
  const { stock } = view;
  const problems: MachineProblem[] = [];
  const note = <T>(found: T | MachineProblem): T | undefined => {
    if (!isProblem(found)) return found;
    problems.push(found);
    return undefined;
  };
  const template = note(findTemplate(stock, spec));
  const interfaces = spec.interfaces.flatMap((one, at) => {
    const network = note(findOne("Network", "network", stock.networks, spec, one.network));
    if (network === undefined) return [];
    const { name, mac, mtu } = one;
    const takenBy = findMacUser(view, spec, mac);
    return [
      {
        name,
        device: String(at),
        networkId: network.id,
        mac,
        ...(mtu !== undefined && { mtu }),
        ...(takenBy !== undefined && { takenBy }),
      },
    ];
  });
  const disks = toDisks(stock, spec, template, note);
  problems.push(...checkFit(view, spec, { template, disks }));
  const devices = template === undefined ? [] : (stock.vifs.get(template.id) ?? []);
  const dropped = devices
    .map(({ device }) => device)
    .filter((one) => Number(one) >= spec.interfaces.length);
  return { ...(template && { template }), disks, interfaces, dropped, problems };
}

function isProblem<T>(found: T | MachineProblem): found is MachineProblem {
  return typeof found === "object" && found !== null && "reason" in found;
}

interface Named {
  readonly id: string;
  readonly name: string;
  readonly poolId: string;
}

/** Finds the only object of a pool with this ID or name. */
function findOne<T extends Named>(
  word: string,
  what: string,
  all: readonly T[],
  { poolId }: Pick<MachineSpec, "poolId">,
  wanted: string,
): T | MachineProblem {
  const here = all.filter((one) => one.poolId === poolId);
  const byId = here.find(({ id }) => id === wanted.toLowerCase());
  if (byId !== undefined) return byId;
  const [first, ...others] = here.filter(({ name }) => name === wanted);
  if (first === undefined) {
    const elsewhere = all.some(({ id, name }) => id === wanted.toLowerCase() || name === wanted);
    const hint = elsewhere
      ? "another pool has one"
      : "check the name, and the user's right to see it";
    return toDecision(`${word}NotFound`, `pool ${poolId} has no ${what} ${quote(wanted)}: ${hint}`);
  }
  if (others.length === 0) return first;
  const ids = [first, ...others].map(({ id }) => id).join(", ");
  const many = `${others.length + 1} ${what}s with the name ${quote(wanted)}`;
  const message = `pool ${poolId} has ${many}: name one by its ID: ${ids}`;
  return toDecision("AmbiguousName", message);
}

function findTemplate(stock: Stock, spec: MachineSpec): Template | MachineProblem {
  const { template: wanted } = spec;
  const templates = stock.templates.filter(({ name }) => parseMachineName(name) === undefined);
  const byUuid = templates.find(
    ({ uuid, poolId }) => uuid === wanted.toLowerCase() && poolId === spec.poolId,
  );
  const found = byUuid ?? findOne("Template", "template", templates, spec, wanted);
  if (isProblem(found)) return found;
  // Each VM made from it would be marked from its birth.
  const tag = found.tags.find((one) => one.startsWith(TAG_PREFIX));
  const isMarked = tag !== undefined || found.mark !== undefined;
  if (!isMarked) return found;
  const what = tag === undefined ? "its description" : `its tag ${quote(tag)}`;
  const message = `template ${quote(found.name)} was made from a VM of Landfall: remove ${what}`;
  return toDecision("TemplateMarked", message);
}

function toDisks(
  stock: Stock,
  spec: MachineSpec,
  template: Template | undefined,
  note: <T>(found: T | MachineProblem) => T | undefined,
): WantedDisk[] {
  const links = template === undefined ? [] : (stock.attached.get(template.id) ?? []);
  const own = links.filter(({ isCd, disk }) => !isCd && disk !== undefined);
  // What the specification does not name stays as the template has it.
  const more = own.slice(spec.disks.length).map((link) => ({
    name: `disk${link.position}`,
    sizeBytes: link.disk?.sizeBytes ?? 0,
  }));
  return [...spec.disks, ...more].map((disk: MachineDisk, at): WantedDisk => {
    const link: Attached | undefined = own[at];
    const storage = note(findStorage(stock, spec, { disk, link }));
    const { name, sizeBytes } = disk;
    return {
      name,
      sizeBytes,
      ...(storage && { storageId: storage.id }),
      ...(link && { position: link.position }),
    };
  });
}

function findStorage(
  stock: Stock,
  spec: MachineSpec,
  { disk, link }: { readonly disk: MachineDisk; readonly link: Attached | undefined },
): Storage | MachineProblem {
  const fallback = link?.disk?.storageId ?? stock.pools.get(spec.poolId)?.defaultStorageId;
  const wanted = disk.storage ?? fallback;
  if (wanted === undefined) {
    const advice = "name one, or set a default storage for the pool";
    return toDecision("StorageNotNamed", `disk ${disk.name} names no storage: ${advice}`);
  }
  const found = findOne("Storage", "storage repository", stock.storages, spec, wanted);
  if (isProblem(found)) return found;
  const named = `storage repository ${quote(found.name)} (${found.id})`;
  if (!found.isUsable) {
    return toDecision("StorageNotUsable", `${named} cannot hold disks now: name another one`);
  }
  if (found.hostId === undefined || found.hostId === spec.hostId) return found;
  const message = `${named} is only for host ${found.hostId}, but ${toMachineName(spec)} starts on host ${spec.hostId}`;
  return toDecision("StorageNotUsable", `${message}: name a shared one`);
}
