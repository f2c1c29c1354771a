import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { sqliteStorage } from "../../../../adapters/storage/sqlite/sqlite-storage.ts";
import { sip } from "../../../../adapters/telephony/sip/index.ts";
import { toneShare } from "../../../../src/audio/tones/tone.ts";
import { createRingport } from "../../../../src/index.ts";
import { toneWav } from "../../../support/server-sound.ts";
import { type FarEndCall, startFarEnd } from "../../../support/sip/far-end.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const ADA = { userId: "ada" };
const LINES = 30;
const SOON = { timeout: 30_000, interval: 250 };
const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Frequency of the n-th call's message, Hz. */
const toneOf = (n: number) => 400 + 40 * n;
const numberOf = (n: number) => `+120255501${String(n).padStart(2, "0")}`;

/** Share of the heard energy that is in the n-th call's tone. */
function share({ heard }: FarEndCall, n: number): number {
  return toneShare(heard.subarray(heard.length - 4_800), toneOf(n), 8_000);
}

test("30 calls at once on one instance are all heard, and the 31st waits", { timeout: 90_000 }, async () => {
  const farEnd = await startFarEnd({ callees: { "*": { says: { hz: 300 } } } });
  closers.push(() => farEnd.close());
  const data = temporaryFolder("several");
  const ringport = createRingport({
    data,
    storage: sqliteStorage({ path: join(data, "calls.sqlite") }),
    telephony: sip({ trunks: [{ name: "far", server: farEnd.uri, users: "*" }], media: "thread" }),
    queue: { kind: "fifo", depth: 40, lines: LINES },
  });
  closers.push(() => ringport.stop({ drainMs: 0 }));
  const { id: instanceId } = await ringport.instances.create(ADA, { name: "Desk", provider: "sip/far" });
  const ids: string[] = [];
  for (let n = 0; n <= LINES; n++) {
    const audio = toneWav({ hz: toneOf(n), ms: 60_000, sampleRate: 8_000, amplitude: 8_000 }).toString("base64");
    const target = { phoneNumber: numberOf(n) };
    const message = { type: "FIXED_AUDIO", audio: { audioBase64: audio } } as const;
    ids.push((await ringport.calls.create(ADA, { instanceId, target, ...message })).id);
  }

  const callTo = (n: number) => farEnd.calls.find(({ requests: [invite] }) => invite?.text.start.includes(numberOf(n)));
  const statusOf = async (n: number) => (await ringport.calls.get(ADA, ids[n] ?? "")).status;
  const isHeard = (n: number) => (callTo(n)?.heard.length ?? 0) > 8_000;
  await expect.poll(() => ids.slice(0, LINES).every((_, n) => isHeard(n)), SOON).toBe(true);
  for (let n = 0; n < LINES; n++) expect(share(callTo(n)!, n)).toBeGreaterThan(0.9);
  expect(farEnd.calls).toHaveLength(LINES);
  expect(await statusOf(LINES)).toBe("QUEUED");
  const { callQueue } = await ringport.instances.get(ADA, instanceId);
  expect(callQueue.filter(({ status }) => status === "IN_PROGRESS")).toHaveLength(LINES);

  await ringport.calls.hangUp(ADA, ids[7] ?? "");
  await expect.poll(() => isHeard(LINES), SOON).toBe(true);
  expect(share(callTo(LINES)!, LINES)).toBeGreaterThan(0.9);
  const statuses = await Promise.all(ids.map((_, n) => statusOf(n)));
  expect(statuses.flatMap((status, n) => (status === "IN_PROGRESS" ? [] : [n]))).toEqual([7]);
});
