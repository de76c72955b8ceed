/**
 * The next status of a Vino, its conditions, and what Events say of it as a whole. Pure.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import { toMessage } from "../../../core/text/printable.ts";
import { toConditions, findCondition, toFinding } from "../../kinds/conditions.ts";
import {
  capitalize,
  describeProblems,
  joinSome,
  nameSome,
  type SpecProblem,
} from "../../kinds/problems.ts";
import { doesExist, isHeld } from "../hosts/host_facts.ts";
import type { Shortage } from "../placement/shortages.ts";
import {
  type Finding,
  listIncompleteFindings,
  listInvalidFindings,
  listSpecFindings,
} from "../resource/conditions.ts";
import {
  MACHINES_MAX,
  type Vino,
  type VinoCounts,
  type VinoRemoval,
  type VinoSpec,
  type VinoStatus,
} from "../resource/vino.ts";
import type { VinoMachine, VinoMachineStatus } from "../resource/vino_machine.ts";
import { CONDITION_WORDS, MACHINE_CONDITION_WORDS, type MachinesWord } from "../resource/words.ts";
import type { EVENT_WORDS } from "../words.ts";
import { findDecision, findFailure, findHostNotice, isWantedBy } from "./machine_status.ts";

/** What a Vino decided about its machines, and what their objects say. */
export interface MachinesSummary {
  /** How many machines the spec wants. */
  readonly wantedCount: number;
  /** Their objects, by role and index. */
  readonly machines: readonly VinoMachine[];
  /** Wanted machines whose objects have no place, with the reason. @default {none} */
  readonly displaced?: readonly MachineLine[];
  /** What Kubernetes says of objects that it refuses; sentences without a full stop. @default {none} */
  readonly refusals?: readonly string[];
  /** Names of machines whose objects do not say yet what was decided about them. @default {none} */
  readonly changing?: ReadonlySet<string>;
  readonly shortages: readonly Shortage[];
  /** Networks without a free address, and what else prevents addresses; sentences without a full stop. */
  readonly addressProblems: readonly string[];
  /** Machines that have other addresses than the spec gives them, with what to do. @default {none} */
  readonly addressDifferences?: readonly MachineLine[];
  /** What is worth knowing; sentences without a full stop. */
  readonly notices: readonly string[];
  /** What metal3 says is wrong with hosts. @default {nothing} */
  readonly hostErrors?: readonly { readonly name: string; readonly error: string }[];
  /** Why no machine may be removed; no full stop. Absent: each may. */
  readonly limit?: string | undefined;
  /** Machines that were removed a short time ago. */
  readonly removals: readonly VinoRemoval[];
}

/** What stops the work on all machines of a Vino until it ends. */
export type Obstacle = "forbidden" | "objectRefused" | "poolsRefused" | "silent";

/** What a reconcile came to. */
export type Outcome =
  | { readonly kind: "invalid"; readonly problems: readonly SpecProblem[] }
  | {
      readonly kind: "incomplete";
      readonly spec: VinoSpec;
      readonly missing: readonly SpecProblem[];
    }
  | {
      readonly kind: "refused";
      readonly spec: VinoSpec;
      readonly why: "noCapability" | "noPool" | "tooMany" | Obstacle;
      /** A sentence without a full stop. */
      readonly message: string;
    }
  | { readonly kind: "served"; readonly spec: VinoSpec; readonly summary: MachinesSummary }
  | {
      readonly kind: "deleting";
      /** Absent: the cloud does not say, or Kubernetes refuses something. */
      readonly summary?: MachinesSummary;
      /** Whether its machines stay in the cloud. @default {false} */
      readonly keepsMachines?: boolean;
      /** Whether the cloud did not answer. @default {false} */
      readonly isWithoutCloud?: boolean;
      /** Why there is no summary. @default {"silent"} */
      readonly why?: Obstacle;
      /** Why it cannot go on by itself, in a sentence without a full stop. */
      readonly obstacle?: string;
    };

/** A machine by what its object says. */
interface Shown extends VinoMachineStatus {
  /** In the cloud. */
  readonly name: string;
  readonly isWanted: boolean;
}

function toShown({ spec, status = {} }: VinoMachine): Shown {
  return { ...status, name: spec?.machineName ?? "", isWanted: isWantedBy(status) };
}

/** What the next status depends on. */
interface StatusInput {
  readonly outcome: Outcome;
  /** Wall-clock time. It counts only for conditions whose status changes. */
  readonly nowMs: number;
}

/**
 * Builds the next status.
 *
 * @returns All of it, for a merge patch; `undefined` if it would be the same as now, so that nothing is to be written
 */
export function planStatus(
  { metadata: { generation }, status = {} }: Vino,
  { outcome, nowMs }: StatusInput,
): VinoStatus | undefined {
  const conditions = toConditions(listFindings(outcome), status.conditions ?? [], {
    nowMs,
    generation,
    order: Object.keys(CONDITION_WORDS),
  });
  const summary = "summary" in outcome ? outcome.summary : undefined;
  const next: VinoStatus = {
    ...status,
    ...(generation !== undefined && { observedGeneration: generation }),
    conditions,
    ...(summary !== undefined && {
      counts: toCounts(summary),
      ...toRemovals(summary, status),
    }),
  };
  return isDeepStrictEqual(next, status) ? undefined : next;
}

/** Written before the object of a machine goes: a machine that is gone counts as removed. */
function toRemovals(
  { removals }: MachinesSummary,
  before: VinoStatus,
): Pick<VinoStatus, "removals"> {
  // A merge patch keeps what it does not name.
  if (removals.length === 0 && before.removals === undefined) return {};
  return { removals: removals.slice(-MACHINES_MAX) };
}

function toCounts({ machines, wantedCount }: MachinesSummary): VinoCounts {
  const all = machines.map(toShown);
  const ready = all.filter(({ isWanted, state }) => isWanted && state === "Ready").length;
  return {
    wanted: wantedCount,
    machines: all.filter(({ machineId }) => machineId !== undefined).length,
    ready,
    unwanted: all.filter(({ isWanted }) => !isWanted).length,
    published: all.filter(({ bareMetalHost }) => doesExist(bareMetalHost)).length,
    summary: `${ready}/${wantedCount}`,
  };
}

/** What to warn of. */
export interface Warning {
  readonly word: keyof typeof EVENT_WORDS;
  /** A sentence without a full stop. */
  readonly message: string;
}

/** A cloud that does not answer has Events of its own, when that begins and when it ends. */
export function listWarnings(outcome: Outcome): readonly Warning[] {
  switch (outcome.kind) {
    case "invalid":
      return [{ word: "invalidSpec", message: describeProblems(outcome.problems) }];
    case "incomplete":
      return [{ word: "formMissing", message: describeProblems(outcome.missing) }];
    case "refused": {
      const { why: word, message } = outcome;
      return word === "silent" || word === "noCapability" ? [] : [{ word, message }];
    }
    case "served":
      return listServedWarnings(outcome.summary);
    case "deleting": {
      const { why, obstacle: message, summary } = outcome;
      const isRefused = why === "poolsRefused" || why === "objectRefused";
      const whole = isRefused && message !== undefined ? [{ word: why, message }] : [];
      return [...whole, ...warnOfRefusals(summary)];
    }
  }
}

function warnOfRefusals({ refusals = [] }: Partial<MachinesSummary> = {}): Warning[] {
  return refusals.length === 0 ? [] : [{ word: "objectRefused", message: joinSome(refusals) }];
}

function listServedWarnings(summary: MachinesSummary): Warning[] {
  const { shortages, addressProblems, addressDifferences = [] } = summary;
  const problems: readonly (readonly [Warning["word"], readonly string[]])[] = [
    ["noHosts", describeShortages(shortages, "noHosts")],
    ["addressesDiffer", describeAlike(addressDifferences)],
    ["noAddress", addressProblems],
  ];
  const first = problems.filter(([, texts]) => texts.length > 0).slice(0, 1);
  const { reason } = Published.noCredentials;
  const unusable = summary.machines.flatMap(({ status }) => {
    const found = findCondition(status, "Published");
    return found?.reason === reason ? [found.message] : [];
  });
  const blocked = findBlocked(summary);
  return [
    ...warnOfRefusals(summary),
    ...first.map(([word, texts]) => ({ word, message: joinSome(texts) })),
    ...(unusable.length > 0
      ? [{ word: "bmcCredentialsUnusable" as const, message: joinSome([...new Set(unusable)]) }]
      : []),
    ...(blocked ? [{ word: "contractionBlocked" as const, message: blocked.message }] : []),
  ];
}

const BACK_MESSAGE = "The cloud answers again. Landfall goes on with the machines";

/**
 * What begins or ends with a status. `undefined`: nothing.
 *
 * @param before The status so far: it tells apart what begins and what goes on, also after a restart
 * @param outcome From which the next status was made
 */
export function findSilenceChange(
  before: VinoStatus | undefined,
  after: VinoStatus,
  outcome: Outcome,
): Warning | undefined {
  const [was, is] = [findSilence(before), findSilence(after)];
  if (is !== undefined) {
    return was === undefined ? { word: "cloudSilent", message: is } : undefined;
  }
  // A spec that cannot be used says nothing about the cloud.
  const isAnswer = outcome.kind !== "invalid" && outcome.kind !== "incomplete";
  return was !== undefined && isAnswer ? { word: "cloudBack", message: BACK_MESSAGE } : undefined;
}

/** How a status says that the cloud does not answer. */
function findSilence(status: VinoStatus | undefined): string | undefined {
  const ready = findCondition(status, "MachinesReady");
  return ready?.reason === CONDITION_WORDS.MachinesReady.silent.reason ? ready.message : undefined;
}

const { Ready, MachinesReady, HostsPublished, HostsHealthy, MachinesDiffer, ContractionBlocked } =
  CONDITION_WORDS;
const { Published } = MACHINE_CONDITION_WORDS;

/** The conditions that an outcome changes; the others stay. */
export function listFindings(outcome: Outcome): readonly Finding[] {
  switch (outcome.kind) {
    case "invalid":
      return listInvalidFindings(outcome.problems);
    case "incomplete":
      return [...listIncompleteFindings(outcome.missing), ...listSpecFindings(outcome.spec)];
    case "refused":
      return [...listRefused(outcome), ...listSpecFindings(outcome.spec)];
    case "served":
      return [...listServed(outcome.summary), ...listSpecFindings(outcome.spec)];
    case "deleting":
      return listDeleting(outcome);
  }
}

function listRefused({ why, message }: Extract<Outcome, { kind: "refused" }>): Finding[] {
  return [
    toFinding("Ready", Ready[why], message),
    toFinding("MachinesReady", MachinesReady[why], message),
  ];
}

function listDeleting({
  obstacle,
  summary,
  keepsMachines = false,
  isWithoutCloud = false,
  why = "silent",
}: Extract<Outcome, { kind: "deleting" }>): Finding[] {
  const machines = (summary?.machines ?? []).map(toShown);
  const busy = describeStates(machines.filter((one) => one.message !== undefined));
  const message = obstacle ?? addDetails(keepsMachines ? KEEPING : REMOVING, busy);
  const ready = toFinding("Ready", obstacle === undefined ? Ready.waiting : Ready.inUse, message);
  if (summary === undefined) {
    return [ready, toFinding("MachinesReady", MachinesReady[why], message)];
  }
  const left = `${LEAVING}. Machines left: ${machines.length}`;
  const count = machines.filter(({ bareMetalHost }) => doesExist(bareMetalHost)).length;
  const hosts = `${LEAVING}. BareMetalHosts left: ${count}`;
  return [
    ready,
    toFinding(
      "MachinesReady",
      MachinesReady[isWithoutCloud ? "silent" : "waiting"],
      addDetails(left, describeStates(machines)),
    ),
    toFinding("HostsPublished", HostsPublished.waiting, hosts),
    findDifferences(machines),
    findContraction(findBlocked(summary)),
  ];
}

const LEAVING = "The Vino is being deleted";
const REMOVING = "Landfall removes what it made for the Vino";
const KEEPING =
  "Landfall removes the BareMetalHosts of the Vino. Its machines stay, because deletionPolicy is Retain";

function listServed(summary: MachinesSummary): Finding[] {
  const all = summary.machines.map(toShown);
  const machines = judgeMachines(summary, all);
  const hosts = findHosts(summary, all);
  const blocked = findBlocked(summary);
  const { word, message } = machines;
  return [
    findReady(machines, hosts, blocked),
    toFinding("MachinesReady", MachinesReady[word], message),
    hosts,
    findHostsHealthy(summary.hostErrors ?? []),
    findDifferences(all),
    findContraction(blocked),
  ];
}

/** What differs does not make a machine useless, so it is not part of `MachinesReady`. */
function findDifferences(machines: readonly Shown[]): Finding {
  const { stop } = MACHINE_CONDITION_WORDS.Differs;
  const differing = machines.flatMap((one) => {
    const found = findCondition(one, "Differs");
    return found?.status === "True" ? [{ ...found, name: one.name }] : [];
  });
  if (differing.length === 0) {
    const message = "No complete machine is known to differ from the spec";
    return toFinding("MachinesDiffer", MachinesDiffer.none, message);
  }
  const waiting = differing.filter(({ reason }) => reason === stop.reason);
  const others = differing.filter(({ reason }) => reason !== stop.reason);
  const word = others.length > 0 ? MachinesDiffer.some : MachinesDiffer.stop;
  const count = differing.length;
  const what = count === 1 ? "1 complete machine differs" : `${count} complete machines differ`;
  const message = addDetails(`${what} from the spec`, describeAlike([...others, ...waiting]));
  return toFinding("MachinesDiffer", word, message);
}

/** How the machines are, and why. */
interface Judgement {
  readonly word: MachinesWord;
  readonly message: string;
}

function judgeMachines(summary: MachinesSummary, machines: readonly Shown[]): Judgement {
  const { wantedCount, shortages, notices, displaced = [], refusals = [] } = summary;
  const { addressProblems, addressDifferences = [] } = summary;
  const wanted = machines.filter(({ isWanted }) => isWanted);
  const ready = wanted.filter(({ state }) => state === "Ready").length;
  const counts = `${ready} of ${wantedCount} machines are complete`;
  const say = (word: MachinesWord, details: readonly string[]): Judgement => ({
    word,
    message: addDetails(counts, details),
  });
  if (refusals.length > 0) return say("objectRefused", refusals);
  const decisions = describeAlike([...displaced, ...listLines(machines, findDecision)]);
  if (decisions.length > 0) return say("blocked", decisions);
  const nowhere = describeShortages(shortages, "noHosts");
  if (nowhere.length > 0) return say("noHosts", nowhere);
  if (addressDifferences.length > 0) {
    return say("addressesDiffer", [...describeAlike(addressDifferences), ...addressProblems]);
  }
  if (addressProblems.length > 0) return say("noAddress", addressProblems);
  const failures = describeAlike(listLines(machines, findFailure));
  if (failures.length > 0) {
    const { word, message } = say("failed", failures);
    return { word, message: `${message}${describeRetry(machines)}` };
  }
  const unknown = machines.filter(isSilent);
  const silent = describeShortages(shortages, "silent");
  if (unknown.length + silent.length > 0) {
    return say("silent", [...silent, ...describeStates(unknown)]);
  }
  const isChanging = ({ name }: Shown): boolean => summary.changing?.has(name) === true;
  const unfinished = machines.filter(
    (one) => isChanging(one) || (one.isWanted && one.state !== "Ready"),
  );
  const waits = shortages.map(describeShortage);
  // Those that stay by the policy or for a person are no work of ours.
  const leaving = machines.filter((one) => {
    const isLeaving = one.state === "Removing" || one.bareMetalHost === "Removing";
    return !one.isWanted && isLeaving && !isChanging(one);
  });
  if (unfinished.length + waits.length + leaving.length === 0 && ready >= wantedCount) {
    return say("done", notices);
  }
  return say("waiting", [...waits, ...describeStates([...unfinished, ...leaving])]);
}

function listLines(
  machines: readonly Shown[],
  find: (machine: Shown) => string | undefined,
): MachineLine[] {
  return machines.flatMap((one) => {
    const message = find(one);
    return message === undefined ? [] : [{ name: one.name, message }];
  });
}

function isSilent(machine: Shown): boolean {
  const { reason } = MACHINE_CONDITION_WORDS.Complete.silent;
  return findCondition(machine, "Complete")?.reason === reason;
}

/** Why the end of a Vino does not go on: what is wrong with its first machine. No full stop. */
export function findObstacle(summary: MachinesSummary): string | undefined {
  const blocked = findBlocked(summary);
  if (blocked !== undefined) return blocked.message;
  const { changing, refusals = [] } = summary;
  if (refusals.length > 0) return joinSome(refusals);
  const machines = summary.machines.map(toShown).filter(({ name }) => changing?.has(name) !== true);
  const [line] = listLines(machines, (one) => findDecision(one) ?? findFailure(one));
  return line && `${line.name}: ${line.message}`;
}

/** Adds to a sentence what follows from it; no full stop at the end. @param details Sentences without a full stop */
function addDetails(sentence: string, details: readonly string[]): string {
  return details.length === 0 ? sentence : `${sentence}. ${capitalize(joinSome(details))}`;
}

/** When Landfall tries again first; empty if that is not known. */
function describeRetry(machines: readonly Shown[]): string {
  const [first] = machines.flatMap(({ retryTime }) => retryTime ?? []).toSorted();
  return first === undefined ? "" : `. The next attempt is at ${first}`;
}

/** What roles miss for one reason, and why; no full stops. */
function describeShortages(
  shortages: readonly Shortage[],
  kind: Shortage["kind"],
): readonly string[] {
  return shortages.filter((one) => one.kind === kind).map(describeShortage);
}

function describeShortage({ role, missing, why }: Shortage): string {
  return `${missing} of role ${role}: ${why}`;
}

function describeStates(machines: readonly Shown[]): string[] {
  const lines = machines.map(({ name, state = "Absent", message }): MachineLine => {
    const what = state === "Absent" ? "not made yet" : state;
    return { name, message: message === undefined ? what : `${what}. ${capitalize(message)}` };
  });
  return describeAlike(lines);
}

/** Words of hosts and of their machines, the most urgent first. */
const HOST_WORDS = [
  ["refused", ["refused"]],
  ["nameTaken", ["nameTaken"]],
  ["paused", ["paused"]],
  ["waiting", ["waiting", "leaving"]],
] as const satisfies readonly (readonly [
  keyof typeof HostsPublished,
  readonly (keyof typeof Published)[],
])[];

/** A machine may be complete, and its host not looked at yet. */
function findHosts(
  { addressDifferences = [] }: MachinesSummary,
  machines: readonly Shown[],
): Finding {
  const differing = new Set(addressDifferences.map(({ name }) => name));
  const wanted = machines.filter(({ isWanted }) => isWanted);
  const complete = wanted.filter(
    ({ state, bareMetalHost }) => state === "Ready" && bareMetalHost !== undefined,
  );
  const waiting = wanted.length - complete.length;
  const hosts = complete.filter(({ name }) => !differing.has(name));
  const listMessages = (...words: readonly (keyof typeof Published)[]): string[] => {
    const reasons = new Set(words.map((word) => Published[word].reason));
    const found = hosts.flatMap((one) => findCondition(one, "Published") ?? []);
    return found.flatMap(({ reason, message }) => (reasons.has(reason) ? message : []));
  };
  for (const [word, words] of HOST_WORDS) {
    const messages = listMessages(...words);
    if (messages.length === 0) continue;
    return toFinding("HostsPublished", HostsPublished[word], joinSome(messages));
  }
  if (waiting > 0) {
    const what =
      waiting === 1
        ? "1 machine is not complete. Landfall publishes or updates its host when it is"
        : `${waiting} machines are not complete. Landfall publishes or updates their hosts when they are`;
    return toFinding("HostsPublished", HostsPublished.waiting, what);
  }
  const without = listMessages("noCredentials");
  if (without.length > 0) {
    const message = describeBmcProblems(without);
    return toFinding("HostsPublished", HostsPublished.noCredentials, message);
  }
  const notices = new Set(hosts.flatMap((one) => findHostNotice(one) ?? []));
  const all = [describeHosts(hosts.length, complete.length - hosts.length), ...notices].join(". ");
  return toFinding("HostsPublished", HostsPublished.done, all);
}

/** Has the words of metal3, which a person reads anyway to mend it. */
function findHostsHealthy(broken: NonNullable<MachinesSummary["hostErrors"]>): Finding {
  if (broken.length === 0) {
    return toFinding("HostsHealthy", HostsHealthy.all, "metal3 reports no error of a host");
  }
  const what = broken.length === 1 ? "an error of 1 host" : `errors of ${broken.length} hosts`;
  const lines = broken.map(({ name, error }) => `BareMetalHost ${name}: ${toMessage(error)}`);
  return toFinding("HostsHealthy", HostsHealthy.some, `metal3 reports ${what}. ${joinSome(lines)}`);
}

/** Says why hosts have no management controller: mostly all for one reason. */
function describeBmcProblems(problems: readonly string[]): string {
  const count =
    problems.length === 1
      ? "1 host gets no management controller"
      : `${problems.length} hosts get no management controller`;
  return `${count}. ${joinSome([...new Set(problems)])}`;
}

/** @param idle How many machines have other addresses than the spec gives them, so that their hosts stay */
function describeHosts(updated: number, idle: number): string {
  const count = updated + idle;
  if (count === 0) return "There is no machine that needs a BareMetalHost";
  const all =
    count === 1
      ? "The complete machine has a BareMetalHost"
      : `All ${count} complete machines have a BareMetalHost`;
  if (idle === 0) return all;
  const which = idle === 1 ? "1 BareMetalHost" : `${idle} BareMetalHosts`;
  return `${all}. Landfall does not update ${which}: MachinesReady says why`;
}

/** Why machines that the spec does not want stay for now. */
interface Blocked {
  readonly word: "inUse" | "fleetLimit";
  /** A sentence without a full stop. */
  readonly message: string;
}

function findBlocked({ limit, machines }: MachinesSummary): Blocked | undefined {
  if (limit !== undefined) return { word: "fleetLimit", message: limit };
  const held = machines.map(toShown).filter((one) => !one.isWanted && isHeld(one.bareMetalHost));
  if (held.length === 0) return undefined;
  const messages = held.flatMap(({ message }) => message ?? []);
  return { word: "inUse", message: `Not wanted any more, but kept: ${joinSome(messages)}` };
}

function findContraction(blocked: Blocked | undefined): Finding {
  if (blocked !== undefined) {
    const { word, message } = blocked;
    return toFinding("ContractionBlocked", ContractionBlocked[word], message);
  }
  return toFinding(
    "ContractionBlocked",
    ContractionBlocked.free,
    "Nothing keeps a machine that the spec does not want",
  );
}

function findReady(machines: Judgement, hosts: Finding, blocked: Blocked | undefined): Finding {
  if (machines.word !== "done") return toFinding("Ready", Ready[machines.word], machines.message);
  if (hosts.status !== "True") {
    const { waiting, noCredentials } = Ready;
    const word = [waiting, noCredentials].find(({ reason }) => reason === hosts.reason);
    return toFinding("Ready", word ?? Ready.hosts, hosts.message);
  }
  if (blocked !== undefined) {
    const word = blocked.word === "inUse" ? "hostsInUse" : blocked.word;
    return toFinding("Ready", Ready[word], addDetails(machines.message, [blocked.message]));
  }
  return toFinding("Ready", Ready.done, `${machines.message}. ${hosts.message}`);
}

/** What is to say about a machine. */
export interface MachineLine {
  /** Of the machine. */
  readonly name: string;
  /** A sentence without a full stop. It may have the name in it. */
  readonly message: string;
}

/** What differs from machine to machine although the trouble is the same: UUIDs, MAC addresses and IP addresses. */
const OWN_WORDS = new RegExp(
  [
    String.raw`\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b`,
    String.raw`\b[\da-f]{2}(?::[\da-f]{2}){5}\b`,
    // Not a subnet, which is that of all machines.
    String.raw`(?<![\w.:])\d+(?:\.\d+){3}(?![\w/:]|\.\d)`,
    String.raw`(?<![\w.:])[\da-f]+(?::[\da-f]*){2,7}(?![\w/:]|\.\d)`,
  ].join("|"),
  "gi",
);

/**
 * Says of machines with the same trouble what that is, once.
 *
 * @returns Texts in the order of the first machines, such as `machines vino-a-0, vino-a-1: no room`. If the messages
 * differ in names, UUIDs or MAC addresses, then the first one: `disk of vino-a-0 is gone, and the same for 11 more
 * machines`. If it has several sentences: `disk of vino-a-0 is gone. Attach it. The same is true of 11 more machines`
 */
export function describeAlike(lines: readonly MachineLine[]): string[] {
  const groups = Map.groupBy(lines, ({ name, message }) =>
    message.replaceAll(name, "").replaceAll(OWN_WORDS, ""),
  );
  return [...groups.values()].flatMap(describeGroup);
}

function describeGroup(lines: readonly MachineLine[]): string[] {
  const names = [...new Set(lines.map(({ name }) => name))];
  const [message = "", ...others] = new Set(lines.map((one) => one.message));
  const isNameless = !names.some((name) => message.includes(name));
  if (isNameless && others.length === 0) {
    return [`${names.length === 1 ? "machine" : "machines"} ${nameSome(names)}: ${message}`];
  }
  const texts = lines.map(toText);
  const more = names.length - 1;
  if (more === 0) return texts;
  const what = more === 1 ? "1 more machine" : `${more} more machines`;
  return texts.slice(0, 1).map((text) => {
    const isLong = text.includes(". ");
    return isLong ? `${text}. The same is true of ${what}` : `${text}, and the same for ${what}`;
  });
}

function toText({ name, message }: MachineLine): string {
  return message.includes(name) ? message : `machine ${name}: ${message}`;
}
