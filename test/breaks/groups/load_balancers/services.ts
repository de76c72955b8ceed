/**
 * Breaks of the controller of Services.
 * @module
 */
import { type Break, edit } from "../../break.ts";

const FOLDER = "lib/controllers/service";
const TESTS = "test/controllers/service";
const RECONCILE = `${FOLDER}/reconcile.ts`;
const WRITER = `${FOLDER}/state/service_writer.ts`;
const STORY = `${TESTS}/mod_test.ts`;
const PASSES = `${TESTS}/passes_test.ts`;

export const SERVICE_BREAKS: readonly Break[] = [
  {
    id: "step-before-finalizer",
    invariant: "a Service has the finalizer before anything is made for it",
    edits: edit(
      `${FOLDER}/state/tasks.ts`,
      "return !this.#options.leavesNothingBehind && !hasCloudLoadBalancer(service);",
      "return false && !this.#options.leavesNothingBehind && !hasCloudLoadBalancer(service);",
    ),
    tests: [STORY],
  },
  {
    id: "finalizer-too-early",
    invariant: "the finalizer stays while something of the load balancer is left",
    edits: edit(
      RECONCILE,
      "const waiting = plan.problems.find(({ isWaiting = true }) => isWaiting);",
      "const waiting = plan.problems.find(() => false);",
    ),
    tests: [STORY],
  },
  {
    id: "leftover-of-a-live-service",
    invariant:
      "an address of a Service that exists is no leftover, also if another process serves it",
    edits: edit(
      `${FOLDER}/spec/live.ts`,
      "if (metadata.uid !== undefined) uids.add(metadata.uid);",
      "void metadata;",
    ),
    tests: [`${TESTS}/passes/leftovers_test.ts`, `${TESTS}/spec/live_test.ts`],
  },
  {
    id: "leftover-while-leaving",
    invariant: "an address that is being released is no leftover",
    edits: edit(`${FOLDER}/passes/leftovers.ts`, "live.uids.union(claimed)", "live.uids"),
    tests: [`${TESTS}/passes/leftovers_test.ts`],
  },
  {
    id: "forget-the-vanished",
    invariant: "what was made for a Service that vanished without its finalizer is removed",
    edits: edit(`${FOLDER}/mod.ts`, "findGone: (key) => this.#managed.get(key)?.service,", ""),
    tests: [STORY],
  },
  {
    id: "mix-up-namesakes",
    invariant: "a Service with the name of an old one gets nothing before the old one is released",
    edits: edit(
      `${FOLDER}/state/tasks.ts`,
      "if (known !== undefined && known.metadata.uid !== service?.metadata.uid) {",
      "if (known !== undefined && service === undefined) {",
    ),
    tests: [STORY],
  },
  {
    id: "keep-after-type-change",
    invariant: "a Service that is no LoadBalancer any more loses its load balancer",
    edits: edit(
      `${FOLDER}/spec/which.ts`,
      'if (needsCleanup(service)) return "release";',
      "void needsCleanup(service);",
    ),
    tests: [`${TESTS}/spec/which_test.ts`],
  },
  {
    id: "release-by-flag",
    invariant: "a wrong --load-balancer-class removes no load balancer",
    edits: edit(
      `${FOLDER}/spec/which.ts`,
      'return isLoadBalancer(service) ? "conflict" : "release";',
      'return "release";',
    ),
    tests: [STORY, `${TESTS}/spec/which_test.ts`],
  },
  {
    id: "serve-foreign-class",
    invariant: "a Service with the class of another program gets nothing",
    edits: edit(
      `${FOLDER}/spec/which.ts`,
      'return spec?.type === "LoadBalancer" && isOurs;',
      'return spec?.type === "LoadBalancer" && (isOurs || true);',
    ),
    tests: [STORY, `${TESTS}/spec/which_test.ts`],
  },
  {
    id: "take-old-outcome",
    invariant:
      "what a job did before its caller came back is no outcome of the same change later on",
    edits: edit(
      "lib/providers/cloudstack/session/jobs.ts",
      "if (job.isLeft && !isRetry) reject(new JobOverError(command));",
      "if (job.isLeft && !isRetry && command.length === 0) reject(new JobOverError(command));",
    ),
    tests: ["test/providers/cloudstack/session/jobs_test.ts"],
  },
  {
    id: "stop-at-refused-port",
    invariant: "what the cloud refuses for one port holds up no other one",
    edits: edit(
      RECONCILE,
      "if (loadBalancers.mayGoOn?.(error) !== true) throw error;",
      "if (loadBalancers.mayGoOn?.(error) !== false) throw error;",
    ),
    tests: ["test/controllers/service/mod_test.ts"],
  },
  {
    id: "hold-turn-for-all-steps",
    invariant: "a Service with many ports gives its turn on while others wait",
    edits: edit(
      `${FOLDER}/attempt.ts`,
      "if (steps >= TURN_STEPS_MAX && this.#turns.isAwaited(name)) this[Symbol.dispose]();",
      "",
    ),
    tests: [PASSES],
  },
  {
    id: "plan-before-turn",
    invariant: "a step is planned again after the wait for its turn",
    edits: edit(
      RECONCILE,
      "await attempt.takeTurn(step.turn);\n      return undefined;",
      "await attempt.takeTurn(step.turn);",
    ),
    tests: [PASSES],
  },
  {
    id: "ignore-turns",
    invariant: "steps of one turn run one at a time",
    edits: edit(
      `${FOLDER}/attempt.ts`,
      "return turn === undefined || this.#turn?.name === turn;",
      "return turn === undefined || this.#turn?.name === turn || true;",
    ),
    tests: [PASSES],
  },
  {
    id: "hold-worker-for-turn",
    invariant: "a Service that waits for a turn holds no worker",
    edits: edit(`${FOLDER}/attempt.ts`, "if (this.#turns.isTaken(turn)) this.run.detach();", ""),
    tests: [PASSES],
  },
  {
    id: "keep-turn",
    invariant: "a Service that failed gives its turn back",
    edits: edit(`${FOLDER}/attempt.ts`, "this.#turn?.held[Symbol.dispose]();", ""),
    tests: [PASSES],
  },
  {
    id: "hold-worker-for-job",
    invariant: "a Service whose step takes long holds no worker",
    edits: edit(
      "lib/engine/detached_work.ts",
      "clock.sleep(sliceMs, slice.signal).then(detach, () => undefined);",
      "",
    ),
    tests: [PASSES, "test/engine/detached_work_test.ts"],
  },
  {
    id: "forget-late-failure",
    invariant: "work that fails without a worker counts as a failure",
    edits: edit("lib/engine/detached_work.ts", "throw before.failure.error;", ""),
    tests: [PASSES, "test/engine/detached_work_test.ts"],
  },
  {
    id: "outlive-leadership",
    invariant: "work without a worker ends with the leadership",
    edits: edit(
      "lib/engine/detached_work.ts",
      "for (const { controller } of entries) controller.abort(signal.reason);",
      "",
    ),
    tests: ["test/engine/detached_work_test.ts"],
  },
  {
    id: "lead-with-old-view",
    invariant: "a new leader waits for what the leader before it wrote",
    edits: edit(`${FOLDER}/start/readiness.ts`, "await catchUp(this.#options, signal);", ""),
    tests: [PASSES],
  },
  {
    id: "other-cluster-id",
    invariant: "trouble of the API server does not change the ID of the cluster",
    edits: edit(
      `${FOLDER}/start/cluster_ids.ts`,
      'if (isKubeError(error, "forbidden") || isKubeError(error, "notFound")) return undefined;',
      'if (isKubeError(error, "forbidden") || error !== undefined) return undefined;',
    ),
    tests: [`${TESTS}/start/cluster_ids_test.ts`, PASSES],
  },
  {
    id: "open-for-typo",
    invariant: "an invalid source range opens nothing",
    edits: edit(`${FOLDER}/spec/source_ranges.ts`, "return { problem };", "continue;"),
    tests: [`${TESTS}/spec/source_ranges_test.ts`],
  },
  {
    id: "open-other-family",
    invariant: "all of IPv4 is not all of IPv6",
    edits: edit(
      `${FOLDER}/spec/source_ranges.ts`,
      "ranges.has(EVERYWHERE[family])",
      'ranges.has("0.0.0.0/0")',
    ),
    tests: [`${TESTS}/spec/source_ranges_test.ts`],
  },
  {
    id: "include-excluded",
    invariant: "the label excludes a Node with any value that is not false",
    edits: edit(
      `${FOLDER}/spec/node_set.ts`,
      "return label !== undefined && parseBool(label) !== false;",
      "return label !== undefined && parseBool(label) === true;",
    ),
    tests: [`${TESTS}/spec/node_set_test.ts`],
  },
  {
    id: "foreign-backends",
    invariant: "a Node of another cloud is no backend",
    edits: edit(`${FOLDER}/spec/node_set.ts`, 'if (presence.kind === "foreign") continue;', ""),
    tests: [`${TESTS}/spec/node_set_test.ts`],
  },
  {
    id: "endless-ip-mode",
    invariant: "a server that drops ipMode gets it once",
    edits: edit(
      WRITER,
      "this.#dropsIpMode = hasDroppedIpMode(answer, ingress);",
      "void hasDroppedIpMode(answer, ingress);",
    ),
    tests: [STORY],
  },
  {
    id: "blind-service-write",
    invariant: "every write to a Service has the version that the plan saw",
    edits: edit(WRITER, "{ ...metadata, resourceVersion }", "{ ...metadata }"),
    tests: [STORY],
  },
  {
    id: "overwrite-record",
    invariant: "a record that another program changed is not overwritten",
    edits: edit(WRITER, "metadata.annotations?.[RECORD] === known", "metadata !== null"),
    tests: [`${TESTS}/state/record_test.ts`],
  },
  {
    id: "record-of-namesake",
    invariant: "a Service gets no record of an old one of its name",
    edits: edit(
      `${FOLDER}/state/record.ts`,
      "if (service === undefined || service.metadata.uid !== uid) {",
      "if (service === undefined) {",
    ),
    tests: [`${TESTS}/state/record_test.ts`],
  },
  {
    id: "look-for-each-service",
    invariant: "a full pass looks once for all Services",
    edits: edit(
      RECONCILE,
      "looks.look(attempt.takeLookAge(), signal)",
      "looks.look(void attempt.takeLookAge() ?? 0, signal)",
    ),
    tests: [PASSES],
  },
  {
    id: "release-by-old-look",
    invariant: "a new leader releases nothing by a look from before its last request could end",
    edits: edit(
      RECONCILE,
      '(waiting !== undefined || task.kind === "release") && !attempt.isConfirmed',
      '(waiting !== undefined || task.kind === "release") && attempt.isConfirmed',
    ),
    tests: [PASSES],
  },
  {
    id: "steps-without-end",
    invariant: "a step that changes nothing is a failure",
    edits: edit(`${FOLDER}/progress.ts`, "if (count > REPEATS_MAX) {", "if (count > 1e9) {"),
    tests: [STORY],
  },
];
