/**
 * Breaks of the management controllers of machines.
 * @module
 */
import { type Break, edit } from "../../break.ts";

const HTTP = "lib/http/redfish";
const VINO = "lib/controllers/vino/redfish";
const CRASHES_TEST = "test/controllers/vino/redfish/crashes_test.ts";
const MANAGEMENT_TEST = "test/controllers/vino/redfish/management_test.ts";
const REFUSAL_TEST = "test/controllers/vino/redfish/order_refusal_test.ts";
const SERVICE_TEST = "test/http/redfish/service_test.ts";
const ACCESS_TEST = "test/http/redfish/login/access_test.ts";

export const REDFISH_BREAKS: readonly Break[] = [
  {
    id: "set-a-boot-device-unwritten",
    invariant: "what must be undone is written down before the first step",
    edits: edit(
      `${VINO}/secret_cache.ts`,
      "const body = { metadata: { resourceVersion, annotations } };",
      "const body = { metadata: { resourceVersion, ...(annotations === undefined && {}) } };",
    ),
    tests: [CRASHES_TEST],
    simulated: "vinos",
  },
  {
    id: "forget-the-old-order",
    invariant: "after the next start the old order comes back, before the record goes",
    edits: edit(
      `${VINO}/override_plan.ts`,
      'hasOrder && !isSame ? { kind: "order", order: before } : { kind: "clear" }',
      '{ kind: "clear", ...(hasOrder && !isSame && {}) }',
    ),
    tests: [CRASHES_TEST],
    simulated: "vinos",
  },
  {
    id: "forget-an-order-of-unknown-fate",
    invariant: "the record of an order goes only if the machine is seen without it",
    edits: edit(
      `${VINO}/boot_overrides.ts`,
      "const isUnchanged = isUndone && isSameOrder(error.order, seen.bootOrder);",
      "const isUnchanged = isUndone && seen.bootOrder.length > 0;",
    ),
    tests: [REFUSAL_TEST],
  },
  {
    id: "boot-the-wrong-device-without-a-word",
    invariant: "a machine that is stuck with the order of an override is not started",
    edits: edit(
      `${VINO}/management.ts`,
      "if (!error.spoils(action)) return false;",
      "if (error.spoils(action) || !error.spoils(action)) return false;",
    ),
    tests: [REFUSAL_TEST],
  },
  {
    id: "forget-that-an-override-was-used-up",
    invariant: "an override that was used up, and cannot be undone now, is not used again",
    edits: edit(
      `${VINO}/boot_overrides.ts`,
      'const isUsedUp = override.duration === "once" && override.since !== undefined;',
      'const isUsedUp = override.duration === "never" && override.since !== undefined;',
    ),
    tests: [REFUSAL_TEST],
  },
  {
    id: "leave-records-to-their-process",
    invariant: "a new leader finishes what an old one was asked for",
    edits: edit(
      `${VINO}/waiting_overrides.ts`,
      "if (book.find(machine)?.override &&",
      "if (book.find(machine) === undefined &&",
    ),
    tests: [CRASHES_TEST],
    simulated: "vinos",
  },
  {
    id: "use-a-boot-device-twice",
    invariant: "a device that was set once and was used is undone before the next change of power",
    edits: edit(
      `${VINO}/management.ts`,
      "if (override === undefined) return false;",
      "return false;",
    ),
    tests: [MANAGEMENT_TEST],
  },
  {
    id: "believe-the-id-of-a-machine",
    invariant: "the status of a Vino alone gives no access to the machine of another",
    edits: edit(
      `${VINO}/management.ts`,
      "if (seen?.name === name) return seen;",
      "if (seen) return seen;",
    ),
    tests: [MANAGEMENT_TEST],
  },
  {
    id: "show-the-interfaces-of-another",
    invariant: "an ID alone shows no network interface of a machine with another name",
    edits: edit(
      `${VINO}/management.ts`,
      "return machine && seen?.name === machine.name ? seen.interfaces : undefined;",
      "return machine && seen ? seen.interfaces : undefined;",
    ),
    tests: [MANAGEMENT_TEST],
  },
  {
    id: "open-every-machine",
    invariant: "a user and password open only the machines that have them",
    edits: edit(
      `${HTTP}/system_endpoints.ts`,
      "if (visitor.systems.includes(id)) return id;",
      "if (visitor.systems.length > 0) return id;",
    ),
    tests: [SERVICE_TEST],
  },
  {
    id: "switch-as-a-standby",
    invariant: "only the leader answers for machines",
    edits: edit(
      `${HTTP}/service.ts`,
      "if (!isOfStandby && !backend.isLeading()) {",
      "if (!isOfStandby && backend === undefined) {",
    ),
    tests: [SERVICE_TEST],
  },
  {
    id: "guess-without-limit",
    invariant: "after too many wrong passwords no further one is looked at",
    edits: edit(
      `${HTTP}/login/access.ts`,
      "if (!this.#attempts.mayTry(address, credentials)) {",
      "if (address === undefined) {",
    ),
    tests: [ACCESS_TEST],
  },
  {
    id: "call-after-leading",
    invariant: "a call by JSON-RPC is sent only while this process leads",
    edits: edit(
      "lib/providers/xenorchestra/session/rpc.ts",
      "if (!(await signIn(socket, token))) return { status: 401 }; fence.check();",
      "if (!(await signIn(socket, token))) return { status: 401 };",
    ),
    tests: ["test/providers/xenorchestra/session/rpc_test.ts"],
  },
];
