import { request as httpRequest } from "node:http";
import { request as httpsRequest, type RequestOptions } from "node:https";
import type { OutgoingWebhook, WebhookSender } from "../../src/ports/webhook-sender.ts";
import { type PublicConnectionOptions, publicConnection } from "./public-connection.ts";

/** Options of {@link httpSender}. */
export type HttpSenderOptions = PublicConnectionOptions;

/** Sends each webhook over a new connection. */
export function httpSender(options: HttpSenderOptions): WebhookSender {
  return {
    async post(webhook) {
      const url = new URL(webhook.url);
      return post(webhook, url, publicConnection(url, options, { user: webhook.userId, signal: webhook.signal }));
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
      path: url.pathname + url.search,
      headers: { ...headers, host: url.host, "content-length": String(bytes.length), connection: "close" },
    });
    const onAbort = () => request.destroy(new Error("the attempt was ended"));
    const settle = (act: () => void) => {
      signal.removeEventListener("abort", onAbort);
      act();
    };
    request.on("response", (response) => {
      response.on("error", () => {}); // the rest is not read
      settle(() => resolve(response.statusCode ?? 0));
      request.destroy();
    });
    request.on("error", (error) => settle(() => reject(error)));
    signal.addEventListener("abort", onAbort);
    if (signal.aborted) onAbort();
    request.end(bytes);
  });
}
