/**
 * Breaks of which VMs there are on which hosts, and of what uses them.
 * @module
 */
import { type Break, edit } from "../../break.ts";

const VINO = "lib/controllers/vino";
const TESTS = "test/controllers/vino";

export const HOST_BREAKS: readonly Break[] = [
  {
    id: "delete-a-host-in-use",
    invariant: "a BareMetalHost is not deleted while something uses it",
    edits: edit(
      `${VINO}/hosts/plan.ts`,
      "if (live.use !== undefined) { const way =",
      "if (live.use === undefined && live.use !== undefined) { const way =",
    ),
    tests: [`${TESTS}/hosts/plan_test.ts`],
    simulated: "vinos",
  },
  {
    id: "delete-a-host-taken-meanwhile",
    invariant:
      "the deletion of a BareMetalHost carries the resourceVersion at which nothing used it",
    edits: edit(
      `${VINO}/hosts/publish/host_writer.ts`,
      "path, { uid, resourceVersion }, signal);",
      "path, { uid }, signal);",
    ),
    tests: [`${TESTS}/hosts/publish/host_writer_test.ts`],
  },
  {
    id: "remove-a-machine-in-use",
    invariant: "a VM is removed only after its BareMetalHost is gone",
    edits: edit(
      `${VINO}/machines/removal/decision.ts`,
      'host !== undefined && host.state !== "Gone"',
      'host !== undefined && host.state === "Removing"',
    ),
    tests: [`${TESTS}/machines/removal/decision_test.ts`],
    simulated: "vinos",
  },
  {
    id: "change-what-runs",
    invariant: "what needs a stop waits until the VM is off",
    edits: edit(
      "lib/providers/xenorchestra/machines/plan/complete.ts",
      "({ needsStop }) => needsStop !== true || isOff",
      "({ needsStop }) => needsStop !== true || isOff !== undefined",
    ),
    tests: ["test/providers/xenorchestra/machines/plan/complete_test.ts"],
    simulated: "vinos",
  },
  {
    id: "lose-machines-with-a-tag",
    invariant: "a hypervisor that loses its tag is no reason to remove the machines on it",
    edits: edit(
      `${VINO}/placement/choice.ts`,
      "ids.length > 0 && names.length + tags.length === 0 && !ids.includes(hostId)",
      "ids.length + tags.length > 0 && names.length === 0 && !ids.includes(hostId)",
    ),
    tests: [`${TESTS}/placement/placement_test.ts`],
    simulated: "vinos",
  },
  {
    id: "forget-machines-in-silence",
    invariant: "a Vino that deletes its machines ends only after the cloud said that they are gone",
    edits: edit(
      `${VINO}/machines/machine_reconciler.ts`,
      "return desired === undefined && !deletes;",
      "return desired === undefined || !deletes;",
    ),
    tests: [`${TESTS}/reconcile_test.ts`],
  },
];
