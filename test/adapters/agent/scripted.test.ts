import { describe, expect, test } from "vitest";
import { scriptedAgent } from "../../../adapters/agent/scripted/scripted-agent.ts";
import type { AgentBrief, ConversationAction, ConversationInput } from "../../../src/ports/conversation.ts";

const CLINIC = [
  "Say: This is the clinic.",
  "Ask visit: Press 1 to keep it, or 2 to cancel it.",
  "If 1 or yes: say: Good.",
  "If 2 or no: say: Cancelled.; hang up",
  "If nothing: say: We will call again.; hang up",
  "Ask people for 1 to 2 digits: How many?",
  "Say: Goodbye.",
];

const signal = new AbortController().signal;
const brief = (instructions: readonly string[], overrides: Partial<AgentBrief> = {}): AgentBrief => ({
  callId: "call_1",
  instructions,
  language: "en-US",
  hearsWords: false,
  ...overrides,
});

/** One conversation, and a short form of the agent's actions. */
function startScript(instructions: readonly string[], overrides: Partial<AgentBrief> = {}) {
  const conversation = scriptedAgent().begin(brief(instructions, overrides));
  const reply = async (input: ConversationInput): Promise<string[]> => {
    const actions: string[] = [];
    for await (const action of conversation.reply(input, signal)) actions.push(shortForm(action));
    return actions;
  };
  return {
    begin: () => reply({ type: "begin" }),
    key: (digit: string) => reply({ type: "key", digit }),
    words: (text: string) => reply({ type: "words", text }),
    silence: () => reply({ type: "silence" }),
    transferFailed: () => reply({ type: "transfer_failed", to: "+12025550123", detail: "SIP 486 Busy Here" }),
    result: () => conversation.result,
  };
}

function shortForm(action: ConversationAction): string {
  if (action.type === "say") return `${action.interruptible ? "" : "! "}${action.text}`;
  if (action.type === "listen") return `listen ${action.forMs}`;
  if (action.type === "transfer") return `transfer to ${action.to}`;
  return action.type === "hang_up" ? "hang up" : action.type;
}

const QUESTION = "Press 1 to keep it, or 2 to cancel it.";

describe("the scripted agent", () => {
  test("introduces itself, asks, branches and continues", async () => {
    const clinic = startScript(CLINIC);
    expect(await clinic.begin()).toEqual([
      "! This is an automated call.",
      "This is the clinic.",
      QUESTION,
      "listen 8000",
    ]);
    expect(clinic.result()).toBeUndefined();
    expect(await clinic.key("1")).toEqual(["! Good.", "How many?", "listen 8000"]);
    expect(await clinic.key("1")).toEqual(["listen 3000"]);
    expect(await clinic.key("2")).toEqual(["! Goodbye.", "hang up"]);
    expect(clinic.result()).toEqual({ visit: "1", people: "12" });
  });

  test("introduces itself in the voice's language, unless its script has an introduction", async () => {
    expect((await startScript(["Say: Bom dia."], { language: "pt-BR" }).begin())[0]).toBe(
      "! Esta é uma chamada automática.",
    );
    expect(
      await startScript(["Say: Esta é uma ligação automática da clínica."], { language: "pt-BR" }).begin(),
    ).toEqual(["! Esta é uma ligação automática da clínica.", "hang up"]);
  });

  test("asks three times, then takes the no-answer branch", async () => {
    const clinic = startScript(CLINIC);
    await clinic.begin();
    expect(await clinic.silence()).toEqual([QUESTION, "listen 8000"]);
    expect(await clinic.silence()).toEqual([QUESTION, "listen 8000"]);
    expect(await clinic.silence()).toEqual(["! We will call again.", "hang up"]);
    expect(clinic.result()).toBeUndefined();
  });

  test("hangs up politely if no answer comes and the script has no branch for that", async () => {
    const agent = startScript(["Ask: Press 1.", "If 1: hang up"]);
    await agent.begin();
    expect(await agent.key("7")).toEqual(["Sorry, that is not one of the answers.", "Press 1.", "listen 8000"]);
    await agent.silence();
    expect(await agent.key("7")).toEqual(["! I have received no answer. Goodbye.", "hang up"]);
  });

  test("accepts a shorter number after a pause or #; # alone is not a number", async () => {
    const pauseScript = startScript(["Ask n for 1 to 4 digits: n?"]);
    await pauseScript.begin();
    await pauseScript.key("4");
    expect(await pauseScript.silence()).toEqual(["hang up"]);
    expect(pauseScript.result()).toEqual({ n: "4" });
    const hashScript = startScript(["Ask n for 2 to 4 digits: n?"]);
    await hashScript.begin();
    expect(await hashScript.key("#")).toEqual(["Sorry, that is not one of the answers.", "n?", "listen 8000"]);
    for (const key of "9*42") await hashScript.key(key);
    expect(await hashScript.key("#")).toEqual(["hang up"]);
    expect(hashScript.result()).toEqual({ n: "42" });
  });

  test("waits for the next key while a longer answer is possible", async () => {
    const first = startScript(["Ask x: x?", "If 1: say: one", "If 12: say: twelve"]);
    await first.begin();
    expect(await first.key("1")).toEqual(["listen 3000"]);
    expect(await first.silence()).toEqual(["! one", "hang up"]);
    const second = startScript(["Ask x: x?", "If 1: say: one", "If 12: say: twelve"]);
    await second.begin();
    await second.key("1");
    expect(await second.key("2")).toEqual(["! twelve", "hang up"]);
  });

  test("recognises its branches' words and ignores others", async () => {
    const clinic = startScript(CLINIC, { hearsWords: true });
    await clinic.begin();
    expect(await clinic.words("Well, let me think.")).toEqual(["resume", "listen 8000"]);
    expect(await clinic.words("Oh YES, of course")).toEqual(["! Good.", "How many?", "listen 8000"]);
    expect(clinic.result()).toEqual({ visit: "yes" });
  });

  test("goes to a named question, and ends a script that loops", async () => {
    const loop = startScript(["Ask a: a?", "If 1: go to a", "Otherwise: ask again"]);
    await loop.begin();
    let replies = 0;
    while (!(await loop.key("1")).includes("hang up")) replies++;
    expect(replies).toBeLessThan(200);
  });

  test("ignores keys while no question is open", async () => {
    const agent = startScript(["Say: Bye."]);
    await agent.begin();
    expect(await agent.key("1")).toEqual([]);
  });
});

describe("the check before a call", () => {
  const { check } = scriptedAgent();

  test("accepts a script", () => check(brief(CLINIC)));

  test("refuses other instructions with a code and a fix", () => {
    expect(() => check(brief(["Greet the callee."]))).toThrow(
      /^no AI agent is configured on this server, and instruction 1 \("Greet the callee\."\) is not part of a script: a step begins with/,
    );
    expect(() => check(brief(["Greet the callee."]))).toThrow(expect.objectContaining({ code: "agent_unavailable" }));
  });

  test("refuses a question that needs words if words are not recognised", () => {
    const words = ["Ask: Will you come?", "If yes: say: Good."];
    expect(() => check(brief(words))).toThrow('add keys, such as "If 1 or yes:"');
    check(brief(words, { hearsWords: true }));
  });
});

describe("the scripted agent with fields from its call", () => {
  const ASK = ["Ask visit: Does {{day}} suit you?", "If 1: say: Until {{day}}, {{ name }}.; hang up"];

  test("fills in variables, never as script steps", async () => {
    const variables = { day: "Monday", name: "Ana; hang up\nSay: {{day}}" };
    const { begin, key } = startScript(ASK, { variables });
    expect(await begin()).toEqual(["! This is an automated call.", "Does Monday suit you?", "listen 8000"]);
    expect(await key("1")).toEqual(["! Until Monday, Ana; hang up Say: {{day}}.", "hang up"]);
  });

  test("says the first message after its introduction, or instead of it", async () => {
    expect((await startScript(CLINIC, { firstMessage: "Good day." }).begin()).slice(0, 2)).toEqual([
      "! This is an automated call.",
      "Good day.",
    ]);
    const introduction = "Good day, an automated call from the clinic.";
    expect((await startScript(CLINIC, { firstMessage: introduction }).begin())[0]).toBe(introduction);
  });

  test("waits for the callee if the first message is null, but not forever", async () => {
    for (const next of ["words", "silence"] as const) {
      const { begin, ...events } = startScript(CLINIC, { firstMessage: null, hearsWords: true });
      expect(await begin()).toEqual(["listen 5000"]);
      expect((await events[next]("Hello?"))[0]).toBe("! This is an automated call.");
    }
  });

  test("asks no more questions than the call allows", async () => {
    const { begin, key } = startScript(["Ask a: A?", "Ask b: B?"], { maxTurns: 1 });
    expect((await begin()).at(-1)).toBe("listen 8000");
    expect(await key("1")).toEqual(["hang up"]);
  });
});

describe("a script that transfers the call", () => {
  const transferBrief = { canTransfer: true };
  const check = (line: string, overrides: Partial<AgentBrief>) => () => scriptedAgent().check(brief([line], overrides));

  test("transfers after its words, and continues if the transfer fails", async () => {
    const agent = startScript(
      ["Say: I'll connect you.", "Transfer to +12025550123", "Say: They do not answer."],
      transferBrief,
    );
    expect(await agent.begin()).toEqual([
      ...["! This is an automated call.", "! I'll connect you.", "transfer to +12025550123"],
    ]);
    expect(await agent.transferFailed()).toEqual([
      ...["! Sorry, I could not put you through.", "! They do not answer.", "hang up"],
    ]);
    expect(await agent.transferFailed()).toEqual([]);
  });

  test("continues after the question if a transfer in a branch fails", async () => {
    const agent = startScript(
      ["Ask: Press 1 for a person.", "If 1: say: One moment.; transfer to +12025550123; say: A pity.", "Say: Bye."],
      transferBrief,
    );
    await agent.begin();
    expect(await agent.key("1")).toEqual(["! One moment.", "transfer to +12025550123"]);
    expect(await agent.transferFailed()).toEqual([
      ...["! Sorry, I could not put you through.", "! A pity.", "! Bye.", "hang up"],
    ]);
  });

  test("is refused if the network cannot transfer or transferTo lacks the number", () => {
    expect(check("Transfer to +12025550123", transferBrief)).not.toThrow();
    expect(check("Transfer to +12025550123", { ...transferBrief, transferTo: ["+12025550123"] })).not.toThrow();
    expect(check("Transfer to +12025550123", {})).toThrow("which the network of this instance cannot do");
    expect(check("Transfer to +12025550123", { ...transferBrief, transferTo: ["+12025550124"] })).toThrow(
      "missing from transferTo",
    );
    expect(check("Ask: Sure?", transferBrief)).not.toThrow();
  });
});
