/**
 * The server's end of a WebSocket, as far as clients with short text messages need it: no fragments, no compression.
 * @module
 */
import { hash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";

/** Answers the messages of one connection. @returns `undefined` for no answer */
export type Converse = (message: string) => Promise<string | undefined>;

const KEY_SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const TEXT = 1;
const CLOSE = 8;
const PING = 9;
const PONG = 10;
const MESSAGE_BYTES_MAX = 1024 * 1024;

/** A frame from a client. */
interface Frame {
  readonly opcode: number;
  readonly payload: Buffer;
  /** Bytes of it in the buffer. */
  readonly length: number;
}

/** Takes over a connection. */
export function openWebSocket(request: IncomingMessage, socket: Duplex, converse: Converse): void {
  const key = String(request.headers["sec-websocket-key"]);
  const accept = hash("sha1", key + KEY_SUFFIX, "base64");
  const head = [
    "HTTP/1.1 101 Switching Protocols",
    "Upgrade: websocket",
    "Connection: Upgrade",
    `Sec-WebSocket-Accept: ${accept}`,
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  let left = Buffer.alloc(0);
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk: Buffer) => {
    left = Buffer.concat([left, chunk]);
    if (left.length > MESSAGE_BYTES_MAX) return void socket.destroy();
    for (let frame = readFrame(left); frame !== undefined; frame = readFrame(left)) {
      left = left.subarray(frame.length);
      handle(frame, socket, converse);
    }
  });
}

function handle({ opcode, payload }: Frame, socket: Duplex, converse: Converse): void {
  if (opcode === PING) socket.write(toFrame(PONG, payload));
  if (opcode === CLOSE) socket.end(toFrame(CLOSE, payload));
  if (opcode === TEXT) void reply(payload.toString(), socket, converse);
}

async function reply(message: string, socket: Duplex, converse: Converse): Promise<void> {
  try {
    const answer = await converse(message);
    if (answer === undefined || socket.destroyed) return;
    socket.write(toFrame(TEXT, Buffer.from(answer)));
  } catch {
    // A server that cannot answer is gone.
    socket.destroy();
  }
}

/** Reads the first frame. @returns `undefined` if it is not there in full */
function readFrame(buffer: Buffer): Frame | undefined {
  if (buffer.length < 2) return undefined;
  const first = buffer.readUInt8(0);
  const second = buffer.readUInt8(1);
  const short = second & 0x7f;
  const extra = short === 126 ? 2 : short === 127 ? 8 : 0;
  const isMasked = (second & 0x80) !== 0;
  const start = 2 + extra + (isMasked ? 4 : 0);
  if (buffer.length < start) return undefined;
  const size = readSize(buffer, short, extra);
  if (buffer.length < start + size) return undefined;
  const payload = Buffer.from(buffer.subarray(start, start + size));
  if (isMasked) unmask(payload, buffer.subarray(start - 4, start));
  return { opcode: first & 0x0f, payload, length: start + size };
}

function readSize(buffer: Buffer, short: number, extra: number): number {
  if (extra === 2) return buffer.readUInt16BE(2);
  return extra === 8 ? Number(buffer.readBigUInt64BE(2)) : short;
}

function unmask(payload: Buffer, mask: Buffer): void {
  for (const [index, byte] of payload.entries()) {
    payload.writeUInt8(byte ^ mask.readUInt8(index % mask.length), index);
  }
}

/** Writes a whole frame, as a server does: without a mask. */
function toFrame(opcode: number, payload: Buffer): Buffer {
  const size = payload.length;
  const head = Buffer.alloc(size < 126 ? 2 : size < 65_536 ? 4 : 10);
  head.writeUInt8(0x80 | opcode, 0);
  if (size < 126) head.writeUInt8(size, 1);
  else if (size < 65_536) {
    head.writeUInt8(126, 1);
    head.writeUInt16BE(size, 2);
  } else {
    head.writeUInt8(127, 1);
    head.writeBigUInt64BE(BigInt(size), 2);
  }
  return Buffer.concat([head, payload]);
}
