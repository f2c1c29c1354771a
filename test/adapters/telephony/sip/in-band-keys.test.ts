import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { sqliteStorage } from "../../../../adapters/storage/sqlite/sqlite-storage.ts";
import { sip } from "../../../../adapters/telephony/sip/index.ts";
import { concatPcm } from "../../../../src/audio/samples/pcm.ts";
import { dtmfTones } from "../../../../src/audio/tones/dtmf.ts";
import { createRingport } from "../../../../src/index.ts";
import { until } from "../../../sip-stack/media/two-ends.ts";
import { toneWav } from "../../../support/server-sound.ts";
import { type FarEndCall, type Script, startFarEnd } from "../../../support/sip/far-end.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const ADA = { userId: "ada" };
const KEYS = "1599#";
const MESSAGE = toneWav({ hz: 440, ms: 3_000, sampleRate: 8_000, amplitude: 8_000 }).toString("base64");
/** Duration of the silence before the first key, and of one key with its pause, ms. */
const FIRST_MS = 400;
const KEY_MS = 200;
/** Longest stall of a remote end that does not split a key's tone in two, ms. */
const MAX_STALL_MS = 30;
const MAX_CALLS = 8;
const TONES = concatPcm([new Int16Array(8 * FIRST_MS), dtmfTones(KEYS, { sampleRate: 8_000 })]);

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Also sends each key by INFO, `laterMs` after the start of its tone. */
const sendKeysByInfo =
  (laterMs: number) =>
  async (call: FarEndCall): Promise<void> => {
    for (const [i, key] of [...KEYS].entries()) {
      const duePacket = (FIRST_MS + i * KEY_MS + laterMs) / 20;
      await until(() => call.voice!.sentPackets >= duePacket, `key ${key}`);
      const type = ["Content-Type", "application/dtmf-relay"] as const;
      await call.request("INFO", [type], `Signal=${key}\r\nDuration=100\r\n`);
    }
  };

const CALLEES: readonly (readonly [string, Script])[] = [
  ["that has no telephone-event and plays tones", { noEvents: true, says: TONES }],
  ["that also sends INFO, before its tone", { noEvents: true, says: TONES, acts: sendKeysByInfo(-40) }],
  ["that also sends INFO, after its tone", { noEvents: true, says: TONES, acts: sendKeysByInfo(400) }],
  ["that has no telephone-event and sends INFO", { noEvents: true, acts: sendKeysByInfo(0) }],
  ["that sends telephone-events and plays tones", { says: TONES, acts: ({ voice }) => voice!.press(KEYS) }],
];

const CASES = CALLEES.flatMap(([title, script], i) =>
  (i === 0 ? (["phone", "route"] as const) : (["phone"] as const)).map(
    (provider) => [title, provider, script] as const,
  ),
);

describe.each(["thread", "worker"] as const)("with the audio in a %s, a phone's keys", (media) => {
  test.each(CASES)("%s over sip/%s are detected once", async (_, provider, script) => {
    const farEnd = await startFarEnd({ callees: { "*": script } });
    closers.push(() => farEnd.close());
    const data = temporaryFolder("keys");
    const storage = sqliteStorage({ path: join(data, "calls.sqlite") });
    const trunks = [{ name: "phone", server: farEnd.uri, users: "*" }] as const;
    const routes = [{ name: "route", trunks: [{ trunk: "phone" }] }] as const;
    const ringport = createRingport({ data, storage, telephony: sip({ trunks, routes, media }) });
    closers.push(() => ringport.stop({ drainMs: 0 }));
    const { id: instanceId } = await ringport.instances.create(ADA, { name: "Line", provider: `sip/${provider}` });
    const [target, audio] = [{ phoneNumber: "+12025550100" }, { audioBase64: MESSAGE }];
    const call = async (): Promise<string> => {
      const { id } = await ringport.calls.create(ADA, { instanceId, type: "FIXED_AUDIO", target, audio });
      expect(await ringport.calls.wait(ADA, id)).toMatchObject({ status: "COMPLETED" });
      return id;
    };
    let id = await call();
    while (farEnd.calls.at(-1)!.voice!.maxLateMs > MAX_STALL_MS) {
      expect(
        farEnd.calls.length,
        "every call's far end was late: this process is stalled too often or too long",
      ).toBeLessThan(MAX_CALLS);
      id = await call();
    }
    const { events } = await ringport.calls.timeline(ADA, id);
    const keys = events.flatMap(({ type, data }) => (type === "dtmf" ? [data.digit] : []));
    expect(keys.join("")).toBe(KEYS);
    if (script.noEvents) expect(events.filter(({ type }) => type === "callee_speech")).toEqual([]);
  });
});
