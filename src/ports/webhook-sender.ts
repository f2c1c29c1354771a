/** One attempt to deliver a webhook. */
export interface OutgoingWebhook {
  /** The owner of the webhook. */
  readonly userId: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Ends the attempt. */
  readonly signal: AbortSignal;
}

/**
 * Sends webhooks over HTTP.
 *
 * Rules for every implementation:
 * - It connects only to an address that `isPublicAddress` in `src/domain/public-address.ts` allows, and connects to the
 *   very address that it checked: a name may resolve to another one a moment later. Its operator may lift this rule.
 * - Endpoints of one user never delay those of another user, even if their host names cannot be looked up.
 * - It follows no redirect, and does not repeat a request.
 * - It reads only the head of the response, and keeps no connection open.
 */
export interface WebhookSender {
  /**
   * POSTs the body and resolves with the status code of the response.
   * @throws {Error} there was no response; its message is shown to the owner of the endpoint, so it does not include an
   *   address of a private network
   */
  post(webhook: OutgoingWebhook): Promise<number>;
}
