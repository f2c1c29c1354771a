import type { FarEndCall, Script } from "../support/sip/far-end.ts";

/** Number of the callee that sends valid messages. */
export const VALID_CALLEE = "+12025550199";
export const ACCOUNT = { user: "100", password: "secret" };

const delay = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const after = (ms: number, act: (call: FarEndCall) => unknown): Pick<Script, "acts"> => ({
  async acts(call) {
    await delay(ms);
    if (!call.end) void act(call);
  },
});

/** The callees with corrupted messages: together they send every kind of message. */
const SCRIPTS: readonly Script[] = [
  { says: { hz: 1_000 } },
  { rings: [183, 180], earlyMedia: true, reliable: true },
  after(100, (call) => call.reinvite("sendonly").then(() => call.reinvite("sendrecv"))),
  after(100, (call) => call.reinvite("inactive", "UPDATE").then(() => call.reinvite("sendrecv", "UPDATE"))),
  { challenge: { ...ACCOUNT, algorithms: ["SHA-256", "MD5"], staleCount: 1 } },
  after(200, (call) => call.hangUp()),
  after(100, (call) => call.voice?.press("123#")),
  { forks: 3 },
  after(100, (call) => call.request("INVITE")),
  { rings: [], status: 302, reason: "Moved", fields: [["Contact", "<sip:+12025550100@127.0.0.1>"]] },
  { status: 486, afterMs: 100 },
  { status: "never" },
  after(100, (call) => call.request("OPTIONS").then(() => call.request("INFO"))),
  { announcement: { hz: 700 }, rings: [183], afterMs: 200 },
  { onHold: "zeros" },
];

/** The callees by their numbers, the valid one last. */
export const CALLEES: Readonly<Record<string, Script>> = {
  ...Object.fromEntries(SCRIPTS.map((script, i) => [`+1202555${String(100 + i).padStart(4, "0")}`, script])),
  [VALID_CALLEE]: { says: { hz: 1_000 } },
};

export const CORRUPTED_NUMBERS: readonly string[] = Object.keys(CALLEES).filter((number) => number !== VALID_CALLEE);
