/**
 * A service manager's side of sd_notify(3): a datagram socket that keeps what it is told.
 *
 * Bun and Node have no such sockets, so libc is asked; tests run with the JIT compiler that this needs.
 * @module
 */
import { dlopen, FFIType, ptr } from "bun:ffi";
import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** One datagram: its assignments. */
type NotifyMessage = Readonly<Record<string, string>>;

/** A socket that is listened at. */
interface NotifySocket extends Disposable {
  /** For `NOTIFY_SOCKET`: a path, or a name that begins with `@`. */
  readonly address: string;
  /** Everything told so far, without the barriers that only wait for it to be read. */
  readonly messages: readonly NotifyMessage[];
  /** Resolves with the first message, old or new, that fits. @throws Error with all of them after `ms` */
  waitFor(fits: (message: NotifyMessage) => boolean, ms?: number): Promise<NotifyMessage>;
}

const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const MSG_DONTWAIT = 0x40;
const MESSAGE_BYTES_MAX = 8_192;
const POLL_MS = 5;

/** Listens at a path or, where the system has them, at a name that no file stands for. */
export function openNotifySocket(kind: "path" | "abstract"): NotifySocket {
  const { i32, i64, u32, u64 } = FFIType;
  const { symbols } = dlopen("libc.so.6", {
    socket: { args: [i32, i32, i32], returns: i32 },
    bind: { args: [i32, FFIType.ptr, u32], returns: i32 },
    recv: { args: [i32, FFIType.ptr, u64, i32], returns: i64 },
    close: { args: [i32], returns: i32 },
  });
  const name = `landfall-notify-${randomUUID()}`;
  const path = join(tmpdir(), name);
  const address = kind === "path" ? path : `@${name}`;
  const socket = symbols.socket(AF_UNIX, SOCK_DGRAM, 0);
  const where = Buffer.from(kind === "path" ? `${path}\0` : `\0${name}`);
  const bytes = Buffer.concat([Buffer.from(new Uint16Array([AF_UNIX]).buffer), where]);
  if (symbols.bind(socket, ptr(bytes), bytes.length) !== 0) {
    throw new Error(`Cannot listen at ${address}`);
  }
  const messages: NotifyMessage[] = [];
  const buffer = Buffer.alloc(MESSAGE_BYTES_MAX);
  const read = (): void => {
    for (;;) {
      const length = Number(symbols.recv(socket, ptr(buffer), buffer.length, MSG_DONTWAIT));
      if (length < 0) return;
      const message = parse(buffer.toString("utf8", 0, length));
      if (message["BARRIER"] === undefined) messages.push(message);
    }
  };
  const timer = setInterval(read, POLL_MS);
  return {
    address,
    messages,
    waitFor: async (fits, ms = 10_000) => {
      const deadline = performance.now() + ms;
      for (;;) {
        const found = messages.find(fits);
        if (found) return found;
        if (performance.now() > deadline) {
          throw new Error(`Not told in ${ms} ms, but: ${JSON.stringify(messages)}`);
        }
        await Bun.sleep(POLL_MS);
      }
    },
    [Symbol.dispose]: () => {
      clearInterval(timer);
      symbols.close(socket);
      if (kind === "path") rmSync(path, { force: true });
    },
  };
}

function parse(text: string): NotifyMessage {
  const lines = text.split("\n").filter((line) => line !== "");
  return Object.fromEntries(
    lines.map((line) => {
      const [name = "", ...value] = line.split("=");
      return [name, value.join("=")];
    }),
  );
}
