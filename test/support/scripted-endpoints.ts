import type { OutgoingWebhook, WebhookSender } from "../../src/ports/webhook-sender.ts";

/** Reaction of an endpoint to a message: responds with a status, fails, or never responds. */
export type EndpointReply = number | Error | "silence";

/** The endpoints of webhooks in a test, by URL. */
export class ScriptedEndpoints implements WebhookSender {
  /** The attempts so far. */
  readonly attempts: OutgoingWebhook[] = [];
  /** Attempts that are waiting for a response, by URL. */
  readonly waitingCounts = new Map<string, number>();
  /** Reaction of each endpoint. Default: 204. */
  reply: (webhook: OutgoingWebhook) => EndpointReply | Promise<EndpointReply> = () => 204;

  async post(webhook: OutgoingWebhook): Promise<number> {
    this.attempts.push(webhook);
    const { url, signal } = webhook;
    this.waitingCounts.set(url, (this.waitingCounts.get(url) ?? 0) + 1);
    try {
      const reply = await this.reply(webhook);
      if (reply === "silence")
        return await new Promise((_, reject) => {
          signal.addEventListener("abort", () => reject(new Error("the attempt was ended")));
        });
      if (reply instanceof Error) throw reply;
      return reply;
    } finally {
      this.waitingCounts.set(url, (this.waitingCounts.get(url) ?? 0) - 1);
    }
  }

  /** The parsed bodies of the attempts to this URL. */
  bodies(url: string): { id: string; type: string; [key: string]: unknown }[] {
    return this.attempts.filter((attempt) => attempt.url === url).map(({ body }) => JSON.parse(body));
  }
}
