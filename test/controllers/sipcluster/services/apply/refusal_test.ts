import { expect, test } from "bun:test";
import { toRefusal } from "../../../../../lib/controllers/sipcluster/services/apply/object_applier.ts";
import {
  OWNED_SERVICES,
  toOwned,
} from "../../../../../lib/controllers/sipcluster/services/owned_kinds.ts";
import { SECRETS } from "../../../../../lib/kube/kinds/secret.ts";
import { KubeError, type KubeErrorKind } from "../../../../../lib/kube/api/errors.ts";

const METADATA = { name: "a", namespace: "t" };
const SERVICE = toOwned(OWNED_SERVICES, METADATA, {
  spec: { ports: [{ port: 22, nodePort: 30001 }, { port: 80 }] },
});
const SECRET = toOwned(SECRETS, METADATA, { data: { key: "c2VjcmV0" } });
const TAKEN = {
  field: "spec.ports[0].nodePort",
  message: "Invalid value: 30001: provided port is already allocated",
};
const noHolder = (): undefined => undefined;

test("toRefusal() names a node port that is taken, its Service, and who has it if that is known", () => {
  const error = new KubeError("invalid", "Cannot patch", { code: 422, fields: [TAKEN] });
  const says =
    "Service a cannot have node port 30001: Invalid value: 30001: provided port is already allocated";
  expect(toRefusal(error, SERVICE, noHolder)).toEqual({
    reason: "NodePortUnavailable",
    message: says,
  });
  const holder = (port: number): string => `b-${port}`;
  expect(toRefusal(error, SERVICE, holder)?.message).toBe(
    `${says}, by Service b-30001. To swap ports, give one of the two another port first`,
  );
});

test("toRefusal() says what is refused of other fields, but never of a Secret", () => {
  const fields = [{ field: "data.key", message: "Invalid value: c2VjcmV0" }];
  const error = new KubeError("invalid", 'Cannot patch "a": data.key: c2VjcmV0', {
    code: 422,
    fields,
  });
  expect(toRefusal(error, SERVICE, noHolder)).toEqual({
    reason: "ObjectRefused",
    message: 'Service a is refused: Cannot patch "a": data.key: c2VjcmV0',
  });
  expect(toRefusal(error, SECRET, noHolder)?.message).toBe("Secret a is refused: data.key");
  const bare = new KubeError("invalid", "c2VjcmV0", { code: 400, reason: "BadRequest" });
  expect(toRefusal(bare, SECRET, noHolder)?.message).toBe("Secret a is refused: 400 BadRequest");
});

test.each<[KubeErrorKind, string | undefined]>([
  ["forbidden", "Forbidden"],
  ["notFound", "ObjectRefused"],
  ["invalid", "ObjectRefused"],
  ["conflict", undefined],
  ["unavailable", undefined],
  ["throttled", undefined],
  ["unauthorized", undefined],
  ["gone", undefined],
])("toRefusal() takes %s as %p", (kind, reason) => {
  expect(toRefusal(new KubeError(kind, "why"), SERVICE, noHolder)?.reason).toBe(reason);
});

test("toRefusal() leaves other errors to others", () => {
  expect(toRefusal(new TypeError("a bug"), SERVICE, noHolder)).toBeUndefined();
});
