/**
 * The conditions of a Vino that follow from its spec alone.
 * @module
 */
import { type Finding as AnyFinding, findUnsupported, toFinding } from "../../kinds/conditions.ts";
import { describeProblems, type SpecProblem } from "../../kinds/problems.ts";
import { listUnsupportedFields } from "./unsupported_fields.ts";
import type { VinoSpec } from "./vino.ts";
import { CONDITION_WORDS, type ConditionType } from "./words.ts";

/** A condition without its time. */
export type Finding = AnyFinding<ConditionType>;

const { Ready, MachinesReady, UnsupportedFields, CredentialsInClearText } = CONDITION_WORDS;

/** The conditions that change if the spec cannot be used; the others stay. */
export function listInvalidFindings(problems: readonly SpecProblem[]): readonly Finding[] {
  const message = describeProblems(problems);
  return [
    toFinding("Ready", Ready.invalid, message),
    toFinding("MachinesReady", MachinesReady.invalid, message),
  ];
}

/** The conditions that change if a role does not say what its machines are like; the others stay. */
export function listIncompleteFindings(missing: readonly SpecProblem[]): readonly Finding[] {
  const message = describeProblems(missing);
  return [
    toFinding("Ready", Ready.formMissing, message),
    toFinding("MachinesReady", MachinesReady.formMissing, message),
  ];
}

/** What is worth knowing about a right spec, even if its machines cannot be made. */
export function listSpecFindings(spec: VinoSpec): readonly Finding[] {
  return [findUnsupported(UnsupportedFields, listUnsupportedFields(spec)), findClearText(spec)];
}

function findClearText({ bmcCredentials }: VinoSpec): Finding {
  if (bmcCredentials?.password === undefined) {
    return toFinding(
      "CredentialsInClearText",
      CredentialsInClearText.none,
      "The spec has no password",
    );
  }
  const message =
    "Everyone who may read this object knows the password: put it into a Secret, and name that in " +
    "spec.bmcCredentials.secretRef";
  return toFinding("CredentialsInClearText", CredentialsInClearText.some, message);
}
