import { expect, test } from "bun:test";
import { toOidcData } from "../../../../../lib/controllers/sipcluster/services/auth/flags.ts";

test("toOidcData() names a file of the CA only if there is one, and prefixes users and groups", () => {
  const plain = toOidcData({ issuerURL: "https://a", clientID: "b" });
  expect(Object.keys(plain)).toEqual(["client-id", "issuer-url", "kube-apiserver-flags"]);
  expect(plain["kube-apiserver-flags"]).toContain("--oidc-groups-prefix=oidc:\n");
  expect(plain["kube-apiserver-flags"]).not.toContain("ca-file");
  const own = toOidcData({ issuerURL: "https://a", clientID: "b", ca: "PEM" });
  expect(own).toMatchObject({ "ca.crt": "PEM" });
  expect(own["kube-apiserver-flags"]).toContain("--oidc-ca-file=/etc/kubernetes/pki/oidc-ca.crt\n");
});
