import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nextState } from "../../../src/base/state-machine.ts";
import {
  type AnsweredBy,
  type GreetingEnd,
  MACHINE_POLICIES,
  TONE_WAIT_MS,
  VERDICT_WAIT_MS,
  VOICEMAIL_WAIT_MS,
  WORDS_WAIT_MS,
} from "../../../src/domain/answering/answering-machine.ts";
import { PERSON_WAIT_MS } from "../../../src/domain/answering/person-wait.ts";
import type { OnScreening } from "../../../src/domain/answering/screening-policy.ts";
import { CALL_TRANSITIONS, type CallStatus } from "../../../src/domain/calls/call.ts";
import {
  beginFlow,
  type CallFlow,
  CLOSED_BEFORE_ANSWER,
  decide,
  type FlowRules,
  NEW_FLOW,
} from "../../../src/domain/calls/call-flow.ts";
import type { CallEffect, CallSignal, TimerName } from "../../../src/domain/calls/call-signal.ts";
import type { DialProgress } from "../../../src/domain/calls/dial-progress.ts";
import type { StartRules } from "../../../src/domain/calls/message-start.ts";
import { COMPLETED_REASONS, FAILED_REASONS } from "../../../src/domain/calls/outcome.ts";
import type { ReleaseCause } from "../../../src/domain/calls/release-cause.ts";
import { DEFAULT_TIMINGS } from "../../../src/domain/timings.ts";
import { LINE_TONES, type LineTone, TONE_MEANINGS, toneText } from "../../../src/domain/tones/line-tones.ts";
import { fuzz } from "../../support/fuzz.ts";

const RULES: FlowRules = {
  timings: DEFAULT_TIMINGS,
  expectsInboundAudio: false,
  isStreamed: false,
  playedReason: "message_played",
  onMachine: "continue",
  onScreening: "continue",
  hasFixedMessage: true,
  start: { extension: undefined, startOn: "answer", startDelayMs: 0 },
};
const EXPECTS_AUDIO: FlowRules = { ...RULES, expectsInboundAudio: true };
const HANG_UP: FlowRules = { ...RULES, onMachine: "hang_up" };
const LEAVE_MESSAGE: FlowRules = { ...RULES, onMachine: "leave_message" };
const STREAMED: FlowRules = { ...RULES, isStreamed: true };

const placed: CallSignal = { type: "placed" };
const answered: CallSignal = { type: "answered" };
const connected: CallSignal = { type: "connected" };
const inbound: CallSignal = { type: "inbound_audio" };
const evidence: CallSignal = { type: "evidence" };
const played: CallSignal = { type: "message_played" };
const messageReady = (messageMs: number): CallSignal => ({ type: "message_ready", messageMs });
const ended = (cause: ReleaseCause, detail: string | null = null): CallSignal => ({ type: "leg_ended", cause, detail });
const timer = (name: TimerName, inboundSince = false): CallSignal => ({ type: "timer", name, inboundSince });
const unansweredAt = (progress: DialProgress | undefined): CallSignal => ({
  type: "timer",
  name: "ring",
  inboundSince: false,
  progress,
});
const lineDown: CallSignal = { type: "line_down", reason: "gone" };
const attached: CallSignal = { type: "stream_attached" };
const detached: CallSignal = { type: "stream_detached" };
const closed: CallSignal = { type: "stream_closed" };
const lineUp = (inboundSince: boolean): CallSignal => ({ type: "line_up", inboundSince });

const verdict = (answeredBy: AnsweredBy): CallSignal => ({
  type: "answered_by",
  verdict: { answeredBy, reason: "beep", confidence: 0.9, atMs: 2_000 },
});
const machine = verdict("machine");
const greetingEnded = (end: GreetingEnd): CallSignal => ({ type: "greeting_over", end });

const RINGING = [placed];
const ANSWERED = [placed, answered];
const TALKING = [placed, answered, connected];

/** Given a state, when an input arrives, then these effects follow. */
function given(before: readonly CallSignal[], rules: FlowRules = RULES, missingEvidence?: string) {
  const flow = before.reduce<CallFlow>((state, signal) => decide(state, signal, rules, missingEvidence).flow, NEW_FLOW);
  return {
    flow,
    when(...signals: CallSignal[]) {
      let state = flow;
      const effects: CallEffect[] = [];
      for (const signal of signals) {
        const decision = decide(state, signal, rules, missingEvidence);
        state = decision.flow;
        effects.push(...decision.effects);
      }
      return {
        flow: state,
        effects,
        ends: (input: "complete" | "fail", reason: string, detail?: string | null) => {
          expect(state.phase).toBe("over");
          expect(effects).toContainEqual({ do: "hang_up" });
          expect(effects.at(-1)).toMatchObject({
            do: "conclude",
            input,
            reason,
            ...(detail === undefined ? {} : { detail }),
          });
        },
        hasNoEffect: () => {
          expect(effects).toEqual([]);
          expect(state).toEqual(flow);
        },
      };
    },
  };
}

describe("dialling", () => {
  test("starts with a time limit for the network", () => {
    expect(beginFlow(RULES)).toEqual({
      flow: NEW_FLOW,
      effects: [{ do: "timer", name: "ring", ms: DEFAULT_TIMINGS.ringTimeoutMs }],
    });
  });

  test("becomes RINGING once the peer has been asked", () => {
    const afterPlaced = given([]).when(placed);
    expect(afterPlaced.flow.phase).toBe("ringing");
    expect(afterPlaced.effects).toEqual([
      { do: "move", input: "place" },
      { do: "timer", name: "ring", ms: DEFAULT_TIMINGS.ringTimeoutMs },
    ]);
    given(RINGING).when(placed).hasNoEffect();
  });

  test("ends as unreachable if the network does not accept it", () => {
    given([]).when(timer("ring")).ends("fail", "unreachable");
  });

  test("returns to the queue if the line is lost before the network was asked", () => {
    const afterLoss = given([]).when(ended("line_lost"));
    expect(afterLoss.effects).toEqual([{ do: "requeue" }]);
    expect(afterLoss.flow.phase).toBe("over");
  });

  test("survives a short loss of the line, and fails with a lasting one", () => {
    expect(given([]).when(lineDown, lineUp(false)).flow.phase).toBe("dialing");
    expect(given([]).when(lineDown).effects).toEqual([]);
    expect(given([lineDown]).when(placed).effects).toContainEqual({
      do: "timer",
      name: "line",
      ms: DEFAULT_TIMINGS.lineLossMs,
    });
    given([lineDown, placed]).when(timer("line")).ends("fail", "instance_lost");
  });

  test.each(["answered", "alerting"] as const)("does not trust %s before a peer has been asked", (type) => {
    given([]).when({ type }).hasNoEffect();
  });
});

describe("ringing", () => {
  test.each([
    ["busy", "busy"],
    ["declined", "declined"],
    ["callee_hung_up", "declined"],
    ["no_answer", "no_answer"],
    ["unreachable", "unreachable"],
    ["number_invalid", "number_invalid"],
    ["rejected_by_network", "rejected_by_network"],
    ["media_failed", "media_failed"],
    ["line_lost", "instance_lost"],
    ["released", "internal_error"],
    ["internal_error", "internal_error"],
  ] as const)("that ends with %s fails as %s, with the raw cause", (cause, reason) => {
    given(RINGING).when(ended(cause, "486 Busy Here")).ends("fail", reason, "486 Busy Here");
  });

  test.each<[string, CallSignal]>([
    ["ringing", { type: "alerting" }],
    ["audio before the answer", { type: "noticed", fact: { event: "early_media", data: {} } }],
  ])("for too long is no answer after %s", (_, signal) => {
    given([...RINGING, signal])
      .when(timer("ring"))
      .ends("fail", "no_answer");
  });

  test("for too long is no answer if the dial got further than its events reported", () => {
    given(RINGING)
      .when(unansweredAt({ reached: true, detail: null }))
      .ends("fail", "no_answer");
  });

  test.each([
    [undefined, "the network took the call, but reported no ringing within 60 s"],
    [null, "the network took the call, but reported no ringing within 60 s"],
    ["the trunk did not respond", "the trunk did not respond within 60 s"],
  ])("for too long is unreachable without any sign of the callee: %j", (detail, text) => {
    const progress = detail === undefined ? undefined : { reached: false, detail };
    given(RINGING).when(unansweredAt(progress)).ends("fail", "unreachable", text);
  });

  test("is recorded if the peer reports it", () => {
    expect(given(RINGING).when({ type: "alerting" }).effects).toEqual([
      { do: "note", fact: { event: "alerting", data: {} } },
    ]);
  });

  test("ends with a connection even if the network reports no answer", () => {
    expect(given(RINGING).when(connected).effects).toContainEqual({ do: "move", input: "connect" });
  });
});

describe("an answered call", () => {
  test("is not yet IN_PROGRESS: the media path has a time limit", () => {
    expect(given(RINGING).when(answered)).toMatchObject({
      flow: { phase: "answered" },
      effects: [
        { do: "cancel", name: "ring" },
        { do: "timer", name: "setup", ms: DEFAULT_TIMINGS.mediaSetupMs },
      ],
    });
  });

  test("fails as media_failed without media in time", () => {
    given(ANSWERED).when(timer("setup")).ends("fail", "media_failed");
  });

  test("fails as media_failed if it is released before the media path is up", () => {
    given(ANSWERED).when(ended("callee_hung_up")).ends("fail", "media_failed");
  });

  test("is IN_PROGRESS once connected, with both timers armed", () => {
    expect(given(ANSWERED).when(connected).effects).toEqual([
      { do: "move", input: "connect" },
      { do: "cancel", name: "ring" },
      { do: "cancel", name: "setup" },
      { do: "timer", name: "duration", ms: DEFAULT_TIMINGS.maxDurationMs },
      { do: "timer", name: "inbound", ms: DEFAULT_TIMINGS.mediaTimeoutMs },
    ]);
    given(TALKING).when(connected).hasNoEffect();
  });

  test("is not watched once audio has arrived", () => {
    const { effects } = given([placed, answered, inbound]).when(connected);
    expect(effects).not.toContainEqual(expect.objectContaining({ do: "timer", name: "inbound" }));
  });
});

describe("talking", () => {
  test("ends when the message has been played", () => {
    given(TALKING).when(played).ends("complete", "message_played");
  });

  test("ends if the message had ended before the network reported the connection", () => {
    expect(given(ANSWERED).when(played).effects).toEqual([]);
    const lateConnection = given([...ANSWERED, played]).when(connected);
    lateConnection.ends("complete", "message_played");
    expect(lateConnection.effects[0]).toEqual({ do: "move", input: "connect" });
  });

  test("ends as completed when the callee hangs up", () => {
    given(TALKING).when(ended("callee_hung_up", "BYE")).ends("complete", "callee_hung_up", "BYE");
  });

  test.each([
    ["line_lost", "instance_lost"],
    ["media_failed", "media_failed"],
    ["unreachable", "unreachable"],
  ] as const)("ends as failed when the leg is released by %s", (cause, reason) => {
    given(TALKING).when(ended(cause)).ends("fail", reason);
  });

  test("ends when media is lost", () => {
    given(TALKING).when({ type: "media_lost", detail: "no packets" }).ends("fail", "media_failed", "no packets");
  });

  test("ends after the maximum duration", () => {
    given(TALKING).when(timer("duration")).ends("complete", "max_duration");
  });

  test("counts the maximum duration from the end of the message, whenever that was ready", () => {
    const { maxDurationMs } = DEFAULT_TIMINGS;
    const duration = { do: "timer", name: "duration", ms: 600_000 + maxDurationMs };
    expect(given([placed, messageReady(600_000), answered]).when(connected).effects).toContainEqual(duration);
    expect(given([messageReady(600_000), placed, answered]).when(connected).effects).toContainEqual(duration);
    expect(given(TALKING).when(messageReady(600_000)).effects).toContainEqual(duration);
  });

  test("fails when the message cannot be made", () => {
    const messageFailed: CallSignal = { type: "message_failed", reason: "speech_failed", detail: "the engine crashed" };
    for (const before of [[], RINGING, ANSWERED, TALKING])
      given(before).when(messageFailed).ends("fail", "speech_failed", "the engine crashed");
  });

  test("stores noticed facts", () => {
    const noticedFact = { type: "noticed", fact: { event: "dtmf", data: { digit: "1" } } } as const;
    expect(given(TALKING).when(noticedFact).effects).toEqual([{ do: "note", fact: noticedFact.fact }]);
  });
});

describe("the watch for inbound audio", () => {
  const silenceNote = {
    do: "note",
    fact: { event: "media.inbound_silent", data: { after_ms: DEFAULT_TIMINGS.mediaTimeoutMs } },
  };

  test("only records the silence if silence proves nothing", () => {
    const afterTimeout = given(TALKING).when(timer("inbound"));
    expect(afterTimeout.effects).toEqual([silenceNote]);
    expect(afterTimeout.flow.phase).toBe("talking");
  });

  test("ends the call if inbound audio was certain", () => {
    const afterTimeout = given(TALKING, EXPECTS_AUDIO).when(timer("inbound"));
    expect(afterTimeout.effects[0]).toEqual(silenceNote);
    afterTimeout.ends("fail", "media_failed");
  });

  test("ends with the first frame", () => {
    expect(given(TALKING, EXPECTS_AUDIO).when(inbound).effects).toEqual([{ do: "cancel", name: "inbound" }]);
    given([...TALKING, inbound], EXPECTS_AUDIO)
      .when(timer("inbound"))
      .hasNoEffect();
  });

  test("decides about a message that ended before the first inbound frame", () => {
    const afterMessage = given(TALKING, EXPECTS_AUDIO).when(played);
    expect(afterMessage.effects).toEqual([]);
    given([...TALKING, played], EXPECTS_AUDIO)
      .when(inbound)
      .ends("complete", "message_played");
    given([...TALKING, played], EXPECTS_AUDIO)
      .when(timer("inbound"))
      .ends("fail", "media_failed");
    given([...TALKING, played], EXPECTS_AUDIO)
      .when(ended("callee_hung_up"))
      .ends("complete", "callee_hung_up");
  });

  test("does not hold back a message if audio has arrived", () => {
    given([...TALKING, inbound], EXPECTS_AUDIO)
      .when(played)
      .ends("complete", "message_played");
  });
});

describe("a call without evidence of the callee's side", () => {
  const NO_EVIDENCE = "no audio arrived";
  const withoutEvidence = (before: readonly CallSignal[]) => given(before, RULES, NO_EVIDENCE);

  test("is completed by the callee's normal hang-up", () => {
    withoutEvidence(TALKING).when(ended("callee_hung_up", "BYE")).ends("complete", "callee_hung_up", "BYE");
    withoutEvidence([...TALKING, played])
      .when(ended("callee_hung_up"))
      .ends("complete", "callee_hung_up");
  });

  test("fails if a fault on its side hangs up", () => {
    const fault = { ...ended("callee_hung_up", "BYE"), fault: true };
    withoutEvidence(TALKING).when(fault).ends("fail", "media_failed", `${NO_EVIDENCE}; BYE`);
    given(TALKING).when(fault).ends("complete", "callee_hung_up", "BYE");
  });

  test("fails, however else it would have been completed", () => {
    withoutEvidence(TALKING).when(timer("duration")).ends("fail", "media_failed", NO_EVIDENCE);
    given([...TALKING, attached], STREAMED, NO_EVIDENCE)
      .when(closed)
      .ends("fail", "media_failed", NO_EVIDENCE);
  });

  test("fails for the same reason as with evidence", () => {
    withoutEvidence(TALKING).when(ended("unreachable", "480")).ends("fail", "unreachable", "480");
    withoutEvidence(RINGING).when(ended("busy")).ends("fail", "busy");
  });

  test("waits after a short message for evidence, at most as long as for inbound audio", () => {
    expect(withoutEvidence(TALKING).when(played).effects).toEqual([]);
    withoutEvidence([...TALKING, played])
      .when(timer("inbound"))
      .ends("fail", "media_failed", NO_EVIDENCE);
    withoutEvidence([...TALKING, timer("inbound")])
      .when(played)
      .ends("fail", "media_failed", NO_EVIDENCE);
  });

  test("is completed by evidence that arrives while it waits", () => {
    const { flow } = withoutEvidence([...TALKING, played]);
    for (const signal of [inbound, timer("inbound"), evidence])
      expect(decide(flow, signal, RULES).effects.at(-1)).toMatchObject({
        input: "complete",
        reason: "message_played",
      });
  });
});

describe("a line that goes down during a call", () => {
  test.each([
    ["ringing", RINGING],
    ["answered", ANSWERED],
    ["talking", TALKING],
  ] as const)("while it is %s grants the call a second", (_, before) => {
    expect(given(before).when(lineDown).effects).toEqual([
      { do: "timer", name: "line", ms: DEFAULT_TIMINGS.lineLossMs },
    ]);
    given([...before, lineDown])
      .when(lineDown)
      .hasNoEffect();
    given([...before, lineDown])
      .when(timer("line"))
      .ends("fail", "instance_lost");
  });

  test("grants the call one more second, repeatedly, if its audio continues", () => {
    const afterTimer = given([...TALKING, lineDown]).when(timer("line", true));
    expect(afterTimer.effects).toEqual([{ do: "timer", name: "line", ms: DEFAULT_TIMINGS.lineLossMs }]);
    expect(afterTimer.flow.phase).toBe("talking");
  });

  test("ends the call when it returns if the audio has stopped", () => {
    given([...TALKING, lineDown])
      .when(lineUp(false))
      .ends("fail", "instance_lost");
    expect(given([...TALKING, lineDown]).when(lineUp(true)).effects).toEqual([
      { do: "timer", name: "line", ms: DEFAULT_TIMINGS.lineLossMs },
    ]);
    given([...TALKING, lineDown, lineUp(true)])
      .when(timer("line", true))
      .hasNoEffect();
  });

  test("ends the call after its return if the audio stops", () => {
    given([...TALKING, lineDown, lineUp(true)])
      .when(timer("line"))
      .ends("fail", "instance_lost", "the line came back without this call");
  });

  test("has no effect if it comes up without having been down", () => {
    given(TALKING).when(lineUp(false)).hasNoEffect();
  });
});

describe("a call with a live stream", () => {
  const streamTimer = { do: "timer", name: "stream", ms: DEFAULT_TIMINGS.streamAttachMs };

  test("has a time limit without an audio carrier, from the answer on", () => {
    expect(given(ANSWERED, STREAMED).when(connected).effects).toContainEqual(streamTimer);
    given(TALKING, STREAMED)
      .when(timer("stream"))
      .ends("fail", "stream_lost", `no client was attached to the stream for ${DEFAULT_TIMINGS.streamAttachMs} ms`);
  });

  test("has no such limit while a client is attached, or before the answer", () => {
    expect(given([...ANSWERED, attached], STREAMED).when(connected).effects).not.toContainEqual(streamTimer);
    expect(given(ANSWERED, STREAMED).when(attached, detached).effects).not.toContainEqual(streamTimer);
    expect(given([...ANSWERED, attached, detached], STREAMED).when(connected).effects).toContainEqual(streamTimer);
  });

  test("waits for a client that left, until it returns", () => {
    expect(given([...TALKING, attached], STREAMED).when(detached).effects).toEqual([streamTimer]);
    expect(given([...TALKING, attached, detached], STREAMED).when(attached).effects).toEqual([
      { do: "cancel", name: "stream" },
    ]);
    given([...TALKING, attached, detached, attached], STREAMED)
      .when(timer("stream"))
      .hasNoEffect();
  });

  test("is COMPLETED by its client once the callee has answered, and FAILED before", () => {
    given([...TALKING, attached], STREAMED)
      .when(closed)
      .ends("complete", "stream_closed", null);
    for (const before of [[], RINGING, ANSWERED])
      given([...before, attached], STREAMED)
        .when(closed)
        .ends("fail", "terminated", CLOSED_BEFORE_ANSWER);
  });

  test("lasts no longer than any other call", () => {
    const duration = { do: "timer", name: "duration", ms: DEFAULT_TIMINGS.maxDurationMs };
    expect(given(ANSWERED, STREAMED).when(connected).effects).toContainEqual(duration);
    given([...TALKING, attached], STREAMED)
      .when(timer("duration"))
      .ends("complete", "max_duration");
  });
});

describe("a call without a stream", () => {
  test("has no time limit without an audio carrier", () => {
    const { effects } = given(ANSWERED).when(connected);
    expect(effects).not.toContainEqual(expect.objectContaining({ name: "stream" }));
  });
});

describe("a request to end the call", () => {
  const end: CallSignal = { type: "end", reason: "terminated", detail: null };
  test.each([
    ["dialling", []],
    ["ringing", RINGING],
    ["answered", ANSWERED],
    ["talking", TALKING],
  ] as const)("while %s hangs up and fails the call", (_, before) => {
    given(before).when(end).ends("fail", "terminated");
  });
});

describe("a timer that fires too late", () => {
  test.each([
    ["ring", ANSWERED],
    ["ring", TALKING],
    ["setup", TALKING],
    ["setup", RINGING],
    ["inbound", ANSWERED],
    ["duration", RINGING],
    ["stream", ANSWERED],
    ["stream", [...TALKING, attached]],
  ] as const)("%s no longer has an effect", (name, before) => {
    given(before).when(timer(name)).hasNoEffect();
  });
});

describe("a machine that answers", () => {
  const noteEffect = {
    do: "note",
    fact: { event: "answered_by", data: { answered_by: "machine", reason: "beep", confidence: 0.9, at_ms: 2_000 } },
  };

  test("is recorded, and the call continues, unless the call requests more", () => {
    const decision = given(TALKING).when(machine);
    expect(decision.effects).toEqual([noteEffect]);
    expect(decision.flow.answeredBy).toBe("machine");
    given([...TALKING, inbound, machine])
      .when(played)
      .ends("complete", "message_played");
  });

  test("ends the call on request, even after the message", () => {
    given(TALKING, HANG_UP).when(machine).ends("complete", "machine_hung_up");
    const afterMessage = given([...TALKING, inbound], HANG_UP).when(played);
    expect(afterMessage.effects).toEqual([{ do: "timer", name: "machine", ms: VERDICT_WAIT_MS }]);
    given([...TALKING, inbound, played], HANG_UP)
      .when(machine)
      .ends("complete", "machine_hung_up");
    given([...TALKING, inbound, played], HANG_UP)
      .when(verdict("human"))
      .ends("complete", "message_played");
    given([...TALKING, inbound, played], HANG_UP)
      .when(timer("machine"))
      .ends("complete", "message_played");
  });

  test("stops the message until it records, then restarts it", () => {
    const stoppedMessage = given([...TALKING, inbound, played], LEAVE_MESSAGE).when(machine);
    expect(stoppedMessage.effects).toEqual([
      noteEffect,
      { do: "await_voicemail" },
      { do: "timer", name: "machine", ms: VOICEMAIL_WAIT_MS },
    ]);
    const leavingMessage = given([...TALKING, inbound, messageReady(3_000), machine], LEAVE_MESSAGE);
    leavingMessage.when(played).hasNoEffect();
    const startedMessage = leavingMessage.when(greetingEnded("beep"));
    expect(startedMessage.effects).toEqual([
      { do: "cancel", name: "machine" },
      { do: "note", fact: { event: "leaving_message", data: { after: "beep" } } },
      { do: "timer", name: "duration", ms: 3_000 + DEFAULT_TIMINGS.maxDurationMs },
      { do: "leave_message" },
    ]);
    leavingMessage.when(greetingEnded("beep"), played).ends("complete", "message_played");
  });

  test("eventually gets the message without a beep, and again after a late beep", () => {
    const leavingMessage = given([...TALKING, inbound, machine], LEAVE_MESSAGE);
    expect(leavingMessage.when(timer("machine")).flow.voicemail).toBe("timeout");
    const afterSilence = leavingMessage.when(greetingEnded("silence"), greetingEnded("beep"));
    expect(afterSilence.effects.filter((effect) => effect.do === "leave_message")).toHaveLength(2);
    given([...TALKING, inbound, machine, greetingEnded("beep")], LEAVE_MESSAGE)
      .when(greetingEnded("beep"), greetingEnded("silence"))
      .hasNoEffect();
  });

  test("follows a corrected verdict", () => {
    const afterMachine = given([...TALKING, inbound, verdict("human")], LEAVE_MESSAGE).when(machine);
    expect(afterMachine.effects).toContainEqual({ do: "await_voicemail" });
    expect(afterMachine.flow.answeredBy).toBe("machine");
  });

  test("can be reported by the agent, whatever the call requests", () => {
    const decision = given([...TALKING, inbound, verdict("human")]).when({ type: "leave_voicemail", atMs: 9_000 });
    expect(decision.effects).toEqual([
      {
        do: "note",
        fact: { event: "answered_by", data: { answered_by: "machine", reason: "agent", confidence: 1, at_ms: 9_000 } },
      },
      { do: "await_voicemail" },
      { do: "timer", name: "machine", ms: VOICEMAIL_WAIT_MS },
    ]);
    given(RINGING).when({ type: "leave_voicemail", atMs: 0 }).hasNoEffect();
  });
});

const lineTone = (tone: LineTone, answeredBy?: AnsweredBy): CallSignal => ({
  type: "line_tone",
  finding: { tone, hz: [425], atMs: 500 },
  verdict: answeredBy && { answeredBy, reason: "network_tone", confidence: 0.95, atMs: 3_000 },
});
const toneSuspected = (isSuspected: boolean): CallSignal => ({ type: "tone_suspected", isSuspected });

describe("a network or fax tone", () => {
  test.each(LINE_TONES.filter((tone) => TONE_MEANINGS[tone].endsCall))(
    "%s ends the call under every policy",
    (tone) => {
      for (const rules of [RULES, HANG_UP, LEAVE_MESSAGE])
        given([...TALKING, inbound, messageReady(9_000)], rules)
          .when(lineTone(tone, "machine"))
          .ends("complete", "machine_hung_up");
      const { effects } = given([...TALKING, inbound]).when(lineTone(tone, "machine"));
      expect(effects).toContainEqual({ do: "discard_message" });
      expect(effects).toContainEqual(expect.objectContaining({ detail: toneText({ tone, hz: [425] }) }));
    },
  );

  test("ends a call that dials an extension as well, except for the dial tone of a switchboard", () => {
    const rules: FlowRules = { ...RULES, start: { extension: ",,12", startOn: "answer", startDelayMs: 0 } };
    given([...TALKING, inbound], rules)
      .when(lineTone("fax", "fax"))
      .ends("complete", "machine_hung_up");
    given([...TALKING, inbound], rules)
      .when(lineTone("busy", "machine"))
      .ends("complete", "machine_hung_up");
    expect(given([...TALKING, inbound], rules).when(lineTone("continuous", "machine")).flow.phase).toBe("talking");
  });

  test("is only recorded for a stream, whose program decides", () => {
    const { effects, flow } = given([...TALKING, attached, inbound], STREAMED).when(lineTone("fax", "fax"));
    expect(effects.map((effect) => effect.do)).toEqual(["note", "note"]);
    expect(flow).toMatchObject({ phase: "talking", answeredBy: "fax" });
  });

  test("ends a call as hung up if it is busy after a person, and not if it is information", () => {
    const afterHuman = given([...TALKING, inbound, verdict("human")]);
    afterHuman.when(lineTone("busy")).ends("complete", "callee_hung_up");
    afterHuman.when(lineTone("special_information", "machine")).ends("complete", "machine_hung_up");
  });

  test("that is still uncertain delays the end of the call", () => {
    const afterMessage = given([...TALKING, inbound, toneSuspected(true)]).when(played);
    expect(afterMessage.effects).toEqual([{ do: "timer", name: "machine", ms: TONE_WAIT_MS }]);
    const before = [...TALKING, inbound, toneSuspected(true), played];
    given(before).when(toneSuspected(false)).ends("complete", "message_played");
    given(before).when(timer("machine")).ends("complete", "message_played");
    given(before).when(lineTone("busy", "machine")).ends("complete", "machine_hung_up");
  });
});

describe("a phone that rings behind a switchboard", () => {
  const ringingSignals = [...TALKING, inbound, messageReady(3_000), lineTone("ringback")];

  test("stops the message until a person answers", () => {
    const { effects } = given([...TALKING, inbound]).when(lineTone("ringback"));
    expect(effects.slice(1)).toEqual([
      { do: "await_person", reason: "ringing" },
      { do: "timer", name: "machine", ms: PERSON_WAIT_MS },
    ]);
    given(ringingSignals).when(played).hasNoEffect();
    const afterPerson = given(ringingSignals).when({ type: "person_came", verdict: undefined });
    expect(afterPerson.effects).toContainEqual({ do: "leave_message" });
    given([...ringingSignals, { type: "person_came", verdict: undefined }])
      .when(played)
      .ends("complete", "message_played");
  });

  test("ends the call if no person answers", () => {
    given(ringingSignals).when(timer("machine")).ends("complete", "machine_hung_up");
  });

  test("has no effect for an agent, for a voicemail box, and late in the call", () => {
    const noteOnly = (before: readonly CallSignal[], rules: FlowRules, signal = lineTone("ringback")) =>
      expect(given(before, rules).when(signal).effects).toHaveLength(1);
    noteOnly([...TALKING, inbound], { ...RULES, hasFixedMessage: false });
    noteOnly([...TALKING, inbound, machine], LEAVE_MESSAGE);
    const lateVerdict: CallSignal = {
      type: "line_tone",
      finding: { tone: "ringback", hz: [425], atMs: 21_000 },
      verdict: undefined,
    };
    noteOnly([...TALKING, inbound], RULES, lateVerdict);
  });
});

describe("a call-screening assistant", () => {
  const screeningVerdict = verdict("screening");
  const INTRODUCE: FlowRules = { ...RULES, onScreening: { say: "This is Acme." } };

  test("hears the message by default, and ends the call on request", () => {
    given([...TALKING, inbound, screeningVerdict])
      .when(played)
      .ends("complete", "message_played");
    given([...TALKING, inbound], { ...RULES, onScreening: "hang_up" })
      .when(screeningVerdict)
      .ends("complete", "machine_hung_up");
  });

  test("gets the introduction; the message waits", () => {
    const { effects, flow } = given([...TALKING, inbound, machine], INTRODUCE).when(screeningVerdict);
    expect(effects).toContainEqual({ do: "await_person", reason: "screening" });
    expect(flow).toMatchObject({ awaitedPerson: "screening", voicemail: undefined });
  });

  test("may be recognised after the message, because its words arrive after its voice", () => {
    const before = [...TALKING, inbound, played];
    const introduction = given(before, INTRODUCE).when(verdict("human"));
    expect(introduction.effects).toContainEqual({ do: "timer", name: "machine", ms: WORDS_WAIT_MS });
    expect(introduction.flow.phase).toBe("talking");
    given([...before, verdict("human")], INTRODUCE)
      .when(timer("machine"))
      .ends("complete", "message_played");
    expect(given([...before, verdict("human")], INTRODUCE).when(screeningVerdict).flow.awaitedPerson).toBe("screening");
  });

  test("is no longer awaited once a voicemail box records", () => {
    const bothRules: FlowRules = { ...INTRODUCE, onMachine: "leave_message" };
    given([...TALKING, inbound, verdict("human"), machine, greetingEnded("beep")], bothRules)
      .when(played)
      .ends("complete", "message_played");
  });
});

const signals: fc.Arbitrary<CallSignal> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(placed, answered, connected) },
  {
    weight: 2,
    arbitrary: fc.constantFrom<CallSignal>(
      { type: "alerting" },
      inbound,
      evidence,
      lineDown,
      lineUp(true),
      lineUp(false),
    ),
  },
  { weight: 2, arbitrary: fc.constantFrom(attached, detached, attached, detached, closed) },
  { weight: 2, arbitrary: fc.nat(1_000_000).map(messageReady) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom<TimerName>("ring", "setup", "inbound", "duration", "line", "stream"), fc.boolean())
      .map(([name, inboundSince]) => timer(name, inboundSince)),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<CallSignal>(
      played,
      machine,
      verdict("human"),
      verdict("unknown"),
      greetingEnded("beep"),
      greetingEnded("silence"),
      { type: "leave_voicemail", atMs: 1_000 },
      verdict("screening"),
      lineTone("ringback"),
      lineTone("busy"),
      toneSuspected(true),
      toneSuspected(false),
      timer("machine"),
      { type: "person_came", verdict: undefined },
      { type: "noticed", fact: { event: "dtmf", data: { digit: "1" } } },
      { type: "media_lost", detail: "lost" },
      { type: "message_failed", reason: "speech_failed", detail: "failed" },
      { type: "end", reason: "terminated", detail: null },
      ended("callee_hung_up"),
      ended("busy"),
      ended("line_lost"),
      ended("released"),
    ),
  },
);

fuzz(
  "a call ends exactly once: with a conclusion and a hang-up, or back in its queue",
  fc.property(
    fc.array(signals, { maxLength: 60 }),
    fc.boolean(),
    fc.boolean(),
    fc.boolean(),
    fc.constantFrom(...MACHINE_POLICIES),
    fc.constantFrom<OnScreening>("continue", "hang_up", { say: "This is Acme." }),
    (sequence, expectsInboundAudio, isStreamed, isUnproven, onMachine, onScreening) => {
      const rules = { ...RULES, expectsInboundAudio, isStreamed, onMachine, onScreening };
      let flow = beginFlow(rules).flow;
      let status: CallStatus = "QUEUED";
      let endCount = 0;
      let hasHungUp = false;
      let isWatched = false;
      // The leg's end is always the last event.
      for (const signal of [...sequence, ended("unreachable")]) {
        const decision = decide(flow, signal, rules, isUnproven ? "no audio arrived" : undefined);
        flow = decision.flow;
        for (const effect of decision.effects) {
          expect(endCount, "an effect after the end").toBe(0);
          if (effect.do === "hang_up") hasHungUp = true;
          if (effect.do === "move" || effect.do === "conclude") {
            const next: CallStatus | undefined = nextState(CALL_TRANSITIONS, status, effect.input);
            expect(next, `${effect.input} in ${status}`).toBeDefined();
            status = next ?? status;
          }
          if (effect.do === "conclude") {
            expect(hasHungUp, "hung up before the end is written").toBe(true);
            const reasons: readonly string[] = effect.input === "complete" ? COMPLETED_REASONS : FAILED_REASONS;
            expect(reasons).toContain(effect.reason);
            endCount++;
          }
          if (effect.do === "requeue") {
            expect(status, "no peer was asked").toBe("QUEUED");
            endCount++;
          }
          if (effect.do === "timer") expect(effect.ms).toBeGreaterThan(0);
          if ((effect.do === "timer" || effect.do === "cancel") && effect.name === "stream")
            isWatched = effect.do === "timer";
        }
        if (isStreamed && flow.phase === "talking")
          expect(isWatched, "no client carries the audio").toBe(!flow.isAttached);
        expect(flow.phase === "over").toBe(endCount === 1);
      }
      expect(endCount).toBe(1);
    },
  ),
);

/** Signals that start or end a wait of a call. */
const waitSignal: fc.Arbitrary<CallSignal> = fc.constantFrom<CallSignal>(
  played,
  evidence,
  ...(["human", "machine", "screening", "fax", "unknown"] as const).map(verdict),
  greetingEnded("beep"),
  greetingEnded("silence"),
  { type: "leave_voicemail", atMs: 1_000 },
  lineTone("ringback"),
  toneSuspected(true),
  toneSuspected(false),
  { type: "person_came", verdict: undefined },
  { type: "extension_dialled", inBand: false },
  { type: "first_word", hasEnded: false },
  { type: "first_word", hasEnded: true },
  ...(["machine", "start", "inbound"] as const).map((name) => timer(name)),
);

fuzz(
  "a call whose message has been played ends before its maximum duration, whatever it waited for",
  fc.property(
    fc.array(waitSignal, { maxLength: 12 }),
    fc.constantFrom(...MACHINE_POLICIES),
    fc.constantFrom<OnScreening>("continue", "hang_up", { say: "This is Acme." }),
    fc.constantFrom<StartRules>(
      RULES.start,
      { startOn: "first_word", startDelayMs: 0 },
      { startOn: "first_word", startDelayMs: 500, extension: "12" },
    ),
    (sequence, onMachine, onScreening, start) => {
      const rules = { ...RULES, onMachine, onScreening, start };
      const armedTimers = new Set<TimerName>();
      let flow = beginFlow(rules).flow;
      const apply = (signal: CallSignal): void => {
        if (signal.type === "timer" && !armedTimers.delete(signal.name)) return;
        const decision = decide(flow, signal, rules);
        flow = decision.flow;
        for (const effect of decision.effects) {
          if (effect.do === "timer") armedTimers.add(effect.name);
          if (effect.do === "cancel") armedTimers.delete(effect.name);
        }
      };
      for (const signal of [...TALKING, ...sequence, { type: "extension_dialled", inBand: false } as const])
        apply(signal);
      // The end of a wait may start or restart the message.
      for (let round = 0; round < 3; round++) {
        for (const name of ["start", "machine", "inbound"] as const) apply(timer(name));
        if (flow.start === "ready") apply(played);
      }
      for (const name of ["machine", "inbound"] as const) apply(timer(name));
      expect(flow.phase, JSON.stringify(flow)).toBe("over");
    },
  ),
);
