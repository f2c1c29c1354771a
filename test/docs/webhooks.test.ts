import { symlinkSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Hono } from "hono";
import { describe, expect, onTestFinished, test } from "vitest";
import { signedHeaders, webhookKey } from "../../src/domain/webhooks/webhook-signature.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { fileOf } from "./pages.ts";
import { programs } from "./programs.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const BODY = '{"id":"evt_1","type":"completed","call_id":"call_1","data":{"é":1}}';

/** The app that a program in docs/webhooks.md defines. */
async function appOf(marker: string): Promise<unknown> {
  const { text } = programs().find(({ page, text }) => page === "docs/webhooks.md" && text.includes(marker))!;
  const folder = temporaryFolder("webhooks");
  symlinkSync(fileOf("node_modules"), join(folder, "node_modules"));
  const file = join(folder, "app.ts");
  writeFileSync(file, text);
  return ((await import(/* @vite-ignore */ file)) as { app: unknown }).app;
}

/** Sends a signed request to the app, with this body in place of the signed one. */
type Send = (headers: Record<string, string>, body: string) => Promise<{ readonly status: number }>;

async function hono(): Promise<Send> {
  const app = (await appOf('from "hono"')) as Hono;
  return async (headers, body) => app.request("/ringport", { method: "POST", headers, body });
}

async function express(): Promise<Send> {
  const server = createServer((await appOf('from "express"')) as RequestListener);
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/ringport`;
  return (headers, body) => fetch(url, { method: "POST", headers, body });
}

describe.each([
  ["Hono", hono],
  ["Express", express],
])("the receiver for %s", (_, start) => {
  test("accepts a signed event and refuses a changed one", async () => {
    const send = await start();
    const message = { id: "evt_1", timestamp: Date.now(), body: BODY };
    const signature = await signedHeaders(message, [webhookKey(SECRET) ?? new Uint8Array()]);
    const headers = { "content-type": "application/json", ...signature };
    expect((await send(headers, BODY)).status).toBe(204);
    expect((await send(headers, BODY.replace("call_1", "call_2"))).status).toBe(401);
  });
});
