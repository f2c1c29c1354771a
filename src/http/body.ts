import { Refusal } from "../domain/refusal.ts";
import type { RequestLike } from "../ports/web.ts";
import { HttpRefusal } from "./problem.ts";

/**
 * Reads a JSON body, counting its bytes while they arrive. A byte order mark is tolerated (RFC 8259 §8.1 allows it).
 * @param limit most bytes to read
 * @throws {Refusal} `unsupported_media_type`, `body_too_large` or `invalid_json`
 */
export async function readJson(request: RequestLike, limit: number): Promise<unknown> {
  checkContentType(request);
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  for await (const chunk of limitedBody(request, limit) ?? []) text += decode(decoder, chunk);
  text += decode(decoder);
  if (text.trim() === "") throw new Refusal("invalid_json", "the request has no body; send a JSON object");
  try {
    return JSON.parse(text);
  } catch (cause) {
    // Some engines run out of stack instead of finding a syntax error.
    const why = cause instanceof RangeError ? "is nested too deeply" : "is not valid JSON";
    throw new Refusal("invalid_json", `the body ${why}`, { cause });
  }
}

/**
 * The body, which fails as soon as it is larger than `limit` bytes and then reads no further.
 * @throws {Refusal} `body_too_large`; `invalid_json` where the body broke off
 */
export function limitedBody(request: RequestLike, limit: number): AsyncIterable<Uint8Array> | null {
  const declared = Number(request.headers.get("content-length") ?? 0);
  if (declared > limit) throw tooLarge(limit);
  return request.body && counted(request.body, limit);
}

async function* counted(body: AsyncIterable<Uint8Array>, limit: number): AsyncGenerator<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]();
  let bytes = 0;
  let done = false;
  try {
    for (;;) {
      const next = await chunks.next().catch((cause: unknown) => {
        done = true;
        throw new Refusal("invalid_json", "the body broke off before its end", { cause });
      });
      done = next.done === true;
      if (next.done) return;
      bytes += next.value.byteLength;
      if (bytes > limit) throw tooLarge(limit);
      yield next.value;
    }
  } finally {
    // Not awaited: a source that hangs while it is being cancelled must not hold the answer back.
    if (!done) void Promise.resolve(chunks.return?.()).catch(() => {});
  }
}

function tooLarge(limit: number): Refusal {
  return new HttpRefusal("body_too_large", `the body is larger than ${limit} bytes`, { members: { limit } });
}

function decode(decoder: InstanceType<typeof TextDecoder>, chunk?: Uint8Array): string {
  try {
    return chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode();
  } catch (cause) {
    throw new Refusal("invalid_json", "the body is not valid UTF-8", { cause });
  }
}

const JSON_TYPE = /^application\/(?:[\w!#$&^.+-]+\+)?json$/i;
const UTF_8 = /^"?utf-?8"?$/i;

function checkContentType({ headers }: RequestLike): void {
  const coding = headers.get("content-encoding");
  if (coding && coding.toLowerCase() !== "identity")
    throw new Refusal("unsupported_media_type", "a compressed body is not accepted; send it without Content-Encoding");
  const header = headers.get("content-type");
  if (!header) return;
  const [type = "", ...parameters] = header.split(";").map((part) => part.trim());
  if (!JSON_TYPE.test(type))
    throw new Refusal("unsupported_media_type", "the Content-Type must be application/json, or be left out");
  for (const parameter of parameters) {
    const [name = "", value = ""] = parameter.split("=", 2).map((part) => part.trim());
    if (name.toLowerCase() === "charset" && !UTF_8.test(value))
      throw new Refusal("unsupported_media_type", "the charset of the body must be utf-8");
  }
}
