import { Refusal } from "../../domain/refusal.ts";
import type { NetworkPages } from "../../ports/network-pages.ts";
import type { Reply, RequestLike } from "../../ports/web.ts";
import { limitedBody } from "../bodies/limited-body.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { PRIVATE } from "../replies/reply.ts";
import type { RequestContext } from "../requests/request-context.ts";
import type { HttpRoute } from "../route.ts";
import { acceptPhone } from "../sockets/phone-socket.ts";
import type { TokenWatches } from "../stream/token-watches.ts";
import { callIdOf } from "./record-id.ts";

/** The files that a telephony adapter keeps for a call, served to the call's owner. */
export function artefactRoute(pages: NetworkPages, { calls }: Pick<HttpDependencies, "calls">): HttpRoute {
  return {
    method: "GET",
    path: `/${pages.prefix}/calls/:callId/:name`,
    operation: {
      id: `${pages.prefix}Artefact`,
      tag: "Recordings",
      summary: `Get a file that the ${pages.prefix} keeps of a call, such as heard.wav`,
      access: "read",
      cost: ["turns"],
      path: { callId: "The id of the call.", name: "The name of the file." },
      responses: { 200: { description: "The file.", media: ["application/octet-stream", "audio/wav"] } },
      problems: ["call_not_found", "recording_not_found", "recording_not_ready"],
    },
    async run(context) {
      const call = await calls.get(context.caller, callIdOf(context));
      const reply = await pages.artefact?.(call.id, context.params.name ?? "");
      if (!reply) throw new Refusal("recording_not_found", "this call has no file of that name");
      return { ...reply, headers: { ...PRIVATE, ...reply.headers } };
    },
  };
}

/** Content-Security-Policy of a page without scripts, styles and images. */
const PLAIN_POLICY = {
  "content-security-policy": "default-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
};

/** A public page of a telephony adapter, which makes the reply itself. */
export async function publicPage(
  pages: NetworkPages,
  context: RequestContext,
  { limits, system }: Pick<HttpDependencies, "limits" | "system">,
): Promise<Reply | undefined> {
  const { request } = context;
  const pageRequest: RequestLike = {
    method: context.method === "HEAD" ? "GET" : context.method,
    url: request.url,
    headers: request.headers,
    body: limitedBody(request, limits.bodyBytes, system),
    signal: request.signal,
  };
  const reply = await pages.page(context.path.slice(pages.prefix.length + 1) || "/", pageRequest);
  if (!reply) return undefined;
  const isHtml = /^text\/html/i.test(reply.headers["content-type"] ?? "");
  return {
    ...reply,
    headers: {
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      ...(isHtml ? PLAIN_POLICY : {}),
      ...reply.headers,
    },
  };
}

/** The WebSocket of a page that acts as a phone of a network. */
export function phoneRoute(pages: NetworkPages, watches: TokenWatches): HttpRoute {
  return {
    method: "GET",
    path: `/${pages.prefix}/phones/:number`,
    operation: {
      id: `${pages.prefix}Phone`,
      tag: "Calls",
      summary: `Act as a phone of the ${pages.prefix} over a WebSocket`,
      description:
        "Your calls to the number ring here: JSON as text messages, and 16-bit PCM as binary messages in both directions.",
      access: "call",
      cost: ["sockets"],
      path: { number: "The number of the phone, E.164." },
      responses: { 101: { description: "Switching to WebSocket." } },
      problems: ["phone_number_invalid", "demo_token_restricted", "upgrade_required", "server_busy"],
    },
    run: async (context) => acceptPhone(context, pages, watches),
  };
}
