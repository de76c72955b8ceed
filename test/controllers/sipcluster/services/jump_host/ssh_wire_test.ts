import { expect, test } from "bun:test";
import {
  SshReader,
  toSshString,
  toUint32,
} from "../../../../../lib/controllers/sipcluster/services/jump_host/ssh_wire.ts";

test("SshReader reads what toSshString() and toUint32() write", () => {
  const reader = new SshReader(Buffer.concat([toSshString("ab"), toUint32(7), toSshString("")]));
  expect(reader.readString()?.toString()).toBe("ab");
  expect(reader.readUint32()).toBe(7);
  expect(reader.isAtEnd).toBe(false);
  expect(reader.readString()).toHaveLength(0);
  expect(reader.isAtEnd).toBe(true);
});

test("SshReader reads nothing beyond the end", () => {
  expect(new SshReader(Uint8Array.of(0, 0, 1)).readUint32()).toBeUndefined();
  expect(new SshReader(toUint32(1)).readString()).toBeUndefined();
  expect(new SshReader(Uint8Array.of()).readBytes(1)).toBeUndefined();
});
