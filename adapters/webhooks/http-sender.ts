import { request as httpRequest } from "node:http";
import { request as httpsRequest, type RequestOptions } from "node:https";
import { isAddress, isPublicAddress } from "../../src/domain/public-address.ts";
import type { OutgoingWebhook, WebhookSender } from "../../src/ports/webhook-sender.ts";
import { notPublic } from "./not-public.ts";
import { publicLookup, type Resolve, systemResolve } from "./public-lookup.ts";

/** Options of {@link httpSender}. */
export interface HttpSenderOptions {
  /** Connects to private addresses too, also without TLS. Default: false. */
  readonly allowPrivate?: boolean | undefined;
  /** Resolves host names. Default: as the system does. */
  readonly resolve?: Resolve | undefined;
  /** The authorities that sign certificates, PEM. Default: those of the runtime. */
  readonly ca?: string | undefined;
}

/** Sends webhooks with a new connection for each. */
export function httpSender({
  allowPrivate = false,
  resolve = systemResolve,
  ca,
}: HttpSenderOptions = {}): WebhookSender {
  const lookup = publicLookup(resolve, allowPrivate ? () => true : isPublicAddress);
  return {
    async post(webhook) {
      const url = new URL(webhook.url);
      const host = url.hostname.replace(/^\[|\]$/g, "");
      if (!allowPrivate) {
        if (url.protocol !== "https:") throw new Error("the URL is not https");
        // An address is not looked up.
        if (isAddress(host) && !isPublicAddress(host)) throw notPublic(host);
      }
      return post(webhook, url, { host, lookup, agent: false, ...(ca !== undefined && { ca }) });
    },
  };
}

function post({ body, headers, signal }: OutgoingWebhook, url: URL, options: RequestOptions): Promise<number> {
  const send = url.protocol === "https:" ? httpsRequest : httpRequest;
  const bytes = new TextEncoder().encode(body);
  return new Promise((resolve, reject) => {
    const request = send({
      ...options,
      method: "POST",
      port: url.port,
      path: url.pathname + url.search,
      headers: { ...headers, host: url.host, "content-length": String(bytes.length), connection: "close" },
    });
    const ended = () => request.destroy(new Error("the attempt was ended"));
    const settle = (act: () => void) => {
      signal.removeEventListener("abort", ended);
      act();
    };
    request.on("response", (response) => {
      response.on("error", () => {}); // nobody reads the rest
      settle(() => resolve(response.statusCode ?? 0));
      request.destroy();
    });
    request.on("error", (error) => settle(() => reject(error)));
    signal.addEventListener("abort", ended);
    if (signal.aborted) ended();
    request.end(bytes);
  });
}
