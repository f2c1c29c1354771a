import { expect, test } from "vitest";
import { sourceFiles } from "./source-files.ts";

// A wrong argument of a program is a TypeError or a RangeError, as everywhere in JavaScript.

/** Files that may throw an `Error` without a code, with the reason why it never leaves Ringport unchanged. */
const UNCODED_ERRORS: readonly (readonly [reason: string, ...paths: string[]])[] = [
  ["fails a test of the adapter's author", "src/testing/"],
  ["the caller reads a damaged record as a missing one", "src/base/record-format.ts"],
  ["copies a cause without its secrets", "src/base/error.ts"],
  ["becomes the cause of SpeechFailed", "src/audio/voice/spoken-length.ts", "adapters/speech/http-speech.ts"],
  [
    "is listed as the fault of a model",
    "adapters/local-models/model-folder.ts",
    "adapters/local-models/voice-numbers.ts",
  ],
  [
    "leaves its process as a message, then becomes SpeechFailed or TranscriptionFailed",
    "adapters/local-models/host-engine.ts",
    "adapters/local-models/speech-host.ts",
    "adapters/local-models/speech-processes.ts",
  ],
  [
    "leaves a worker as PoolError, then becomes SpeechFailed",
    "adapters/speech/espeak-job.ts",
    "adapters/speech/flite-job.ts",
  ],
  [
    "becomes the cause of ChatFault",
    "adapters/agent/cascade/chat-client.ts",
    "adapters/agent/cascade/model-completion.ts",
  ],
  ["fails the agent", "src/application/call-audio/agents/agent-audio.ts", "adapters/agent/realtime/result-writer.ts"],
  ["is the result of the tool", "adapters/agent/tools/http-tool.ts"],
  ["stops partysocket from connecting", "src/client/stream/stream-connection.ts"],
  [
    "leaves a worker as PoolError, then becomes AudioUnsupported",
    "adapters/audio/audio-pieces.ts",
    "adapters/audio/decode-job.ts",
    "adapters/audio/inspect-job.ts",
    "adapters/audio/mp3-decoder.ts",
  ],
  ["cuts off the recording that is read", "adapters/recordings/wav-file.ts"],
  [
    "ends the command",
    "adapters/cli/demo/run-demo.ts",
    "adapters/cli/doctor/agent-findings.ts",
    "adapters/cli/doctor/speech-findings.ts",
    "adapters/cli/instance/simulated-phone.ts",
    "adapters/cli/terminal/png-image.ts",
    "adapters/cli/terminal/qr-modules.ts",
  ],
  [
    "stays in the browser",
    "adapters/console/app/pages/call/use-peaks.ts",
    "adapters/console/app/pages/call/wav-peaks.ts",
  ],
  ["becomes the cause of an engine's error", "adapters/provider-http/response-body.ts"],
  [
    "becomes the cause of a failed request",
    "adapters/untrusted-hosts/public-connection.ts",
    "adapters/untrusted-hosts/user-turns.ts",
  ],
  [
    "is the reason why a key or a transfer failed",
    "adapters/sip-stack/dialog/dialog-usage.ts",
    "adapters/sip-stack/dialog/dtmf-relay.ts",
    "adapters/sip-stack/dialog/outbound-invite.ts",
    "adapters/sip-stack/media/rtp-session.ts",
    "adapters/telephony/simulator/leg.ts",
  ],
  ["becomes a DialError", "adapters/sip-stack/media/worker/worker-engine.ts"],
  ["picks the next trunk", "adapters/telephony/sip/routes/sip-route.ts"],
  [
    "ends the session with WhatsApp, or goes to its client",
    "adapters/telephony/whatsapp/session/client/supervised-client.ts",
    "adapters/telephony/whatsapp/session/records/session-records.ts",
    "adapters/telephony/whatsapp/store/pre-key-store.ts",
    "adapters/telephony/whatsapp/store/record-set.ts",
  ],
  ["becomes TranscriptionFailed", "adapters/transcription/openai-batch.ts"],
];

const UNCODED_PATHS = UNCODED_ERRORS.flatMap(([, ...paths]) => paths);

const THROWN_ERROR = /(?:\b(?:throw|return)\s+|\breject\()new Error\(/;

test("every error class extends CodedError", () => {
  const otherErrors = sourceFiles().flatMap(({ path, text }) =>
    [...text.matchAll(/class (\w+)(?:<[^>]*>)? extends \w*(?:Error|Exception)\b/g)]
      .map(([match]) => match)
      .filter((match) => !/ extends (?:CodedError|RingportError|TransportError)$/.test(match))
      .map((match) => `${path}: ${match}`),
  );
  expect(otherErrors).toEqual(["src/base/error.ts: class CodedError extends Error"]);
});

test("an error that leaves Ringport has a code", () => {
  const uncodedFiles = sourceFiles()
    .filter(({ path, text }) => THROWN_ERROR.test(text) && !UNCODED_PATHS.some((prefix) => path.startsWith(prefix)))
    .map(({ path }) => path);
  expect(uncodedFiles).toEqual([]);
});

test("every exception to the rule is in use", () => {
  const throwingFiles = sourceFiles().filter(({ text }) => THROWN_ERROR.test(text));
  const stalePrefixes = UNCODED_PATHS.filter((prefix) => !throwingFiles.some(({ path }) => path.startsWith(prefix)));
  expect(stalePrefixes).toEqual([]);
});
