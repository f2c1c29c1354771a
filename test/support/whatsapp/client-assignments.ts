import { FakeWhatsApp } from "ringport/testing";
import type { WhatsAppClient, WhatsAppClientFactory, WhatsAppVoip } from "../../../src/ports/whatsapp-client.ts";
import type { RealClient, RealVoip } from "./real-signatures.ts";

// These assignments are tests: the compiler checks them, and each superfluous @ts-expect-error fails.

declare const realClient: RealClient;
declare const voip: RealVoip;

export const acceptedAssignments = (): unknown[] => {
  const client: WhatsAppClient = realClient;
  const calls: WhatsAppVoip = voip;
  const factory: WhatsAppClientFactory = ({ instanceId, sessionId, records }) =>
    instanceId === sessionId && records ? realClient : Promise.resolve(realClient);
  const fake: WhatsAppClientFactory = new FakeWhatsApp().client;
  return [client, calls, factory, fake];
};

export const refusedAssignments = (): unknown[] => {
  // @ts-expect-error: a client without calls
  const noVoip: WhatsAppClientFactory = () => realClient as Omit<RealClient, "voip">;
  // @ts-expect-error: calls that cannot be fed
  const noFeed: WhatsAppClientFactory = () => ({ ...realClient, voip: {} as Omit<RealVoip, "feedLiveAudio"> });
  // @ts-expect-error: a state that cannot be probed
  const asyncState: WhatsAppClientFactory = () => ({ ...realClient, getState: async () => realClient.getState() });
  // @ts-expect-error: a call id that is not a string
  const otherIds: WhatsAppClientFactory = () => ({ ...realClient, voip: { ...voip, startCall: async () => 7 } });
  // @ts-expect-error: audio of another type
  const otherAudio: WhatsAppVoip = { ...voip, feedLiveAudio: (_: string, __: Int16Array) => 0 };
  const otherNumbers: WhatsAppClientFactory = () => ({
    ...realClient,
    // @ts-expect-error: numbers without their address
    profile: { getLidsByPhoneNumbers: async () => [{ exists: true }] },
  });
  // @ts-expect-error: an instance of the client instead of a factory
  const instance: WhatsAppClientFactory = realClient;
  // @ts-expect-error: a factory of nothing
  const emptyFactory: WhatsAppClientFactory = () => undefined;
  return [noVoip, noFeed, asyncState, otherIds, otherAudio, otherNumbers, instance, emptyFactory];
};
