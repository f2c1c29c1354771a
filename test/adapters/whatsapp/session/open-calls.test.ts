import { describe, expect, test } from "vitest";
import { OpenCalls } from "../../../../adapters/telephony/whatsapp/session/open-calls.ts";
import type { WhatsAppClient } from "../../../../src/ports/whatsapp-client.ts";
import { ManualSystem } from "../../../../src/testing/manual-system.ts";
import { MapRecords } from "../../../support/whatsapp/map-records.ts";

const ANA = "5511987654321@s.whatsapp.net";

/** The open calls of a connected number, with its records in memory. */
class Scene {
  readonly system = new ManualSystem();
  records = new MapRecords();
  readonly sent: unknown[] = [];
  readonly failures: string[] = [];
  readonly client = {
    getState: () => ({ connected: true }),
    getCredentials: () => ({ meJid: "5511912345678:7@s.whatsapp.net", meLid: "123:7@lid" }),
    lowlevel: { sendNode: async (stanza: unknown) => void this.sent.push(stanza) },
  };
  readonly port = { client: this.client as unknown as WhatsAppClient, calls: undefined };

  open(): OpenCalls {
    return new OpenCalls({
      ...{ system: this.system, port: this.port },
      records: () => this.records,
      isCarried: () => false,
      failed: (message) => this.failures.push(message),
    });
  }

  /** Ids of the stored calls. */
  get stored(): string[] {
    const text = new TextDecoder().decode(this.records.values.get("ringport/open-calls"));
    return JSON.parse(text || "[]").map(({ callId }: { callId: string }) => callId);
  }
}

describe("the record of the open calls", () => {
  test("is written once more for a change right after a write", async () => {
    for (let turns = 0; turns < 10; turns++) {
      const scene = new Scene();
      const calls = scene.open();
      const { set } = scene.records;
      scene.records.set = async (changes) => {
        await set.call(scene.records, changes);
        scene.records.set = set;
        let later = Promise.resolve();
        for (let turn = 0; turn < turns; turn++) later = later.then(() => {});
        void later.then(() => calls.delete("A"));
      };
      calls.add("A", ANA);
      await scene.system.settle();
      expect(scene.stored, `${turns} turns later`).toEqual([]);
    }
  });
});
