import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  CALL_MOVES,
  type CallInput,
  type WhatsAppCallFlow,
} from "../../../../../adapters/telephony/whatsapp/calls/call-states.ts";
import { decideCall, newCall } from "../../../../../adapters/telephony/whatsapp/calls/whatsapp-call-flow.ts";
import { tone } from "../../../../../src/audio/tones/tone.ts";
import { fuzz, fuzzRuns } from "../../../../support/fuzz.ts";
import { CallScene, endOf } from "./scene.ts";

const reasons = fc.constantFrom(
  undefined,
  "busy",
  "timeout",
  "declined",
  "rejected_elsewhere",
  "user_ended",
  "failed",
  "x",
);
const device = fc.constantFrom(undefined, 0, 1, 2);
const callInputs: fc.Arbitrary<CallInput> = fc.oneof(
  fc.record({
    type: fc.constant("stanza" as const),
    stanza: fc.oneof(
      fc.record({ type: fc.constant("preaccept" as const), device }),
      fc.record({ type: fc.constant("accept" as const), address: fc.constantFrom(undefined, "1:2@lid") }),
      fc.record({ type: fc.constant("reject" as const), device, reason: reasons }),
      fc.record({ type: fc.constant("terminate" as const), reason: reasons }),
      fc.record({ type: fc.constant("offer_accepted" as const), devices: fc.subarray([0, 1, 2]) }),
      fc.record({ type: fc.constant("offer_refused" as const), code: fc.constantFrom("403", "429") }),
    ),
  }),
  fc.record({
    type: fc.constant("client_state" as const),
    state: fc.constantFrom("initiating", "ringing", "connecting", "active", "on_hold", "nonsense"),
  }),
  fc.record({ type: fc.constant("client_ended" as const), reason: reasons }),
  fc.record({ type: fc.constantFrom("offered", "drained", "released", "hang_up") }) as fc.Arbitrary<CallInput>,
  fc.record({
    type: fc.constant("timer" as const),
    timer: fc.constantFrom("ack" as const, "busy", "media", "line", "inbound", "drain", "leave"),
    quietMs: fc.constantFrom(0, 500, 10_000, 15_000, 30_000, Infinity),
  }),
  fc.record({ type: fc.constant("line_lost" as const), reason: fc.constant("dropped"), isPermanent: fc.boolean() }),
  fc.record({ type: fc.constant("line_restored" as const), hasCall: fc.boolean() }),
  fc.record({ type: fc.constant("fault" as const), detail: fc.constant("broken") }),
);

describe("a call's decisions", () => {
  fuzz(
    "reach one end for any order of inputs, and never change it",
    fc.property(fc.array(callInputs, { maxLength: 40 }), (inputs) => {
      let flow: WhatsAppCallFlow = newCall().flow;
      const emittedEvents: string[] = [];
      const refusals = new Set<unknown>();
      let wasOffered = false;
      let conclusions = 0;
      let endCalls = 0;
      for (const input of inputs) {
        const previousFlow = flow;
        const decision = decideCall(flow, input);
        flow = decision.flow;
        const isLegal = flow.state === previousFlow.state || reachableStates(previousFlow.state).has(flow.state);
        expect(isLegal, `${previousFlow.state} to ${flow.state} by ${JSON.stringify(input)}`).toBe(true);
        if (previousFlow.state === "offered" && input.type === "stanza" && flow.state === "ending")
          refusals.add(input.stanza);
        if (previousFlow.state === "ending" && input.type === "stanza" && flow.state === "ending")
          wasOffered ||= input.stanza.type !== "offer_refused";
        if (previousFlow.end) expect(flow.end).toEqual(previousFlow.end);
        for (const effect of decision.effects) {
          expect(previousFlow.state).not.toBe("ended");
          if (effect.do === "emit" && effect.event.type !== "noted") emittedEvents.push(effect.event.type);
          if (effect.do === "conclude") conclusions++;
          if (effect.do === "end_call") endCalls++;
          if (effect.do === "start_audio") expect(flow.state).toBe("active");
        }
      }
      expect(emittedEvents).toEqual([...new Set(emittedEvents)]);
      // Only a call whose offer was refused temporarily, and reached no device, is dialled again without being placed.
      const isRepeated = !wasOffered && [...refusals].some((stanza) => (stanza as { code?: string }).code === "429");
      expect(emittedEvents[0]).toBe(flow.state === "offered" || isRepeated ? undefined : "placed");
      expect(conclusions).toBe(flow.state === "ended" ? 1 : 0);
      expect(endCalls).toBeLessThanOrEqual(1);
      expect(flow.end !== undefined).toBe(["draining", "ending", "leaving", "ended"].includes(flow.state));
    }),
  );

  fuzz(
    "end every call after a hang-up",
    fc.property(fc.array(callInputs, { maxLength: 30 }), (inputs) => {
      let flow: WhatsAppCallFlow = newCall().flow;
      const apply = (input: CallInput) => {
        const decision = decideCall(flow, input);
        flow = decision.flow;
        return decision.effects;
      };
      for (const input of inputs) apply(input);
      apply({ type: "hang_up" });
      for (const timer of ["leave", "drain"] as const) apply({ type: "timer", timer, quietMs: 0 });
      apply({ type: "released" });
      expect(flow.state).toBe("ended");
    }),
  );
});

test("a call that rings despite a refusal with 429 is placed", () => {
  const { flow } = decideCall(newCall().flow, { type: "stanza", stanza: { type: "offer_refused", code: "429" } });
  const afterPreaccept = decideCall(flow, { type: "stanza", stanza: { type: "preaccept", device: 0 } });
  expect(afterPreaccept.effects).toEqual([{ do: "emit", event: { type: "placed" } }]);
  const afterRelease = decideCall(afterPreaccept.flow, { type: "released" });
  expect(afterRelease.effects.map((effect) => effect.do)).toEqual(["conclude"]);
});

/** The possible states after one input. */
function reachableStates(state: keyof typeof CALL_MOVES): Set<string> {
  const next = Object.values(CALL_MOVES[state]) as (keyof typeof CALL_MOVES)[];
  return new Set(next);
}

type Step =
  | { readonly do: "wait"; readonly ms: number }
  | { readonly do: "ring" | "answer" | "busy" | "decline" | "hangUp" | "connectMedia" | "timeout" }
  | { readonly do: "lose" | "restore" | "drop" | "reconnect" | "logout" | "incoming" | "silence" | "speak" }
  | { readonly do: "core_hangs_up" };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.integer({ min: 0, max: 4_000 }) }) },
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constantFrom(
          ...(["ring", "answer", "busy", "decline", "hangUp", "connectMedia", "timeout", "core_hangs_up"] as const),
          ...(["lose", "restore", "drop", "reconnect", "logout", "incoming", "silence", "speak"] as const),
        ),
      }),
    },
  ),
  { maxLength: 14 },
);

async function runStep(scene: CallScene, call: Awaited<ReturnType<CallScene["call"]>>, step: Step): Promise<void> {
  const { callee } = call;
  switch (step.do) {
    case "wait":
      return scene.system.advance(step.ms);
    case "timeout":
      return callee.end("network", "timeout");
    case "lose":
      return scene.port.lose();
    case "restore":
      return scene.port.restore();
    case "logout":
      return scene.port.lose("unlinked", true);
    case "drop":
      return scene.client.dropSocket(2_000);
    case "reconnect":
      await scene.client.disconnect();
      void scene.client.connect();
      await scene.system.advance(200);
      return scene.port.restore();
    case "incoming":
      return void scene.network.ring(scene.client);
    case "silence":
      callee.sendsAudio = false;
      return;
    case "speak":
      callee.sendsAudio = true;
      return;
    case "core_hangs_up":
      return void call.leg.hangUp();
    default:
      return callee[step.do]();
  }
}

test("a call ends exactly once, and feeds no audio early or beyond its limit", async () => {
  const property = fc.asyncProperty(
    steps,
    fc.constantFrom<"answers" | "silent" | "ignored" | "one-way">("answers", "silent", "ignored", "one-way"),
    fc.constantFrom<"hang" | "fail" | undefined>(undefined, "hang", "fail"),
    async (stepList, callee, fault) => {
      const scene = await CallScene.start({
        devices: [callee === "silent" ? { does: "nothing" } : { does: "answer", afterMs: 700 }, { does: "nothing" }],
        ...(callee === "ignored" && { offer: "ignored" as const }),
        ...(callee === "one-way" && { media: "one-way" as const }),
      });
      const call = await scene.call(tone(440, 60_000, 16_000, 9_000));
      const { pauseMs } = scene.client.voip.getFeedWatermarksMs();
      const faults: string[] = [];
      watch(scene, call.leg.callId, pauseMs, faults);
      if (fault !== undefined)
        scene.client.disturb("endCall", fault === "hang" ? "hang" : new Error("the socket is gone"));
      for (const step of stepList) {
        await runStep(scene, call, step);
        watch(scene, call.leg.callId, pauseMs, faults);
      }
      void call.leg.hangUp();
      await scene.system.advance(6_000);
      expect(faults).toEqual([]);
      expect(call.events.filter(({ type }) => type === "ended").length).toBe(1);
      expect(call.events.at(-1)?.type).toBe("ended");
      expect(call.events[0]?.type).toBe("placed");
      expect(endOf(call)).toBeDefined();
      expect([call.endCount, scene.clock.size, scene.port.listeners.size]).toEqual([1, 0, 0]);
      const pulledMs = call.playout.heardMs;
      await scene.system.advance(2_000);
      expect(call.playout.heardMs).toBe(pulledMs);
    },
  );
  await fc.assert(property, { numRuns: Math.min(fuzzRuns, 40) });
}, 120_000);

const watchedPlugins = new WeakSet<object>();

/** Records each feed to the client's present calls if it breaks a rule. */
function watch(scene: CallScene, callId: string, pauseMs: number, faults: string[]): void {
  const { voip } = scene.client;
  if (voip === undefined || watchedPlugins.has(voip)) return;
  watchedPlugins.add(voip);
  const feed = voip.feedLiveAudio.bind(voip);
  voip.feedLiveAudio = (fedCallId, samples) => {
    const state = voip.getCall(fedCallId)?.stateData.state;
    if (fedCallId !== callId) faults.push(`fed another call: ${fedCallId}`);
    if (state !== "active") faults.push(`fed while ${state}`);
    const level = feed(fedCallId, samples);
    if (level > pauseMs + 60) faults.push(`${level} ms are buffered`);
    return level;
  };
}
