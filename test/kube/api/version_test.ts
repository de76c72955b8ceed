import { expect, test } from "bun:test";
import { findVersionText, isAtLeast, parseServerVersion } from "../../../lib/kube/api/version.ts";

test.each<[unknown, boolean | undefined]>([
  [{ gitVersion: "v1.35.0" }, true],
  [{ gitVersion: "v1.27.0" }, true],
  [{ gitVersion: "v1.27.15+k3s1" }, true],
  [{ gitVersion: "v1.28.9-eks-036c24b" }, true],
  [{ gitVersion: "v2.0.0" }, true],
  [{ gitVersion: "v1.26.16" }, false],
  [{ gitVersion: "v1.3.0" }, false],
  [{ gitVersion: "v1.19.16" }, false],
  [{ gitVersion: "v0.99.0" }, false],
  [{ gitVersion: "1.30.0" }, undefined],
  [{ gitVersion: "v1" }, undefined],
  [{ gitVersion: 126 }, undefined],
  [{ major: "1", minor: "30" }, undefined],
  ["v1.30.0", undefined],
  [null, undefined],
])("%j is Kubernetes 1.27 or newer: %p", (body, expected) => {
  const version = parseServerVersion(findVersionText(body));
  expect(version && isAtLeast(version, "1.27")).toBe(expected);
});
