/**
 * Compares a VM with what it must be like. Pure.
 * @module
 */
import { type MachineSpec, toMachineName } from "../../../../../cloud/capabilities/machines.ts";
import { formatSize } from "../../../../../core/text/values.ts";
import type { Vm } from "../../look/view.ts";
import { BLOCK_REASON, formatMark, isMarkOf, listOwnTags } from "../../words.ts";
import { compareDisks } from "./disks.ts";
import { compareInterfaces } from "./interfaces.ts";
import { asUnbuilt, type Comparison, joinComparisons, toComparison } from "./comparison.ts";
import type { FullView } from "../find/find.ts";
import { wasComplete } from "../find/half_made.ts";
import type { VmRecord } from "../../vm_record.ts";
import type { Wanted } from "../wanted/wanted.ts";

/** Compares everything. @param wanted What the specification means in its pool */
export function compareVm(
  view: FullView,
  spec: MachineSpec,
  { vm, wanted, record }: { readonly vm: Vm; readonly wanted: Wanted; readonly record: VmRecord },
): Comparison {
  const { stock } = view;
  const isDone = wasComplete(vm, record);
  return joinComparisons([
    compareSize(spec, vm),
    compareDisks({ spec, vm, wanted, stock, record, atMs: view.atMs, isDone }),
    asUnbuilt(compareInterfaces({ spec, vm, wanted, stock })),
    isDone ? compareMarks(spec, vm) : compareBoot(spec, vm),
  ]);
}

/** Compares CPUs and memory. */
export function compareSize(spec: MachineSpec, vm: Vm): Comparison {
  const name = toMachineName(spec);
  const cpus = toComparison(
    { name: "CPUs", wanted: String(spec.cpus), ...toActual(vm.cpus) },
    spec.cpus === vm.cpus
      ? undefined
      : {
          fix: {
            summary: `set the CPUs of ${name} to ${spec.cpus}`,
            change: { kind: "patchVm", vmId: vm.id, fields: { cpus: spec.cpus } },
          },
          needsStop: true,
        },
  );
  const memory = toComparison(
    {
      name: "memory",
      wanted: formatSize(spec.memoryBytes),
      ...toActual(vm.memoryBytes, formatSize),
    },
    spec.memoryBytes === vm.memoryBytes
      ? undefined
      : {
          fix: {
            summary: `set the memory of ${name} to ${formatSize(spec.memoryBytes)}`,
            change: { kind: "patchVm", vmId: vm.id, fields: { memory: spec.memoryBytes } },
          },
          needsStop: true,
        },
  );
  return joinComparisons([cpus, memory]);
}

/** Compares what it starts from first. Only a creation can set that, and it may have ended before. */
function compareBoot(spec: MachineSpec, { bootOrder }: Vm): Comparison {
  const part = { name: "boot", wanted: spec.boot, actual: bootOrder };
  const isRight = spec.boot !== "network" || bootOrder.startsWith("n");
  return toComparison(part, isRight ? undefined : {});
}

function toActual(
  value: number | undefined,
  format: (value: number) => string = String,
): { readonly actual?: string } {
  return value === undefined ? {} : { actual: format(value) };
}

/** Compares what says whose the VM is, and what protects it. */
export function compareMarks(spec: MachineSpec, vm: Vm): Comparison {
  const name = toMachineName(spec);
  const { mark } = vm;
  const made = {
    hostId: mark?.hostId ?? spec.hostId,
    ...(mark?.hash !== undefined && { hash: mark.hash }),
  };
  const description = formatMark(spec, made, true);
  const isMarked = mark !== undefined && isMarkOf(mark, spec) && mark.isReady;
  const tags = listOwnTags(spec).map((tag) => {
    const hasTag = vm.tags.includes(tag);
    const part = { name: `tag ${tag}`, wanted: tag, ...(hasTag && { actual: tag }) };
    const change = { kind: "addTag", vmId: vm.id, tag } as const;
    return toComparison(
      part,
      hasTag ? undefined : { fix: { summary: `tag ${name} with ${tag}`, change } },
    );
  });
  const marked = toComparison(
    { name: "description", wanted: description, actual: vm.description },
    isMarked
      ? undefined
      : {
          fix: {
            summary: `put the mark back into the description of ${name}`,
            change: { kind: "patchVm", vmId: vm.id, fields: { nameDescription: description } },
          },
        },
  );
  return joinComparisons([...tags, marked, compareBlock(name, vm)]);
}

function compareBlock(name: string, { id, destroyBlock }: Vm): Comparison {
  const part = { name: "protection from deletion", wanted: BLOCK_REASON };
  if (destroyBlock !== undefined) return toComparison({ ...part, actual: destroyBlock }, undefined);
  const fields = { blockedOperations: { destroy: BLOCK_REASON } };
  const change = { kind: "patchVm", vmId: id, fields } as const;
  return toComparison(part, { fix: { summary: `protect ${name} from deletion`, change } });
}
