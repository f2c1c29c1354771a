/**
 * The tests that need the machine: sockets, databases, worker threads, speech engines, or seconds of real time. vitest's project "integration" runs them; all other tests of the library belong to the project "unit", which needs no machine.
 */
export const INTEGRATION: readonly string[] = [
  "test/contract/*.test.ts",
  "test/client/**/*.test.ts",
  "test/console/build.test.ts",
  "test/application/idempotency/idempotency-losses.test.ts",
  "test/audio/playout/media-clock.test.ts",
  "test/application/call-audio/{inspections,streams/ahead}.test.ts",
  "test/http/followed-log.test.ts",
  "test/http/contract/*.test.ts",
  "test/adapters/*.test.ts",
  "test/adapters/audio/mp3-memory.test.ts",
  "test/adapters/agent/{cascade{,-report,-tools},http-tool,realtime{,-tasks},safety}.test.ts",
  "test/adapters/local-models/{call,contract,engine-obstacle,process-deaths,speech-processes}.test.ts",
  "test/adapters/local-models/installation/download.test.ts",
  "test/voices/measure.test.ts",
  "test/adapters/{body-parsing,server,speech,storage,transcription,untrusted-hosts,workers}/**/*.test.ts",
  "test/adapters/telephony/simulator/**/*.test.ts",
  "test/adapters/telephony/sip/*.test.ts",
  "test/adapters/telephony/sip/{accounts,check,routes,torture}/**/*.test.ts",
  "test/sip-stack/dialog/{late-challenge,live,strangers}.test.ts",
  "test/sip-stack/media/{,worker/}*.test.ts",
  "test/sip-stack/sdp/moved-keys.test.ts",
  "test/sip-stack/transaction/{hostile,listener,network-impairment,udp}.test.ts",
  "test/sip-stack/transport/*.test.ts",
];
