/**
 * Judges whether something with the name of a machine is only half-made, so that it may be deleted. Pure.
 *
 * All of it must hold. What is not clear is kept, and a person decides.
 * @module
 */
import type { MachineIdentity } from "../../../../../cloud/capabilities/machines.ts";
import { toMachineName } from "../../../../../cloud/capabilities/machines.ts";
import { isComplete } from "../../look/vms_view.ts";
import type { Attached, CreateTask, Stock, Template, Vm } from "../../look/view.ts";
import type { VmRecord } from "../../vm_record.ts";
import { findUidTag, isDiskNameOf, isMarkOf } from "../../words.ts";

/** What is known about the machine. */
interface HalfMadeQuestion {
  readonly identity: MachineIdentity;
  readonly stock: Stock;
  readonly record: VmRecord;
  /** The template that is named now, if it is known. */
  readonly template?: Template | undefined;
}

/** Whose a VM or template is, by what it says itself. `unmarked`: it says nothing. */
export function judgeOwner(vm: Vm, identity: MachineIdentity): "ours" | "unmarked" | "foreign" {
  if (vm.mark !== undefined) return isMarkOf(vm.mark, identity) ? "ours" : "foreign";
  const uid = findUidTag(vm.tags);
  if (uid === undefined) return "unmarked";
  return uid === identity.owner.uid ? "ours" : "foreign";
}

/** Whether a VM was complete once: then it is never half-made, even if a person removed its marks. */
export function wasComplete(vm: Vm, { vm: completeId }: VmRecord): boolean {
  return isComplete(vm) || vm.mark?.isReady === true || vm.id === completeId;
}

/**
 * Says why a VM or template must not be deleted as half-made. No task with its name may run: the caller knows.
 *
 * @returns A clause; `undefined` if it may
 */
export function explainKeeping(vm: Vm | Template, question: HalfMadeQuestion): string | undefined {
  const { identity, stock, record, template } = question;
  const name = toMachineName(identity);
  const tasks = stock.tasks?.get(name) ?? [];
  if (vm.name !== name) return "it has another name";
  if (judgeOwner(vm, identity) === "foreign") return "it has the mark of another machine";
  if (wasComplete(vm, record)) return "it was complete once";
  if ("isDefault" in vm && vm.isDefault) return "it is a default template";
  if (template !== undefined && [template.id, template.uuid].includes(vm.id)) {
    return "it is the template of the machine";
  }
  const isAsked = tasks.length > 0 || record.at !== undefined || vm.creation?.user !== undefined;
  if (!isAsked) return "nothing says that Landfall asked for it";
  if (vm.power !== "stopped") return "it is not halted";
  if (vm.isStarted) return "it was started";
  if (vm.isBusy) return "an operation runs on it";
  if (vm.hasSnapshots) return "it has a snapshot";
  const asked = listAsked(question, tasks);
  return explainCreation(vm, stock, asked) ?? explainDisks(vm, { name, stock, asked });
}

/** IDs and UUIDs of the templates that it may have been asked for from. */
function listAsked(
  { template, record }: HalfMadeQuestion,
  tasks: readonly CreateTask[],
): ReadonlySet<string> {
  const all = [template?.uuid, template?.id, ...(record.templates ?? [])];
  const known = [...all, ...tasks.map((task) => task.template)];
  return new Set(known.filter((one) => one !== undefined));
}

function explainCreation(
  { creation }: Vm,
  stock: Stock,
  asked: ReadonlySet<string>,
): string | undefined {
  if (creation?.user === undefined && creation?.template === undefined) return undefined;
  if (stock.userId === undefined || creation.user !== stock.userId) return "another user made it";
  const isAsked = creation.template !== undefined && asked.has(creation.template);
  return isAsked ? undefined : "it was made from another template";
}

/** A half-made VM has only disks of its own, and those of its template under their old names. */
function explainDisks(
  vm: Vm,
  {
    name,
    stock,
    asked,
  }: Pick<HalfMadeQuestion, "stock"> & {
    readonly name: string;
    readonly asked: ReadonlySet<string>;
  },
): string | undefined {
  const links = stock.attached.get(vm.id) ?? [];
  const seen = new Set(links.map(({ linkId }) => linkId));
  if (vm.linkIds.some((id) => !seen.has(id))) return "one of its disks cannot be seen";
  const templates = stock.templates.filter(({ id, uuid }) => asked.has(id) || asked.has(uuid));
  const inherited = templates.flatMap(({ id }) => stock.attached.get(id) ?? []);
  const names = new Set(inherited.map(({ disk }) => disk?.name));
  const isOwn = ({ isCd, diskId, disk }: Attached): boolean =>
    isCd ||
    diskId === undefined ||
    (disk !== undefined && (isDiskNameOf(name, disk.name) || names.has(disk.name)));
  return links.every(isOwn) ? undefined : "it has a disk that Landfall did not make";
}
