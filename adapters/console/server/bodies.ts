import * as v from "valibot";
import { concatBytes } from "../../../src/base/concat-bytes.ts";
import { shown } from "../../../src/base/shown.ts";
import { TOKEN_SCOPES } from "../../../src/domain/access/token-scope.ts";
import { issueText, type Schema } from "../../../src/domain/input/input-checks.ts";
import { parseBody } from "../../../src/domain/input/input-parser.ts";
import { parseJson } from "../../../src/domain/input/json-body.ts";
import { Refusal } from "../../../src/domain/refusal.ts";
import { limitedBody } from "../../../src/http/bodies/limited-body.ts";
import { timeParameter } from "../../../src/http/requests/query-parameter.ts";
import type { RequestContext } from "../../../src/http/requests/request-context.ts";
import type { System } from "../../../src/ports/system.ts";

/** Maximum size of a body, bytes. */
const MAX_BODY_BYTES = 64 * 1024;
const JSON_BOUNDS = { depth: 8, parts: 1_000 };

const expiryParameter = timeParameter("expires_at", "");

/** The bodies of the console's own routes (`api.ts`). The use cases check the values. */
export const BODIES = {
  login: v.object({ email: v.string(), password: v.string() }),
  registration: v.object({ email: v.string(), password: v.string(), code: v.optional(v.string()) }),
  password: v.object({ current: v.string(), next: v.string() }),
  passwordReset: v.object({ code: v.string(), password: v.string() }),
  accountDeletion: v.object({ password: v.string() }),
  token: v.object({
    label: v.string(),
    scopes: v.optional(
      v.array(v.picklist(TOKEN_SCOPES, issueText("value_invalid", `must be one of ${TOKEN_SCOPES.join(", ")}`))),
    ),
    expires_at: v.optional(
      v.pipe(
        v.string(),
        v.check(
          (text) => expiryParameter.read(text) !== undefined,
          issueText("value_invalid", `must be ${expiryParameter.rule}`),
        ),
        v.transform((text) => expiryParameter.read(text)),
      ),
    ),
    demo_instance_id: v.optional(v.string()),
  }),
} as const;

/**
 * Reads and checks the JSON body of a request. Unknown fields are ignored.
 * @throws {Refusal} `unsupported_media_type`, `body_too_large`, `request_timeout`, `invalid_json`, or the faults of the
 * fields
 */
export async function readBody<T>({ request }: RequestContext, schema: Schema<T>, system: System): Promise<T> {
  const type = request.headers.get("content-type") ?? "";
  // A form on another site cannot send this media type.
  if (!/^application\/json *(?:;|$)/i.test(type))
    throw new Refusal("unsupported_media_type", `Content-Type is ${shown(type)}: it must be application/json`);
  const chunks = await Array.fromAsync<Uint8Array>(limitedBody(request, MAX_BODY_BYTES, system) ?? []);
  const parsed = parseJson(concatBytes(chunks), JSON_BOUNDS);
  if ("fault" in parsed) throw new Refusal("invalid_json", parsed.fault);
  return parseBody(schema, parsed.value, { strict: false });
}
