/**
 * The test files that take longest, by project, in starting order. Among the others, vitest starts with the
 * largest, a poor estimate: a test of one screen may wait for a minute.
 */
export const LONG_FILES: readonly string[] = [
  // unit
  "test/application/invariants/invariants.test.ts",
  // integration
  "test/http/contract/number-plan.test.ts",
  "test/http/contract/calls.test.ts",
  "test/http/contract/twilio.test.ts",
  "test/http/contract/options.test.ts",
  "test/client/stream-backpressure.test.ts",
  "test/client/listen.test.ts",
  "test/http/contract/limits.test.ts",
  // runtime and runtime-postgres
  "test/runtime/crash.test.ts",
  "test/runtime/half-done.test.ts",
  "test/runtime/bad-configuration.test.ts",
  "test/docs/programs.test.ts",
  "test/runtime/takeover.test.ts",
  "test/runtime/outage.test.ts",
  "test/runtime/streams.test.ts",
  "test/runtime/twilio-bridge.test.ts",
  "test/runtime/backup.test.ts",
  "test/runtime/stalled-readers.test.ts",
  "test/runtime/calls.test.ts",
  "test/runtime/console.test.ts",
  "test/runtime/event-stream.test.ts",
  "test/runtime/uploads.test.ts",
  "test/adapters/cli/demo.test.ts",
  "test/adapters/cli/serve.test.ts",
  // console
  "test/console/browser/views.test.ts",
  "test/console/browser/pictures.test.ts",
  "test/console/browser/phone.test.ts",
  // peers and peers-sip
  "test/peers/decoded-files.test.ts",
  "test/peers/agents.test.ts",
  "test/peers/docs.test.ts",
  "test/peers/browser.test.ts",
  "test/peers/transcripts.test.ts",
  "test/peers/sip-walkthrough.test.ts",
  "test/peers/qr.test.ts",
  "test/peers/sip/matrix.test.ts",
  "test/peers/sip/stream.test.ts",
  "test/peers/sip/client-stream.test.ts",
  // package and examples
  "test/package/release.test.ts",
  "test/package/speech.test.ts",
  "test/package/jsr.test.ts",
  "test/examples/next-route.test.ts",
  "test/package/consumers.test.ts",
  "test/examples/readme.test.ts",
  "test/examples/streams.test.ts",
];
