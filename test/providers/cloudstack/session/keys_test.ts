/**
 * Keys as given and in files that change, and how requests are signed with them.
 * @module
 */
import fc from "fast-check";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigError } from "../../../../lib/core/errors.ts";
import { createLogger } from "../../../../lib/core/log.ts";
import { createFixedKeys, KeyFiles } from "../../../../lib/providers/cloudstack/session/keys.ts";
import { ManualClock } from "../../../support/manual_clock.ts";
import {
  deriveKey,
  type Destination,
  encodeValue,
  type Params,
  sendCommand,
  sign,
  toSignedQuery,
} from "../../../../lib/providers/cloudstack/session/request.ts";
import { CloudClient } from "../../../../lib/cloud_http/client.ts";
import { Fence, LeadershipLostError } from "../../../../lib/core/fence.ts";
import { SERVER_NAMES } from "../../../../lib/providers/cloudstack/session/session.ts";
import { FakeCloudStack, KEYS, toDeps } from "../fake_server.ts";
import { anyCharacter } from "../../../support/net/hostile.ts";

const folder = mkdtempSync(join(tmpdir(), "keys-"));
const paths = { apiKeyFile: join(folder, "api-key"), secretKeyFile: join(folder, "secret-key") };

let clock: ManualClock;
let lines: string[];

function write(apiKey: string, secretKey: string): void {
  writeFileSync(paths.apiKeyFile, apiKey);
  writeFileSync(paths.secretKeyFile, secretKey);
}

function open(onChange: () => void = () => {}): KeyFiles {
  const log = createLogger({
    write: (line) => lines.push(line),
    level: "debug",
    format: "text",
    now: () => clock.now(),
  });
  return new KeyFiles(paths, { clock, log, onChange });
}

/** Reads after the files may be read again. */
async function readLater(keys: KeyFiles): Promise<string> {
  await clock.advance(1_000);
  const { apiKey, secretKey } = await keys.read();
  return `${apiKey}/${secretKey}`;
}

function toProblem(act: () => unknown): ConfigError {
  try {
    act();
  } catch (error) {
    if (error instanceof ConfigError) return error;
  }
  throw new Error("wanted a ConfigError");
}

describe("keys", () => {
  afterAll(() => rmSync(folder, { recursive: true }));
  beforeEach(() => {
    clock = new ManualClock();
    lines = [];
    write("old-key\n", " old-secret\n");
  });

  describe("createFixedKeys()", () => {
    test("has no other pair", async () => {
      const pair = { apiKey: "a", secretKey: "b" };
      const keys = createFixedKeys(pair);
      expect(await keys.read()).toBe(pair);
      expect(await keys.refuse(pair)).toBe(false);
    });
  });

  describe("KeyFiles", () => {
    test("reads both, without the blanks around them", async () => {
      expect(await open().read()).toEqual({ apiKey: "old-key", secretKey: "old-secret" });
    });

    test("uses a new pair when both files have changed, within a second", async () => {
      const keys = open();
      write("new-key", "new-secret");
      expect(await keys.read()).toMatchObject({ apiKey: "old-key" });
      expect(await readLater(keys)).toBe("new-key/new-secret");
      expect(lines.join("\n")).toContain("The keys changed");
      expect(lines.join("\n")).not.toMatch(/(old|new)-(key|secret)/);
    });

    test("keeps the pair while only one file has changed, until the server refuses it", async () => {
      let changes = 0;
      const keys = open(() => (changes += 1));
      write("new-key", "old-secret");
      expect(await readLater(keys)).toBe("old-key/old-secret");
      expect(changes).toBe(0);
      const used = await keys.read();
      expect(await keys.refuse(used)).toBe(true);
      const mixed = await keys.read();
      expect(mixed).toEqual({ apiKey: "new-key", secretKey: "old-secret" });
      expect(await keys.refuse(mixed)).toBe(false);
      write("new-key", "new-secret");
      expect(await keys.refuse(mixed)).toBe(true);
      expect(await keys.read()).toEqual({ apiKey: "new-key", secretKey: "new-secret" });
      expect(changes).toBe(2);
    });

    test("a pair that was refused is read again at once", async () => {
      const keys = open();
      const used = await keys.read();
      expect(await keys.refuse(used)).toBe(false);
      write("new-key", "new-secret");
      expect(await keys.refuse(used)).toBe(true);
      expect(await keys.refuse(used)).toBe(true);
    });

    test("the refusal of an older pair says nothing about the pair in use", async () => {
      const keys = open();
      const used = await keys.read();
      write("new-key", "new-secret");
      await readLater(keys);
      expect(await keys.refuse(used)).toBe(true);
      expect(await keys.read()).toMatchObject({ apiKey: "new-key" });
    });

    test("keeps the last pair while a file is away, and warns after a minute, once", async () => {
      const keys = open();
      unlinkSync(paths.secretKeyFile);
      expect(await readLater(keys)).toBe("old-key/old-secret");
      expect(lines).toEqual([]);
      await clock.advance(60_000);
      await readLater(keys);
      await readLater(keys);
      expect(lines).toHaveLength(1);
      expect(lines[0]).toContain("there is no such file");
      write("new-key", "new-secret");
      expect(await readLater(keys)).toBe("new-key/new-secret");
    });

    test("warns at once of a file that holds no key, without its content", async () => {
      const keys = open();
      write("new key", "new-secret");
      expect(await readLater(keys)).toBe("old-key/old-secret");
      expect(lines).toHaveLength(1);
      expect(lines[0]).toContain("holds a blank");
      expect(lines[0]).not.toContain("new key");
    });

    test("refuses to begin without two keys, with the problems of both", () => {
      writeFileSync(paths.apiKeyFile, " \n");
      unlinkSync(paths.secretKeyFile);
      const problem = toProblem(() => open());
      expect(problem.issues.map(({ path }) => path)).toEqual(["apiKeyFile", "secretKeyFile"]);
      expect(problem.message).toContain(`${paths.apiKeyFile}: is blank`);
      expect(problem.message).toContain("there is no such file");
    });

    test("does not repeat a key that stands where the path should be", () => {
      const key = "plgWJfZK4gyS3mOMTVmjUVgXjlWlnfaUJ9GAbBbf9EdM";
      const wrong = { ...paths, secretKeyFile: key };
      const log = createLogger({
        write: (line) => lines.push(line),
        level: "debug",
        format: "text",
        now: () => clock.now(),
      });
      const problem = toProblem(() => new KeyFiles(wrong, { clock, log }));
      expect(problem.message).not.toContain(key);
    });
  });
});

const ODD_NAME = "node 1*~(x)!'/:@+ü";
const TAIL = { response: "json", signatureversion: "3" };

const VECTORS: readonly { what: string; params: Params; secret: string; signature: string }[] = [
  {
    what: "the example of CloudStack's documents",
    params: {
      apikey:
        "plgWJfZK4gyS3mOMTVmjUVg-X-jlWlnfaUJ9GAbBbf9EdM-kAYMmAiLqzzq1ElZLYq_u38zCm0bewzGUdP66mg",
      command: "listUsers",
      response: "json",
    },
    secret:
      "VDaACYb0LV9eNjTetIOElcVQkvJck_J_QljX_FcHRj87ZKiy0z0ty0ZsYBkoXkY9b7eq1EhwJaw7FF3akA3KBQ",
    signature: "TTpdDq/7j/J58XCRHomKoQXEQds=",
  },
  {
    what: "a value with every kind of character",
    params: {
      apiKey: "KEY",
      command: "listVirtualMachines",
      expires: "2030-01-02T03:04:05Z",
      name: ODD_NAME,
      ...TAIL,
    },
    secret: "SECRET",
    signature: "2yn86L7HDUYHQOx/E2c2yejbiWY=",
  },
  {
    what: "a command that changes something",
    params: {
      algorithm: "roundrobin",
      apiKey: "KEY",
      cidrlist: "10.0.0.0/8,192.168.1.0/24",
      command: "createLoadBalancerRule",
      expires: "2030-01-02T03:04:05Z",
      name: "a0123-tcp-80",
      networkid: "66666666-7777-8888-9999-000000000000",
      openfirewall: "false",
      privateport: "30080",
      protocol: "tcp",
      publicipid: "11111111-2222-3333-4444-555555555555",
      publicport: "80",
      ...TAIL,
    },
    secret: "SECRET",
    signature: "Pds0HHyawUo4vFRYunVt01F072U=",
  },
  {
    what: "names with brackets, and a key in lower case",
    params: {
      apikey: "KEY",
      command: "listVirtualMachines",
      expires: "2030-01-02T03:04:05+0000",
      name: ODD_NAME,
      "tags[0].key": "k",
      "tags[0].value": "V",
      ...TAIL,
    },
    secret: "SECRET",
    signature: "HLccrjuHRdds3Y6pC0xaCpILPKI=",
  },
];

describe("sign()", () => {
  for (const { what, params, secret, signature } of VECTORS) {
    test(`is right for ${what}`, () => expect(sign(params, secret)).toBe(signature));
  }

  test("does not depend on the order of the parameters, nor on the case of values", () => {
    const names = fc.stringMatching(/^[a-z][a-z0-9[\].]{0,11}$/);
    const params = fc.dictionary(names, fc.string({ unit: "grapheme-ascii" }), { minKeys: 1 });
    fc.assert(
      fc.property(params, fc.string({ minLength: 1 }), (given, secret) => {
        const turned = Object.fromEntries(Object.entries(given).toReversed());
        const upper = Object.entries(given).map(([name, value]) => [name, value.toUpperCase()]);
        expect(sign(turned, secret)).toBe(sign(given, secret));
        expect(sign(Object.fromEntries(upper), secret)).toBe(sign(given, secret));
      }),
    );
  });
});

describe("encodeValue()", () => {
  test("encodes as the server does", () => {
    const encoded = "node%201*%7E%28x%29%21%27%2F%3A%40%2B%C3%BC";
    expect(encodeValue(ODD_NAME)).toBe(encoded);
  });

  test("uses only characters that mean themselves, and keeps every text", () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 40 }), (text) => {
        const encoded = encodeValue(text);
        expect(encoded).toMatch(/^(?:[A-Za-z0-9._*-]|%[0-9A-F]{2})*$/);
        expect(decodeURIComponent(encoded)).toBe(text.toWellFormed());
      }),
    );
  });

  test("does not throw for half a character", () => {
    expect(encodeValue("\ud800")).toBe("%EF%BF%BD");
  });
});

describe("toSignedQuery()", () => {
  test("a server that parses it finds the same parameters and the same signature", () => {
    const names = fc.stringMatching(/^[a-z][a-z0-9]{0,11}$/).filter((one) => one !== "signature");
    const params = fc.dictionary(names, fc.string({ unit: anyCharacter }));
    fc.assert(
      fc.property(params, fc.string({ minLength: 1 }), (given, secret) => {
        const found = new URLSearchParams(toSignedQuery(given, secret).query);
        expect(found.get("signature")).toBe(sign(given, secret));
        found.delete("signature");
        const wellFormed = Object.entries(given).map(([name, value]) => [
          name,
          value.toWellFormed(),
        ]);
        expect(Object.fromEntries(found)).toEqual(Object.fromEntries(wellFormed));
      }),
    );
  });

  test("never holds the secret", () => {
    expect(toSignedQuery({ apikey: "KEY" }, "geheim").query).not.toContain("geheim");
  });
});

describe("deriveKey()", () => {
  test("is HMAC-SHA256 of the purpose with the secret", () => {
    // printf %s landfall.dev/load-balancer | openssl dgst -sha256 -hmac secret
    const expected = "d4573d3be7c84a6328bdae9d2c1f910d9ebb6e0ec5d8b1d4463291e74598a0c8";
    const key = deriveKey("secret", "landfall.dev/load-balancer");
    expect(Buffer.from(key).toString("hex")).toBe(expected);
    expect(Buffer.from(deriveKey("secret", "else")).toString("hex")).not.toBe(expected);
  });
});

const signal = new AbortController().signal;
const LIST = { command: "listZones", params: { name: "a b~" }, keys: KEYS, isWrite: false };
const MAKE = { command: "associateIpAddress", params: { zoneid: "z" }, keys: KEYS, isWrite: true };

let fake: FakeCloudStack;

function toDestination(fence: Fence = toDeps().fence): Destination {
  const deps = { ...toDeps(), names: SERVER_NAMES, provider: "external-cloudstack" };
  const client = new CloudClient({ url: fake.url, insecure: false }, deps);
  return { url: fake.url, client, clock: deps.clock, fence };
}

describe("sendCommand()", () => {
  beforeEach(() => {
    fake = new FakeCloudStack();
  });
  afterEach(() => fake.stop());

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
