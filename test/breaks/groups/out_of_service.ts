/**
 * Breaks of what stands between a Node and the out-of-service taint.
 * @module
 */
import { type Break, edit } from "../break.ts";

const POWER = "lib/providers/xenorchestra/proof/power.ts";
const POWER_TEST = "test/providers/xenorchestra/proof/power_test.ts";
const PLAN = "lib/controllers/node_out_of_service/plan.ts";
const PLAN_TEST = "test/controllers/node_out_of_service/plan_test.ts";
const WATCH = "lib/controllers/node_out_of_service/watch.ts";
const SETTER = "lib/controllers/node_out_of_service/setter.ts";
const CONTROLLER = "lib/controllers/node_out_of_service";
const FLEET_LIMIT = "lib/cloud/deletion/fleet_limit.ts";
const MOD_TEST = "test/controllers/node_out_of_service/mod_test.ts";

export const OUT_OF_SERVICE_BREAKS: readonly Break[] = [
  {
    id: "trust-listed-power",
    invariant: "a VM counts as off only after a direct read right before the write",
    edits: edit(POWER, 'if (power_state !== OFF) return { kind: "on" };', ""),
    tests: [POWER_TEST],
  },
  {
    id: "off-is-not-running",
    invariant: "a VM that does not run is not necessarily off, in lists and in direct reads",
    edits: [
      ...edit(
        POWER,
        'const state = details["powerState"] ?? "in an unknown state"; if (state !== OFF)',
        'const state = details["powerState"] ?? "in an unknown state"; if (state === "Running")',
      ),
      ...edit(
        POWER,
        'if (power_state !== OFF) return { kind: "on" };',
        'if (power_state === "Running") return { kind: "on" };',
      ),
    ],
    tests: [POWER_TEST],
    simulated: "nodes",
  },
  {
    id: "off-while-suspended",
    invariant: "a VM that is suspended or paused is not off",
    edits: edit(
      POWER,
      'const state = details["powerState"] ?? "in an unknown state"; if (state !== OFF)',
      'const state = details["powerState"] ?? "in an unknown state"; if (state === "Running")',
    ),
    tests: [POWER_TEST],
  },
  {
    id: "off-in-another-pool",
    invariant: "a VM that is halted in another pool than it ran in may be a copy",
    edits: edit(POWER, "if (region !== run.poolId) {", "if (region !== run.poolId && !region) {"),
    tests: [POWER_TEST],
  },
  {
    id: "copy-is-off",
    invariant: "neither a list nor a direct read of a copy in another pool says that a VM is off",
    edits: [
      ...edit(POWER, "if (region !== run.poolId) {", "if (region !== run.poolId && !region) {"),
      ...edit(
        POWER,
        "if ($pool !== poolId) return toUnproven(`VM ${id} is in pool ${$pool} now`);",
        "",
      ),
    ],
    tests: [POWER_TEST],
    simulated: "nodes",
  },
  {
    id: "off-while-pool-lost",
    invariant: "no VM is proven off while a pool is lost",
    edits: edit(POWER, "if (!complete && !isOnlyNamed)", "if (!complete && isOnlyNamed)"),
    tests: [POWER_TEST],
  },
  {
    id: "off-after-migration",
    invariant: "a VM that was migrated recently is not proven off",
    edits: edit(
      POWER,
      "if (runs.wasMigrated(vmId, clock.monotonic())) {",
      "if (runs.wasMigrated(vmId, clock.monotonic() + Infinity)) {",
    ),
    tests: [POWER_TEST],
  },
  {
    id: "off-on-dead-host",
    invariant: "a VM is not proven off while the host that it ran on is down",
    edits: edit(
      POWER,
      'if (host.value.power_state !== "Running") {',
      'if (host.value.power_state !== "Running" && !host.value.power_state) {',
    ),
    tests: [POWER_TEST],
  },
  {
    id: "off-during-operation",
    invariant: "a VM with an operation in progress is not proven off",
    edits: edit(
      POWER,
      "const [operation] = Object.values(current_operations);",
      "const [, operation] = Object.values(current_operations);",
    ),
    tests: [POWER_TEST],
  },
  {
    id: "ignore-exclusion",
    invariant: "a Node with the exclusion label never gets the taint",
    edits: edit(
      PLAN,
      "return isOurs && !isBeingDeleted && !isExcluded(node);",
      "return isOurs && !isBeingDeleted;",
    ),
    tests: [PLAN_TEST, MOD_TEST],
  },
  {
    id: "taint-beyond-fleet-limit",
    invariant: "no Node is taken out of service while too many machines are off or gone",
    edits: edit(
      WATCH,
      'return isExceeded ? this.#toExcess() : { kind: "confirm", why: "off" };',
      'return isExceeded === undefined ? this.#toExcess() : { kind: "confirm", why: "off" };',
    ),
    tests: [MOD_TEST],
  },
  {
    id: "count-power-of-failed-inventory",
    invariant: "an inventory that failed starts the count of a machine that is off again",
    edits: edit(
      WATCH,
      "observedAtMs > this.#fromMs && source.lastError === undefined;",
      "observedAtMs > this.#fromMs;",
    ),
    tests: [MOD_TEST],
  },
  {
    id: "taint-on-old-kubernetes",
    invariant: "no taint is set on a Kubernetes that does not know it",
    edits: edit(SETTER, 'if (!(await gate.check(signal))) return { kind: "overtaken" };', ""),
    tests: [MOD_TEST],
  },
  {
    id: "remove-foreign-taint",
    invariant: "the same taint without our record was set by a user or another program",
    edits: edit(
      "lib/controllers/fleet/out_of_service.ts",
      "if (record === undefined || record.isReleased) return false;",
      "if (record?.isReleased) return false;",
    ),
    tests: ["test/controllers/fleet/out_of_service_test.ts"],
  },
  {
    id: "keep-taint-of-live-machine",
    invariant: "the taint of a machine that was never off is removed at once",
    edits: edit(
      PLAN,
      'if (facts.isKubeletReporting && isSameBoot) return { kind: "remove", isMistake: true };',
      "",
    ),
    tests: [PLAN_TEST],
  },
  {
    id: "remove-taint-before-detach",
    invariant: "the taint stays until the old volumes are detached",
    edits: edit(PLAN, "return hasReported && isDetached ?", "return hasReported ?"),
    tests: [PLAN_TEST, MOD_TEST],
  },
  {
    id: "count-from-first-start",
    invariant: "a machine that went off again starts the wait for its volumes from nothing",
    edits: edit(`${CONTROLLER}/mod.ts`, "else this.#returns.forget(node.metadata.name);", ""),
    tests: [MOD_TEST],
  },
  {
    id: "delete-before-detach",
    invariant:
      "a Node is not deleted before its volumes are detached, where the out-of-service controller watches them",
    edits: edit(
      "lib/controllers/fleet/fleet_watch.ts",
      'verdict.kind === "confirm" ? holds?.find(node) : undefined;',
      'verdict.kind === "keep" ? holds?.find(node) : undefined;',
    ),
    tests: ["test/controllers/fleet/fleet_watch_test.ts"],
  },
  {
    id: "taint-while-kubelet-reports",
    invariant: "a machine whose kubelet reports, even as not ready, is not off",
    edits: edit(
      PLAN,
      "return isCandidate(node) && !isKubeletReporting(node);",
      "return isCandidate(node);",
    ),
    tests: [PLAN_TEST],
  },
  {
    id: "not-ready-is-silent",
    invariant: "a kubelet that reports that it is not ready is not silent",
    edits: edit(
      "lib/controllers/identity.ts",
      'return readyStatus(node) !== "Unknown";',
      'return readyStatus(node) === "True";',
    ),
    tests: [PLAN_TEST, MOD_TEST],
    simulated: "nodes",
  },
  {
    id: "taint-by-inventory",
    invariant: "no inventory proves that a machine is off: the cloud is asked directly",
    edits: edit(SETTER, 'if (reading.kind === "off")', 'if (reading.kind !== "unproven")'),
    tests: [MOD_TEST],
  },
  {
    id: "taint-what-changed",
    invariant: "the Node is judged once more after the cloud was asked",
    edits: edit(
      SETTER,
      'if (verdict.kind !== "confirm" || verdict.why !== why) return { kind: "overtaken" };',
      'if (verdict.kind === why) return { kind: "overtaken" };',
    ),
    tests: [MOD_TEST],
  },
  {
    id: "taint-another-node",
    invariant:
      "the Node is read from Kubernetes before the taint is set, and is still the one that was judged",
    edits: edit(
      SETTER,
      'if (!isSameNode(node, fresh)) return { kind: "overtaken" };',
      'if (isSameNode(node, fresh) && false) return { kind: "overtaken" };',
    ),
    tests: [MOD_TEST],
  },
  {
    id: "taint-by-old-inventory",
    invariant: "an inventory that is too old, or was followed by a failure, does not count",
    edits: edit(
      WATCH,
      "if ((source.ageMs ?? Infinity) > INVENTORY_AGE_MS_MAX || source.lastError) return KEEP;",
      "if ((source.ageMs ?? Infinity) === INVENTORY_AGE_MS_MAX) return KEEP;",
    ),
    tests: [MOD_TEST],
  },
  {
    id: "forget-taints",
    invariant: "a Node that had the taint counts against the limit until the window is over",
    edits: edit(
      FLEET_LIMIT,
      "for (const [uid, untilMs] of before) if (untilMs > nowMs) after.set(uid, untilMs);",
      "for (const [uid, untilMs] of before) if (untilMs === nowMs) after.set(uid, untilMs);",
    ),
    tests: [MOD_TEST],
  },
  {
    id: "assume-no-operations",
    invariant: "a VM is not proven off if its operations are not known",
    edits: edit(
      "lib/providers/xenorchestra/wire/schema.ts",
      "v.nullish(v.fallback(v.nullable(v.record(v.string(), v.unknown())), null))",
      "v.nullish(v.fallback(v.nullable(v.record(v.string(), v.unknown())), {}))",
    ),
    tests: [POWER_TEST],
  },
  {
    id: "believe-who-never-saw-it-run",
    invariant:
      "if Landfall cannot read the connections, it cannot prove a VM off that it never saw running",
    edits: edit(
      POWER,
      'const isEnough = connections.kind === "clear" || (connections.kind === "unreadable" && isSeen);',
      'const isEnough = connections.kind === "clear" || connections.kind === "unreadable";',
    ),
    tests: [POWER_TEST],
  },
  {
    id: "untaint-only-when-ready",
    invariant: "a kubelet that reports and was never restarted ends the taint, ready or not",
    edits: edit(
      `${CONTROLLER}/reconcile.ts`,
      "{ ...known, isKubeletReporting: isKubeletReporting(fresh), bootId }",
      "{ ...known, isKubeletReporting: false, bootId }",
    ),
    tests: [MOD_TEST],
  },
  {
    id: "own-what-was-removed",
    invariant: "a taint that a user removed and set again is theirs",
    edits: edit(
      "lib/controllers/fleet/out_of_service.ts",
      "if (record === undefined || record.isReleased) return false;",
      "if (record === undefined) return false;",
    ),
    tests: ["test/controllers/fleet/out_of_service_test.ts", MOD_TEST],
  },
  {
    id: "untaint-others",
    invariant: "only a taint with our record is ours",
    edits: edit(
      "lib/controllers/fleet/out_of_service.ts",
      "if (text === undefined) return undefined;",
      'if (text === "") return undefined;',
    ),
    tests: ["test/controllers/fleet/out_of_service_test.ts", MOD_TEST],
  },
  {
    id: "hold-a-deletion-for-ever",
    invariant:
      "a record that cannot be read does not hold up the deletion of a Node for longer than six minutes",
    edits: edit(
      `${CONTROLLER}/hold.ts`,
      "if (recordedMs >= DETACH_WAIT_MS || nowMs - since.ms >= DETACH_WAIT_MS) return undefined;",
      "if (Math.max(recordedMs, nowMs - since.ms) >= DETACH_WAIT_MS) return undefined;",
    ),
    tests: [MOD_TEST],
  },
];
