import { expect, test } from "vitest";
import { StorageUnavailable } from "../../src/ports/storage.ts";
import type { AudioThread } from "../../src/ports/telephony.ts";
import { ask } from "./support/ask.ts";
import { CALL_ID, serve } from "./support/fakes.ts";

test("/healthz returns 200 without storage", async () => {
  const { app } = serve({ queries: { ready: async () => false } });
  const reply = await ask(app, { path: "/healthz", token: null });
  expect([reply.status, reply.json]).toEqual([200, { status: "ok" }]);
});

test("/readyz follows the storage", async () => {
  expect((await ask(serve().app, { path: "/readyz", token: null })).json).toEqual({ status: "ready" });
  for (const ready of [async () => false, () => Promise.reject(new StorageUnavailable("gone"))]) {
    const reply = await ask(serve({ queries: { ready } }).app, { path: "/readyz", token: null });
    expect([reply.status, reply.json.code]).toEqual([503, "not_ready"]);
    expect(reply.headers["retry-after"]).toBe("1");
  }
});

test("/readyz and /metrics show threads whose audio is late", async () => {
  const thread = { number: 1, calls: 300, latenessMs: 34, isOverloaded: true };
  const ready = async (threads: readonly AudioThread[]) =>
    (await ask(serve({ queries: { audioThreads: () => threads } }).app, { path: "/readyz", token: null })).json;
  expect(await ready([thread])).toEqual({ status: "ready", audio: "overloaded" });
  expect(await ready([thread, { ...thread, number: 2, isOverloaded: false }])).toEqual({ status: "ready" });
  const { app } = serve({ queries: { audioThreads: () => [thread] } });
  expect((await ask(app, { path: "/metrics", token: null })).text.split("\n")).toEqual(
    expect.arrayContaining([
      'ringport_audio_thread_calls{thread="1"} 300',
      'ringport_audio_thread_lateness_seconds{thread="1"} 0.034',
      'ringport_audio_thread_overloaded{thread="1"} 1',
    ]),
  );
});

test("/metrics has figures and request counters in the Prometheus text format", async () => {
  let ms = 0;
  const { app } = serve({
    http: { system: { now: () => 0, monotonic: () => (ms += 250), random: () => {}, after: () => () => {} } },
  });
  await ask(app, { path: `/v1/calls/${CALL_ID}` });
  await ask(app, { path: `/v1/calls/call_x` });
  await ask(app, { method: "BREW", path: `/nothing?${"x".repeat(100)}` });
  const { text, headers } = await ask(app, { path: "/metrics", token: null });
  expect(headers["content-type"]).toBe("text/plain; version=0.0.4; charset=utf-8");
  expect(text.split("\n")).toEqual(
    expect.arrayContaining([
      "# TYPE ringport_http_requests_total counter",
      'ringport_http_requests_total{method="GET",route="/v1/calls/:callId",status="2xx"} 1',
      'ringport_http_requests_total{method="GET",route="/v1/calls/:callId",status="4xx"} 1',
      'ringport_http_requests_total{method="other",route="none",status="4xx"} 1',
      'ringport_http_request_duration_seconds_sum{method="GET",route="/v1/calls/:callId"} 0.5',
      'ringport_http_request_duration_seconds_count{method="GET",route="/v1/calls/:callId"} 2',
      'ringport_calls{status="QUEUED"} 2',
      "ringport_live_calls 1",
      'ringport_call_outcomes_total{status="FAILED",reason="busy"} 3',
      'ringport_agent_turn_seconds_sum{stage="turn_gap"} 1.8',
      'ringport_agent_turn_seconds_count{stage="turn_gap"} 2',
      "ringport_agent_interruptions_total 1",
      "ringport_lines_online 4",
      'ringport_calls_created_total{type="FIXED_TTS"} 5',
    ]),
  );
  for (const line of text.trimEnd().split("\n"))
    expect(line).toMatch(/^(# (HELP|TYPE) \w+ .+|\w+(\{\w+="[^"]*"(,\w+="[^"]*")*\})? [\d.e+-]+)$/);
});

test("/metrics has the request counters even if the storage is down", async () => {
  const figures = () => Promise.reject(new StorageUnavailable("gone"));
  const { app } = serve({ queries: { figures } });
  await ask(app, { path: "/healthz", token: null });
  const reply = await ask(app, { path: "/metrics", token: null });
  expect(reply.status).toBe(200);
  expect(reply.text).toContain("ringport_http_requests_total");
});

test("unknown methods and paths add no series to /metrics", async () => {
  const { app } = serve();
  for (let i = 0; i < 50; i++) await ask(app, { method: `M${i}`, path: `/p${i}`, token: null });
  const { text } = await ask(app, { path: "/metrics", token: null });
  expect(text.split("\n").filter((line) => line.includes('method="other"'))).toHaveLength(3);
});
