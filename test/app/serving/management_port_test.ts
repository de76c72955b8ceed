import { expect, test } from "bun:test";
import {
  checkManagementFiles,
  toManagementPort,
} from "../../../lib/app/serving/management_port.ts";
import { tlsPath } from "../../support/net/tls_fixtures.ts";

const flags = { address: "--a", certFile: "--cert", keyFile: "--key" };
const PLACE = { address: "127.0.0.1:0", names: [], flags };

test("toManagementPort() names the port by its flag", () => {
  expect(toManagementPort(PLACE)).toEqual({
    name: "the port of --a",
    certFlag: "--cert",
    keyFlag: "--key",
  });
});

test("checkManagementFiles() reads both files, if there are any", async () => {
  const [certFile, keyFile] = [tlsPath("server.crt"), tlsPath("server.key")];
  await checkManagementFiles(PLACE);
  await checkManagementFiles({ ...PLACE, certFile, keyFile });
  const wrong = checkManagementFiles({ ...PLACE, certFile, keyFile: "/nope" });
  await expect(wrong).rejects.toThrow("--key: /nope: ");
});
