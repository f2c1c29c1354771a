import { shown } from "../../base/shown.ts";
import { type JsonBounds, type ParsedJson, parseJson } from "../../domain/input/json-body.ts";
import type { Limits } from "../../domain/limits.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { BodyParser } from "../../ports/body-parser.ts";
import type { System } from "../../ports/system.ts";
import type { RequestLike } from "../../ports/web.ts";
import type { RequestContext } from "../requests/request-context.ts";
import { BodyBudget, type BodyShare, SMALL_BODY } from "./body-budget.ts";
import { declaredBytes, limitedBody } from "./limited-body.ts";

/**
 * Reads the JSON body of an authenticated request. Its bytes count towards the budgets until the response is known.
 * @param limit maximum bytes to read
 * @throws {Refusal} `unsupported_media_type`, `body_too_large`, `server_busy`, `request_timeout` or `invalid_json`
 */
export type ReadJson = (context: RequestContext, limit: number, options?: ReadJsonOptions) => Promise<unknown>;

/** Options of one body. */
export interface ReadJsonOptions {
  /** Maximum number of keys and values. Default: the maximum for a call. */
  readonly parts?: number | undefined;
  /** The value of an empty body. Default: an empty body is refused. */
  readonly emptyValue?: unknown;
  /** The content types of the route, for the refusal of others. Default: JSON. */
  readonly typeRule?: string | undefined;
}

/**
 * Reads the body of an authenticated request as a file, like {@link ReadJson}.
 * @throws {Refusal} `unsupported_media_type`, `body_too_large`, `server_busy`, `request_timeout`
 */
export type ReadFile = (context: RequestContext, limit: number) => Promise<Uint8Array<ArrayBuffer>>;

/** Readers of bodies, which share their budgets. */
export interface BodyReaders {
  readonly readJson: ReadJson;
  readonly readFile: ReadFile;
}

/** The dependencies of {@link bodyReaders}. */
export interface BodyReaderParts {
  readonly limits: Limits;
  readonly system: System;
  /** Parses bodies larger than {@link SMALL_BODY}. Default: the main thread parses them. */
  readonly bodies?: BodyParser | undefined;
}

export function bodyReaders({ limits, system, bodies }: BodyReaderParts): BodyReaders {
  const budget = new BodyBudget(limits);
  const bounds = jsonBounds(limits);

  async function readBytes(context: RequestContext, limit: number): Promise<Uint8Array<ArrayBuffer>> {
    const { request, caller } = context;
    const maxBytes = Math.min(limit, budget.maxBytes(caller));
    const chunks = limitedBody(request, maxBytes, system);
    const share = budget.share(caller);
    context.release = share.release;
    return collect(chunks, { expectedBytes: declaredBytes(request), maxBytes, share });
  }

  async function readJson(
    context: RequestContext,
    limit: number,
    { parts = bounds.parts, emptyValue, typeRule = JSON_RULE }: ReadJsonOptions = {},
  ): Promise<unknown> {
    checkContentType(context.request, typeRule);
    const bytes = await readBytes(context, limit);
    if (bytes.length === 0 && emptyValue !== undefined) return emptyValue;
    const bodyBounds = { ...bounds, parts };
    const result: ParsedJson =
      bodies && bytes.length > SMALL_BODY ? await bodies.parse(bytes, bodyBounds) : parseJson(bytes, bodyBounds);
    if ("fault" in result) throw new Refusal("invalid_json", result.fault);
    return result.value;
  }

  return {
    readJson,
    readFile(context, limit) {
      assertUncompressed(context.request);
      return readBytes(context, limit);
    },
  };
}

/** Bounds of the parser, wide enough for every body within the other limits. */
function jsonBounds({ metadataDepth, metadataBytes, instructions }: Limits): JsonBounds {
  return { depth: Math.max(32, metadataDepth + 1), parts: metadataBytes + 2 * instructions + 100 };
}

/** All bytes of a body in one buffer. */
async function collect(
  chunks: AsyncIterable<Uint8Array> | null,
  { expectedBytes, maxBytes, share }: { expectedBytes: number; maxBytes: number; share: BodyShare },
): Promise<Uint8Array<ArrayBuffer>> {
  share.grow(expectedBytes);
  let bytes: Uint8Array<ArrayBufferLike> = new Uint8Array();
  let length = 0;
  let isCopy = false;
  for await (const chunk of chunks ?? []) {
    const end = length + chunk.byteLength;
    // Most bodies are a single chunk, which needs no copy.
    if (length === 0 && end <= SMALL_BODY) {
      bytes = chunk;
      if (end > expectedBytes) share.grow(end);
    } else {
      if (!isCopy || end > bytes.length) {
        const capacity = end <= expectedBytes ? expectedBytes : Math.min(2 * end, maxBytes);
        if (capacity > expectedBytes) share.grow(capacity);
        const largerBuffer = new Uint8Array(capacity);
        largerBuffer.set(bytes.subarray(0, length));
        bytes = largerBuffer;
        isCopy = true;
      }
      bytes.set(chunk, length);
    }
    length = end;
  }
  return bytes.subarray(0, length) as Uint8Array<ArrayBuffer>;
}

const JSON_TYPE = /^application\/(?:[\w!#$&^.+-]+\+)?json$/i;
const JSON_RULE = "must be application/json, or omitted";
const UTF_8 = /^"?utf-?8"?$/i;

/** @throws {Refusal} `unsupported_media_type`: the body is compressed */
export function assertUncompressed({ headers }: RequestLike): void {
  const coding = headers.get("content-encoding");
  if (coding && coding.toLowerCase() !== "identity")
    throw new Refusal("unsupported_media_type", `Content-Encoding is ${shown(coding)}: send the body uncompressed`);
}

function checkContentType(request: RequestLike, typeRule: string): void {
  assertUncompressed(request);
  const header = request.headers.get("content-type");
  if (!header) return;
  const [type = "", ...parameters] = header.split(";").map((part) => part.trim());
  if (!JSON_TYPE.test(type))
    throw new Refusal("unsupported_media_type", `Content-Type is ${shown(type)}: it ${typeRule}`);
  for (const parameter of parameters) {
    const [name = "", value = ""] = parameter.split("=", 2).map((part) => part.trim());
    if (name.toLowerCase() === "charset" && !UTF_8.test(value))
      throw new Refusal("unsupported_media_type", `charset is ${shown(value)}: it must be utf-8`);
  }
}
