/**
 * The pod's service account.
 * @module
 */
import { describe, expect, test } from "bun:test";
import {
  findInClusterServer,
  readServiceAccount,
  SERVICE_ACCOUNT_FOLDER,
} from "../../../lib/kube/credentials/in_cluster.ts";
import { MemoryDisk } from "../../support/memory_disk.ts";
import { readTls } from "../../support/net/tls_fixtures.ts";

describe("findInClusterServer()", () => {
  test.each([
    [
      { KUBERNETES_SERVICE_HOST: "10.0.0.1", KUBERNETES_SERVICE_PORT: "443" },
      "https://10.0.0.1:443",
    ],
    [
      { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "6443" },
      "https://[fd00::1]:6443",
    ],
    [{ KUBERNETES_SERVICE_HOST: "10.0.0.1" }, undefined],
    [{}, undefined],
  ])("makes an address of the environment, case %#", (env, expected) => {
    expect(findInClusterServer(env)).toBe(expected);
  });
});

describe("readServiceAccount()", () => {
  const token = `${SERVICE_ACCOUNT_FOLDER}/token`;
  const ca = `${SERVICE_ACCOUNT_FOLDER}/ca.crt`;

  test.each([
    [{ [token]: "abc" }, `${ca}: cannot read the file: there is no such file`],
    [{ [token]: "abc", [ca]: "" }, `${ca}: contains no certificate in PEM`],
    [{ [token]: " ", [ca]: readTls("ca.crt") }, `${token}: the token is empty`],
  ])("says which file is wrong, case %#", async (files, message) => {
    await expect(readServiceAccount(new MemoryDisk(files).readFile)).rejects.toThrow(message);
  });
});
