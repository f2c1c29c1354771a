import { describe, expect, test } from "vitest";
import {
  ABANDONED_MS,
  AbandonedCalls,
} from "../../../../../../adapters/telephony/whatsapp/session/offers/abandoned-calls.ts";
import type { WhatsAppVoip } from "../../../../../../src/ports/whatsapp-client.ts";
import { ManualSystem } from "../../../../../../src/testing/manual-system.ts";

const CALL = {
  callId: "A",
  peerJid: "1@lid",
  direction: "outgoing",
  stateData: { state: "ringing", audioMuted: false },
};
const NO_LOG = { add() {}, recordAcceptance() {}, recordTermination() {}, delete() {}, async end() {} };

describe("a client that fails while its calls are looked up", () => {
  test.each([0, 1])("is reported without throwing (after %i lookups)", async (lookups) => {
    const system = new ManualSystem();
    const failures: unknown[] = [];
    let remainingLookups = lookups;
    const fault = new Error("the client is between two connections");
    const getCalls = () => {
      if (remainingLookups-- > 0) return [CALL];
      throw fault;
    };
    const calls = { getCalls, getCall: () => null, async endCall() {} } as unknown as WhatsAppVoip;
    const abandonedCalls = new AbandonedCalls({
      ...{ system, listeners: new Set() },
      port: { client: undefined, calls, openCalls: NO_LOG },
      onError: (error) => failures.push(error),
    });
    abandonedCalls.check();
    await system.advance(ABANDONED_MS);
    expect(failures).toEqual([fault]);
  });
});
