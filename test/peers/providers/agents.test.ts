import { describe, expect, test } from "vitest";
import { missing } from "../../support/runtimes.ts";
import { ON_NODE, useServer } from "../../support/server.ts";
import { expected, until } from "../../support/server-client.ts";
import { countSounds } from "../../support/server-sound.ts";

/** Replies to questions with words: yes, Monday, two, and thank you. */
const ANSWERING = "+12025550120";
const INSTRUCTIONS = [
  "Call for the Riverside clinic about an appointment. Speak one short sentence at a time.",
  "Ask whether the appointment still suits. Then ask for the day. Then ask how many people will come.",
  "When you know all three, say goodbye and hang up.",
];
/** Maximum cost of a call. */
const LIMITS = { maxTurns: 12, maxSeconds: 90 };
const RESULT = {
  type: "object",
  properties: { people: { type: ["integer", "null"], description: "how many people will come" } },
  required: ["people"],
  additionalProperties: false,
};

const LIVE = Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith("LIVE_")));

/** The call as the API shows it. */
interface CallView {
  readonly transcript: readonly { readonly speaker: "caller" | "callee"; readonly text: string }[] | null;
  readonly metrics: { readonly turns: readonly { readonly turn_gap_ms: number | null }[] } | null;
  readonly result: unknown;
}

/** Registers tests that need these variables; without them they are skipped, and the title names those to set. */
function withVariables(title: string, names: readonly string[], define: () => void): void {
  const missingNames = names.filter((name) => !LIVE[name]);
  const reason =
    missingNames.length > 0 ? missing(`set ${missingNames.join(", ")}; test/peers/providers/README.md`) : undefined;
  describe.skipIf(reason)(reason ? `${title} (skipped: ${reason})` : title, define);
}

/** Registers the test of a call to a callee who answers questions, on a server with these settings. */
function testConversation(
  env: Readonly<Record<string, string | undefined>>,
  agentOptions: object,
  check: (call: CallView) => void,
) {
  const server = useServer(ON_NODE, { env: { ...env, RINGPORT_SIMULATOR_TIME_SCALE: "1" } });
  test("asks, understands the answers and hangs up", async () => {
    const client = await server.as("ada");
    const { id } = await client.call((await client.activeInstance()).id, {
      type: "DYNAMIC_AGENT",
      target: { phoneNumber: ANSWERING },
      agent: { instructions: INSTRUCTIONS, ...LIMITS, ...agentOptions },
    });
    const { status, outcome } = await client.waitForCall(id, undefined, 120_000);
    expect([status, outcome?.reason], outcome?.detail ?? "").toEqual(["COMPLETED", "agent_finished"]);
    const call = await until(
      async () => expected(200, await client.get(`/v1/calls/${id}?expand=transcript,metrics,result`)).json<CallView>(),
      ({ result }) => !("resultSchema" in agentOptions) || result !== null,
      15_000,
      "the result",
    );
    const [lines, turns] = [call.transcript ?? [], call.metrics?.turns ?? []];
    // A printed table for comparing models.
    for (const { speaker, text } of lines) console.info(`${speaker}: ${text}`);
    console.info(`gaps, ms: ${turns.map(({ turn_gap_ms }) => turn_gap_ms ?? "-").join(" ")}`);
    expect(lines.filter(({ speaker }) => speaker === "caller").length).toBeGreaterThanOrEqual(3);
    expect(countSounds(await client.heard(id), 500)).toBeGreaterThanOrEqual(3);
    expect(turns.length).toBeGreaterThanOrEqual(3);
    check(call);
  });
}

const transcription = {
  RINGPORT_TRANSCRIPTION_ENGINE: LIVE.LIVE_TRANSCRIPTION_ENGINE ?? "openai",
  RINGPORT_TRANSCRIPTION_URL: LIVE.LIVE_TRANSCRIPTION_URL ?? LIVE.LIVE_AGENT_URL,
  RINGPORT_TRANSCRIPTION_MODEL: LIVE.LIVE_TRANSCRIPTION_MODEL,
  RINGPORT_TRANSCRIPTION_KEY: LIVE.LIVE_TRANSCRIPTION_KEY ?? LIVE.LIVE_AGENT_KEY,
};

withVariables(
  "a call by a real language model",
  ["LIVE_AGENT_URL", "LIVE_AGENT_MODEL", "LIVE_TRANSCRIPTION_MODEL"],
  () => {
    const env = {
      ...transcription,
      RINGPORT_AGENT_ENGINE: "cascade",
      RINGPORT_AGENT_URL: LIVE.LIVE_AGENT_URL,
      RINGPORT_AGENT_MODEL: LIVE.LIVE_AGENT_MODEL,
      RINGPORT_AGENT_KEY: LIVE.LIVE_AGENT_KEY,
    };
    testConversation(env, { resultSchema: RESULT }, ({ transcript, result }) => {
      const words = (transcript ?? []).filter(({ speaker }) => speaker === "callee").map(({ text }) => text);
      expect(words.join(" ")).toMatch(/yes.*monday.*(two|2)/is);
      expect(result).toEqual({ people: 2 });
    });
  },
);

withVariables("a call by a real audio model", ["LIVE_REALTIME_URL", "LIVE_REALTIME_MODEL"], () => {
  const env = {
    RINGPORT_AGENT_ENGINE: "realtime",
    RINGPORT_AGENT_URL: LIVE.LIVE_REALTIME_URL,
    RINGPORT_AGENT_MODEL: LIVE.LIVE_REALTIME_MODEL,
    RINGPORT_AGENT_KEY: LIVE.LIVE_REALTIME_KEY,
  };
  testConversation(env, {}, () => {});
});
