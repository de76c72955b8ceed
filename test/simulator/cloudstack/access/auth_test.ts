import { describe, expect, test } from "bun:test";
import { toThrottled } from "../../../../lib/simulator/cloudstack/access/auth.ts";
import { send } from "../../../support/cloud/cloudstack_asks.ts";
import { useCloudStack } from "../../../support/cloud/cloudstack_rig.ts";

const UNVERIFIED = "unable to verify user credentials and/or request signature";

describe("Auth", () => {
  const rig = useCloudStack();

  async function refusal(
    ...args: Parameters<typeof rig.ask>
  ): Promise<[number, string, unknown] | undefined> {
    const { status, key, body } = await rig.ask(...args);
    return status === 200 ? undefined : [status, key, body["errortext"]];
  }

  test("refuses a wrong signature, an unknown key and a disabled user alike", async () => {
    const expected = [401, "listzonesresponse", UNVERIFIED] as const;
    expect(await refusal("listZones", {}, { unsigned: { name: "x" } })).toEqual([...expected]);
    expect(await refusal("listZones", { apikey: "other" })).toEqual([...expected]);
    rig.simulator.user.isEnabled = false;
    expect(await refusal("listZones")).toEqual([...expected]);
  });

  test("refuses a request without a signature, a command, or a known command", async () => {
    expect((await fetch(`${rig.simulator.url}?command=listZones&response=json`)).status).toBe(401);
    expect(await refusal("")).toEqual([401, "errorresponse", UNVERIFIED]);
    expect(await refusal("listzones")).toEqual([401, "errorresponse", UNVERIFIED]);
  });

  test("takes new keys at once, and the old ones no more", async () => {
    const { user } = rig.simulator;
    user.secretKey = "new";
    expect(await refusal("listZones")).toBeUndefined();
    const old = { apikey: user.apiKey };
    user.apiKey = "other";
    expect((await refusal("listZones", old, { username: "ops" }))?.[0]).toBe(401);
  });

  test.each([
    [1_000, 0, 200],
    [0, 0, 200],
    [-1_000, 0, 401],
    // The client's clock is right, the server's is ahead.
    [600_000, 599_000, 200],
    [600_000, 601_000, 401],
  ])(
    "a signature that ends in %p ms, by a clock %p ms ahead: %p",
    async (endsMs, skewMs, status) => {
      rig.simulator.settings.clockSkewMs = skewMs;
      const answer = await rig.ask("listZones", {}, { expiresMs: rig.clock.now() + endsMs });
      expect(answer.status).toBe(status);
      const date = Date.parse(answer.headers.get("date") ?? "");
      expect(date).toBe(rig.clock.now() + skewMs);
    },
  );

  test.each([
    ["2030-01-02T03:04:05Z", 200],
    ["2030-01-02T03:04:05+0000", 200],
    ["2026-01-01T01:00:00+0200", 401],
    ["2030-01-02", 401],
    ["", 401],
  ])("expires=%s: %p", async (expires, status) => {
    expect((await rig.ask("listZones", { signatureversion: "3", expires })).status).toBe(status);
  });

  test("enforces POST and timestamps by the setting", async () => {
    rig.simulator.settings.enforcesPostAndTimestamps = true;
    const id = rig.idOf("worker-1");
    const soon = { expiresMs: rig.clock.now() + 600_000 };
    const late = { expiresMs: rig.clock.now() + 901_000 };
    expect(await refusal("listZones", {}, soon)).toBeUndefined();
    expect((await refusal("listZones", {}, late))?.[0]).toBe(401);
    expect((await refusal("listZones"))?.[0]).toBe(401);
    expect((await refusal("stopVirtualMachine", { id }, soon))?.[0]).toBe(405);
    const post = { ...soon, method: "POST" } as const;
    expect(await refusal("stopVirtualMachine", { id }, post)).toBeUndefined();
  });

  test.each([
    [
      432,
      "errorresponse",
      "The API [listZones] does not exist or is not available for the account",
    ],
    [401, "listzonesresponse", "The given command 'listZones' either does not exist"],
  ] as const)("refuses a command that the role lacks by %p", async (code, key, text) => {
    rig.simulator.settings.refusesBy = code;
    rig.simulator.user.role = { name: "r", commands: ["listVirtualMachines"] };
    expect(await refusal("listZones")).toEqual([code, key, expect.stringContaining(text)]);
    expect(await refusal("listVirtualMachines")).toBeUndefined();
    // The server asks about the role before it looks at the signature.
    expect(await refusal("listZones", {}, { unsigned: { name: "x" } })).toEqual([
      code,
      key,
      expect.stringContaining(text),
    ]);
  });

  test("throttles an account, says for how long, and leaves root administrators alone", async () => {
    rig.simulator.settings.throttling = { max: 2, intervalMs: 1_000 };
    const ask = (username: string): Promise<number> =>
      rig.ask("listZones", {}, { username }).then(({ status }) => status);
    expect([await ask("kubeadmin"), await ask("kubeadmin"), await ask("kubeadmin")]).toEqual([
      200, 200, 429,
    ]);
    await rig.clock.advance(250);
    expect(await refusal("listZones")).toEqual([
      429,
      "listzonesresponse",
      "The given user has reached his/her account api limit, please retry after [750] ms.",
    ]);
    expect([await ask("ops"), await ask("admin"), await ask("admin"), await ask("admin")]).toEqual([
      200, 200, 200, 200,
    ]);
    await rig.clock.advance(750);
    expect(await ask("kubeadmin")).toBe(200);
  });

  test("refuses control characters", async () => {
    expect((await refusal("listZones", { name: "a\u0007" }))?.[0]).toBe(431);
    expect(await refusal("listZones", { name: "a\nb" })).toBeUndefined();
  });

  test("answers in XML without response=json", async () => {
    const response = await send(rig.simulator, "listZones", { response: "xml" });
    expect(response.headers.get("content-type")).toStartWith("text/xml");
  });
});

test("toThrottled() names the time", () => {
  expect(toThrottled(40)).toMatchObject({ code: 429, message: expect.stringContaining("[40] ms") });
});
