import { describe, expect, test } from "vitest";
import { OpenCalls } from "../../../../../../adapters/telephony/whatsapp/session/offers/open-calls.ts";
import type { WhatsAppClient } from "../../../../../../src/ports/whatsapp-client.ts";
import { ManualSystem } from "../../../../../../src/testing/manual-system.ts";
import { MapRecords } from "../../../../../support/whatsapp/map-records.ts";

const ANA = "5511987654321@s.whatsapp.net";

const PHONE = "5511912345678:7@s.whatsapp.net";
const LID = "123:7@lid";

/** The open calls of a connected number, with its records in memory. */
class Scene {
  readonly system = new ManualSystem();
  readonly records = new MapRecords();
  credentials: { meJid?: string; meLid?: string } | null = { meJid: PHONE, meLid: LID };
  readonly sentStanzas: unknown[] = [];
  readonly failures: string[] = [];
  readonly client = {
    getState: () => ({ connected: true }),
    getCredentials: () => this.credentials,
    lowlevel: { sendNode: async (stanza: unknown) => void this.sentStanzas.push(stanza) },
  };
  readonly port = { client: this.client as unknown as WhatsAppClient, calls: undefined };

  open(): OpenCalls {
    return new OpenCalls({
      ...{ system: this.system, port: this.port },
      records: () => this.records,
      isCarried: () => false,
      onError: (message) => this.failures.push(message),
    });
  }

  /** Ids of the stored calls. */
  get storedIds(): string[] {
    const text = new TextDecoder().decode(this.records.values.get("ringport/open-calls"));
    return JSON.parse(text || "[]").map(({ callId }: { callId: string }) => callId);
  }
}

describe("the record of open calls", () => {
  test("has the latest address from the client", async () => {
    const scene = new Scene();
    const calls = scene.open();
    calls.add("A", ANA, PHONE);
    calls.add("A", LID, PHONE);
    await scene.system.settle();
    const storedText = new TextDecoder().decode(scene.records.values.get("ringport/open-calls"));
    expect(JSON.parse(storedText)).toMatchObject([{ callId: "A", peer: LID }]);
  });

  test("is written again for a change right after a write", async () => {
    for (let turns = 0; turns < 10; turns++) {
      const scene = new Scene();
      const calls = scene.open();
      const { set } = scene.records;
      scene.records.set = async (changes) => {
        await set.call(scene.records, changes);
        scene.records.set = set;
        let turnsLater = Promise.resolve();
        for (let turn = 0; turn < turns; turn++) turnsLater = turnsLater.then(() => {});
        void turnsLater.then(() => calls.delete("A"));
      };
      calls.add("A", ANA, LID);
      await scene.system.settle();
      expect(scene.storedIds, `${turns} turns later`).toEqual([]);
    }
  });

  test("keeps the calls of an earlier process that were unreadable at first", async () => {
    const scene = new Scene();
    scene.open().add("A", ANA, LID);
    await scene.system.settle();
    const calls = scene.open();
    scene.records.failure = new Error("the storage is down");
    await calls.end();
    calls.add("B", ANA, LID);
    await scene.system.settle();
    expect(scene.storedIds).toEqual(["A"]);
    scene.records.failure = undefined;
    calls.add("C", ANA, LID);
    await scene.system.settle();
    expect(scene.storedIds.toSorted()).toEqual(["A", "B", "C"]);
  });

  test("is written at the next connection if the storage was down", async () => {
    const scene = new Scene();
    const calls = scene.open();
    scene.records.failure = new Error("the storage is down");
    calls.add("A", ANA, LID);
    await scene.system.settle();
    scene.records.failure = undefined;
    scene.credentials = null;
    await calls.end();
    await scene.system.settle();
    expect(scene.storedIds).toEqual(["A"]);
  });
});

describe("a call is ended", () => {
  test("by the address in its offer, even if the client has learned another one", async () => {
    const scene = new Scene();
    scene.open().add("A", ANA, PHONE);
    await scene.system.settle();
    await scene.open().end();
    expect(scene.sentStanzas).toMatchObject([{ attrs: { to: ANA }, content: [{ attrs: { "call-creator": PHONE } }] }]);
  });

  test("by no other device, such as one linked later", async () => {
    const scene = new Scene();
    const calls = scene.open();
    calls.add("A", ANA, "123:6@lid");
    await calls.end();
    await scene.system.settle();
    expect(scene.sentStanzas).toEqual([]);
    expect(scene.storedIds).toEqual([]);
  });

  test("once the client has its own address", async () => {
    const scene = new Scene();
    scene.credentials = null;
    const calls = scene.open();
    calls.add("A", ANA, LID);
    await calls.end();
    expect(scene.sentStanzas).toEqual([]);
    scene.credentials = { meJid: PHONE, meLid: LID };
    await calls.end();
    expect(scene.sentStanzas).toHaveLength(1);
  });

  test("or only reported, if its client cannot send stanzas", async () => {
    const scene = new Scene();
    const calls = scene.open();
    calls.add("A", ANA, LID);
    Reflect.deleteProperty(scene.client, "lowlevel");
    await expect(calls.end()).resolves.toBeUndefined();
    expect(scene.failures).toHaveLength(1);
    expect(scene.storedIds).toEqual(["A"]);
  });

  test("unless the link was erased while reading", async () => {
    const scene = new Scene();
    scene.open().add("A", ANA, LID);
    await scene.system.settle();
    const { get } = scene.records;
    let finishReading = (): void => {};
    const readBarrier = new Promise<void>((resolve) => {
      finishReading = resolve;
    });
    scene.records.get = async (keys) => {
      const values = await get.call(scene.records, keys);
      await readBarrier;
      return values;
    };
    const calls = scene.open();
    const ending = calls.end();
    calls.clear();
    finishReading();
    await ending;
    expect(scene.sentStanzas).toEqual([]);
  });
});
