import { concatBytes } from "../../../../src/base/concat-bytes.ts";
import type { RequestLike } from "../../../../src/ports/web.ts";
import type { TransportKind } from "../../../sip-stack/transport/transport.ts";
import type { Account } from "./account.ts";

/** The longest form, bytes: more than all fields at their longest. */
const MOST_BYTES = 16_384;
/** The longest text of a field, characters. */
const MOST_CHARACTERS = 255;
const TRANSPORTS: readonly TransportKind[] = ["udp", "tcp", "tls"];

/** The fields of a submitted form; undefined if it is too long. */
export async function readForm(body: RequestLike["body"]): Promise<URLSearchParams | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) return undefined;
    chunks.push(chunk);
  }
  return new URLSearchParams(new TextDecoder().decode(concatBytes(chunks)));
}

/** The account in a form, not validated; an empty field is undefined. */
export function accountIn(form: URLSearchParams): Account {
  const text = (name: string): string | undefined => form.get(name)?.trim().slice(0, MOST_CHARACTERS) || undefined;
  const transport = TRANSPORTS.find((kind) => kind === form.get("transport"));
  return {
    // People paste the whole address.
    server: (text("server") ?? "").replace(/^sips?:/i, ""),
    transport: transport ?? "udp",
    user: text("user") ?? "",
    password: form.get("password")?.slice(0, MOST_CHARACTERS) || undefined,
    authUser: text("authUser"),
    domain: text("domain"),
    callerId: text("callerId"),
    register: form.get("register") !== null,
  };
}
