import * as fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  newWebhookKey,
  signedHeaders,
  webhookKey,
  webhookSecret,
} from "../../../src/domain/webhooks/webhook-signature.ts";
import { fuzz } from "../../support/fuzz.ts";

const NOW = Date.UTC(2026, 0, 1);
const random = (bytes: Uint8Array) => void crypto.getRandomValues(bytes);

// The package refuses messages whose timestamp is not within five minutes of its clock.
beforeEach(() => void vi.useFakeTimers({ now: NOW, toFake: ["Date"] }));
afterEach(() => void vi.useRealTimers());

fuzz(
  "the standardwebhooks package verifies every signed body",
  fc.asyncProperty(fc.json(), fc.uint8Array({ minLength: 24, maxLength: 64 }), async (body, bytes) => {
    const key = Uint8Array.from(bytes);
    const headers = await signedHeaders({ id: "evt_1", timestamp: NOW, body }, [key]);
    expect(new Webhook(webhookSecret(key)).verify(body, headers)).toEqual(JSON.parse(body));
  }),
);

test("the reference signature of Standard Webhooks is reproduced", async () => {
  const body = '{"test": 2432232314}';
  const key = webhookKey("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
  const message = { id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1614265330_000, body };
  const headers = await signedHeaders(message, [key ?? new Uint8Array()]);
  expect(headers).toEqual({
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  });
});

test("after a rotation a message verifies with both secrets, and no third", async () => {
  const keys = [newWebhookKey(random), newWebhookKey(random)];
  const headers = await signedHeaders({ id: "evt_1", timestamp: NOW, body: "{}" }, keys);
  for (const key of keys) expect(new Webhook(webhookSecret(key)).verify("{}", headers)).toEqual({});
  expect(() => new Webhook(webhookSecret(newWebhookKey(random))).verify("{}", headers)).toThrow(/No matching/);
});

test("a secret yields its key, and other texts do not", () => {
  const key = newWebhookKey(random);
  expect(key).toHaveLength(32);
  expect(webhookKey(webhookSecret(key))).toEqual(key);
  for (const text of ["", "whsec_", "whsec_?", "whsec_abc"]) expect(webhookKey(text)).toBeUndefined();
});
