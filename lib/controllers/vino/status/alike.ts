/**
 * Says once what is true of several machines. Pure.
 * @module
 */
import { nameSome } from "../../kinds/problems.ts";

/** What is to say about a machine. */
export interface MachineLine {
  /** Of the machine. */
  readonly name: string;
  /** A sentence without a full stop. It may have the name in it. */
  readonly message: string;
}

/** What differs from machine to machine although the trouble is the same: UUIDs, MAC addresses and IP addresses. */
const OWN_WORDS = new RegExp(
  [
    String.raw`\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b`,
    String.raw`\b[\da-f]{2}(?::[\da-f]{2}){5}\b`,
    // Not a subnet, which is that of all machines.
    String.raw`(?<![\w.:])\d+(?:\.\d+){3}(?![\w/:]|\.\d)`,
    String.raw`(?<![\w.:])[\da-f]+(?::[\da-f]*){2,7}(?![\w/:]|\.\d)`,
  ].join("|"),
  "gi",
);

/**
 * Says of machines with the same trouble what that is, once.
 *
 * @returns Texts in the order of the first machines, such as `machines vino-a-0, vino-a-1: no room`. If the messages
 * differ in names, UUIDs or MAC addresses, then the first one: `disk of vino-a-0 is gone, and the same for 11 more
 * machines`. If it has several sentences: `disk of vino-a-0 is gone. Attach it. The same is true of 11 more machines`
 */
export function describeAlike(lines: readonly MachineLine[]): string[] {
  const groups = Map.groupBy(lines, ({ name, message }) =>
    message.replaceAll(name, "").replaceAll(OWN_WORDS, ""),
  );
  return [...groups.values()].flatMap(describeGroup);
}

function describeGroup(lines: readonly MachineLine[]): string[] {
  const names = [...new Set(lines.map(({ name }) => name))];
  const [message = "", ...others] = new Set(lines.map((one) => one.message));
  const isNameless = !names.some((name) => message.includes(name));
  if (isNameless && others.length === 0) {
    return [`${names.length === 1 ? "machine" : "machines"} ${nameSome(names)}: ${message}`];
  }
  const texts = lines.map(toText);
  const more = names.length - 1;
  if (more === 0) return texts;
  const what = more === 1 ? "1 more machine" : `${more} more machines`;
  return texts.slice(0, 1).map((text) => {
    const isLong = text.includes(". ");
    return isLong ? `${text}. The same is true of ${what}` : `${text}, and the same for ${what}`;
  });
}

function toText({ name, message }: MachineLine): string {
  return message.includes(name) ? message : `machine ${name}: ${message}`;
}
