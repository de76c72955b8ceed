/**
 * The signature, by vectors that other clients and the server's language computed, and by its rules.
 * @module
 */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  deriveKey,
  encodeValue,
  type Params,
  sign,
  toSignedQuery,
} from "../../../../lib/providers/cloudstack/session/signature.ts";

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
      fc.property(fc.string({ unit: "binary", maxLength: 40 }), (text) => {
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
    const params = fc.dictionary(names, fc.string({ unit: "binary" }));
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
