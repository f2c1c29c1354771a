// The client for the real WhatsApp: zapo (https://github.com/vinikjkkj/zapo, MIT). Its session is kept in Ringport's
// storage, encrypted, so a restart needs no new code.
import wrtc from "@roamhq/wrtc";
import { voipPlugin } from "@zapo-js/voip";
import { type WhatsAppClientFactory, whatsappStore } from "ringport/whatsapp";
import { createStore, WaClient } from "zapo-js";
import { dialWebPort } from "./relay-ports.ts";

dialWebPort(wrtc); // without it, no audio arrives from the callee

export const client: WhatsAppClientFactory = ({ sessionId, records }) =>
  new WaClient({
    sessionId,
    store: createStore(whatsappStore(records)),
    // More than one: otherwise an incoming call to the number would block ours.
    plugins: [voipPlugin({ maxConcurrentCalls: 4 })],
    // The history stays on: it contains the tokens by which WhatsApp recognises contacts.
  });
