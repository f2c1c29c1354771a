import { describe, expect, test } from "vitest";
import { PRE_ROLL_MS, TurnDetector } from "../../../src/application/call-audio/transcripts/turn-detector.ts";
import { END_OF_TURN_MS } from "../../../src/domain/agents/end-of-turn.ts";
import type { VoiceActivity } from "../../../src/ports/voice-activity.ts";

const RATE = 8_000;
const FRAME_MS = 20;

/** A detector that recognises voice samples, with a hang-over. */
const voiceWithHangOver =
  (hangOverMs: number | undefined): VoiceActivity =>
  () => {
    let remainingMs = 0;
    return {
      hangOverMs,
      push(frame) {
        remainingMs = frame[0] === 0 ? remainingMs - FRAME_MS : (hangOverMs ?? 0) + FRAME_MS;
        return remainingMs > 0;
      },
    };
  };

/** Starts and ends of turns, ms, for alternating silence and voice, starting with silence. */
function turnsOf(hangOverMs: number | undefined, ...stretchesMs: number[]): [startMs: number, endMs: number][] {
  const turns: [number, number][] = [];
  let turn: [number, number] | undefined;
  const detector = new TurnDetector(RATE, voiceWithHangOver(hangOverMs), {
    onFrame(_, atMs) {
      turn ??= [atMs, 0];
      turn[1] = atMs + FRAME_MS;
    },
    onEnd() {
      if (turn) turns.push(turn);
      turn = undefined;
    },
  });
  let atMs = 0;
  for (const [i, ms] of stretchesMs.entries())
    for (let pushedMs = 0; pushedMs < ms; pushedMs += FRAME_MS, atMs += FRAME_MS)
      detector.push(new Int16Array(RATE / 50).fill(i % 2), atMs);
  return turns;
}

describe.each([undefined, 0, 120, 300, 480])("with a voice detector whose hang-over is %s ms", (hangOverMs) => {
  test("a turn ends 0.5 s after its voice", () => {
    expect(turnsOf(hangOverMs, 1_000, 500, 1_500, 2_000, 1_500)).toEqual([
      [1_000 - PRE_ROLL_MS, 1_500 + END_OF_TURN_MS],
      [3_000 - PRE_ROLL_MS, 5_000 + END_OF_TURN_MS],
    ]);
  });

  test("a pause shorter than half a second is part of the turn", () => {
    expect(turnsOf(hangOverMs, 1_000, 500, 480, 500, 1_000)).toEqual([[1_000 - PRE_ROLL_MS, 2_480 + END_OF_TURN_MS]]);
  });

  test("a click is not a turn, but the shortest word is", () => {
    expect(turnsOf(hangOverMs, 1_000, 40, 2_000)).toEqual([]);
    expect(turnsOf(hangOverMs, 1_000, 60, 2_000)).toHaveLength(1);
  });
});

test("a turn includes a hang-over longer than half a second", () => {
  expect(turnsOf(800, 1_000, 2_000, 2_000)).toEqual([[1_000 - PRE_ROLL_MS, 3_000 + 800 + FRAME_MS]]);
});
