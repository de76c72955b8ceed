/**
 * docs/contributing/acceptance.md, from the list of cases and the titles of the tests.
 * @module
 */
import { ACCEPTANCE_GROUPS, type AcceptanceGroup } from "./acceptance_cases.ts";
import { GENERATED_NOTE, toCode, toTable } from "./markdown.ts";

/**
 * Renders the page.
 *
 * @param coverage Test files by the ID of a case
 */
export function renderAcceptancePage(coverage: ReadonlyMap<string, readonly string[]>): string {
  const cases = ACCEPTANCE_GROUPS.flatMap((group) => group.cases);
  const inapplicable = cases.flatMap(({ id, asks, doesNotApply, exception }) => [
    ...(doesNotApply === undefined ? [] : [[id, asks, doesNotApply]]),
    ...(exception === undefined ? [] : [[id, exception.asks, exception.reason]]),
  ]);
  return `${GENERATED_NOTE}

# Acceptance cases

What every cloud controller manager should do, and the tests that show that Landfall does it. The title of a test begins
or ends with the IDs of its cases. Tests in test/cluster need a real API server. Cases of controllers that do not exist
yet are not listed.

${ACCEPTANCE_GROUPS.map((group) => renderGroup(group, coverage)).join("\n")}
## Does not apply

${toTable(["case", "asks", "reason"], inapplicable)}`;
}

function renderGroup(
  { title, cases }: AcceptanceGroup,
  coverage: ReadonlyMap<string, readonly string[]>,
): string {
  const rows = cases
    .filter(({ doesNotApply }) => doesNotApply === undefined)
    .map(({ id, asks }) => [id, asks, (coverage.get(id) ?? []).map(toCode).join(", ")]);
  return `## ${title}\n\n${toTable(["case", "asks", "tests"], rows)}`;
}
