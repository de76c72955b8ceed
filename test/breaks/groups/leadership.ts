/**
 * Breaks of what keeps two processes from acting at once, and two workers from working on one Node.
 * @module
 */
import { type Break, edit } from "../break.ts";

const LOCK = "lib/kube/election/lease_lock.ts";
const LEADER = "lib/kube/election/leader.ts";
const LEASE = "lib/kube/election/lease.ts";
const FENCE = "lib/core/fence.ts";
const QUEUE = "lib/engine/work_queue.ts";

export const LEADERSHIP_BREAKS: readonly Break[] = [
  {
    id: "write-without-lease",
    invariant: "a process that does not hold the Lease writes nothing",
    edits: edit(
      FENCE,
      "const { signal } = this.#leadership; if (this.#leadership.isHeld()) return;",
      "const { signal } = this.#leadership; if (!signal.aborted) return;",
    ),
    tests: ["test/core/fence_test.ts", "test/kube/api/http_client_fence_test.ts"],
    simulated: "nodes",
  },
  {
    id: "write-after-pause",
    invariant: "after each pause of a request the process checks again whether it holds the Lease",
    edits: edit(
      "lib/kube/api/http_client.ts",
      "{ ...call, beforeSend: () => fence.check() }",
      "call",
    ),
    tests: ["test/kube/api/http_client_fence_test.ts"],
  },
  {
    id: "grace-after-loss",
    invariant: "all work ends at once when the Lease is lost",
    edits: edit(
      "lib/engine/workers.ts",
      "if (stop.reason instanceof LeadershipLostError) return end();",
      "",
    ),
    tests: ["test/engine/workers_test.ts"],
  },
  {
    id: "steal-lease",
    invariant: "a Lease that is held is not taken before it runs out",
    edits: edit(
      LOCK,
      "if (this.freeInMs > 0) return TAKEN;",
      "if (this.freeInMs === Infinity) return TAKEN;",
    ),
    tests: ["test/kube/election/leader_test.ts"],
    simulated: "nodes",
  },
  {
    id: "compare-clocks",
    invariant: "times in a Lease are never compared with our own clock",
    edits: edit(
      LOCK,
      "else this.#heldUntilMs = clock.monotonic() + readDurationMs(lease, durationMs);",
      "else this.#heldUntilMs = clock.monotonic() + readDurationMs(lease, durationMs) - " +
        '(clock.now() - Date.parse(lease.spec?.renewTime ?? ""));',
      "{ monotonicMs: clock.monotonic(), wallMs: clock.now() }",
    ),
    tests: ["test/kube/election/leader_test.ts", "test/kube/election/leader_property_test.ts"],
    simulated: "nodes",
  },
  {
    id: "take-deleted-lease",
    invariant: "a Lease that was deleted by hand is taken when it would have run out",
    edits: edit(
      LOCK,
      "this.#heldUntilMs = Math.min(this.#heldUntilMs, clock.monotonic() + durationMs);",
      "this.#heldUntilMs = clock.monotonic() - durationMs;",
    ),
    tests: ["test/kube/election/leader_test.ts"],
    simulated: "nodes",
  },
  {
    id: "renew-over-other",
    invariant: "a holder that finds another in its Lease stops",
    edits: edit(LOCK, "if (findHolder(lease) !== identity) return TAKEN; this.", "this."),
    tests: ["test/kube/election/leader_test.ts"],
    simulated: "nodes",
  },
  {
    id: "age-by-wall-clock",
    invariant: "setting the clock back does not make a renewal younger",
    edits: edit(
      LOCK,
      "Math.max(monotonicMs - this.#renewed.monotonicMs, wallMs - this.#renewed.wallMs);",
      "wallMs - this.#renewed.wallMs;",
    ),
    tests: ["test/kube/election/leader_test.ts"],
  },
  {
    id: "age-by-monotonic-clock",
    invariant: "the time of a suspended machine does not make a renewal younger",
    edits: edit(
      LOCK,
      "Math.max(monotonicMs - this.#renewed.monotonicMs, wallMs - this.#renewed.wallMs);",
      "monotonicMs - this.#renewed.monotonicMs;",
    ),
    tests: ["test/kube/election/leader_test.ts"],
  },
  {
    id: "age-from-answer",
    invariant: "a renewal counts from when it was sent, not from when it was answered",
    edits: edit(
      LOCK,
      "const sent = this.#now(); this.#isUncertain = true; try { this.#observe(await send()); " +
        "this.#renewed = sent;",
      "const sent = this.#now(); this.#isUncertain = true; try { this.#observe(await send()); " +
        "this.#renewed = { ...sent, ...this.#now() };",
    ),
    tests: ["test/kube/election/leader_test.ts"],
  },
  {
    id: "lead-too-long",
    invariant: "a leader stops before another process may take the Lease",
    edits: edit(LEADER, "this.#heldMs = Math.min(", "this.#heldMs = 2 * Math.min("),
    tests: ["test/kube/election/leader_test.ts", "test/kube/election/leader_property_test.ts"],
    simulated: "nodes",
  },
  {
    id: "release-before-end",
    invariant: "a leader releases the Lease only after all its work has ended",
    edits: edit(
      LEADER,
      "await lead(AbortSignal.any([signal, this.signal]));",
      "await Promise.race([ lead(AbortSignal.any([signal, this.signal])), " +
        'new Promise<void>((_end) => signal.addEventListener("abort", () => _end())), ]);',
    ),
    tests: ["test/kube/election/leader_test.ts"],
  },
  {
    id: "two-workers-one-key",
    invariant: "two workers never work on the same Node",
    edits: [
      ...edit(QUEUE, "if (!this.#processing.has(key)) this.#push(key);", "this.#push(key);"),
      ...edit(QUEUE, "assert(!this.#processing.has(key),", "assert(key !== undefined,"),
      ...edit(
        QUEUE,
        'assert(startedMs !== undefined, `Cannot end work on "${key}": no worker holds it`);',
        "if (!startedMs) return;",
      ),
    ],
    tests: ["test/engine/work_queue_test.ts"],
    simulated: "nodes",
  },
  {
    id: "never-take-turns",
    invariant: "thousands of Nodes without changes do not delay the renewal of the Lease",
    edits: edit(
      "lib/engine/object_loop.ts",
      "if (this.#reconciles % TURN_LENGTH === 0) await setImmediate();",
      "if (this.#reconciles % TURN_LENGTH === -1) await setImmediate();",
    ),
    tests: ["test/engine/object_loop_test.ts"],
  },
  {
    id: "lose-key-while-working",
    invariant: "a Node that changes while it is worked on is worked on again",
    edits: edit(QUEUE, "if (this.#dirty.has(key)) this.#push(key);", "this.#dirty.delete(key);"),
    tests: ["test/engine/work_queue_test.ts"],
  },
  {
    id: "later-delay-wins",
    invariant: "if a Node has two delays, the earlier one counts",
    edits: edit(
      QUEUE,
      "if (pendingMs !== undefined && pendingMs <= dueMs) return;",
      "if (pendingMs !== undefined && pendingMs > dueMs) return;",
    ),
    tests: ["test/engine/work_queue_test.ts"],
  },
  {
    id: "never-forget-failures",
    invariant: "a success ends the back-off",
    edits: edit(
      QUEUE,
      "forget(key: string): void { this.#failures.delete(key);",
      "forget(key: string): void { this.#failures.get(key);",
    ),
    tests: ["test/engine/work_queue_test.ts"],
  },
  {
    id: "back-off-without-cap",
    invariant: "a back-off never gets longer than its cap",
    edits: edit(
      "lib/core/backoff.ts",
      "Math.min(capMs, baseMs * 2 ** Math.min(failures - 1, 52));",
      "Math.max(capMs / capMs, baseMs * 2 ** Math.min(failures - 1, 52));",
    ),
    tests: ["test/core/backoff_test.ts"],
  },
  {
    id: "back-off-without-jitter",
    invariant: "two Nodes that fail at the same time do not retry at the same time",
    edits: edit("lib/core/backoff.ts", "(1 + jitter * random());", "(1 + jitter * 0 * random());"),
    tests: ["test/core/backoff_test.ts"],
  },
  {
    id: "reconcile-without-end",
    invariant: "work on a Node has a deadline",
    edits: edit(
      "lib/engine/workers.ts",
      "clock.sleep(reconcileTimeoutMs, ended.signal).then(expire, () => undefined); " +
        "const disobeyed",
      "void expire; const disobeyed",
    ),
    tests: ["test/engine/workers_test.ts"],
  },
  {
    id: "one-fence-for-all-leases",
    invariant:
      "a controller with a Lease of its own writes only while this process holds that Lease",
    edits: edit("lib/app/parts.ts", "isMain ? fence : new Fence()", "fence"),
    tests: ["test/app/several_leases_test.ts"],
  },
  {
    id: "lead-by-late-answer",
    invariant: "after a pause of the process, an old renewal does not make it the leader",
    edits: edit(
      LEADER,
      'if (attempt?.kind === "held" && this.#remainingMs() > 0) {',
      'if (attempt?.kind === "held") {',
    ),
    tests: ["test/kube/election/leader_test.ts"],
  },
  {
    id: "round-lease-down",
    invariant: "other processes never wait less than the holder of a Lease assumes",
    edits: edit(LEASE, "leaseDurationSeconds: Math.ceil(", "leaseDurationSeconds: Math.floor("),
    tests: ["test/kube/election/lease_test.ts"],
  },
  {
    id: "emptied-is-released",
    invariant: "a Lease that was emptied by hand is not free at once: its holder does not know",
    edits: edit(
      LEASE,
      'findHolder(lease) === "" && toSpec(lease).leaseDurationSeconds === RELEASED_SECONDS',
      'findHolder(lease) === ""',
    ),
    tests: ["test/kube/election/lease_test.ts"],
    simulated: "nodes",
  },
  {
    id: "odd-holder-is-none",
    invariant: "a Lease whose holder is not a valid name belongs to another process",
    edits: edit(
      LEASE,
      'typeof holder === "string" ? holder : JSON.stringify(holder)',
      'typeof holder === "string" ? holder : ""',
    ),
    tests: ["test/kube/election/lease_test.ts"],
  },
  {
    id: "odd-duration-is-over",
    invariant: "a Lease with an invalid duration is not free",
    edits: edit(LEASE, "seconds > 0 && seconds <= INT32_MAX;", "seconds <= INT32_MAX;"),
    tests: ["test/kube/election/lease_test.ts"],
  },
  {
    id: "forget-uncertain-write",
    invariant: "if a request for the Lease had no answer, the process releases the Lease, too",
    edits: edit(LOCK, "return this.#isUncertain || (", "return ("),
    tests: ["test/kube/election/leader_test.ts"],
  },
  {
    id: "ask-for-lease-once",
    invariant: "before each attempt of a request the process checks whether it holds the Lease",
    edits: edit(
      "lib/kube/api/request.ts",
      "request.beforeSend?.();",
      "if (tries === 1) request.beforeSend?.();",
      "for (let tries = 1; ; tries += 1) {",
    ),
    tests: ["test/kube/api/request_test.ts", "test/kube/api/http_client_fence_test.ts"],
  },
  {
    id: "stop-any-workload",
    invariant: "the chart's hook stops nothing that Helm did not install as its release",
    edits: edit(
      "lib/cli/stop_workload.ts",
      "if (uid === undefined || annotations?.[RELEASE] !== target.release) return",
      "if (uid === undefined || annotations === null) return",
    ),
    tests: ["test/cli/stop_workload_test.ts"],
  },
  {
    id: "stop-and-go",
    invariant: "the hook waits for the pods, because they need their rights to release the Lease",
    edits: edit(
      "lib/cli/stop_workload.ts",
      'const options = { uid, propagationPolicy: "Foreground" } as const;',
      "const options = { uid } as const;",
    ),
    tests: ["test/cli/stop_workload_test.ts"],
  },
];
