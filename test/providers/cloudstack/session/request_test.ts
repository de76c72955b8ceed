/**
 * What a command looks like on the wire, and who may send one that changes something.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { CloudClient } from "../../../../lib/cloud_http/client.ts";
import { Meter } from "../../../../lib/cloud_http/meter.ts";
import { Fence, LeadershipLostError } from "../../../../lib/core/fence.ts";
import {
  type Destination,
  sendCommand,
} from "../../../../lib/providers/cloudstack/session/request.ts";
import { SERVER_NAMES } from "../../../../lib/providers/cloudstack/session/session.ts";
import { FakeCloudStack, KEYS, toDeps } from "../fake_server.ts";

const signal = new AbortController().signal;
const LIST = { command: "listZones", params: { name: "a b~" }, keys: KEYS, isWrite: false };
const MAKE = { command: "associateIpAddress", params: { zoneid: "z" }, keys: KEYS, isWrite: true };

let fake: FakeCloudStack;
beforeEach(() => {
  fake = new FakeCloudStack();
});
afterEach(() => fake.stop());

function toDestination(fence: Fence = toDeps().fence): Destination {
  const { clock, log, metrics } = toDeps();
  const meter = new Meter(metrics, clock, "external-cloudstack");
  const server = { url: fake.url, insecure: false };
  return {
    url: fake.url,
    client: new CloudClient(server, { names: SERVER_NAMES, meter, clock, log }),
    clock,
    fence,
  };
}

describe("sendCommand()", () => {
  test("reads by GET, signed, for ten minutes", async () => {
    const { reply, secrets } = await sendCommand(toDestination(), LIST, signal);
    expect(reply.status).toBe(200);
    expect(secrets).toContain(KEYS.apiKey);
    const { method, params } = fake.seen[0] ?? {};
    expect(method).toBe("GET");
    expect(params).toEqual({
      apikey: KEYS.apiKey,
      command: "listZones",
      expires: "2026-01-01T00:10:00+0000",
      name: "a b~",
      response: "json",
      signatureversion: "3",
    });
  });

  test("changes by POST, with everything in the form", async () => {
    await sendCommand(toDestination(), MAKE, signal);
    expect(fake.commands).toEqual(["POST associateIpAddress"]);
    expect(fake.seen[0]?.path).toBe("/client/api");
    expect(fake.seen[0]?.params).toMatchObject({ zoneid: "z", signatureversion: "3" });
  });

  test("a process that does not lead changes nothing, and may read", async () => {
    const standby = toDestination(new Fence());
    await expect(sendCommand(standby, MAKE, signal)).rejects.toThrow(LeadershipLostError);
    expect(fake.seen).toEqual([]);
    await sendCommand(standby, LIST, signal);
    expect(fake.commands).toEqual(["GET listZones"]);
  });

  test("a change ends at once when the process no longer leads", async () => {
    const lost = new AbortController();
    const fence = new Fence({ signal: lost.signal, isHeld: () => !lost.signal.aborted });
    fake.answer = () => {
      lost.abort(new LeadershipLostError("another leads"));
      return new Promise<Response>(() => {});
    };
    const sent = sendCommand(toDestination(fence), MAKE, signal);
    await expect(sent).rejects.toThrow(LeadershipLostError);
  });

  test("a caller's parameter never replaces what signs the command", async () => {
    const odd = { ...LIST, params: { apikey: "x", response: "xml", command: "y" } };
    await sendCommand(toDestination(), odd, signal);
    expect(fake.seen[0]?.params).toMatchObject({
      apikey: KEYS.apiKey,
      response: "json",
      command: "listZones",
    });
  });
});
