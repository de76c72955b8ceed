import { expect, test } from "bun:test";
import { describeConsumer, describeRefusal } from "../../../lib/controllers/kinds/problems.ts";
import { KubeError } from "../../../lib/kube/api/errors.ts";

const SHOWN = 'Invalid value: "hunter2"';

test("describeRefusal() never shows a value of a Secret", () => {
  const fields = [{ field: "data.password", message: SHOWN }];
  const error = new KubeError("invalid", SHOWN, { code: 422, reason: "Invalid", fields });
  expect(describeRefusal(error, "ConfigMap")).toContain("hunter2");
  expect(describeRefusal(error, "Secret")).toBe("data.password");
  const bare = new KubeError("invalid", SHOWN, { code: 422, reason: "Invalid" });
  expect(describeRefusal(bare, "Secret")).toBe("422 Invalid");
});

test.each([
  [{ kind: "Metal3Machine", namespace: "tenants", name: "a" }, "Metal3Machine tenants/a"],
  [{ kind: "Metal3Machine", name: "a" }, "Metal3Machine a"],
  [{ name: "a" }, "a"],
  [{}, ""],
])("describeConsumer(%j) is %p", (consumer, expected) => {
  expect(describeConsumer(consumer)).toBe(expected);
});
