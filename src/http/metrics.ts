import type { Figures } from "../application/use-cases.ts";
import type { AudioThread } from "../ports/telephony.ts";

/** Counts requests. All labels come from small sets, so its memory is bounded. */
export interface RequestMeter {
  /**
   * @param route pattern of the route; undefined if no route matched
   * @param ms time from the request's arrival to its reply
   */
  count(method: string, route: string | undefined, status: number, ms: number): void;
  /** The counters in the Prometheus text format. */
  text(): string;
}

const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

export function requestMeter(): RequestMeter {
  const series = new Map<string, { labels: string; classes: Map<string, number>; seconds: number; count: number }>();
  return {
    count(method, route = "none", status, ms) {
      const name = METHODS.has(method) ? method : "other";
      const key = `${name} ${route}`;
      let entry = series.get(key);
      if (!entry) {
        entry = { labels: labels({ method: name, route }), classes: new Map(), seconds: 0, count: 0 };
        series.set(key, entry);
      }
      const statusClass = `${Math.floor(status / 100)}xx`;
      entry.classes.set(statusClass, (entry.classes.get(statusClass) ?? 0) + 1);
      entry.seconds += ms / 1000;
      entry.count++;
    },
    text() {
      const requests: string[] = [];
      const durations: string[] = [];
      for (const { labels, classes, seconds, count } of series.values()) {
        for (const [status, requestCount] of classes)
          requests.push(`ringport_http_requests_total{${labels},status="${status}"} ${requestCount}`);
        durations.push(
          `ringport_http_request_duration_seconds_sum{${labels}} ${seconds}`,
          `ringport_http_request_duration_seconds_count{${labels}} ${count}`,
        );
      }
      return (
        family("ringport_http_requests_total", "counter", "HTTP requests served.", requests) +
        family("ringport_http_request_duration_seconds", "summary", "Time to serve HTTP requests.", durations)
      );
    },
  };
}

/** The figures of the application in the Prometheus text format. */
export function figuresText(figures: Figures): string {
  const samples = (name: string, label: string, counts: Readonly<Record<string, number>>): string[] =>
    Object.entries(counts).map(([value, count]) => `${name}{${labels({ [label]: value })}} ${count}`);
  const outcomes = Object.entries(figures.outcomes).map(([key, count]) => {
    const [status = "", reason = ""] = key.split("/", 2);
    return `ringport_call_outcomes_total{${labels({ status, reason })}} ${count}`;
  });
  const turnStages = Object.entries(figures.turnStages).flatMap(([stage, { sumMs, turns }]) => {
    const label = labels({ stage: stage.replace(/Ms$/, "").replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) });
    return [
      `ringport_agent_turn_seconds_sum{${label}} ${sumMs / 1_000}`,
      `ringport_agent_turn_seconds_count{${label}} ${turns}`,
    ];
  });
  return (
    family("ringport_calls", "gauge", "Stored calls.", samples("ringport_calls", "status", figures.calls)) +
    family("ringport_live_calls", "gauge", "Calls with a live session in this process.", [
      `ringport_live_calls ${figures.liveCalls}`,
    ]) +
    family("ringport_call_outcomes_total", "counter", "Calls that ended in this process.", outcomes) +
    family("ringport_lines_online", "gauge", "Instances that can place calls.", [
      `ringport_lines_online ${figures.linesOnline}`,
    ]) +
    family(
      "ringport_calls_created_total",
      "counter",
      "Calls created by this process.",
      samples("ringport_calls_created_total", "type", figures.created),
    ) +
    family("ringport_agent_turn_seconds", "summary", "Latencies of agents' turns, by stage.", turnStages) +
    family("ringport_agent_interruptions_total", "counter", "Turns of agents that the callee interrupted.", [
      `ringport_agent_interruptions_total ${figures.interruptions}`,
    ])
  );
}

/** The state of the threads that carry the audio of calls in the Prometheus text format. */
export function audioThreadsText(threads: readonly AudioThread[]): string {
  const samples = (name: string, value: (thread: AudioThread) => number): string[] =>
    threads.map((thread) => `${name}{${labels({ thread: String(thread.number) })}} ${value(thread)}`);
  return (
    family(
      "ringport_audio_thread_calls",
      "gauge",
      "Calls per thread that carries their audio.",
      samples("ringport_audio_thread_calls", ({ calls }) => calls),
    ) +
    family(
      "ringport_audio_thread_lateness_seconds",
      "gauge",
      "Lateness that nine of ten frames of the last second did not exceed.",
      samples("ringport_audio_thread_lateness_seconds", ({ latenessMs }) => latenessMs / 1_000),
    ) +
    family(
      "ringport_audio_thread_overloaded",
      "gauge",
      "1 if the thread takes no new calls, because its audio is late.",
      samples("ringport_audio_thread_overloaded", ({ isOverloaded }) => (isOverloaded ? 1 : 0)),
    )
  );
}

function family(name: string, type: "counter" | "gauge" | "summary", help: string, lines: readonly string[]): string {
  return lines.length === 0 ? "" : `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("\n")}\n`;
}

function labels(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}="${value.replace(/[\\"\n]/g, (char) => (char === "\n" ? "\\n" : `\\${char}`))}"`)
    .join(",");
}
