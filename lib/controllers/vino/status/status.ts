/**
 * The next status of a Vino, its conditions, and what Events say of it as a whole. Pure.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import { toConditions, findCondition, toFinding } from "../../kinds/conditions.ts";
import { doesExist, findHostsHealthy, findHostsPublished } from "../hosts/conditions.ts";
import { MACHINES_MAX, type Vino, type VinoCounts, type VinoStatus } from "../resource/vino.ts";
import { CONDITION_WORDS, type MachinesWord } from "../resource/words.ts";
import type { MachinesReport, Outcome, ContractionReport, MachineReport } from "./outcome.ts";
import { describeProblems, joinSome, capitalize, nameSome } from "../../kinds/problems.ts";
import type { EVENT_WORDS } from "../words.ts";
import {
  type Finding,
  listIncompleteFindings,
  listInvalidFindings,
  listSpecFindings,
} from "../resource/conditions.ts";
import type { Shortage } from "../placement/shortages.ts";
import { listDifferences } from "./machine_status.ts";

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
  const report = "report" in outcome ? outcome.report : undefined;
  const next: VinoStatus = {
    ...status,
    ...(generation !== undefined && { observedGeneration: generation }),
    conditions,
    ...(report !== undefined && {
      counts: toCounts(report),
      ...toRemovals(report, status),
    }),
  };
  return isDeepStrictEqual(next, status) ? undefined : next;
}

/** Written before the object of a machine goes: a machine that is gone counts as removed. */
function toRemovals(
  { removals }: MachinesReport,
  before: VinoStatus,
): Pick<VinoStatus, "removals"> {
  // A merge patch keeps what it does not name.
  if (removals.length === 0 && before.removals === undefined) return {};
  return { removals: removals.slice(-MACHINES_MAX) };
}

function toCounts({ machines, wantedCount }: MachinesReport): VinoCounts {
  const exists = machines.filter(({ entry }) => entry.machineId !== undefined).length;
  const ready = machines.filter(
    ({ isWanted, entry }) => isWanted && entry.state === "Ready",
  ).length;
  return {
    wanted: wantedCount,
    machines: exists,
    ready,
    unwanted: machines.filter(({ isWanted }) => !isWanted).length,
    published: machines.filter(({ entry }) => doesExist(entry.bareMetalHost)).length,
    summary: `${ready}/${wantedCount}`,
  };
}

/** What to warn of. */
export interface Warning {
  readonly word: keyof typeof EVENT_WORDS;
  /** A sentence without a full stop. */
  readonly message: string;
}

/** `undefined`: nothing. A cloud that does not answer has Events of its own, when that begins and when it ends. */
export function findWarning(outcome: Outcome): Warning | undefined {
  switch (outcome.kind) {
    case "invalid":
      return { word: "invalidSpec", message: describeProblems(outcome.problems) };
    case "incomplete":
      return { word: "formMissing", message: describeProblems(outcome.missing) };
    case "refused": {
      const { why: word, message } = outcome;
      return word === "silent" || word === "noCapability" ? undefined : { word, message };
    }
    case "served": {
      const { shortages, addressProblems, addressDifferences = [] } = outcome.report;
      const nowhere = describeShortages(shortages, "noHosts");
      if (nowhere.length > 0) return { word: "noHosts", message: joinSome(nowhere) };
      if (addressDifferences.length > 0) {
        return { word: "addressesDiffer", message: joinSome(addressDifferences) };
      }
      if (addressProblems.length === 0) return undefined;
      return { word: "noAddress", message: joinSome(addressProblems) };
    }
    case "deleting": {
      const { why, obstacle: message } = outcome;
      const isRefused = why === "poolsRefused" || why === "objectRefused";
      return isRefused && message !== undefined ? { word: why, message } : undefined;
    }
  }
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

const { Ready, MachinesReady, HostsPublished, MachinesDiffer, ContractionBlocked } =
  CONDITION_WORDS;

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
      return [...listServed(outcome.report), ...listSpecFindings(outcome.spec)];
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
  report,
  keepsMachines = false,
  isWithoutCloud = false,
  why = "silent",
}: Extract<Outcome, { kind: "deleting" }>): Finding[] {
  const { machines = [], contraction } = report ?? {};
  const busy = describeStates(machines.filter(({ entry }) => entry.message !== undefined));
  const message = obstacle ?? addDetails(keepsMachines ? KEEPING : REMOVING, busy);
  const ready = toFinding("Ready", obstacle === undefined ? Ready.waiting : Ready.inUse, message);
  if (report === undefined) return [ready, toFinding("MachinesReady", MachinesReady[why], message)];
  const left = `${LEAVING}. Machines left: ${machines.length}`;
  const count = machines.filter(({ entry }) => doesExist(entry.bareMetalHost)).length;
  const hosts = `${LEAVING}. BareMetalHosts left: ${count}`;
  return [
    ready,
    toFinding(
      "MachinesReady",
      MachinesReady[isWithoutCloud ? "silent" : "waiting"],
      addDetails(left, describeStates(machines)),
    ),
    toFinding("HostsPublished", HostsPublished.waiting, hosts),
    findDifferences(report),
    findContraction(contraction),
  ];
}

const LEAVING = "The Vino is being deleted";
const REMOVING = "Landfall removes what it made for the Vino";
const KEEPING =
  "Landfall removes the BareMetalHosts of the Vino. Its machines stay, because deletionPolicy is Retain";

function listServed(report: MachinesReport): Finding[] {
  const machines = judgeMachines(report);
  const hosts = findHosts(report);
  const differences = findDifferences(report);
  const contraction = findContraction(report.contraction);
  const { word, message } = machines;
  const ready = toFinding("MachinesReady", MachinesReady[word], message);
  const health = findHostsHealthy(report.hosts);
  const first = findReady(machines, hosts, report.contraction);
  return [first, ready, hosts, health, differences, contraction];
}

/** What differs does not make a machine useless, so it is not part of `MachinesReady`. */
function findDifferences({ machines }: MachinesReport): Finding {
  const differing = machines.flatMap((one) =>
    listDifferences(one).map((problem) => ({ name: one.entry.name, problem })),
  );
  if (differing.length === 0) {
    const message = "No complete machine is known to differ from the spec";
    return toFinding("MachinesDiffer", MachinesDiffer.none, message);
  }
  const waiting = differing.filter(({ problem }) => problem.isWaiting === true);
  const others = differing.filter(({ problem }) => problem.isWaiting !== true);
  const word = others.length > 0 ? MachinesDiffer.some : MachinesDiffer.stop;
  const count = new Set(differing.map(({ name }) => name)).size;
  const lines = [...others, ...waiting].map(({ name, problem }) => ({
    name,
    message: problem.message,
  }));
  const what = count === 1 ? "1 complete machine differs" : `${count} complete machines differ`;
  const message = addDetails(`${what} from the spec`, describeAlike(lines));
  return toFinding("MachinesDiffer", word, message);
}

/** How the machines are, and why. */
interface Judgement {
  readonly word: MachinesWord;
  readonly message: string;
}

function judgeMachines(report: MachinesReport): Judgement {
  const { machines, wantedCount, shortages, notices } = report;
  const { addressProblems, addressDifferences = [] } = report;
  const wanted = machines.filter(({ isWanted }) => isWanted);
  const ready = wanted.filter(({ entry }) => entry.state === "Ready").length;
  const counts = `${ready} of ${wantedCount} machines are complete`;
  const say = (word: MachinesWord, details: readonly string[]): Judgement => ({
    word,
    message: addDetails(counts, details),
  });
  const troubled = (kind: "decision" | "retry"): string[] =>
    describeAlike(
      machines.flatMap(({ entry: { name }, problems }) => {
        const problem = problems.find((one) => one.kind === kind);
        return problem === undefined ? [] : [{ name, message: problem.message }];
      }),
    );
  const decisions = troubled("decision");
  if (decisions.length > 0) return say("blocked", decisions);
  const nowhere = describeShortages(shortages, "noHosts");
  if (nowhere.length > 0) return say("noHosts", nowhere);
  if (addressDifferences.length > 0) {
    return say("addressesDiffer", [...addressDifferences, ...addressProblems]);
  }
  if (addressProblems.length > 0) return say("noAddress", addressProblems);
  const failures = troubled("retry");
  if (failures.length > 0) {
    const { word, message } = say("failed", failures);
    return { word, message: `${message}${describeRetry(machines)}` };
  }
  const unknown = machines.filter(({ isSilent }) => isSilent === true);
  const silent = describeShortages(shortages, "silent");
  if (unknown.length + silent.length > 0) {
    return say("silent", [...silent, ...describeStates(unknown)]);
  }
  const unfinished = wanted.filter(({ entry }) => entry.state !== "Ready");
  const waits = shortages.map(describeShortage);
  // Those that stay by the policy or for a person are no work of ours.
  const leaving = machines.filter(({ isWanted, entry }) => {
    return !isWanted && (entry.state === "Removing" || entry.bareMetalHost === "Removing");
  });
  if (unfinished.length + waits.length + leaving.length === 0 && ready >= wantedCount) {
    return say("done", notices);
  }
  return say("waiting", [...waits, ...describeStates([...unfinished, ...leaving])]);
}

/** Adds to a sentence what follows from it; no full stop at the end. @param details Sentences without a full stop */
function addDetails(sentence: string, details: readonly string[]): string {
  return details.length === 0 ? sentence : `${sentence}. ${capitalize(joinSome(details))}`;
}

/** When Landfall tries again first; empty if that is not known. */
function describeRetry(machines: readonly MachineReport[]): string {
  const [first] = machines.flatMap(({ retryAt }) => retryAt ?? []).toSorted();
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

function describeStates(machines: readonly MachineReport[]): string[] {
  const lines = machines.map(({ entry: { name, state, message } }): MachineLine => {
    const what = state === "Absent" ? "not made yet" : state;
    return { name, message: message === undefined ? what : `${what}. ${capitalize(message)}` };
  });
  return describeAlike(lines);
}

/** A machine may be complete since the hosts were looked at. */
function findHosts({ hosts, machines }: MachinesReport): Finding {
  const wanted = machines.filter(({ isWanted }) => isWanted);
  const idle = wanted.filter(
    ({ entry, problems }) =>
      doesExist(entry.bareMetalHost) && problems.some(({ reason }) => reason === AddressesDiffer),
  );
  const waiting = wanted.length - hosts.length - idle.length;
  return findHostsPublished(hosts, waiting, idle.length);
}

const AddressesDiffer = MachinesReady.addressesDiffer.reason;

function findContraction(contraction: ContractionReport | undefined): Finding {
  if (contraction !== undefined) {
    const { kind, message } = contraction;
    return toFinding("ContractionBlocked", ContractionBlocked[kind], message);
  }
  return toFinding(
    "ContractionBlocked",
    ContractionBlocked.free,
    "Nothing keeps a machine that the spec does not want",
  );
}

function findReady(
  machines: Judgement,
  hosts: Finding,
  contraction: ContractionReport | undefined,
): Finding {
  if (machines.word !== "done") return toFinding("Ready", Ready[machines.word], machines.message);
  if (hosts.status !== "True") {
    const { waiting, noCredentials } = Ready;
    const word = [waiting, noCredentials].find(({ reason }) => reason === hosts.reason);
    return toFinding("Ready", word ?? Ready.hosts, hosts.message);
  }
  if (contraction !== undefined) {
    const word = contraction.kind === "inUse" ? "hostsInUse" : contraction.kind;
    return toFinding("Ready", Ready[word], addDetails(machines.message, [contraction.message]));
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
