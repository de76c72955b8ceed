import { expect, test } from "bun:test";
import {
  explainRefusal,
  IpPoolError,
} from "../../../../../lib/controllers/vino/addresses/pools/pool_error.ts";
import { KubeError } from "../../../../../lib/kube/api/errors.ts";

const HEAD = "the API server refuses the IPPools in namespace ipam: ";
const ADVICE = ". Run landfall check, which names what is missing";

test.each<[string, KubeError, string]>([
  [
    "a namespace that does not exist",
    new KubeError("notFound", 'Cannot create "x": 404 NotFound: namespaces "ipam" not found'),
    "namespace ipam does not exist, and --ip-pool-namespace says that all IPPools are there. " +
      "Correct the flag, or create the namespace",
  ],
  ["a kind that does not exist", new KubeError("notFound", "404"), `${HEAD}404${ADVICE}`],
  ["a missing right", new KubeError("forbidden", "403"), `${HEAD}403${ADVICE}`],
  ["a webhook", new KubeError("invalid", "422"), `${HEAD}422`],
])("explainRefusal() says what to do about %s", (_what, error, message) => {
  const explained = explainRefusal(error, "ipam");
  expect(explained).toBeInstanceOf(IpPoolError);
  expect(explained).toMatchObject({ message, cause: error });
});

test("explainRefusal() leaves alone what may pass by itself", () => {
  for (const kind of ["conflict", "throttled", "unavailable", "unauthorized"] as const) {
    const error = new KubeError(kind, "later");
    expect(explainRefusal(error, "ipam")).toBe(error);
  }
  const bug = new TypeError("a bug");
  expect(explainRefusal(bug, "ipam")).toBe(bug);
});
