import { FakeWhatsApp, FakeWhatsAppClient, ManualSystem } from "ringport/testing";
import { expect, test } from "vitest";
import type { WhatsAppClientFactory } from "../../../src/ports/whatsapp-client.ts";
import { MapRecords } from "../../support/whatsapp/map-records.ts";

// The compiler checks that the real client is accepted and others are not: support/whatsapp/client-assignments.ts.
test("a factory of fake clients is a factory of clients", async () => {
  const factory: WhatsAppClientFactory = new FakeWhatsApp(new ManualSystem()).client;
  const client = await factory({ instanceId: "inst_1", sessionId: "session_1", records: new MapRecords() });
  expect(client).toBeInstanceOf(FakeWhatsAppClient);
  expect(client.getState()).toEqual({ connected: false, registered: false, hasQr: false, hasPairingCode: false });
});
