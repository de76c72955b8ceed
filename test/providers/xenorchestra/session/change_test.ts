import { describe, expect, test } from "bun:test";
import type { CloudRequest } from "../../../../lib/cloud_http/client.ts";
import { Fence, LeadershipLostError } from "../../../../lib/core/fence.ts";
import { sendChange } from "../../../../lib/providers/xenorchestra/session/change.ts";

const signal = new AbortController().signal;
const REQUEST = { operation: "patch_vm", method: "PATCH", path: "/vms/1", timeoutMs: 1 } as const;

function createRoute(over: object = {}) {
  const sent: CloudRequest[] = [];
  const request = async (one: CloudRequest) => {
    sent.push(one);
    return { status: 204, contentType: "" };
  };
  const leadership = { signal: new AbortController().signal, isHeld: () => true };
  const fence = new Fence(leadership);
  const route = { base: "http://xo/rest/v0", client: { request }, fence, headers: { cookie: "c" } };
  return { sent, route: { ...route, ...over } };
}

describe("sendChange()", () => {
  test("sends JSON, bytes, or nothing", async () => {
    const { sent, route } = createRoute();
    const bytes = new Uint8Array([1]);
    await sendChange(REQUEST, route, signal);
    await sendChange({ ...REQUEST, body: { json: { a: 1 } } }, route, signal);
    await sendChange({ ...REQUEST, body: { bytes } }, route, signal);
    expect(sent.map(({ body, headers }) => [body, headers["content-type"]])).toEqual([
      [undefined, undefined],
      ['{"a":1}', "application/json"],
      [bytes, "application/octet-stream"],
    ]);
    expect(sent[0]).toMatchObject({
      url: "http://xo/rest/v0/vms/1",
      method: "PATCH",
      headers: { cookie: "c" },
    });
  });

  test("sends nothing without the lead", async () => {
    const { sent, route } = createRoute({ fence: new Fence() });
    await expect(sendChange(REQUEST, route, signal)).rejects.toBeInstanceOf(LeadershipLostError);
    expect(sent).toEqual([]);
  });

  test("says that the lead was lost, and not that a connection broke", async () => {
    const lost = new AbortController();
    let isHeld = true;
    const fence = new Fence({ signal: lost.signal, isHeld: () => isHeld });
    const request = async (_sent: CloudRequest, both: AbortSignal): Promise<never> => {
      isHeld = false;
      lost.abort(new LeadershipLostError("gone"));
      expect(both.aborted).toBe(true);
      throw new Error("closed");
    };
    const { route } = createRoute({ fence, client: { request } });
    await expect(sendChange(REQUEST, route, signal)).rejects.toBeInstanceOf(LeadershipLostError);
  });
});
