import { expect, test } from "bun:test";
import { parseIdentity } from "../../../../lib/providers/cloudstack/model/identity.ts";

const VM = "0a1b2c3d-0000-4000-8000-00000000000f";

test("parseIdentity() prefers the provider ID", () => {
  const node = { name: "node-1", providerId: `cloudstack:///${VM}`, systemUuid: VM };
  expect(parseIdentity(node)).toEqual({ kind: "providerId", vmId: VM });
});

test("parseIdentity() takes the name in lower case, also beside a provider ID that names no VM", () => {
  expect(parseIdentity({ name: "Node-1" })).toEqual({ kind: "name", name: "node-1" });
  const old = { name: "node-1.example.org", providerId: "external-cloudstack" };
  expect(parseIdentity(old)).toEqual({
    kind: "name",
    name: "node-1.example.org",
    short: "node-1",
    isNameless: true,
  });
});

test("parseIdentity() never looks for a system UUID: it only tells machines of one name apart", () => {
  expect(parseIdentity({ name: "node-1", systemUuid: VM.toUpperCase() })).toEqual({
    kind: "name",
    name: "node-1",
    systemUuid: VM,
  });
});

test("parseIdentity() says why a Node cannot be looked up", () => {
  expect(parseIdentity({ name: "a", providerId: "aws:///x" })).toEqual({
    kind: "other",
    presence: { kind: "foreign", providerId: "aws:///x" },
  });
  expect(parseIdentity({ name: "a", providerId: "external-cloudstack://x" })).toMatchObject({
    presence: { kind: "unknown", reason: "malformedProviderId" },
  });
  expect(parseIdentity({ name: "" })).toMatchObject({
    presence: { kind: "unknown", reason: "noIdentity" },
  });
});
