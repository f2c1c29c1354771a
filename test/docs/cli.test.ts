import { expect, test } from "vitest";
import { loadAll } from "../../adapters/cli/all-commands.ts";
import { type Command, operandLabel } from "../../adapters/cli/command.ts";
import { CONNECTION_SETTINGS } from "../../adapters/cli/connection/connection-settings.ts";
import { EXIT } from "../../adapters/cli/exit-codes.ts";
import { expectPart, table } from "./generated.ts";
import { textOf } from "./pages.ts";

test("docs/cli.md has every command in the table", async () =>
  expectPart("docs/cli.md", "commands", (await loadAll()).map(section).join("\n\n")));

test("docs/cli.md lists every exit code", () => {
  const text = textOf("docs/cli.md");
  for (const code of [...Object.values(EXIT), 130]) expect(text).toMatch(new RegExp(`^\\| ${code} \\| `, "m"));
});

function section({ path, operands = [], summary, details, options, settings }: Command): string {
  const title = ["ringport", ...path, ...operands.map(operandLabel)].join(" ");
  const rows = options.map(({ name, short, placeholder, help }) => [
    `\`${short === undefined ? "" : `-${short}, `}--${name}${placeholder === undefined ? "" : ` ${placeholder}`}\``,
    help,
  ]);
  return [
    `### ${title}`,
    summary,
    ...(details === undefined ? [] : [details.split("\n").map(escapeText).join("<br>\n")]),
    ...(rows.length > 0 ? [table(["option", "what it does"], rows)] : []),
    ...settingsSentences(settings),
  ].join("\n\n");
}

/** Page that explains the settings of a command. */
function settingsSentences(settings: Command["settings"]): string[] {
  const otherSettings = settings.filter((setting) => !CONNECTION_SETTINGS.includes(setting));
  const hasConnection = settings.length > otherSettings.length;
  const sentences = [
    ...(hasConnection
      ? ["`RINGPORT_URL` and `RINGPORT_TOKEN` (or `--url`, `--token`) select the server and the user."]
      : []),
    ...(otherSettings.length > 5 ? ["It takes the settings of the [configuration](configuration.md)."] : []),
    ...(otherSettings.length > 0 && otherSettings.length <= 5
      ? [`Settings: ${otherSettings.map(({ env }) => `\`${env}\``).join(", ")}.`]
      : []),
  ];
  return sentences.length > 0 ? [sentences.join(" ")] : [];
}

/** Text without Markdown syntax. */
function escapeText(text: string): string {
  return text.replace(/[<>]/g, (char) => (char === "<" ? "&lt;" : "&gt;"));
}
