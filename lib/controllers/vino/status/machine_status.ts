/**
 * The next spec and status of a VinoMachine. Pure.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type {
  MachineOwner,
  MachinePart,
  MachineProblem,
} from "../../../cloud/capabilities/machines.ts";
import { type Finding, toConditions, toFinding } from "../../kinds/conditions.ts";
import type { ReasonWord } from "../../kinds/words.ts";
import type { MachineTask } from "../machines/steps/tasks.ts";
import { MACHINE_CONDITION_WORDS } from "../resource/words.ts";
import {
  type HostState,
  type MachineEntry,
  type MachineFormSpec,
  PARTS_MAX,
  type VinoMachine,
  type VinoMachineSpec,
  type VinoMachineStatus,
} from "../resource/vino_machine.ts";
import type { MachineReport } from "./outcome.ts";

const { Made, Complete, Published, Differs, Removed } = MACHINE_CONDITION_WORDS;

/** What a merge patch says: `null` takes a field away. */
type Change<T> = { readonly [Key in keyof T]?: T[Key] | null };

/** What the spec of the Vino makes of a machine. `undefined`: it goes. */
export function toForm({ goal, start }: MachineTask): MachineFormSpec | undefined {
  if (goal.kind !== "exist") return undefined;
  const { template, cpus, memoryBytes, disks, interfaces } = goal.spec;
  const addressesOf = new Map(start?.interfaces.map(({ mac, addresses }) => [mac, addresses]));
  return {
    template,
    cpus,
    memoryBytes,
    disks,
    interfaces: interfaces.map(({ name, network, mac }) => {
      const addresses = addressesOf.get(mac)?.map(({ ip }) => ip) ?? [];
      return { name, network, mac, ...(addresses.length > 0 && { addresses }) };
    }),
  };
}

/** What was decided about a machine. @param form Absent: as before */
export function toSpec(
  { name: vinoName, uid: vinoUid }: Pick<MachineOwner, "name" | "uid">,
  entry: Pick<MachineEntry, "host" | "hostDisplayName" | "index" | "name" | "role">,
  form: MachineFormSpec | undefined,
  before?: VinoMachineSpec,
): VinoMachineSpec {
  const { hostDisplayName: known, ...kept } = before ?? {};
  const { name: machineName, role, index, host = before?.host } = entry;
  // A cloud that shows no hosts takes no names away.
  const hostDisplayName = entry.hostDisplayName ?? (host === before?.host ? known : undefined);
  return {
    ...(form ?? kept),
    vinoName,
    vinoUid,
    machineName,
    role,
    index,
    ...(host !== undefined && { host }),
    ...(hostDisplayName !== undefined && { hostDisplayName }),
  };
}

/** What of a spec or a status is to be written. `undefined`: nothing */
export function toChange<T extends object>(before: T, after: T): Change<T> | undefined {
  const old = new Map<string, unknown>(Object.entries(before));
  const changed = Object.entries(after).filter(
    ([key, value]) => value !== undefined && !isDeepStrictEqual(old.get(key), value),
  );
  const now = new Map<string, unknown>(Object.entries(after));
  const gone = [...old.keys()].filter((key) => now.get(key) === undefined);
  if (changed.length + gone.length === 0) return undefined;
  return Object.fromEntries([...changed, ...gone.map((key) => [key, null])]) as Change<T>;
}

/** The next status. Its record stays as it is. @param nowMs Wall-clock time; only changed conditions have it */
export function toStatus(
  report: MachineReport,
  { status: before = {} }: Pick<VinoMachine, "status">,
  nowMs: number,
): VinoMachineStatus {
  const { entry, isWanted, parts, power } = report;
  const { state, message, machineId, address, bareMetalHost } = entry;
  const isJudged = isWanted && state === "Ready";
  const differences = isJudged ? parts.filter(({ wanted, actual }) => wanted !== actual) : [];
  const order = Object.keys(MACHINE_CONDITION_WORDS);
  return {
    conditions: toConditions(listFindings(report), before.conditions ?? [], { nowMs, order }),
    state,
    ...(message !== undefined && { message }),
    ...(machineId !== undefined && { machineId }),
    ...(address !== undefined && { address }),
    ...(power !== undefined && { power }),
    ...(bareMetalHost !== undefined && { bareMetalHost }),
    ...(differences.length > 0 && { differences: cutParts(differences) }),
    ...(before.record !== undefined && { record: before.record }),
  };
}

/** The last one says how many more there are. */
function cutParts(parts: readonly MachinePart[]): readonly MachinePart[] {
  if (parts.length <= PARTS_MAX) return parts;
  const shown = parts.slice(0, PARTS_MAX - 1);
  return [...shown, { name: `and ${parts.length - shown.length} more` }];
}

function listFindings(report: MachineReport): Finding<keyof typeof MACHINE_CONDITION_WORDS>[] {
  const { entry, isWanted, isKept = false } = report;
  const { state, machineId, bareMetalHost, message = state } = entry;
  const isUnknown = state === "Unknown";
  const made = machineId !== undefined ? "done" : isUnknown ? "silent" : "waiting";
  const completion = judge(report);
  const host = toHostWord(bareMetalHost);
  const differing = listDifferences(report);
  const isStopped = differing.every(({ isWaiting }) => isWaiting === true);
  const differs = differing.length === 0 ? "none" : isStopped ? "stop" : "some";
  const removal = isWanted ? "wanted" : isKept ? "kept" : "removing";
  const [difference] = differing;
  return [
    toFinding("Made", Made[made], toSentence(Made[made])),
    toFinding("Complete", Complete[completion.word], completion.message),
    toFinding("Published", Published[host], toSentence(Published[host])),
    toFinding("Differs", Differs[differs], difference?.message ?? toSentence(Differs[differs])),
    toFinding("Removed", Removed[removal], isWanted ? toSentence(Removed.wanted) : message),
  ];
}

/** Without its full stop. */
function toSentence({ meaning }: ReasonWord): string {
  return meaning.replace(/\.$/, "");
}

/** What of a wanted machine is not as the spec says. A complete one about which a person must decide is not, either. */
export function listDifferences({
  isWanted,
  entry,
  problems,
}: Pick<MachineReport, "entry" | "isWanted" | "problems">): readonly MachineProblem[] {
  if (!isWanted) return [];
  const isDecision = ({ kind }: MachineProblem): boolean =>
    kind === "decision" && entry.state === "Ready";
  return problems.filter((one) => one.kind === "notice" || isDecision(one));
}

function judge({ entry, problems }: MachineReport): {
  readonly word: keyof typeof Complete;
  readonly message: string;
} {
  const { state, message = state } = entry;
  if (state === "Ready") return { word: "done", message: toSentence(Complete.done) };
  const words = { decision: "blocked", retry: "failed" } as const;
  for (const kind of ["decision", "retry"] as const) {
    const found = problems.find((one) => one.kind === kind);
    if (found !== undefined) return { word: words[kind], message: found.message };
  }
  return { word: state === "Unknown" ? "silent" : "waiting", message };
}

function toHostWord(state: HostState | undefined): keyof typeof Published {
  switch (state) {
    case "Published":
      return "done";
    case "Refused":
      return "refused";
    case "NameTaken":
      return "nameTaken";
    case "Paused":
    case "Moved":
      return "paused";
    case "InUse":
    case "Removing":
    case "Gone":
      return "leaving";
    case "Publishing":
    case undefined:
      return "waiting";
  }
}
