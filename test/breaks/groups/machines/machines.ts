/**
 * Breaks of how VMs are made, record and removed.
 * @module
 */
import { type Break, edit } from "../../break.ts";

const MACHINES = "lib/providers/xenorchestra/machines";
const HALF_MADE = `${MACHINES}/plan/find/half_made.ts`;
const ATTEMPT = `${MACHINES}/plan/find/attempt.ts`;
const FIND = `${MACHINES}/plan/find/find.ts`;
const POOLS_PROOF = `${MACHINES}/look/pools_proof.ts`;
const CHECKS = `${MACHINES}/apply/checks.ts`;
const REMOVAL = `${MACHINES}/plan/removal.ts`;
const APPLY = `${MACHINES}/apply/apply.ts`;
const COMPLETE = `${MACHINES}/plan/complete.ts`;
const PLAN = `${MACHINES}/plan/plan.ts`;
const BODY = `${MACHINES}/plan/wanted/body.ts`;
const POWER = `${MACHINES}/power/power.ts`;

const INTERFACES = `${MACHINES}/plan/compare/interfaces.ts`;
const FROM_INVENTORY = `${MACHINES}/plan/from_inventory.ts`;
const VINO = "lib/controllers/vino";
const TRACKER = `${VINO}/machines/steps/progress_tracker.ts`;
const KEPT = `${VINO}/machines/steps/kept_findings.ts`;
const NEVER = `${VINO}/machines/removal/never_complete.ts`;
const LIMIT = `${VINO}/machines/removal/limit.ts`;
const LOST_POOL = `${VINO}/machines/removal/lost_pool.ts`;
const IPAM = `${VINO}/addresses/ipam.ts`;

const VINO_TESTS = "test/controllers/vino/machines";
const TESTS = "test/providers/xenorchestra/machines";
const HALF_MADE_TEST = `${TESTS}/plan/find/half_made_test.ts`;
const ATTEMPT_TEST = `${TESTS}/plan/find/attempt_test.ts`;
const FIND_TEST = `${TESTS}/plan/find/find_test.ts`;
const POOLS_PROOF_TEST = `${TESTS}/look/pools_proof_test.ts`;
const CHECKS_TEST = `${TESTS}/apply/checks_test.ts`;
const REMOVAL_TEST = `${TESTS}/plan/removal_test.ts`;

export const MACHINE_BREAKS: readonly Break[] = [
  {
    id: "clean-up-what-runs",
    invariant: "a VM that is not halted is no leftover of a creation",
    edits: edit(
      HALF_MADE,
      'if (vm.power !== "stopped") return "it is not halted";',
      'if (vm.power === "unknown") return "it is not halted";',
    ),
    tests: [HALF_MADE_TEST],
  },
  {
    id: "clean-up-for-others",
    invariant: "a VM that another user made is no leftover of a creation",
    edits: edit(HALF_MADE, "stock.userId === undefined || creation.user !== stock.userId", "false"),
    tests: [HALF_MADE_TEST],
  },
  {
    id: "clean-up-what-was-complete",
    invariant: "a VM that was complete once is no leftover, even without its marks",
    edits: edit(
      HALF_MADE,
      "isComplete(vm) || vm.mark?.isReady === true || vm.id === completeId;",
      "isComplete(vm);",
    ),
    tests: [HALF_MADE_TEST],
  },
  {
    id: "keep-what-only-a-task-knows",
    invariant: "disks of the template that a task asked for are known although the record is lost",
    edits: edit(
      HALF_MADE,
      "[...all, ...tasks.map((task) => task.template)]",
      "tasks.length < 0 ? [] : all",
    ),
    tests: [HALF_MADE_TEST],
  },
  {
    id: "leave-disks-without-a-name",
    invariant: "disks of what is deleted as half-made first get a name by which they are found",
    edits: edit(
      APPLY,
      "for (const diskId of inherited) await nameLeft(diskId, fields, changes);",
      "for (const diskId of inherited.slice(0, 0)) await nameLeft(diskId, fields, changes);",
    ),
    tests: [`${TESTS}/apply/apply_test.ts`],
  },
  {
    id: "call-right-what-differs",
    invariant: "a VM that lost its last mark and differs from the spec gets a mark of no spec",
    edits: edit(
      COMPLETE,
      "if (!isSame) { const tag = toReadyTag(NO_SPEC);",
      "if (!isSame) { const tag = toReadyTag(toSpecHash(spec));",
      "const wanted = toReadyTag(toSpecHash(spec));",
    ),
    tests: [`${TESTS}/plan/complete_test.ts`],
  },
  {
    id: "create-after-a-lost-answer",
    invariant: "a creation whose answer was lost may still run",
    edits: edit(ATTEMPT, "TAKEN_MS + 10_000;", "0;"),
    tests: [ATTEMPT_TEST],
  },
  {
    id: "believe-in-hidden-tasks",
    invariant: "without a right to see tasks a creation may run",
    edits: edit(ATTEMPT, "isPending: true, againMs", "isPending: false, againMs"),
    tests: [FIND_TEST],
  },
  {
    id: "adopt-while-it-is-made",
    invariant: "nothing is done with a VM while a task with its name runs",
    edits: edit(FIND, "attempt.isPending === true || !isDone", "!isDone", "const isDone ="),
    tests: [FIND_TEST],
  },
  {
    id: "ask-for-the-pool-once",
    invariant: "a pool must be there before a list and after it",
    edits: edit(
      POOLS_PROOF,
      "isConnected(before, poolId) && isConnected(after, poolId)",
      "isConnected(before, poolId) && isConnected(before, poolId)",
    ),
    tests: [POOLS_PROOF_TEST],
  },
  {
    id: "believe-a-pool-without-vms",
    invariant: "the VMs of a pool are loaded if one of them or a template is shown",
    edits: edit(POOLS_PROOF, "&& loaded.has(poolId)", "&& loaded.size >= 0"),
    tests: [POOLS_PROOF_TEST],
  },
  {
    id: "create-while-another-pool-is-lost",
    invariant: "a machine that was asked for may be in another pool that is lost",
    edits: edit(
      FIND,
      "if (vms.length > 0 || view.gap === undefined) return undefined;",
      "if (vms.length >= 0) return undefined;",
    ),
    tests: [FIND_TEST, REMOVAL_TEST],
  },
  {
    id: "delete-by-an-old-plan",
    invariant: "what is deleted as half-made is read once more right before",
    edits: edit(CHECKS, "!isComplete(vm) &&", "true &&"),
    tests: [CHECKS_TEST],
  },
  {
    id: "delete-what-a-task-makes",
    invariant: "right before something half-made is deleted, no task makes it",
    edits: edit(
      CHECKS,
      'creations.some(({ status }) => status === "pending")',
      'creations.some(({ status }) => status === "success")',
    ),
    tests: [CHECKS_TEST],
  },
  {
    id: "delete-a-disk-in-use",
    invariant: "a disk is deleted only while nothing uses it",
    edits: edit(CHECKS, "name !== diskName || links > 0", "name !== diskName"),
    tests: [CHECKS_TEST],
  },
  {
    id: "delete-foreign-disks",
    invariant: "disks that are not of Landfall are detached before their VM is deleted",
    edits: edit(REMOVAL, ".filter((link) => !isOurs(link))", ".filter((link) => !link)"),
    tests: [REMOVAL_TEST],
  },
  {
    id: "sweep-what-was-taken-away",
    invariant: "a disk that a person detached from a complete VM stays",
    edits: edit(
      REMOVAL,
      "isSeed || record.vm === undefined || gone.has(disk.id)",
      "isSeed || record.vm === undefined || !gone.has(disk.id)",
    ),
    tests: [REMOVAL_TEST],
  },
  {
    id: "overwrite-disks-of-a-lost-vm",
    invariant: "no machine is made while disks of a complete one with its name exist",
    edits: edit(PLAN, "const isSwept = record.vm === undefined;", "const isSwept = true;"),
    tests: [`${TESTS}/plan/plan_test.ts`],
  },
  {
    id: "start-before-the-last-mark",
    invariant: "a VM without the last mark is not started",
    edits: edit(
      COMPLETE,
      "!vm.tags.includes(START_TAG) || !isComplete(vm)",
      "!vm.tags.includes(START_TAG)",
    ),
    tests: [`${TESTS}/plan/complete_test.ts`],
  },
  {
    id: "leave-storage-to-the-server",
    invariant: "a creation names the storage of each disk",
    edits: edit(BODY, "size, sr, };", "size };"),
    tests: [`${TESTS}/plan/wanted/body_test.ts`],
  },
  {
    id: "switch-unfinished-machines",
    invariant: "a management controller reaches only complete machines",
    edits: edit(POWER, "vm.mark !== undefined && isComplete(vm);", "vm.mark !== undefined;"),
    tests: [`${TESTS}/power/power_test.ts`],
    simulated: "vinos",
  },
  {
    id: "forget-what-comes-late",
    invariant: "a removal is not over while an interrupted creation may still leave something",
    edits: edit(REMOVAL, "if (leftMs === 0) return", "if (leftMs >= 0) return"),
    tests: [REMOVAL_TEST],
  },
  {
    id: "one-mac-address-twice",
    invariant: "no interface is added while another VM has its MAC address",
    edits: edit(INTERFACES, "if (takenBy === undefined) return undefined;", "return undefined;"),
    tests: [`${TESTS}/plan/compare/interfaces_test.ts`],
  },
  {
    id: "no-look-after-a-hand-edit",
    invariant: "a VM that lost an interface or a disk is looked at",
    edits: edit(FROM_INVENTORY, "record.parts !== partsHash;", "false;"),
    tests: [`${TESTS}/plan/from_inventory_test.ts`],
  },
  {
    id: "removed-machine-comes-back",
    invariant: "an inventory that began before a removal does not bring the machine back",
    edits: edit(
      TRACKER,
      "const seen = this.sightings.find(task.name, view.observedAtMs);",
      "const seen = this.sightings.find(task.name, Infinity);",
    ),
    tests: [`${VINO_TESTS}/steps/progress_tracker_test.ts`],
  },
  {
    id: "forget-why-a-creation-failed",
    invariant: "why a machine could not be made is known while the next attempt runs",
    edits: edit(KEPT, "(before?.setbacks ?? [])", "[]"),
    tests: [`${VINO_TESTS}/steps/kept_findings_test.ts`],
  },
  {
    id: "complete-machines-are-not-counted",
    invariant: "the fleet limit counts a machine before the step that completes it",
    edits: edit(NEVER, "step.completes === true", "step.completes !== true"),
    tests: [`${VINO_TESTS}/removal/never_complete_test.ts`],
  },
  {
    id: "another-window-after-a-restart",
    invariant: "a restart does not begin another window of the fleet limit",
    edits: edit(LIMIT, "ageMs > fleetWindowMs || loaded.has(name)", "ageMs >= 0"),
    tests: [`${VINO_TESTS}/removal/limit_test.ts`],
  },
  {
    id: "pool-gone-without-a-person",
    invariant: "only a person says that a pool is gone for good",
    edits: edit(
      LOST_POOL,
      "missingPoolId !== undefined && gone.has(missingPoolId)",
      "missingPoolId !== undefined",
    ),
    tests: [`${VINO_TESTS}/removal/lost_pool_test.ts`],
  },
  {
    id: "mac-address-of-another-vm",
    invariant: "a new interface gets no MAC address that the cloud shows",
    edits: edit(IPAM, " || seen?.all.has(mac) === true", ""),
    tests: ["test/controllers/vino/addresses/ipam_test.ts"],
  },
];
