import { expect, test } from "bun:test";
import {
  toContradiction,
  toNotFound,
  toPresent,
  toUndecodable,
} from "../../../../lib/providers/xenorchestra/model/presence.ts";
import { toInstance, toInventory } from "../../../support/cloud/instances.ts";

test("toPresent() says what it is given", () => {
  const instance = toInstance("a");
  expect(toPresent(instance, "name")).toEqual({ kind: "present", instance, matchedBy: "name" });
});

test("toContradiction() names both VMs, and what to do", () => {
  const presence = toContradiction("a", "b");
  expect(presence).toMatchObject({ kind: "unknown", reason: "ambiguous" });
  expect(presence).toHaveProperty(
    "message",
    expect.stringMatching(/VM a,.*VM b;.*delete the Node/),
  );
});

test("toUndecodable() tells what is wrong", () => {
  const message = "Cannot read VM a in the answer of Xen Orchestra: memory: must be Object";
  expect(toUndecodable("a", "memory: must be Object")).toEqual({
    kind: "unknown",
    reason: "undecodable",
    message,
  });
});

test("toNotFound() names a system UUID once that is the same in either order of its bytes", () => {
  const { message } = { message: "", ...toNotFound(toInventory([]), "a", "a") };
  expect(message).toStartWith("Xen Orchestra has no VM with the system UUID a; check");
  expect(toNotFound(toInventory([]), "a", "b")).toHaveProperty(
    "message",
    expect.stringContaining(
      "system UUID a, nor with b, the same UUID in the byte order that some firmware reports; check",
    ),
  );
});

test("toNotFound() says which rights to give when no pool is shown", () => {
  const inventory = { ...toInventory([]), coverage: new Map() };
  expect(toNotFound(inventory, "a", "b")).toMatchObject({
    reason: "notCovered",
    message: expect.stringContaining("give it a role that may read vm"),
  });
});

test("toNotFound() is sure only when everything is covered", () => {
  const inventory = toInventory([]);
  expect(toNotFound(inventory, "a", "b")).toMatchObject({ reason: "notFound" });
  const coverage = new Map([["p", { complete: false, name: "paris", reason: "it is lost" }]]);
  expect(toNotFound({ ...inventory, coverage }, "a", "b")).toMatchObject({
    reason: "notCovered",
    message: expect.stringContaining("pool paris: it is lost"),
  });
});
