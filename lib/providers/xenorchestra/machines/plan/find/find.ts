/**
 * Finds the VM of a machine in a view, or says why that is not possible. Pure.
 * @module
 */
import {
  type MachineIdentity,
  type MachineProblem,
  toMachineName,
} from "../../../../../cloud/capabilities/machines.ts";
import { quote } from "../../../../../core/text/printable.ts";
import type { Stock, Template, View, Vm } from "../../look/view.ts";
import type { VmRecord } from "../../vm_record.ts";
import type { Step } from "../../steps.ts";
import { isDiskNameOf } from "../../words.ts";
import { type Attempt, FRESH_PERIOD_MS, isFresh, judgeAttempt, toSettled } from "./attempt.ts";
import { explainKeeping, judgeOwner, wasComplete } from "./half_made.ts";
import { RENAME_OR_DELETE, toDecision, findLostPool, toRetry, toStep } from "../problems.ts";

/** A view for a change. */
export type FullView = View & { readonly stock: Stock };

/** What to find. */
interface FindQuestion {
  readonly view: FullView;
  readonly identity: MachineIdentity;
  readonly record: VmRecord;
  /** The pool where it belongs. Absent: not known. */
  readonly poolId?: string;
  readonly template?: Template | undefined;
}

/** What was found. */
export type Found =
  /** It is not known whether it exists. */
  | { readonly kind: "unknown"; readonly problem: MachineProblem }
  /** Xen Orchestra may be making it. */
  | { readonly kind: "running"; readonly attempt: Attempt & { kind: "running" }; readonly vm?: Vm }
  /** A person must decide. */
  | {
      readonly kind: "blocked";
      readonly problem: MachineProblem;
      /** Whether only something that is not ours is there. @default {false} */
      readonly isForeign?: boolean;
    }
  /** Something half-made must go first. */
  | { readonly kind: "leftover"; readonly steps: readonly Step[] }
  | { readonly kind: "complete"; readonly vm: Vm }
  /** There is one VM, which is not complete. */
  | { readonly kind: "unfinished"; readonly vm: Vm; readonly attempt: Attempt & { kind: "over" } }
  | { readonly kind: "none"; readonly attempt: Attempt & { kind: "over" } };

/** Finds the VM. */
export function findMachine(question: FindQuestion): Found {
  const { view, identity, record } = question;
  const name = toMachineName(identity);
  const all = view.vms.get(name) ?? [];
  const vms = all.filter((vm) => judgeOwner(vm, identity) !== "foreign");
  const unknown = explainUnknown(question, vms);
  if (unknown !== undefined) return { kind: "unknown", problem: unknown };
  const attempt = judgeAttempt(name, view.stock, record, view.atMs);
  const [vm, ...others] = vms;
  const isDone = vm !== undefined && others.length === 0 && wasComplete(vm, record);
  if (attempt.kind === "running" && (attempt.isPending === true || !isDone)) {
    return { kind: "running", attempt, ...(vm && { vm }) };
  }
  const templates = findTemplates(question, vms, isDone);
  if (templates !== undefined) return templates;
  if (others.length > 0) return findTwins(question, vms);
  if (isDone) return { kind: "complete", vm };
  // Without a right to see tasks nothing comes this far.
  if (attempt.kind === "running") return { kind: "running", attempt };
  if (vm !== undefined) return { kind: "unfinished", vm, attempt };
  // What was just made is not absent.
  if (isFresh(attempt, record, view.atMs)) {
    return { kind: "running", attempt: { kind: "running", againMs: FRESH_PERIOD_MS } };
  }
  return findImpostor(question, all) ?? { kind: "none", attempt };
}

/** Why it is not known whether the machine exists, or whether what is shown of it is all. */
function explainUnknown(
  { view, record, poolId }: FindQuestion,
  vms: readonly Vm[],
): MachineProblem | undefined {
  const needed = vms.length > 0 ? vms.map((vm) => vm.poolId) : [poolId ?? record.pool];
  for (const id of needed) {
    const problem = id === undefined ? undefined : findLostPool(view.pools, id);
    if (id === undefined || problem === undefined) continue;
    // Another pool that does not answer may hold it now.
    const isMissing = view.gap === undefined && view.pools.every((pool) => pool.id !== id);
    return isMissing ? { ...problem, missingPoolId: id } : problem;
  }
  if (vms.length > 0 || view.gap === undefined) return undefined;
  // A machine that was never asked for can be in no other pool.
  const wasAsked = record.at !== undefined || record.vm !== undefined || poolId === undefined;
  if (!wasAsked) return undefined;
  return toRetry("PoolNotConnected", `${view.gap}, and the machine may be there`);
}

/** Half-made templates with its name. */
function findTemplates(
  question: FindQuestion,
  vms: readonly Vm[],
  isDone: boolean,
): Found | undefined {
  const { view, identity, record, template } = question;
  const { stock } = view;
  const name = toMachineName(identity);
  const templates = stock.templates.filter((one) => one.name === name);
  for (const one of templates) {
    const why = explainKeeping(one, { identity, stock, record, template });
    if (why === undefined) {
      const thing = { id: one.id, kind: "template", poolId: one.poolId } as const;
      const step = toStep(identity, `delete half-made template ${name} (${one.id})`, {
        kind: "deleteHalfMade",
        thing,
        inherited: listInherited(stock, one),
        userId: stock.userId,
        ...toNextRecord(question, [...vms, ...templates].length),
      });
      return { kind: "leftover", steps: [{ ...step, isCleanup: true }] };
    }
    if (isDone) continue;
    const what = `template ${name} (${one.id}) is in the way`;
    const message = `${what}, and Landfall does not delete it because ${why}: ${RENAME_OR_DELETE}`;
    return { kind: "blocked", problem: toDecision("NameTaken", message) };
  }
  return undefined;
}

/** The record after a deletion. @param count How many things have the name */
function toNextRecord(
  { view, identity, record }: Pick<FindQuestion, "identity" | "record" | "view">,
  count: number,
): { readonly record?: VmRecord } {
  const settled = toSettled(toMachineName(identity), view.stock, record);
  return count === 1 && settled !== undefined ? { record: settled } : {};
}

/** The disks of something half-made that have names of the template, and none of its own. */
function listInherited({ attached }: Stock, { id, name }: Vm): string[] {
  return (attached.get(id) ?? []).flatMap(({ isCd, disk }) =>
    isCd || disk === undefined || isDiskNameOf(name, disk.name) ? [] : [disk.id],
  );
}

/** Of several VMs with its name the complete one stays, otherwise the oldest one. */
function findTwins(question: FindQuestion, vms: readonly Vm[]): Found {
  const { identity, record } = question;
  const name = toMachineName(identity);
  const complete = vms.filter((vm) => wasComplete(vm, record));
  const ids = vms.map(({ id }) => id).join(", ");
  const what = `${vms.length} VMs have the name ${name} (${ids})`;
  if (complete.length > 1) {
    const advice =
      "find out which one its BareMetalHost means, and rename the others to keep their data";
    const message = `${what}, and more than one of them was complete: ${advice}, or delete those with their data`;
    const problem = { ...toDecision("TwoMachines", message), losesMachine: true };
    return { kind: "blocked", problem };
  }
  const [oldest] = vms.toSorted((one, other) => toBirthMs(one) - toBirthMs(other));
  const survivor = complete[0] ?? oldest;
  const steps: Step[] = [];
  for (const vm of vms) {
    if (vm === survivor) continue;
    const why = explainKeeping(vm, { ...question, stock: question.view.stock });
    if (why !== undefined) {
      const message = `${what}: Landfall does not delete ${vm.id} because ${why}: ${RENAME_OR_DELETE}`;
      return { kind: "blocked", problem: toDecision("TwoMachines", message) };
    }
    steps.push(toDeletion(question, vm, "second"));
  }
  return { kind: "leftover", steps };
}

function toBirthMs({ creation }: Vm): number {
  return creation?.dateMs ?? Number.MAX_SAFE_INTEGER;
}

/** The step that deletes a half-made VM. */
export function toDeletion(
  question: Pick<FindQuestion, "identity" | "record" | "view">,
  vm: Vm,
  word: "half-made" | "second",
): Step {
  const { identity, view } = question;
  const thing = { id: vm.id, kind: "vm", poolId: vm.poolId } as const;
  const step = toStep(identity, `delete ${word} VM ${vm.name} (${vm.id})`, {
    kind: "deleteHalfMade",
    thing,
    inherited: listInherited(view.stock, vm),
    userId: view.stock.userId,
    ...(word === "half-made" && toNextRecord(question, 1)),
  });
  return { ...step, isCleanup: true };
}

/** Finds a VM that stands in the way although it is not the machine. */
function findImpostor(
  { view, identity, record }: FindQuestion,
  all: readonly Vm[],
): Found | undefined {
  const name = toMachineName(identity);
  const [foreign] = all;
  if (foreign !== undefined) {
    const message = `VM ${name} (${foreign.id}) is not of this machine: ${RENAME_OR_DELETE}`;
    return { kind: "blocked", problem: toDecision("NameTaken", message), isForeign: true };
  }
  // The tag names only the Vino, so the record must name the VM.
  const stray = view.strays.find(
    (vm) => judgeOwner(vm, identity) === "ours" && (vm.mark !== undefined || vm.id === record.vm),
  );
  if (stray === undefined) return undefined;
  const mark = stray.mark === undefined ? `the tag of ${name}` : `the mark of ${name}`;
  const remedy =
    stray.mark === undefined
      ? "remove its tag vino:uid=… if it is not that machine any more"
      : 'remove "vino uid=…" from its description if it is a copy';
  const message = `VM ${quote(stray.name)} (${stray.id}) has ${mark}: name it ${name} again, or ${remedy}`;
  return { kind: "blocked", problem: toDecision("MachineRenamed", message) };
}
