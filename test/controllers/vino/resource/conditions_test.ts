import { expect, test } from "bun:test";
import {
  type Finding,
  listIncompleteFindings,
  listInvalidFindings,
  listSpecFindings,
} from "../../../../lib/controllers/vino/resource/conditions.ts";

function toLines(findings: readonly Finding[]): string[] {
  return findings.map(
    ({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`,
  );
}

const PROBLEMS = [{ path: "spec.nodes[0].name", message: "must be set" }];

test("listInvalidFindings() names the fields", () => {
  expect(toLines(listInvalidFindings(PROBLEMS))).toEqual([
    "Ready=False InvalidSpec: spec.nodes[0].name: must be set",
    "MachinesReady=False InvalidSpec: spec.nodes[0].name: must be set",
  ]);
});

test("listIncompleteFindings() names what is missing", () => {
  expect(toLines(listIncompleteFindings(PROBLEMS))).toEqual([
    "Ready=False MachineFormMissing: spec.nodes[0].name: must be set",
    "MachinesReady=False MachineFormMissing: spec.nodes[0].name: must be set",
  ]);
});

test("listSpecFindings() says that nothing is wrong with a new manifest", () => {
  const spec = { bmcCredentials: { secretRef: { name: "bmc" } } };
  expect(toLines(listSpecFindings(spec))).toEqual([
    "UnsupportedFields=False AllFieldsUsed: The spec has no field without a meaning",
    "CredentialsInClearText=False NoPasswordInSpec: The spec has no password",
  ]);
});

test("listSpecFindings() names fields without a meaning, and warns of a password without showing it", () => {
  const [unsupported = "", clearText = ""] = toLines(
    listSpecFindings({
      pxeBootImageHost: "192.0.2.1",
      bmcCredentials: { username: "admin", password: "secret-word" },
    }),
  );
  expect(unsupported).toBe(
    "UnsupportedFields=True FieldsWithoutMeaning: These fields have no effect, remove them: spec.pxeBootImageHost",
  );
  expect(clearText).toStartWith(
    "CredentialsInClearText=True PasswordInSpec: Everyone who may read",
  );
  expect(clearText).not.toContain("secret-word");
});

test("listSpecFindings() names fifty fields, and counts the others", () => {
  const nodes = Array.from({ length: 53 }, (_, at) => ({ name: `n${at}`, enableVNC: true }));
  const [unsupported = ""] = toLines(listSpecFindings({ nodes }));
  expect(unsupported).toEndWith("spec.nodes[49].enableVNC, and 3 more");
});
