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
import type { Attached, Storage, Template, View } from "../../look/view.ts";
import { TAG_PREFIX } from "../../words.ts";
import { checkFit, findMacUser } from "./checks.ts";
import type { Wanted, WantedDisk } from "./wanted.ts";
import { nameHost, namePool, nameStorage } from "../names.ts";
import { toDecision } from "../problems.ts";
import type { FullView } from "../find/find.ts";

/** Resolves a specification. */
export function toWanted(view: FullView, spec: MachineSpec): Wanted {
  const { stock } = view;
  const problems: MachineProblem[] = [];
  const note = <T>(found: T | MachineProblem): T | undefined => {
    if (!isProblem(found)) return found;
    problems.push(found);
    return undefined;
  };
  const template = note(findTemplate(view, spec));
  const interfaces = spec.interfaces.flatMap((one, at) => {
    const { name, mac, mtu } = one;
    const question = { ...NETWORK, by: `interface ${name}`, wanted: one.network };
    const network = note(findOne(view, spec, stock.networks, question));
    if (network === undefined) return [];
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
  const disks = toDisks(view, spec, template, note);
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

/** What to find. */
interface Question {
  /** Beginning of the reason. */
  readonly word: string;
  readonly what: string;
  /** What names it: `interface oam`. Absent: the machine itself. */
  readonly by?: string;
  /** Its ID or name. */
  readonly wanted: string;
}

const NETWORK = { word: "Network", what: "network" } as const;
const STORAGE = { word: "Storage", what: "storage repository" } as const;
const TEMPLATE = { word: "Template", what: "template" } as const;

/** Finds the only object of a pool with this ID or name. */
function findOne<T extends Named>(
  view: Pick<View, "pools">,
  { poolId }: Pick<MachineSpec, "poolId">,
  all: readonly T[],
  { word, what, by, wanted }: Question,
): T | MachineProblem {
  const here = all.filter((one) => one.poolId === poolId);
  const byId = here.find(({ id }) => id === wanted.toLowerCase());
  if (byId !== undefined) return byId;
  const [first, ...others] = here.filter(({ name }) => name === wanted);
  const where = `${by === undefined ? "" : `${by}: `}${namePool(view, poolId)}`;
  if (first === undefined) {
    const elsewhere = all.find(({ id, name }) => id === wanted.toLowerCase() || name === wanted);
    const hint = elsewhere === undefined ? "" : `. ${namePool(view, elsewhere.poolId)} has one`;
    const advice = `Correct the name in the spec, or let the user of Landfall see that ${what}`;
    const message = `${where} has no ${what} ${quote(wanted)}${hint}. ${advice}`;
    return toDecision(`${word}NotFound`, message);
  }
  if (others.length === 0) return first;
  const ids = [first, ...others].map(({ id }) => id).join(", ");
  const many = `${others.length + 1} objects of the kind ${what} with the name ${quote(wanted)}`;
  return toDecision(`${word}Ambiguous`, `${where} has ${many}. Name one by its ID: ${ids}`);
}

function findTemplate(view: FullView, spec: MachineSpec): Template | MachineProblem {
  const { template: wanted } = spec;
  const { stock } = view;
  const templates = stock.templates.filter(({ name }) => parseMachineName(name) === undefined);
  const byUuid = templates.find(
    ({ uuid, poolId }) => uuid === wanted.toLowerCase() && poolId === spec.poolId,
  );
  const found = byUuid ?? findOne(view, spec, templates, { ...TEMPLATE, wanted });
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
  view: FullView,
  spec: MachineSpec,
  template: Template | undefined,
  note: <T>(found: T | MachineProblem) => T | undefined,
): WantedDisk[] {
  const links = template === undefined ? [] : (view.stock.attached.get(template.id) ?? []);
  const own = links.filter(({ isCd, disk }) => !isCd && disk !== undefined);
  // What the specification does not name stays as the template has it.
  const more = own.slice(spec.disks.length).map((link) => ({
    name: `disk${link.position}`,
    sizeBytes: link.disk?.sizeBytes ?? 0,
  }));
  return [...spec.disks, ...more].map((disk: MachineDisk, at): WantedDisk => {
    const link: Attached | undefined = own[at];
    const storage = note(findStorage(view, spec, { disk, link }));
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
  view: FullView,
  spec: MachineSpec,
  { disk, link }: { readonly disk: MachineDisk; readonly link: Attached | undefined },
): Storage | MachineProblem {
  const { stock } = view;
  const fallback = link?.disk?.storageId ?? stock.pools.get(spec.poolId)?.defaultStorageId;
  const wanted = disk.storage ?? fallback;
  if (wanted === undefined) {
    const advice = "name one, or set a default storage for the pool";
    return toDecision("StorageNotNamed", `disk ${disk.name} names no storage: ${advice}`);
  }
  const question = { ...STORAGE, by: `disk ${disk.name}`, wanted };
  const found = findOne(view, spec, stock.storages, question);
  if (isProblem(found)) return found;
  const named = `disk ${disk.name}: ${nameStorage(stock, found.id)}`;
  if (!found.isUsable) {
    return toDecision("StorageNotUsable", `${named} cannot hold disks now: name another one`);
  }
  if (found.hostId === undefined || found.hostId === spec.hostId) return found;
  const [only, start] = [found.hostId, spec.hostId].map((id) => nameHost(view, id));
  const message = `${named} is only for ${only}, but ${toMachineName(spec)} starts on ${start}`;
  return toDecision("StorageNotUsable", `${message}: name a shared one`);
}
