import type { TurnMetrics } from "../../domain/agents/turn-metrics.ts";
import type { MediaStatistics } from "../../domain/calls/media-statistics.ts";
import type { Outcome } from "../../domain/calls/outcome.ts";
import type { QualityInterval } from "../../domain/calls/quality-series.ts";
import type { Clause } from "./scene.ts";

const OUTCOME: Outcome = {
  reason: "busy",
  detail: "SIP 486 \u0000",
  answeredBy: null,
  heardMs: 0,
  heardRatio: 0.25,
  durationMs: 0,
};

const STATISTICS: MediaStatistics = {
  codec: "PCMU",
  packetsSent: 300,
  packetsReceived: 298,
  packetsLost: 2,
  packetsReordered: 1,
  packetsDuplicated: 0,
  packetsInvalid: 0,
  jitterMs: 0.25,
  roundTripMs: 12.5,
  remoteLoss: null,
  mos: 4.3,
  heldMs: 0,
};

const INTERVAL: QualityInterval = {
  untilMs: 5_000,
  packetsSent: 250,
  packetsReceived: 248,
  packetsLost: 2,
  jitterMs: 0.25,
  roundTripMs: 12.5,
  remoteLoss: null,
};

const TURN: TurnMetrics = {
  input: "words",
  eouDelayMs: 500,
  sttFinalMs: 120,
  llmTtftMs: 300,
  firstSentenceMs: 340,
  ttsTtfbMs: 80,
  ttsLeadingSilenceMs: 0,
  firstAudioSentMs: 430,
  turnGapMs: 1_060,
  interrupted: false,
  interruptLatencyMs: null,
};

/** Updates by version, with their events. */
export function callUpdateContract(clause: Clause, persistenceClause: Clause): void {
  clause("an update changes the named fields, raises the version and stores its events", async (scene) => {
    const call = await scene.storedCall(await scene.storedInstance());
    const event = scene.event("ringing", call, { data: { code: 180, text: "\u0000" } });
    const patch = { status: "RINGING", owner: "node_a" } as const;
    const updatedCall = await scene.storage.calls.update(call.id, 1, patch, [event]);
    scene.equal(updatedCall, { ...call, ...patch, version: 2 });
    scene.equal(await scene.storage.calls.get(call.id), updatedCall);
    scene.equal(await scene.timeline(call.id), [event]);
  });

  clause("every field that may change can be set and reset", async (scene) => {
    const call = await scene.storedCall(await scene.storedInstance());
    const times = { startedAt: scene.now(), endedAt: scene.now() };
    const patch = { outcome: OUTCOME, mediaStatistics: STATISTICS, recordedMs: 0, ...times, owner: "node_a" };
    const updatedCall = await scene.updateCall(call, patch);
    scene.equal(updatedCall, { ...call, ...patch, version: 2 });
    const noTimes = { startedAt: null, endedAt: null };
    const resetPatch = {
      outcome: null,
      mediaStatistics: null,
      recordedMs: null,
      ...noTimes,
      owner: null,
      dialingAt: null,
    };
    scene.equal(await scene.updateCall(updatedCall, resetPatch), { ...call, ...resetPatch, version: 3 });
  });

  clause("a call's choices for its INVITE, and its Call-ID, are stored", async (scene) => {
    const sip = { headers: { "X-Order": "Müller & Söhne" }, uri: "sip:reception@pbx.example.com" };
    const call = await scene.storedCall(await scene.storedInstance(), { sip });
    scene.equal(await scene.storage.calls.get(call.id), call);
    const patch = { sipCallId: "a84b4c76e66710@pc33.example.com" };
    scene.equal(await scene.updateCall(call, patch), { ...call, ...patch, version: 2 });
    scene.equal((await scene.storage.calls.get(call.id))?.sipCallId, patch.sipCallId);
  });

  clause("an agent's result and turns are stored", async (scene) => {
    const call = await scene.storedCall(await scene.storedInstance());
    const patch = {
      result: { visit: "1", notes: ["é", null] },
      resultError: "é",
      turns: [TURN, { ...TURN, interrupted: true }],
    };
    scene.equal(await scene.updateCall(call, patch), { ...call, ...patch, version: 2 });
    scene.equal(await scene.storage.calls.get(call.id), { ...call, ...patch, version: 2 });
  });

  clause("a call's quality over time is stored", async (scene) => {
    const call = await scene.storedCall(await scene.storedInstance());
    const quality = [INTERVAL, { ...INTERVAL, untilMs: 10_000, roundTripMs: null, remoteLoss: 0.01 }];
    scene.equal(await scene.updateCall(call, { quality }), { ...call, quality, version: 2 });
    scene.equal(await scene.storage.calls.get(call.id), { ...call, quality, version: 2 });
    scene.equal((await scene.storage.calls.list(scene.userId, {}, {}))[0]?.quality, quality);
  });

  clause("a changed message has its new type", async (scene) => {
    const instance = await scene.storedInstance();
    const call = await scene.storedCall(instance);
    const streamCall = await scene.updateCall(call, { message: { type: "DYNAMIC_STREAM" } });
    scene.equal(await scene.storage.calls.list(scene.userId, { type: "DYNAMIC_STREAM" }, {}), [streamCall]);
    scene.equal(await scene.storage.calls.list(scene.userId, { type: "FIXED_TTS" }, {}), []);
  });

  clause("an update that expects another version writes nothing", async (scene) => {
    const { calls } = scene.storage;
    const call = await scene.storedCall(await scene.storedInstance(), {}, Uint8Array.of(1));
    const event = scene.event("failed", call);
    scene.equal(await calls.update(call.id, 2, { status: "FAILED", endedAt: 1 }, [event]), undefined);
    scene.equal(await calls.update(scene.id("call"), 1, { status: "FAILED", endedAt: 1 }, [event]), undefined);
    scene.equal(await calls.get(call.id), call);
    scene.equal(await calls.audio(call.id), Uint8Array.of(1));
    scene.equal(await scene.timeline(call.id), []);
  });

  clause("of many concurrent updates to one version, only one is written, with its events", async (scene) => {
    const call = await scene.storedCall(await scene.storedInstance());
    const updates = await Promise.all(
      Array.from({ length: 20 }, () =>
        scene.storage.calls.update(call.id, 1, { status: "FAILED", endedAt: scene.now() }, [
          scene.event("failed", call),
        ]),
      ),
    );
    scene.equal(updates.filter((update) => update !== undefined).length, 1);
    scene.equal((await scene.timeline(call.id)).length, 1);
    scene.equal(await scene.storage.calls.counts(), { FAILED: 1 });
  });

  clause("an update with unstorable events writes nothing", async (scene) => {
    const call = await scene.storedCall(await scene.storedInstance(), {}, Uint8Array.of(1));
    const event = scene.impossibleEvent("failed", call);
    const patch = { status: "FAILED", endedAt: scene.now() } as const;
    await scene.failure(scene.storage.calls.update(call.id, 1, patch, [event]));
    scene.equal(await scene.storage.calls.get(call.id), call);
    scene.equal(await scene.storage.calls.audio(call.id), Uint8Array.of(1));
    scene.equal(await scene.storage.calls.counts(), { QUEUED: 1 });
  });

  clause("the audio is kept while the call is active, and deleted at its end", async (scene) => {
    const { calls } = scene.storage;
    const audio = Uint8Array.from({ length: 100_000 }, (_, i) => i % 256);
    let call = await scene.storedCall(await scene.storedInstance(), {}, audio);
    for (const status of ["RINGING", "IN_PROGRESS"] as const) {
      call = await scene.updateCall(call, { status });
      scene.equal(await calls.audio(call.id), audio);
    }
    await scene.updateCall(call, { status: "COMPLETED", endedAt: scene.now() });
    scene.equal(await calls.audio(call.id), undefined);
    scene.equal(await calls.audio(scene.id("call")), undefined);
  });

  persistenceClause("an update and its events outlive the process", async (scene) => {
    const call = await scene.storedCall(await scene.storedInstance());
    const event = scene.event("failed", call);
    const patch = { status: "FAILED", endedAt: scene.now(), outcome: OUTCOME } as const;
    const updatedCall = await scene.storage.calls.update(call.id, 1, patch, [event]);
    await scene.reopen();
    scene.equal(await scene.storage.calls.get(call.id), updatedCall);
    scene.equal(await scene.timeline(call.id), [event]);
  });
}
