import { expect, test } from "vitest";
import { sourceFiles } from "./source-files.ts";

/** Files that may throw an `Error` without a code, because it never leaves Ringport as it is. */
const UNCODED: readonly (readonly [path: string, reason: string])[] = [
  ["src/testing/", "fails a test of the adapter's author"],
  ["src/base/record-format.ts", "the caller reads a damaged record as a missing one"],
  ["src/base/printable-cause.ts", "copies a cause without its secrets"],
  ["src/audio/voice/spoken-length.ts", "becomes the cause of SpeechFailed"],
  ["src/application/call-audio/agents/incoming-audio.ts", "fails the agent"],
  ["src/client/stream/stream-connection.ts", "tells partysocket not to connect"],
  ["adapters/agent/", "fails the agent, or is the result of a tool"],
  ["adapters/audio/", "leaves a worker as PoolError, then becomes AudioUnsupported"],
  ["adapters/cli/", "ends the command"],
  ["adapters/console/pages/", "stays in the browser"],
  ["adapters/engine-http/", "becomes the cause of an engine's error"],
  ["adapters/public-http/", "becomes the cause of a failed request"],
  ["adapters/sip-stack/", "becomes a DialError, or the detail of a refusal"],
  ["adapters/speech/", "becomes SpeechFailed"],
  ["adapters/telephony/", "a network's error becomes an outcome, or the detail of a refusal"],
  ["adapters/transcription/openai-batch.ts", "becomes TranscriptionFailed"],
  ["adapters/user-hosts/", "becomes the cause of a failed request"],
];

const THROWN = /(?:\b(?:throw|return)\s+|\breject\()new Error\(/;

test("every class of an error extends CodedError", () => {
  const others = sourceFiles().flatMap(({ path, text }) =>
    [...text.matchAll(/class (\w+)(?:<[^>]*>)? extends \w*(?:Error|Exception)\b/g)]
      .map(([found]) => found)
      .filter((found) => !/ extends (?:CodedError|RingportError|TransportError)$/.test(found))
      .map((found) => `${path}: ${found}`),
  );
  expect(others).toEqual(["src/base/error.ts: class CodedError extends Error"]);
});

test("an error that leaves Ringport has a code", () => {
  const uncoded = sourceFiles()
    .filter(({ path, text }) => THROWN.test(text) && !UNCODED.some(([place]) => path.startsWith(place)))
    .map(({ path }) => path);
  expect(uncoded).toEqual([]);
});

test("every exception to the rule is in use", () => {
  const throwing = sourceFiles().filter(({ text }) => THROWN.test(text));
  const stale = UNCODED.filter(([place]) => !throwing.some(({ path }) => path.startsWith(place)));
  expect(stale).toEqual([]);
});
