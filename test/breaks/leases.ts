/**
 * Breaks of the Lease and the fence: a process that does not lead writes nothing.
 * @module
 */
import type { Break } from "./break.ts";

export const LEASE_BREAKS: readonly Break[] = [
  {
    id: "write-without-lease",
    rule: "a process that does not hold the Lease writes nothing",
    file: "lib/core/fence.ts",
    from: "const { signal } = this.#leadership; if (this.#leadership.isHeld()) return;",
    to: "const { signal } = this.#leadership; if (!signal.aborted) return;",
    caughtBy: "test/core/fence_test.ts",
  },
  {
    id: "write-after-pause",
    rule: "after each pause of a request the process checks again whether it holds the Lease",
    file: "lib/kube/api/http_client.ts",
    from: "return sendCall(parts, call, fence.bind(signal), { beforeSend: () => fence.check() });",
    to: "return sendCall(parts, call, fence.bind(signal));",
    caughtBy: "test/kube/api/http_client_fence_test.ts",
  },
  {
    id: "steal-lease",
    rule: "a Lease that is held is not taken before it runs out",
    file: "lib/kube/election/lease.ts",
    from: "if (this.freeInMs > 0) return TAKEN;",
    to: "if (this.freeInMs === Infinity) return TAKEN;",
    caughtBy: "test/kube/election/leader_test.ts",
  },
  {
    id: "compare-clocks",
    rule: "times in a Lease are never compared with our own clock",
    file: "lib/kube/election/lease.ts",
    from: "readDurationMs(lease, durationMs);",
    to: 'readDurationMs(lease, durationMs) - (clock.now() - Date.parse(lease.spec?.renewTime ?? ""));',
    caughtBy: "test/kube/election/leader_test.ts",
  },
  {
    id: "lead-too-long",
    rule: "a leader stops before another process may take the Lease",
    file: "lib/kube/election/leader.ts",
    from: "this.#heldMs = Math.min(",
    to: "this.#heldMs = 2 * Math.min(",
    caughtBy: "test/kube/election/leader_test.ts",
  },
  {
    id: "release-before-end",
    rule: "a leader releases the Lease only after all its work has ended",
    file: "lib/kube/election/leader.ts",
    from: "lead(AbortSignal.any([signal, this.signal]));",
    to: 'Promise.race([lead(this.signal), new Promise((end) => signal.addEventListener("abort", end))]);',
    caughtBy: "test/kube/election/leader_test.ts",
  },
  {
    id: "change-cloud-while-standby",
    rule: "a process that does not lead changes nothing in the cloud",
    file: "lib/providers/cloudstack/session/request.ts",
    from: "fence.check(); try { return { reply: await client.request(sent, fence.bind(signal)),",
    to: "try { return { reply: await client.request(sent, signal),",
    caughtBy: "test/providers/cloudstack/session/keys_test.ts",
  },
  {
    id: "call-after-leading",
    rule: "a call by JSON-RPC is sent only while this process leads",
    file: "lib/providers/xenorchestra/session/rpc.ts",
    from: "fence.check(); return { status: 200, result: await call(socket, 2, { method, params })",
    to: "return { status: 200, result: await call(socket, 2, { method, params })",
    caughtBy: "test/providers/xenorchestra/session/rpc_test.ts",
  },
  {
    id: "one-fence-for-all-leases",
    rule: "a controller with a Lease of its own writes only while this process holds that Lease",
    file: "lib/app/parts.ts",
    from: "const own = isMain ? fence : new Fence();",
    to: "const own = fence;",
    caughtBy: "test/app/several_leases_test.ts",
  },
  {
    id: "switch-as-a-standby",
    rule: "only the leader answers for machines",
    file: "lib/http/redfish/service.ts",
    from: "if (!isOfStandby && !management.isLeading()) {",
    to: "if (!isOfStandby && management === undefined) {",
    caughtBy: "test/http/redfish/service_test.ts",
  },
];
