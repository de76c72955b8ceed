/**
 * Where images of CDs come from: URLs below those that an administrator allows, and nothing else, because what Landfall
 * can reach is then readable on a machine.
 * @module
 */
import { describeError } from "../../../core/errors.ts";
import { formatHostPort, toConnectionProblem } from "../../../core/http/connection.ts";
import { sendHttp } from "../../../core/http/request.ts";
import { formatSize } from "../../../core/text/values.ts";

/** An image that cannot be had. */
export class ImageError extends Error {
  override readonly name = "ImageError";
}

/** An image that is being read. */
export interface OpenImage {
  /** In bytes. */
  readonly length: number;
  /** Fails if there are more or fewer bytes. */
  readonly stream: ReadableStream<Uint8Array>;
  /** Why the stream failed. Absent: it did not. */
  findProblem(): ImageError | undefined;
}

/** More than the installation media of any system have. */
const IMAGE_BYTES_MAX = 16 * 1024 ** 3;
const REDIRECTS_MAX = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Reads the URL of an image. @throws {ImageError} if Landfall must not fetch it */
export function parseImageUrl(text: string, sources: readonly string[]): URL {
  const url = URL.parse(text);
  if (url === null || !["http:", "https:"].includes(url.protocol)) {
    throw new ImageError("Image must be a URL with http or https");
  }
  // A server may take these for slashes, and then for the way out of a folder.
  if (/%(?:2f|5c)/i.test(url.pathname))
    throw new ImageError("Image must be a URL without %2F and %5C");
  if (url.username !== "" || url.password !== "") {
    throw new ImageError("Image must be a URL without a user and password");
  }
  if (sources.some((source) => url.href.startsWith(source))) return url;
  throw new ImageError(
    `Landfall may fetch no image from ${url.origin}: an administrator allows it`,
  );
}

/**
 * Opens an image. Messages have no more of its URL than host and port: the rest may be a secret.
 *
 * @param onBytes Called with how many more bytes were read
 * @param signal Also ends the stream
 * @throws {ImageError} if it cannot be had
 */
export async function openImage(
  first: URL,
  sources: readonly string[],
  onBytes: (bytes: number) => void,
  signal: AbortSignal,
): Promise<OpenImage> {
  let url = first;
  for (let hop = 0; hop <= REDIRECTS_MAX; hop += 1) {
    const answer = await send(url, signal);
    const { status, headers, body } = answer;
    const location = headers.get("location");
    if (REDIRECTS.has(status) && location !== null) {
      await body?.cancel();
      url = parseImageUrl(URL.parse(location, url.href)?.href ?? "", sources);
      continue;
    }
    const length = Number(headers.get("content-length") ?? Number.NaN);
    const problem = findProblem(status, length);
    if (problem === undefined && body !== null) return toOpen(body, { url, length, onBytes });
    await body?.cancel();
    throw new ImageError(`Cannot fetch the image from ${formatHostPort(url.href)}: ${problem}`);
  }
  throw new ImageError(`Cannot fetch the image: ${first.origin} redirects too often`);
}

async function send(url: URL, signal: AbortSignal): Promise<Response> {
  const headers = { "accept-encoding": "identity", "user-agent": "landfall" };
  try {
    return await sendHttp(url.href, { method: "GET", headers, tls: {}, signal });
  } catch (error) {
    signal.throwIfAborted();
    const why = describeError(toConnectionProblem(error));
    throw new ImageError(`Cannot fetch the image from ${formatHostPort(url.href)}: ${why}`);
  }
}

function findProblem(status: number, length: number): string | undefined {
  if (status !== 200) return `it answers with status ${status}`;
  if (!Number.isSafeInteger(length) || length === 0) return "it does not say how long the image is";
  if (length <= IMAGE_BYTES_MAX) return undefined;
  return `the image is longer than ${formatSize(IMAGE_BYTES_MAX)}`;
}

/** Counts the bytes, and remembers why there are no more: who sends the stream on sees only that it broke. */
function toOpen(
  body: ReadableStream<Uint8Array>,
  {
    url,
    length,
    onBytes,
  }: { readonly url: URL; readonly length: number; readonly onBytes: (bytes: number) => void },
): OpenImage {
  const reader = body.getReader();
  const from = formatHostPort(url.href);
  let left = length;
  let problem: ImageError | undefined;
  const read = async (): Promise<Uint8Array | undefined> => {
    try {
      const { value } = await reader.read();
      left -= value?.length ?? 0;
      if (left >= 0 && (value !== undefined || left === 0)) return value;
    } catch {
      // Below.
    }
    problem = new ImageError(`The image from ${from} broke off, or is not as long as it says`);
    throw problem;
  };
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const chunk = await read();
      if (chunk === undefined) return controller.close();
      onBytes(chunk.length);
      controller.enqueue(chunk);
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return { length, stream, findProblem: () => problem };
}
