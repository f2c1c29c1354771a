// `add-models.ts RELEASES ANSWER WORDS…`: `ringport models add WORDS…` with the releases of another server, and with this answer to
// each question; "-" stands for no terminal.
import process from "node:process";
import { parseCommandLine } from "../../adapters/cli/command-line.ts";
import { modelsAddFrom } from "../../adapters/cli/models/models-add.ts";
import { explain } from "../../adapters/cli/print-error.ts";
import { printToStderr } from "../../adapters/cli/terminal/terminal.ts";

const [origin = "", answer = "-", ...words] = process.argv.slice(2);
const releases = { downloads: `${origin}/download`, api: `${origin}/api` };
const ask = async (question: string): Promise<string> => {
  printToStderr(`${question}${answer}`);
  return answer;
};
const command = { path: ["models", "add"], ...modelsAddFrom(releases, () => (answer === "-" ? undefined : ask)) };
try {
  process.exitCode = await command.run(parseCommandLine(command, words));
} catch (error) {
  process.exitCode = explain(error, { json: words.includes("--json") });
}
