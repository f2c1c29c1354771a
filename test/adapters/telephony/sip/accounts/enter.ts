import type { Network } from "../../../../../src/ports/network-pages.ts";
import type { Reply } from "../../../../../src/ports/web.ts";

/** Requests the page behind a code, or submits its form. */
export async function requestPage(
  telephony: Network,
  payload: string,
  form?: Readonly<Record<string, string>> | string,
): Promise<Reply & { html: string }> {
  const body = typeof form === "object" ? new URLSearchParams(form).toString() : form;
  const reply = await telephony.pages?.page(payload.slice(payload.indexOf("/sip/") + "/sip".length), {
    method: form === undefined ? "GET" : "POST",
    url: payload,
    headers: { get: (name) => (name === "content-type" ? "application/x-www-form-urlencoded" : null) },
    body: body === undefined ? null : chunks(body),
  });
  if (!reply) throw new Error(`there is no page at ${payload}`);
  return { ...reply, html: String(reply.body ?? "") };
}

async function* chunks(text: string): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  for (let offset = 0; offset < bytes.length; offset += 1_000) yield bytes.subarray(offset, offset + 1_000);
}
