// Compiled against the installed package, never run: a program that uses each entry.

import type { IncomingMessage, ServerResponse } from "node:http";
import { createRingport, Refusal, type Ringport, type RingportOptions } from "ringport";
import { serve as serveOnBun } from "ringport/bun";
import { type Call, createClient, type FinishedCall, RingportError } from "ringport/client";
import { withConsole } from "ringport/console";
import { serve as serveOnDeno } from "ringport/deno";
import { handler, serve as serveOnNode } from "ringport/node";
import { postgresStorage } from "ringport/postgres";
import { sip, type Trunk, whatsappBusiness } from "ringport/sip";
import { sqliteStorage } from "ringport/sqlite";
import { FakeWhatsApp, ManualSystem, ScriptedTelephony } from "ringport/testing";
import { deepgramTranscription, openaiTranscription } from "ringport/transcription";
import { type WhatsAppClientFactory, whatsapp, whatsappStore } from "ringport/whatsapp";

const options: RingportOptions = { data: "./data", storage: sqliteStorage({ path: "./a.sqlite" }) };
export const ringport: Ringport = createRingport(options);
export const postgresRingport: Ringport = createRingport({
  storage: postgresStorage({ url: "postgres://localhost/a" }),
});
const trunk: Trunk = { name: "acme", server: "sip:sip.acme.example", codecs: ["opus", "PCMU"], users: "*" };
const whatsApp = whatsappBusiness({ phoneNumber: "+12025550123", hostname: "sip.example.com", password: "secret" });
export const consoleRingport: Ringport = withConsole(ringport, {
  signIn: { url: "/login", principal: async ({ headers }) => ({ userId: headers.get("x-user") ?? "nobody" }) },
});
export const sipRingport: Ringport = createRingport({ telephony: sip({ trunks: [trunk, whatsApp], accounts: true }) });
export const settings: RingportOptions = { embedded: { networks: ["sip"], sip: { trunks: [{ ...trunk }] } } };
export const transcribingRingport: Ringport = createRingport({
  transcription: openaiTranscription({ baseUrl: "http://127.0.0.1:8000/v1", model: "whisper", language: ["en", "pt"] }),
  transcriptSpeakers: ["callee", "caller"],
});
export const deepgramOptions: RingportOptions = {
  transcription: deepgramTranscription({
    baseUrl: "https://api.deepgram.com",
    apiKey: "x",
    model: "nova",
    flux: false,
  }),
};
export const requestHandler: (request: IncomingMessage, response: ServerResponse) => unknown = handler(ringport);
export const servers = [serveOnNode, serveOnBun, serveOnDeno] as const;
export const fakes = [ManualSystem, ScriptedTelephony] as const;
// @ts-expect-error a setting that does not exist
export const invalidRingport: Ringport = createRingport({ nonsense: true });

export async function outcomeOf(id: string): Promise<string> {
  const client = createClient({ url: "http://127.0.0.1:8080", token: "rp_live_x" });
  try {
    const call: Call = await client.calls.get(id);
    // @ts-expect-error not without expand=outcome
    call.outcome.reason;
    const finished: FinishedCall = await client.waitForCall(call.id);
    const reason: "busy" | "no_answer" | (string & {}) = finished.outcome.reason;
    return reason;
  } catch (error) {
    if (error instanceof RingportError) return error.code;
    if (error instanceof Refusal) return error.code;
    throw error;
  }
}
const fakeWhatsApp: WhatsAppClientFactory = new FakeWhatsApp().client;
export const linkedNumbers: Ringport = createRingport({
  telephony: whatsapp({ client: fakeWhatsApp, users: "first" }),
});
export const keys = whatsappStore;
