import { describe, expect, test } from "bun:test";
import { parseAuthorizedKey } from "../../../../../lib/controllers/sipcluster/services/jump_host/authorized_key.ts";
import {
  toSshString,
  toUint32,
} from "../../../../../lib/controllers/sipcluster/services/jump_host/ssh_wire.ts";
import { createSshKeyPair } from "../../../../support/ssh/keys.ts";

function toKey(type: string, ...parts: readonly (string | Uint8Array)[]): string {
  const bytes = Buffer.concat([type, ...parts].map(toSshString));
  return `${type} ${bytes.toString("base64")}`;
}

const KEY_BYTES = new Uint8Array(32).fill(7);
const ED25519 = toKey("ssh-ed25519", KEY_BYTES);
const POINT = Uint8Array.from({ length: 65 }, (_, at) => (at === 0 ? 4 : at));
const modulus = (bits: number): Uint8Array => {
  const bytes = new Uint8Array(bits / 8 + 1).fill(255);
  bytes[0] = 0;
  return bytes;
};
const EXPONENT = Uint8Array.of(1, 0, 1);

describe("parseAuthorizedKey()", () => {
  for (const words of [
    "-t ed25519",
    "-t rsa -b 2048",
    "-t ecdsa -b 256",
    "-t ecdsa -b 384",
    "-t ecdsa -b 521",
  ]) {
    test(`accepts what ssh-keygen ${words} makes, without the line end`, () => {
      const { publicKey } = createSshKeyPair(words.split(" "));
      expect(parseAuthorizedKey(publicKey)).toEqual({ line: publicKey.trim() });
    });
  }

  const accepted: Readonly<Record<string, string>> = {
    "a key without a comment": ED25519,
    "a comment of several words": `${ED25519} me at work`,
    "an RSA key of 1024 bits": toKey("ssh-rsa", EXPONENT, modulus(1_024)),
    "a key on a token": toKey("sk-ssh-ed25519@openssh.com", KEY_BYTES, "ssh:"),
    "an ECDSA key on a token": toKey(
      "sk-ecdsa-sha2-nistp256@openssh.com",
      "nistp256",
      POINT,
      "ssh:",
    ),
    "an option": `restrict ${ED25519}`,
    "options with values": `from="10.0.0.0/8,!10.1.0.0/16",command="echo \\"a b\\", c",no-pty ${ED25519} me`,
    "options in capitals": `No-PTY,Restrict ${ED25519}`,
  };
  for (const [what, line] of Object.entries(accepted)) {
    test(`accepts ${what}`, () => {
      expect(parseAuthorizedKey(line)).toEqual({ line });
    });
  }

  const refused: Readonly<Record<string, readonly [string, RegExp]>> = {
    "an empty entry": ["  \n", /empty/],
    "two keys in one entry": [`${ED25519}\n${ED25519}`, /more than one line/],
    "a carriage return": [`${ED25519} me\r${ED25519}`, /more than one line/],
    "a control character": [`${ED25519} \u0007`, /control/],
    "an entry that is too long": [`${ED25519} ${"x".repeat(20_000)}`, /longer/],
    "a key without a type": [ED25519.split(" ")[1] ?? "", /no type of key or option/],
    "a type that OpenSSH dropped": [
      toKey("ssh-dss", "p", "q", "g", "y"),
      /no type of key or option/,
    ],
    "an unknown option": [`sudo ${ED25519}`, /no type of key or option/],
    "an option without its closing quote": [
      `from="10.0.0.1 ${ED25519}`,
      /no type of key or option/,
    ],
    "options without a key": ["restrict ", /no type of key or option/],
    "a certificate": [`ssh-ed25519-cert-v01@openssh.com AAAA`, /no type of key or option/],
    "what is not base64": ["ssh-ed25519 AAAA*", /base64/],
    "a type without a key": ["ssh-ed25519", /base64/],
    "a key of another type": [ED25519.replace("ssh-ed25519", "ssh-rsa"), /another type/],
    "a key that ends early": [`ssh-ed25519 ${ED25519.slice(12, 60)}`, /damaged/],
    "a key with more behind it": [toKey("ssh-ed25519", KEY_BYTES, "more"), /damaged/],
    "an Ed25519 key of 31 bytes": [toKey("ssh-ed25519", KEY_BYTES.subarray(1)), /damaged/],
    "an RSA key of 1016 bits": [toKey("ssh-rsa", EXPONENT, modulus(1_016)), /too short/],
    "an RSA key of the exponent 1": [toKey("ssh-rsa", Uint8Array.of(1), modulus(2_048)), /damaged/],
    "a point of another curve": [toKey("ecdsa-sha2-nistp256", "nistp384", POINT), /damaged/],
    "a compressed point": [toKey("ecdsa-sha2-nistp256", "nistp256", POINT.with(0, 2)), /damaged/],
    "a token key without an application": [
      toKey("sk-ssh-ed25519@openssh.com", KEY_BYTES),
      /damaged/,
    ],
    "a length that promises too much": [
      `ssh-ed25519 ${Buffer.concat([toSshString("ssh-ed25519"), toUint32(0xffff_ffff)]).toString("base64")}`,
      /damaged/,
    ],
  };
  for (const [what, [line, problem]] of Object.entries(refused)) {
    test(`refuses ${what}, and repeats nothing of it`, () => {
      const key = parseAuthorizedKey(line);
      if (!("problem" in key)) throw new Error("accepted");
      expect(key.problem).toMatch(problem);
      for (const word of line.split(/\s+/).filter((one) => one.length > 15)) {
        expect(key.problem).not.toContain(word);
      }
    });
  }
});
