import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { run } from "../package/support/run.ts";
import { openaiServer } from "../support/openai-server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { runtimeNamed } from "./example.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const RUN = join(ROOT, "test/examples/run.ts");
const node = runtimeNamed("node26");

describe.skipIf(node.missing)(`the agent examples, on ${node.title}`, () => {
  test.concurrent("npm run example -- agent-appointment holds a conversation and prints the answers", async () => {
    const PATH = [join(ROOT, "node_modules/.bin"), process.env.PATH].join(delimiter);
    const cwd = temporaryFolder("agent");
    const { code, stdout } = await run([...node.command, RUN, "agent-appointment"], { cwd, env: { PATH } });
    expect(stdout).toContain(
      "caller: Good, we expect you at ten.\ncaller: How many people will come?\ncaller: Thank you. Goodbye.",
    );
    expect(stdout).toMatch(/^agent_finished \{ appointment: ["']1["'], people: ["']2["'] \}$/m);
    expect(code).toBe(0);
  });

  test.concurrent("npm run example -- agent-openai-compatible replies to the callee", async ({ onTestFinished }) => {
    const fake = await openaiServer({
      understand: () => "Hello, this is the simulated phone.",
      answer: ({ messages }) =>
        messages.at(-1)?.content?.startsWith("Hello")
          ? { text: "Goodbye to you.", calls: [{ name: "hang_up", arguments: {} }] }
          : { text: "Good morning." },
    });
    onTestFinished(() => fake.close());
    const PATH = [join(ROOT, "node_modules/.bin"), process.env.PATH].join(delimiter);
    const env = { PATH, MODEL_URL: fake.baseUrl, MODEL: "m", SPEECH_TO_TEXT: "m" };
    const cwd = temporaryFolder("agent-model");
    const { code, stdout } = await run([...node.command, RUN, "agent-openai-compatible"], { cwd, env });
    expect(stdout).toMatch(/^callee: Hello, this is the simulated phone\.\ncaller: Goodbye to you\.\nagent_finished$/m);
    expect(code).toBe(0);
  });

  test.concurrent("npm run example -- agent-realtime replies to the callee", async ({ onTestFinished }) => {
    const fake = await openaiServer({
      understand: () => "Hello, this is the simulated phone.",
      conversation: {
        answer: ({ last }) =>
          last.startsWith("user: Hello")
            ? { text: "Goodbye to you.", calls: [{ name: "hang_up", arguments: {} }] }
            : { text: "Good morning." },
      },
    });
    onTestFinished(() => fake.close());
    const PATH = [join(ROOT, "node_modules/.bin"), process.env.PATH].join(delimiter);
    const env = { PATH, REALTIME_URL: fake.baseUrl, REALTIME_MODEL: "m", REALTIME_TRANSCRIPTION: "m" };
    const cwd = temporaryFolder("agent-realtime");
    const { code, stdout } = await run([...node.command, RUN, "agent-realtime"], { cwd, env });
    expect(stdout).toMatch(/^callee: Hello, this is the simulated phone\.\ncaller: Goodbye to you\.\nagent_finished$/m);
    expect(code).toBe(0);
  });
});
