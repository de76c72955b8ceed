/**
 * Checks a line of an authorized_keys file: options, type, key and comment. sshd skips a bad line silently, and an
 * entry of two lines would authorise two keys.
 * @module
 */
import { SshReader } from "./ssh_wire.ts";

/** The line as sshd gets it, or what is wrong with it: never a part of the line. */
type AuthorizedKey = { readonly line: string } | { readonly problem: string };

const LINE_LENGTH_MAX = 16_384;
const CONTROL = /\p{Cc}/u;
const ED25519_BYTES = 32;
/** sshd refuses shorter ones by default (`RequiredRSASize`). */
const RSA_BITS_MIN = 1_024;
/** An uncompressed point: one byte, then two coordinates. */
const POINT_BYTES: Readonly<Record<string, number>> = { nistp256: 65, nistp384: 97, nistp521: 133 };
const UNCOMPRESSED = 4;

/** Reads what follows the type in a key. Returns whether it is right. */
type KeyCheck = (reader: SshReader) => boolean;

const isEd25519: KeyCheck = (reader) => reader.readString()?.length === ED25519_BYTES;
const isPoint =
  (curve: string): KeyCheck =>
  (reader) => {
    const name = reader.readString()?.toString("latin1");
    const point = reader.readString();
    return name === curve && point?.length === POINT_BYTES[curve] && point?.[0] === UNCOMPRESSED;
  };
const isRsa: KeyCheck = (reader) => {
  const exponent = toBits(reader.readString());
  const modulus = toBits(reader.readString());
  return exponent >= 2 && modulus >= RSA_BITS_MIN;
};
/** A key on a token names its application. */
const withApplication =
  (check: KeyCheck): KeyCheck =>
  (reader) =>
    check(reader) && (reader.readString()?.length ?? 0) > 0;

const TYPES: ReadonlyMap<string, KeyCheck> = new Map([
  ["ssh-ed25519", isEd25519],
  ["ecdsa-sha2-nistp256", isPoint("nistp256")],
  ["ecdsa-sha2-nistp384", isPoint("nistp384")],
  ["ecdsa-sha2-nistp521", isPoint("nistp521")],
  ["ssh-rsa", isRsa],
  ["sk-ssh-ed25519@openssh.com", withApplication(isEd25519)],
  ["sk-ecdsa-sha2-nistp256@openssh.com", withApplication(isPoint("nistp256"))],
]);

/** Source: sshd(8), AUTHORIZED_KEYS FILE FORMAT. */
const OPTIONS: ReadonlySet<string> = new Set([
  ..."agent-forwarding cert-authority command environment expiry-time from no-agent-forwarding".split(
    " ",
  ),
  ..."no-port-forwarding no-pty no-touch-required no-user-rc no-x11-forwarding permitlisten".split(
    " ",
  ),
  ..."permitopen port-forwarding principals pty restrict tunnel user-rc verify-required".split(" "),
  "x11-forwarding",
]);
/** One option: a name, or a name and a value in double quotes, in which a backslash escapes a double quote. */
const OPTION = /^([A-Za-z0-9-]+)(?:="(?:[^"\\]|\\.)*")?(,|[ \t]+)/;

/** Checks an entry. Blanks and line ends around it do not count. */
export function parseAuthorizedKey(entry: string): AuthorizedKey {
  const line = entry.trim();
  if (line === "") return { problem: "it is empty" };
  if (line.length > LINE_LENGTH_MAX)
    return { problem: `it is longer than ${LINE_LENGTH_MAX} characters` };
  if (/[\r\n]/.test(line)) return { problem: "it has more than one line" };
  if (CONTROL.test(line.replaceAll("\t", " "))) return { problem: "it has control characters" };
  const rest = findTypeAndRest(line);
  if (rest === undefined)
    return { problem: "it begins with no type of key or option that sshd knows" };
  const [type = "", key = ""] = rest.split(/[ \t]+/);
  const problem = findKeyProblem(type, key);
  return problem === undefined ? { line } : { problem };
}

/** The line from its type on, behind the options; `undefined` if it begins with neither. */
function findTypeAndRest(line: string): string | undefined {
  let rest = line;
  for (let isMore = !TYPES.has(firstWord(line)); isMore;) {
    const [all, name = "", end] = OPTION.exec(rest) ?? [];
    if (all === undefined || !OPTIONS.has(name.toLowerCase())) return undefined;
    rest = rest.slice(all.length);
    isMore = end === ",";
  }
  return rest;
}

function firstWord(text: string): string {
  return text.split(/[ \t]/, 1)[0] ?? "";
}

function findKeyProblem(type: string, key: string): string | undefined {
  const check = TYPES.get(type);
  if (check === undefined) return `its type is none of ${[...TYPES.keys()].join(", ")}`;
  const bytes = Buffer.from(key, "base64");
  // Buffer skips what is not base64.
  if (key === "" || bytes.toString("base64") !== key) return "its key is not base64";
  const reader = new SshReader(bytes);
  if (reader.readString()?.toString("latin1") !== type)
    return "its key has another type than it says";
  return check(reader) && reader.isAtEnd ? undefined : "its key is damaged or too short";
}

/** The bits of a positive number, which may begin with a zero byte. */
function toBits(number: Buffer | undefined): number {
  const start = number?.findIndex((byte) => byte !== 0) ?? -1;
  if (number === undefined || start < 0) return 0;
  return (number.length - start) * 8 - Math.clz32(number[start] ?? 0) + 24;
}
