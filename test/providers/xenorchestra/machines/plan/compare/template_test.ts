import { expect, test } from "bun:test";
import { findOtherTemplate } from "../../../../../../lib/providers/xenorchestra/machines/plan/compare/template.ts";

const TEMPLATE = { id: "template-1", uuid: "uuid-1" };

test.each([
  ["from it, by its ID", "template-1", TEMPLATE, undefined],
  ["from it, by its UUID", "uuid-1", TEMPLATE, undefined],
  ["from another one", "template-2", TEMPLATE, "template-2"],
  ["from one that is not known", undefined, TEMPLATE, undefined],
  ["while the template is not found", "template-2", undefined, undefined],
])("findOtherTemplate() of a VM that was made %s", (_what, from, template, found) => {
  const creation = from === undefined ? {} : { template: from };
  expect(findOtherTemplate({ creation }, template)).toBe(found);
});
