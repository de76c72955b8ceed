/**
 * The conditions of a Vino that follow from its machines. Pure.
 * @module
 */
import { toFinding } from "../../kinds/conditions.ts";
import { capitalize, joinSome } from "../../kinds/problems.ts";
import { doesExist, findHostsHealthy, findHostsPublished } from "../hosts/conditions.ts";
import {
  type Finding,
  listIncompleteFindings,
  listInvalidFindings,
  listSpecFindings,
} from "../resource/conditions.ts";
import type { Shortage } from "../placement/shortages.ts";
import { CONDITION_WORDS, type MachinesWord } from "../resource/words.ts";
import { describeAlike, type MachineLine } from "./alike.ts";
import { listDifferences } from "./machine_status.ts";
import type { ContractionReport, MachineReport, MachinesReport, Outcome } from "./outcome.ts";

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
export function describeShortages(
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
